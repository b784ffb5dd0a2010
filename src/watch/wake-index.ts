import type { ResolvedRange } from '../types/resolved-range.ts';
import { IntervalIndex } from './interval-index.ts';
import { PrefixFilter } from './prefix-filter.ts';

/**
 * Finds the entries whose range holds a key, at a cost that follows the matches and not the number of entries (M27).
 *
 * ```text
 *   points     Map  key    -> entry, or entries          one probe
 *   prefixes   Map  prefix -> entry, or entries     one pass over the key, a probe for each prefix that a filter lets through
 *   intervals  trees; true intervals are rare, lists and watches of real users are prefixes
 * ```
 *
 * `add` and `remove` are O(1), of intervals amortised and but for a logarithm. An entry that is in the index is found at
 * most once per key.
 */
export class WakeIndex<T> {
  readonly #points = new Map<string, T | Several<T>>();
  readonly #prefixes = new Map<string, T | Several<T>>();
  readonly #filter = new PrefixFilter(this.#prefixes);
  readonly #intervals = new IntervalIndex<T>();

  /** What is in memory: keys and prefixes with an entry, lengths of prefixes, intervals as `IntervalIndex.held` has them. */
  get held(): { readonly texts: number; readonly lengths: number; readonly intervals: number } {
    return {
      texts: this.#points.size + this.#prefixes.size,
      lengths: this.#filter.held.lengths,
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
    if (range.kind === 'prefix') this.#filter.add(range.text);
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
    if (range.kind === 'prefix') this.#filter.remove(range.text);
  }

  /**
   * Calls `visit` for each entry whose range holds the key. `visit` may remove the entry it is given, and adds none: the
   * sets are not copied.
   */
  visit(text: string, visit: (entry: T) => void): void {
    visitAll(this.#points.get(text), visit);
    this.#filter.visit(text, (prefix) => visitAll(this.#prefixes.get(prefix), visit));
    this.#intervals.visit(text, visit);
  }
}

/** The entries of one key or prefix, where there is more than one: a set for each would be half the cost of a watch. */
class Several<T> extends Set<T> {}

function visitAll<T>(found: T | Several<T> | undefined, visit: (entry: T) => void): void {
  if (found instanceof Several) found.forEach(visit);
  else if (found !== undefined) visit(found);
}
