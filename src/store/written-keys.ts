import { compareKeyText, laterEndText, prefixEndText } from '../core/key-order.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';

/** Half-open; without an end, to the last key. */
interface Interval {
  readonly start: string;
  readonly end: string | undefined;
}

/** Ascending, and none touches another. */
type Run = readonly Interval[];

/**
 * A set of keys that ranges cover, which grows and is asked in turns.
 *
 * ```text
 *   #points   { a, k, q }                                    single keys: one probe
 *   #runs     [ [b,d) [f,h) [m,n) [r,s) | [d,e) [t,..) | [i,j) ]     each run at least twice as long as the next one
 * ```
 *
 * A range is a run of its own, and runs of like length are merged, so a question takes one binary search in each of
 * log(n) runs, and to add n ranges takes n log(n) steps, whether they come one by one or in whole sets.
 */
export class WrittenKeys {
  readonly #mode: 'utf8' | 'bytes';
  #points = new Set<string>();
  readonly #runs: Run[] = [];

  constructor(mode: 'utf8' | 'bytes') {
    this.#mode = mode;
  }

  /** Single keys and intervals in memory. */
  get held(): number {
    return this.#points.size + this.#runs.reduce((sum, run) => sum + run.length, 0);
  }

  add(range: ResolvedRange): void {
    if (range.kind === 'point') {
      this.#points.add(range.text);
      return;
    }
    const end = range.kind === 'prefix' ? prefixEndText(range.text, this.#mode) : range.endText;
    this.#push([{ start: range.text, end }]);
  }

  /** Takes in another set, which must not be used any more. */
  take(other: WrittenKeys): void {
    const [most, least] = this.#points.size < other.#points.size ? [other, this] : [this, other];
    for (const text of least.#points) most.#points.add(text);
    this.#points = most.#points;
    for (const run of other.#runs) this.#push(run);
  }

  has(text: string): boolean {
    return this.#points.has(text) || this.#runs.some((run) => runHas(run, text));
  }

  #push(added: Run): void {
    let run = added;
    for (let last = this.#runs.at(-1); last !== undefined && last.length < 2 * run.length; last = this.#runs.at(-1)) {
      this.#runs.pop();
      run = merged(last, run);
    }
    this.#runs.push(run);
  }
}

function merged(a: Run, b: Run): Run {
  const all: Interval[] = [];
  let left = 0;
  let right = 0;
  while (left < a.length || right < b.length) {
    const [one, two] = [a[left], b[right]];
    const isLeft = two === undefined || (one !== undefined && compareKeyText(one.start, two.start) <= 0);
    const next = (isLeft ? one : two) as Interval;
    if (isLeft) left++;
    else right++;
    const last = all.at(-1);
    if (last === undefined || (last.end !== undefined && compareKeyText(next.start, last.end) > 0)) all.push(next);
    else all[all.length - 1] = { start: last.start, end: laterEndText(last.end, next.end) };
  }
  return all;
}

function runHas(run: Run, text: string): boolean {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeyText((run[middle] as Interval).start, text) <= 0) low = middle + 1;
    else high = middle;
  }
  const found = run[low - 1];
  return found !== undefined && (found.end === undefined || compareKeyText(text, found.end) < 0);
}
