import { Heap } from './heap.ts';

interface Ranked {
  readonly key: string;
  readonly sinceMs: number;
  readonly rank: number;
  readonly turn: number;
}

/** How a list with priorities orders its keys. */
export interface RankOptions {
  /** The priority of a key: the higher, the sooner. Finite. */
  readonly priority: (key: string) => number;
  /** How much longer a key has to have waited to make up for one step of priority, in ms. */
  readonly ageingMs: number;
}

/** Stale places in the heap that are put up with, beside as many as there are keys in line. */
const STALE_MAX = 64;

/**
 * The keys of a queue that are in line.
 *
 * ```text
 *   woken     FIFO                            \  where both have somebody,
 *   in line   FIFO, or by rank, ties FIFO     /  they take turns              --take()--> key
 * ```
 *
 * - The rank of a key is `time it came in line - priority * ageingMs`, the least first. All keys age at the same pace, so
 *   it does not change while they wait, and a binary heap keeps the order.
 * - So a key of priority p is never overtaken in line by one of priority q that comes more than `(q - p) * ageingMs` later.
 * - *Woken* are keys that something is kept for until they run. They have a line of their own, so that it is not kept in vain
 *   behind a long line; and every second turn at most, so that they hold up nobody for ever.
 * - Without priorities it is two sets, in the order of insertion.
 */
export class ReadyList {
  readonly #woken = new Set<string>();
  readonly #inOrder = new Set<string>();
  readonly #places = new Map<string, Ranked>();
  readonly #options: RankOptions | undefined;
  #heap = new Heap<Ranked>(byRank);
  #turns = 0;
  #isWokenNext = true;

  constructor(options: RankOptions | undefined) {
    this.#options = options;
  }

  get size(): number {
    return this.#woken.size + this.#inOrder.size + this.#places.size;
  }

  /** Puts a key in line. */
  add(key: string, nowMs: number): void {
    if (this.#options === undefined) this.#inOrder.add(key);
    else this.#place(key, nowMs, this.#options);
  }

  /** Looks at the priority of a key again. One that has fallen changes nothing before the next time. */
  review(key: string): void {
    const place = this.#places.get(key);
    if (place !== undefined && this.#options !== undefined) this.#place(key, place.sinceMs, this.#options, place);
  }

  /** Puts a key in the line of the woken ones, out of the other one if it is there. */
  wake(key: string): void {
    this.#inOrder.delete(key);
    this.#places.delete(key);
    this.#woken.add(key);
  }

  /** Takes out the key whose turn it is. */
  take(): string | undefined {
    const isWoken = this.#woken.size > 0 && (this.#isWokenNext || this.#inOrder.size + this.#places.size === 0);
    this.#isWokenNext = !isWoken;
    return isWoken ? shift(this.#woken) : (shift(this.#inOrder) ?? this.#takeRanked());
  }

  clear(): void {
    for (const line of [this.#woken, this.#inOrder, this.#places]) line.clear();
    this.#heap = new Heap(byRank);
  }

  #place(key: string, sinceMs: number, { priority, ageingMs }: RankOptions, before?: Ranked): void {
    const rank = sinceMs - priority(key) * ageingMs;
    if (before !== undefined && rank >= before.rank) return;
    const place = { key, sinceMs, rank, turn: before?.turn ?? this.#turns++ };
    this.#places.set(key, place);
    this.#heap.push(place);
    if (this.#heap.size > 2 * this.#places.size + STALE_MAX) {
      this.#heap = new Heap(byRank);
      for (const valid of this.#places.values()) this.#heap.push(valid);
    }
  }

  #takeRanked(): string | undefined {
    for (let first = this.#heap.pop(); first !== undefined; first = this.#heap.pop()) {
      // A heap cannot take out of its middle: who has left, or moved up, has left a place behind.
      if (this.#places.get(first.key) !== first) continue;
      this.#places.delete(first.key);
      return first.key;
    }
    return undefined;
  }
}

function shift(keys: Set<string>): string | undefined {
  const first = keys.values().next();
  if (first.done === true) return undefined;
  keys.delete(first.value);
  return first.value;
}

function byRank(a: Ranked, b: Ranked): number {
  return a.rank - b.rank || a.turn - b.turn;
}
