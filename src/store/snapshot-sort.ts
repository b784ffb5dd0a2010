import type { StepLength } from './snapshot-steps.ts';

/** What is sorted in one piece. */
const RUN = 256;
/** Work for each place, in all of a run and in one merge. */
const SORT_UNITS = 0.5;
const MERGE_UNITS = 0.05;

/**
 * The places of the ranks in ascending order of rank, equal ones as they come, in steps: runs first, then twice as long
 * ones merged from two, until there is one.
 *
 * ```text
 *   ranks    | 7 2 9 | 4 1 8 | 3 |
 *   places   | 1 0 2 | 4 3 5 | 6 |  ->  | 4 1 3 0 5 2 | 6 |  ->  | 4 1 6 3 0 5 2 |
 * ```
 */
export function* sortedPlaces(ranks: Float64Array, length: StepLength): Generator<void, Uint32Array> {
  const rank = (place: number) => ranks[place] as number;
  let order = new Uint32Array(ranks.length);
  for (let start = 0; start < order.length; start += RUN) {
    const run = order.subarray(start, start + RUN);
    for (let at = 0; at < run.length; at++) run[at] = start + at;
    run.sort((a, b) => rank(a) - rank(b));
    if (length.isOver(run.length * SORT_UNITS)) yield;
  }
  let other = new Uint32Array(order.length);
  for (let width = RUN; width < order.length; width *= 2) {
    for (let start = 0; start < order.length; start += width * 2) {
      const middle = Math.min(start + width, order.length);
      const end = Math.min(middle + width, order.length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const isLeft = right >= end || (left < middle && rank(order[left] as number) <= rank(order[right] as number));
        other[at] = order[isLeft ? left++ : right++] as number;
        if (length.isOver(MERGE_UNITS)) yield;
      }
    }
    [order, other] = [other, order];
  }
  return order;
}
