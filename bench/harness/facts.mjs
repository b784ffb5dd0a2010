// @ts-check
// What several processes found out beside their rates, put together.
import { median } from './statistics.mjs';

/**
 * One set of facts of those of all processes: of a number the median, of a yes or no what most say, so that "under 1 ms"
 * agrees with the milliseconds beside it; within objects and arrays one by one. Anything else is the first process's, and
 * so is all that not every process has in the same shape. Throws `RangeError` when there is no process.
 *
 * @template T
 * @param {readonly T[]} processes
 * @returns {T}
 */
export function medianFacts(processes) {
  return /** @type {T} */ (merged(processes));
}

/** @param {readonly unknown[]} values @returns {unknown} */
function merged(values) {
  const [first] = values;
  if (values.every((value) => typeof value === 'number')) return median(values);
  if (values.every((value) => typeof value === 'boolean')) return median(values.map(Number)) > 0.5;
  if (values.every(Array.isArray)) {
    if (values.some(({ length }) => length !== values[0]?.length)) return first;
    return values[0]?.map((_, place) => merged(values.map((value) => value[place])));
  }
  if (!values.every(isRecord)) return first;
  return Object.fromEntries(
    Object.keys(values[0] ?? {}).map((name) => [name, merged(values.map((value) => value[name]))]),
  );
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
