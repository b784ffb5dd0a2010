import type { StepLength } from './snapshot-steps.ts';

/** What is sorted in one piece. */
const RUN = 512;
/** Work for each slot, in all of a run and in one merge. */
const SORT_UNITS = 0.5;
const MERGE_UNITS = 0.05;

/**
 * Sorts slots by rank, ascending, in steps: runs first, then twice as long ones merged from two, until there is one.
 *
 * ```text
 *   | 7 2 9 | 4 1 8 | 3 |  ->  | 2 7 9 | 1 4 8 | 3 |  ->  | 1 2 4 7 8 9 | 3 |  ->  | 1 2 3 4 7 8 9 |
 * ```
 */
export function* sortedSlots(
  slots: readonly number[],
  ranks: readonly number[],
  length: StepLength,
): Generator<void, Uint32Array> {
  const rank = (place: number) => ranks[place] as number;
  let order = Uint32Array.from(slots.keys());
  for (let start = 0; start < order.length; start += RUN) {
    order.subarray(start, start + RUN).sort((a, b) => rank(a) - rank(b));
    if (length.isOver(Math.min(RUN, order.length - start) * SORT_UNITS)) yield;
  }
  for (let width = RUN; width < order.length; width *= 2) {
    const merged = new Uint32Array(order.length);
    for (let start = 0; start < order.length; start += width * 2) {
      const middle = Math.min(start + width, order.length);
      const end = Math.min(middle + width, order.length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const isLeft = right >= end || (left < middle && rank(order[left] as number) <= rank(order[right] as number));
        merged[at] = order[isLeft ? left++ : right++] as number;
        if (length.isOver(MERGE_UNITS)) yield;
      }
    }
    order = merged;
  }
  for (let at = 0; at < order.length; at++) order[at] = slots[order[at] as number] as number;
  return order;
}
