import type { ResolvedRange } from '../types/resolved-range.ts';
import { IntervalIndex } from './interval-index.ts';

/**
 * Finds the entries whose range holds a key, at a cost that follows the matches and not the number of entries (M27).
 *
 * ```text
 *   points     Map  key    -> entry, or entries          one probe
 *   prefixes   Map  prefix -> entry, or entries, and the lengths in use: { 9: 120 entries, 17: 3 }     one probe a length
 *   intervals  trees; true intervals are rare, lists and watches of real users are prefixes
 * ```
 *
 * `add` and `remove` are O(1), of intervals amortised and but for a logarithm. An entry that is in the index is found at
 * most once per key.
 */
export class WakeIndex<T> {
  readonly #points = new Map<string, T | Several<T>>();
  readonly #prefixes = new Map<string, T | Several<T>>();
  /** Number of prefixes in use by length, so that a key is probed only at those. */
  readonly #lengths = new Map<number, number>();
  readonly #intervals = new IntervalIndex<T>();

  /** What is in memory: keys and prefixes with an entry, lengths of prefixes, intervals as `IntervalIndex.held` has them. */
  get held(): { readonly texts: number; readonly lengths: number; readonly intervals: number } {
    return {
      texts: this.#points.size + this.#prefixes.size,
      lengths: this.#lengths.size,
      intervals: this.#intervals.held,
    };
  }

  add(range: ResolvedRange, entry: T): void {
    if (range.kind === 'interval') {
      this.#intervals.add(range.text, range.endText, entry);
      return;
    }
    const map = range.kind === 'point' ? this.#points : this.#prefixes;
    const found = map.get(range.text);
    if (found !== undefined) {
      if (found instanceof Several) found.add(entry);
      else if (found !== entry) map.set(range.text, new Several([found, entry]));
      return;
    }
    map.set(range.text, entry);
    if (range.kind === 'prefix') {
      const length = range.text.length;
      this.#lengths.set(length, (this.#lengths.get(length) ?? 0) + 1);
    }
  }

  remove(range: ResolvedRange, entry: T): void {
    if (range.kind === 'interval') {
      this.#intervals.remove(entry);
      return;
    }
    const map = range.kind === 'point' ? this.#points : this.#prefixes;
    const found = map.get(range.text);
    if (found instanceof Several ? !found.delete(entry) || found.size > 0 : found !== entry) return;
    map.delete(range.text);
    if (range.kind === 'prefix') {
      const length = range.text.length;
      const left = (this.#lengths.get(length) as number) - 1;
      if (left === 0) this.#lengths.delete(length);
      else this.#lengths.set(length, left);
    }
  }

  /**
   * Calls `visit` for each entry whose range holds the key. `visit` may remove the entry it is given, and adds none: the
   * sets are not copied.
   */
  visit(text: string, visit: (entry: T) => void): void {
    visitAll(this.#points.get(text), visit);
    if (this.#prefixes.size > 0) {
      for (const length of this.#lengths.keys()) {
        if (length > text.length) continue;
        visitAll(this.#prefixes.get(length === text.length ? text : text.slice(0, length)), visit);
      }
    }
    this.#intervals.visit(text, visit);
  }
}

/** The entries of one key or prefix, where there is more than one: a set for each would be half the cost of a watch. */
class Several<T> extends Set<T> {}

function visitAll<T>(found: T | Several<T> | undefined, visit: (entry: T) => void): void {
  if (found instanceof Several) found.forEach(visit);
  else if (found !== undefined) visit(found);
}
