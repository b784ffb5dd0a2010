// @ts-check

/**
 * The middle value; of an even number, the mean of the two in the middle. A median and not a mean: on a shared machine
 * one round in ten is twice as slow for reasons that have nothing to do with what is measured.
 *
 * @param {readonly number[]} values
 * @returns {number}
 */
export function median(values) {
  if (values.length === 0) throw new RangeError('Cannot take a median: there are no values');
  if (!values.every(Number.isFinite)) throw new RangeError(`Cannot take a median: not all are numbers (${values})`);
  const sorted = [...values].sort((left, right) => left - right);
  const half = sorted.length >> 1;
  const upper = /** @type {number} */ (sorted[half]);
  const lower = /** @type {number} */ (sorted[half - 1] ?? upper);
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

/**
 * The order of contestants in one round: everybody is first once, and everybody has each place equally often.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {number} round from 0
 * @returns {T[]}
 */
export function rotate(items, round) {
  const first = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
