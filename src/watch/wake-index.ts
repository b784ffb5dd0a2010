import { compareKeyText } from '../core/key-order.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';

/**
 * Finds the entries whose range holds a key, at a cost that follows the matches and not the number of entries (M27).
 *
 * ```text
 *   points     Map  key    -> entry, or entries          one probe
 *   prefixes   Map  prefix -> entry, or entries, and the lengths in use: { 9: 120 entries, 17: 3 }     one probe a length
 *   intervals  array by start, with the largest end of each subtree (an implicit balanced tree); true intervals are
 *              rare, lists and watches of real users are prefixes
 * ```
 *
 * `add` and `remove` are O(1), but that the first visit after a new interval sorts them again. A watcher leaves at each
 * wake-up and comes back when it has read, so an interval that leaves is only switched off, and swept when such make up
 * half. An entry that is in the index is found at most once per key.
 */
export class WakeIndex<T> {
  readonly #points = new Map<string, T | Several<T>>();
  readonly #prefixes = new Map<string, T | Several<T>>();
  /** Number of prefixes in use by length, so that a key is probed only at those. */
  readonly #lengths = new Map<number, number>();
  readonly #intervals = new Map<T, IntervalNode<T>>();
  /** Intervals that are switched off: at most half of them, or SWEEP_MIN. */
  #offCount = 0;
  #tree: IntervalNode<T>[] | undefined;

  add(range: ResolvedRange, entry: T): void {
    if (range.kind === 'interval') {
      this.#addInterval(range.text, range.endText, entry);
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
      this.#removeInterval(entry);
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

  /** Calls `visit` for each entry whose range holds the key. `visit` may remove entries, the visited one too. */
  visit(text: string, visit: (entry: T) => void): void {
    visitAll(this.#points.get(text), visit);
    if (this.#prefixes.size > 0) {
      for (const length of [...this.#lengths.keys()]) {
        if (length > text.length) continue;
        visitAll(this.#prefixes.get(length === text.length ? text : text.slice(0, length)), visit);
      }
    }
    if (this.#intervals.size > this.#offCount) {
      this.#tree ??= buildTree([...this.#intervals.values()]);
      const hits: T[] = [];
      stab(this.#tree, 0, this.#tree.length, text, hits);
      for (const entry of hits) visit(entry);
    }
  }

  #addInterval(start: string, end: string | undefined, entry: T): void {
    const known = this.#intervals.get(entry);
    if (known === undefined) {
      this.#intervals.set(entry, { start, end, entry, isOn: true, maxEnd: end });
      this.#tree = undefined;
    } else if (!known.isOn) {
      known.isOn = true;
      this.#offCount--;
    }
  }

  #removeInterval(entry: T): void {
    const node = this.#intervals.get(entry);
    if (node === undefined || !node.isOn) return;
    node.isOn = false;
    this.#offCount++;
    if (this.#offCount < SWEEP_MIN || this.#offCount * 2 < this.#intervals.size) return;
    for (const { entry: off, isOn } of [...this.#intervals.values()]) if (!isOn) this.#intervals.delete(off);
    this.#offCount = 0;
    this.#tree = undefined;
  }
}

/** The entries of one key or prefix, where there is more than one: a set for each would be half the cost of a watch. */
class Several<T> extends Set<T> {}

function visitAll<T>(found: T | Several<T> | undefined, visit: (entry: T) => void): void {
  if (found instanceof Several) for (const entry of [...found]) visit(entry);
  else if (found !== undefined) visit(found);
}

/** Fewer intervals that are switched off are not worth a sweep. */
const SWEEP_MIN = 32;

interface IntervalNode<T> {
  readonly start: string;
  readonly end: string | undefined;
  readonly entry: T;
  isOn: boolean;
  /** Largest end in the subtree below; `undefined` is "no upper bound". */
  maxEnd: string | undefined;
}

/** Sorted by start; the middle of each slice is the root of that slice. */
function buildTree<T>(nodes: IntervalNode<T>[]): IntervalNode<T>[] {
  nodes.sort((a, b) => compareKeyText(a.start, b.start));
  annotate(nodes, 0, nodes.length);
  return nodes;
}

function annotate<T>(nodes: IntervalNode<T>[], from: number, to: number): string | undefined | null {
  if (from >= to) return null;
  const middle = (from + to) >> 1;
  const node = nodes[middle] as IntervalNode<T>;
  let max = node.end;
  for (const below of [annotate(nodes, from, middle), annotate(nodes, middle + 1, to)]) {
    if (below === null) continue;
    if (below === undefined || max === undefined) max = undefined;
    else if (compareKeyText(below, max) > 0) max = below;
  }
  node.maxEnd = max;
  return max;
}

function stab<T>(nodes: IntervalNode<T>[], from: number, to: number, text: string, hits: T[]): void {
  if (from >= to) return;
  const middle = (from + to) >> 1;
  const node = nodes[middle] as IntervalNode<T>;
  if (node.maxEnd !== undefined && compareKeyText(text, node.maxEnd) >= 0) return;
  stab(nodes, from, middle, text, hits);
  if (compareKeyText(node.start, text) > 0) return;
  if (node.isOn && (node.end === undefined || compareKeyText(text, node.end) < 0)) hits.push(node.entry);
  stab(nodes, middle + 1, to, text, hits);
}
