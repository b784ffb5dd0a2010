import type { Observation } from '../types/writer-lease.ts';

/** Observations of one key that are kept at most while its write is under way. */
const MAX = 64;

/**
 * What the watch shows of a key while its write is under way: looked at after the answer, because an own echo that is
 * faster than the response looks like a rival's write (WL19).
 *
 * ```text
 *   write sent ---- observe 7 ---- observe 9 ---- written at 7 ---> 7 is mine, 9 is looked at
 * ```
 *
 * Bound: 64. Above it the newest takes the place of the one before, as in a watch that leaves steps out.
 */
export class HeldBack {
  #items: Observation<unknown>[] = [];

  add(observation: Observation<unknown>): void {
    const last = this.#items.at(-1);
    if (this.#items.length < MAX || last === undefined) this.#items.push(observation);
    else this.#items[MAX - 1] = merge(last, observation);
  }

  /** Hands out all of them, in order. */
  take(): readonly Observation<unknown>[] {
    if (this.#items.length === 0) return NOTHING;
    const taken = this.#items;
    this.#items = [];
    return taken;
  }
}

const NOTHING: readonly Observation<unknown>[] = [];

/** Values are compared when they are looked at; flags were compared with what is left out here. */
function merge(last: Observation<unknown>, next: Observation<unknown>): Observation<unknown> {
  if (next.revision <= last.revision) return last;
  if (!('satisfied' in last) || !('satisfied' in next)) return next;
  return { ...next, changed: last.changed || next.changed };
}
