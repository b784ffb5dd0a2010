import { InvalidKeyError, LimitExceededError } from '../types/errors.ts';
import { ACTION } from './keyed-options.ts';
import { LockNode } from './lock-node.ts';

/** Segments of a key: one look each for every request, and a node each for every key that is in use. */
const SEGMENTS_MAX = 64;

/**
 * The nodes of keys in use, of their ancestors, and of free keys that are remembered.
 *
 * ```text
 *   #nodes      a   a/b   a/b/x   a/c   d          a is there for those below it only
 *   #oldest     d <-> a/c <-> a/b/x     #newest    those that were used last: when there are more than `idleMax`, the oldest
 *                                                  one is forgotten, unless it is in use
 * ```
 *
 * A node is in the tree as long as it is used, remembered, or has children there. So with `idleMax` 0 the tree of free keys
 * is empty, and it never has more nodes than requests and remembered keys have segments. A key that is used again and
 * again stays the newest, which costs nothing.
 *
 * Keys are names of paths: `''` is the root above all, and the key of what begins with a slash is below the node of an
 * empty first segment, which the map has under `''`. Nobody can lock that as a key, but as the prefix `/`.
 */
export class LockTree {
  readonly root: LockNode = new LockNode('', undefined);
  readonly #nodes = new Map<string, LockNode>();
  readonly #idleMax: number;
  #oldest: LockNode | undefined;
  #newest: LockNode | undefined;
  #remembered = 0;
  #used = 0;

  constructor(idleMax: number) {
    this.#idleMax = idleMax;
  }

  /** Nodes, without the root. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Free keys that are remembered. */
  idle(): number {
    let count = 0;
    for (let node = this.#oldest; node !== undefined; node = node.newer) if (!node.isUsed) count++;
    return count;
  }

  get used(): number {
    return this.#used;
  }

  /** Every node, the root too. */
  *nodes(): Generator<LockNode, void> {
    yield this.root;
    yield* this.#nodes.values();
  }

  find(key: string): LockNode | undefined {
    return this.#nodes.get(key);
  }

  /** The node of a key; whoever does not use it has to `settle` it. Throws TypeError, InvalidKeyError, LimitExceededError. */
  node(key: string): LockNode {
    // An empty key would find the node of the prefix `/`.
    return (key === '' ? undefined : this.#nodes.get(key)) ?? this.#create(key, false);
  }

  /** The node of a prefix, which may end with a slash; `''` is the root. */
  prefix(prefix: string): LockNode {
    if (prefix === '') return this.root;
    checkText(prefix);
    const key = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
    return this.#nodes.get(key) ?? this.#create(key, true);
  }

  /** The first request at a node has come. */
  use(): void {
    this.#used++;
  }

  /** The last one has gone. */
  unuse(node: LockNode): void {
    this.#used--;
    node.queue = undefined;
    if (node !== this.#newest) this.settle(node);
  }

  /** A node that nobody uses is remembered, if it was ever locked, or goes. */
  settle(node: LockNode): void {
    if (node.isUsed || node === this.root || node === this.#newest) return;
    if (node.isRemembered) this.#unlink(node);
    if (this.#idleMax === 0 || !node.wasLocked) {
      this.#forget(node);
      return;
    }
    this.#link(node);
    if (this.#remembered <= this.#idleMax || this.#oldest === undefined) return;
    const oldest = this.#oldest;
    this.#unlink(oldest);
    // One in use comes back when it is free again.
    if (!oldest.isUsed) this.#forget(oldest);
  }

  #create(key: string, isPrefix: boolean): LockNode {
    checkText(key);
    if (key === '' && !isPrefix) throw new InvalidKeyError(ACTION, 'the key is empty', key);
    return this.#grow(key);
  }

  /** Makes what is missing on the way from the root: mostly the last node alone. */
  #grow(key: string): LockNode {
    const slash = key.lastIndexOf('/');
    const above = slash < 0 ? '' : key.slice(0, slash);
    const parent = slash < 0 ? this.root : (this.#nodes.get(above) ?? this.#growAbove(key, above));
    if (parent.depth >= SEGMENTS_MAX) throw tooDeep(key);
    const node = new LockNode(key, parent);
    parent.children++;
    this.#nodes.set(key, node);
    return node;
  }

  /** Nothing is made for a key that is too deep: else what was made for it would stay. */
  #growAbove(key: string, above: string): LockNode {
    if (segmentsOf(key) > SEGMENTS_MAX) throw tooDeep(key);
    return this.#grow(above);
  }

  /** Drops what was counted, and what is in the tree for nobody else. */
  #forget(node: LockNode): void {
    node.reads = 0;
    node.writes = 0;
    node.counts = undefined;
    for (let gone = node; gone.children === 0 && !gone.isUsed && !gone.isRemembered; ) {
      const { parent } = gone;
      if (parent === undefined) return;
      this.#nodes.delete(gone.key);
      parent.children--;
      gone = parent;
    }
  }

  #link(node: LockNode): void {
    const newest = this.#newest;
    node.older = newest;
    if (newest === undefined) this.#oldest = node;
    else newest.newer = node;
    this.#newest = node;
    node.isRemembered = true;
    this.#remembered++;
  }

  #unlink(node: LockNode): void {
    const { older, newer } = node;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    node.older = undefined;
    node.newer = undefined;
    node.isRemembered = false;
    this.#remembered--;
  }
}

function segmentsOf(key: string): number {
  return key.split('/').length;
}

function tooDeep(key: string): LimitExceededError {
  return new LimitExceededError(ACTION, { limit: 'segments', max: SEGMENTS_MAX, actual: segmentsOf(key) });
}

function checkText(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw new TypeError(`Cannot ${ACTION}: the key is of type ${typeof key}, not a string`);
}
