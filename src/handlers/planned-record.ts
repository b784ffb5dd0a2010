import { equalData } from './diff.ts';
import { type HandlerRecord, type PlanEntry, type Tried, wasOpened } from './record.ts';

/**
 * What becomes of the record of a sub that leaves the plan: it is retiring, if there is anything to retire. One that had a
 * plan has to be called again if it is back.
 */
export function retiringRecord(record: HandlerRecord | undefined, { args }: PlanEntry): HandlerRecord | undefined {
  if (record === undefined || !wasOpened(record)) return undefined;
  // Opened by a version without the hook: all that is known are the args of the plan.
  const tried = record.tried ?? [triedOf(args)];
  const { plan, ...rest } = record;
  const attempt = plan === undefined ? record.attempt : null;
  return { ...rest, attempt, tried, retirement: { episode: 0, failures: 0, wakeAtWallMs: 0, delayMs: 0 } };
}

/**
 * Whether a sub with a plan of its own sees a selection now and did not before, or the other way round. Its input may be
 * equal; but what its own subs see by it is written down in another form, so it has to plan anew.
 */
export function isPlannedOtherwise(
  { plan }: Pick<HandlerRecord, 'plan'>,
  before: PlanEntry | undefined,
  after: PlanEntry,
): boolean {
  if (plan === undefined || before === undefined) return false;
  return (before.selected === undefined) !== (after.selected === undefined);
}

/** Whether two plans have the same subs, in the same order, with equal args. */
export function isSamePlan(before: readonly PlanEntry[], after: readonly PlanEntry[]): boolean {
  if (before.length !== after.length) return false;
  for (let place = 0; place < before.length; place++) {
    const [left, right] = [before[place], after[place]];
    if (left?.id !== right?.id || left?.field !== right?.field || left?.selected !== right?.selected) return false;
    if (!equalData(left?.args, right?.args)) return false;
  }
  return true;
}

/** The args of a sub as those of an attempt. */
export function triedOf(args: unknown): Tried {
  return args === undefined ? {} : { args };
}

/** Most args of one sub that are remembered. */
export const TRIED_MAX = 1000;

/** Each once, the last one at the end. At the bound the oldest goes. */
export function withTried(before: readonly Tried[], tried: Tried): readonly Tried[] {
  const others = before.filter(({ args }) => !equalData(args, tried.args));
  return [...(others.length < TRIED_MAX ? others : others.slice(1)), tried];
}
