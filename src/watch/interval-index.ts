import { compareKeyText } from '../core/key-order.ts';

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
  readonly #nodes = new Map<T, IntervalNode<T>>();
  #trees: IntervalNode<T>[][] = [];
  #fresh: IntervalNode<T>[] = [];
  /** Nodes that are switched off: at most half of them, or SWEEP_MIN. */
  #offCount = 0;

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
    this.#trees = nodes.length === 0 ? [] : [buildTree(nodes)];
  }

  /** Calls `visit` for each entry whose interval holds the key, once. */
  visit(text: string, visit: (entry: T) => void): void {
    if (this.#nodes.size === this.#offCount) return;
    const hits: T[] = [];
    for (const tree of this.#trees) stab(tree, 0, tree.length, text, hits);
    for (const node of this.#fresh) if (compareKeyText(node.start, text) <= 0) hit(node, text, hits);
    for (const entry of hits) visit(entry);
  }

  /** Makes a tree of what is fresh. */
  #settle(): void {
    let nodes = this.#swept(this.#fresh);
    this.#fresh = [];
    if (nodes.length === 0) return;
    for (;;) {
      const least = this.#trees.at(-1);
      if (least === undefined || least.length >= 2 * nodes.length) break;
      this.#trees.pop();
      nodes = this.#swept(least).concat(nodes);
    }
    this.#trees.push(buildTree(nodes));
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
  hit(node, text, hits);
  stab(nodes, middle + 1, to, text, hits);
}

/** The node starts at or below the key. */
function hit<T>(node: IntervalNode<T>, text: string, hits: T[]): void {
  if (node.isOn && (node.end === undefined || compareKeyText(text, node.end) < 0)) hits.push(node.entry);
}
