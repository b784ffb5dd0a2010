import { compareKeyText, laterEndText } from '../core/key-order.ts';

/**
 * Finds the entries whose interval holds a key, at a cost that follows the matches and the square of a logarithm (M27).
 *
 * ```text
 *   trees   [ 640 nodes ][ 160 ][ 32 ]     each an array by start, with the largest end of each subtree (an implicit
 *                                          balanced tree); each at least twice the next
 *   fresh   [ at most 31, as they came ]
 * ```
 *
 * A new interval is fresh. When there are too many of those they become a tree, together with the trees that are not
 * twice as large: a node is sorted again only when its tree grows by half, so `add` is O(log n) sorts of one node,
 * amortised. A watcher that has not read for two matches leaves, and comes back when it has: an interval that leaves is
 * only switched off, and swept when such make up half.
 */
export class IntervalIndex<T> {
  readonly #compare: Compare;
  readonly #nodes = new Map<T, IntervalNode<T>>();
  #trees: IntervalNode<T>[][] = [];
  #fresh: IntervalNode<T>[] = [];
  /** Nodes that are switched off: at most half of them, or SWEEP_MIN. */
  #offCount = 0;

  /** `compare`: the order of keys; an argument so that a test can count what a visit costs. */
  constructor(compare: Compare = compareKeyText) {
    this.#compare = compare;
  }

  /** Intervals in memory: those in the index, and those that are switched off. */
  get held(): number {
    return this.#nodes.size;
  }

  add(start: string, end: string | undefined, entry: T): void {
    const known = this.#nodes.get(entry);
    if (known !== undefined) {
      if (!known.isOn) this.#offCount--;
      known.isOn = true;
      return;
    }
    const node = { start, end, entry, isOn: true, maxEnd: end };
    this.#nodes.set(entry, node);
    this.#fresh.push(node);
    if (this.#fresh.length >= FRESH_MAX) this.#settle();
  }

  remove(entry: T): void {
    const node = this.#nodes.get(entry);
    if (node === undefined || !node.isOn) return;
    node.isOn = false;
    this.#offCount++;
    if (this.#offCount < SWEEP_MIN || this.#offCount * 2 < this.#nodes.size) return;
    const nodes = this.#swept([...this.#nodes.values()]);
    this.#fresh = [];
    this.#trees = nodes.length === 0 ? [] : [buildTree(nodes, this.#compare)];
  }

  /** Calls `visit` for each entry whose interval holds the key, once. */
  visit(text: string, visit: (entry: T) => void): void {
    if (this.#nodes.size === this.#offCount) return;
    const hits: T[] = [];
    for (const tree of this.#trees) this.#stab(tree, 0, tree.length, text, hits);
    for (const node of this.#fresh) if (this.#compare(node.start, text) <= 0) this.#hit(node, text, hits);
    for (const entry of hits) visit(entry);
  }

  /** Makes a tree of what is fresh, the newest of which is not switched off. */
  #settle(): void {
    let nodes = this.#swept(this.#fresh);
    this.#fresh = [];
    for (;;) {
      const least = this.#trees.at(-1);
      if (least === undefined || least.length >= 2 * nodes.length) break;
      this.#trees.pop();
      nodes = this.#swept(least).concat(nodes);
    }
    this.#trees.push(buildTree(nodes, this.#compare));
  }

  #stab(nodes: IntervalNode<T>[], from: number, to: number, text: string, hits: T[]): void {
    if (from >= to) return;
    const middle = (from + to) >> 1;
    const node = nodes[middle] as IntervalNode<T>;
    if (node.maxEnd !== undefined && this.#compare(text, node.maxEnd) >= 0) return;
    this.#stab(nodes, from, middle, text, hits);
    if (this.#compare(node.start, text) > 0) return;
    this.#hit(node, text, hits);
    this.#stab(nodes, middle + 1, to, text, hits);
  }

  /** The node starts at or below the key. */
  #hit({ isOn, end, entry }: IntervalNode<T>, text: string, hits: T[]): void {
    if (isOn && (end === undefined || this.#compare(text, end) < 0)) hits.push(entry);
  }

  /** Without those that are switched off, which are forgotten. */
  #swept(nodes: readonly IntervalNode<T>[]): IntervalNode<T>[] {
    return nodes.filter(({ entry, isOn }) => {
      if (isOn) return true;
      this.#nodes.delete(entry);
      this.#offCount--;
      return false;
    });
  }
}

/** More are not worth to be looked through at each visit. */
const FRESH_MAX = 32;
/** Fewer intervals that are switched off are not worth a sweep. */
const SWEEP_MIN = 32;

type Compare = (a: string, b: string) => number;

interface IntervalNode<T> {
  readonly start: string;
  readonly end: string | undefined;
  readonly entry: T;
  isOn: boolean;
  /** Largest end in the subtree below; `undefined` is "no upper bound". */
  maxEnd: string | undefined;
}

/** Sorted by start; the middle of each slice is the root of that slice. */
function buildTree<T>(nodes: IntervalNode<T>[], compare: Compare): IntervalNode<T>[] {
  nodes.sort((a, b) => compare(a.start, b.start));
  annotate(nodes, 0, nodes.length);
  return nodes;
}

/** Writes the largest end of each subtree, and answers that of the whole slice, which is not empty. */
function annotate<T>(nodes: IntervalNode<T>[], from: number, to: number): string | undefined {
  const middle = (from + to) >> 1;
  const node = nodes[middle] as IntervalNode<T>;
  let max = node.end;
  if (from < middle) max = laterEndText(max, annotate(nodes, from, middle));
  if (middle + 1 < to) max = laterEndText(max, annotate(nodes, middle + 1, to));
  node.maxEnd = max;
  return max;
}
