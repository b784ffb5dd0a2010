import type { LockMode } from '../../src/types/lock.ts';
import { conflict, type ModelRequest } from './lock-model.ts';

/** One call of one client, with the moments of its call and of its answer on one line of time. */
export interface LockCall {
  readonly client: number;
  readonly type: 'acquire' | 'downgrade' | 'release';
  readonly request: Omit<ModelRequest, 'mode'> & { readonly mode: LockMode };
  readonly called: number;
  readonly answered: number;
}

/** Calls as they were made and answered. */
export class LockHistory {
  readonly calls: LockCall[] = [];
  #moment = 0;

  tick(): number {
    return ++this.#moment;
  }

  add(call: LockCall): void {
    this.calls.push(call);
  }
}

/**
 * Whether the calls can be put into one order that keeps real time (who was answered before another was called comes
 * before it) and in which a lock that does one call after the other would have answered the same: an acquisition needs
 * that nobody in conflict holds.
 *
 * Every call that was made when the earliest answer among the rest was given may be the next one; each set of calls that
 * were put in order is looked at once.
 */
export function isLinearizable(calls: readonly LockCall[]): boolean {
  const seen = new Set<string>();
  const search = (done: ReadonlySet<LockCall>, held: ReadonlyMap<number, LockCall['request']>): boolean => {
    if (done.size === calls.length) return true;
    const rest = calls.filter((call) => !done.has(call));
    const earliest = Math.min(...rest.map(({ answered }) => answered));
    return rest
      .filter(({ called }) => called < earliest)
      .some((call) => {
        const next = apply(held, call);
        if (next === undefined) return false;
        const order = new Set([...done, call]);
        const name = calls.map((one) => (order.has(one) ? 1 : 0)).join('');
        if (seen.has(name)) return false;
        seen.add(name);
        return search(order, next);
      });
  };
  return search(new Set(), new Map());
}

function apply(
  held: ReadonlyMap<number, LockCall['request']>,
  { type, request }: LockCall,
): ReadonlyMap<number, LockCall['request']> | undefined {
  const next = new Map(held);
  if (type === 'acquire') {
    if ([...held.values()].some((other) => conflict(request, other))) return undefined;
    return next.set(request.id, request);
  }
  if (!held.has(request.id)) return undefined;
  if (type === 'downgrade') return next.set(request.id, { ...request, mode: 'read' });
  next.delete(request.id);
  return next;
}

/** The most requests that were made after another one, in conflict with it, and granted before it. */
export function overtakenMax(calls: readonly LockCall[]): number {
  const acquired = calls.filter(({ type }) => type === 'acquire');
  const counts = acquired.map((one) => {
    const passed = acquired.filter((other) => other.called > one.called && other.answered < one.answered);
    return passed.filter((other) => conflict(other.request, one.request)).length;
  });
  return Math.max(0, ...counts);
}
