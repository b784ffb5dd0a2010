import type { Revision } from '../types/revision.ts';

/** What is kept here: it moves on by itself, and then counts at its old position no longer. */
export interface Pending {
  readonly state: string;
  readonly position: Revision;
}

/**
 * The watchers with something to deliver, by the revision they wait at, so that compaction pays for those it ends and not
 * for those it passes by (M26, store:R37).
 *
 * ```text
 *   buckets  Map  7 -> { count 2, entries [a, b] }      entries may hold ones that have left, less than half of them
 *                 9 -> { count 1, entries [c, (d)] }    no bucket without one that has not
 *   heap     [7, 9, (8)]                                least position first; (8) has no bucket any more
 * ```
 *
 * All watchers of one prefix come and go at the same position: to come is a push, to leave takes one from a count.
 */
export class PendingWatchers<T extends Pending> {
  readonly #buckets = new Map<Revision, Bucket<T>>();
  /** Has every position that has a bucket, and at most as many others, or STALE_MIN. */
  #heap: Revision[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What is in memory: entries, those that have left among them, and positions. */
  get held(): { readonly entries: number; readonly positions: number } {
    let entries = 0;
    for (const bucket of this.#buckets.values()) entries += bucket.entries.length;
    return { entries, positions: this.#heap.length };
  }

  /** The entry is pending at its position, and at no other. */
  add(entry: T): void {
    const { position } = entry;
    this.#size++;
    const bucket = this.#buckets.get(position);
    if (bucket === undefined) {
      this.#buckets.set(position, { count: 1, entries: [entry] });
      push(this.#heap, position);
      return;
    }
    bucket.count++;
    bucket.entries.push(entry);
  }

  /** One that was pending at the position has moved on, or ended; it says so itself by now. Nobody waits at 0. */
  left(position: Revision): void {
    const bucket = this.#buckets.get(position);
    if (bucket === undefined) return;
    this.#size--;
    bucket.count--;
    const { count, entries } = bucket;
    if (count === 0) this.#drop(position);
    else if (entries.length > STALE_MIN && count * 2 < entries.length) bucket.entries = here(entries, position);
  }

  /** Takes out those below the revision, in the order of their positions. */
  takeBelow(revision: Revision): T[] {
    const taken: T[] = [];
    while (this.#heap.length > 0 && (this.#heap[0] as Revision) < revision) {
      const position = pop(this.#heap);
      const bucket = this.#buckets.get(position);
      if (bucket === undefined) continue;
      this.#buckets.delete(position);
      this.#size -= bucket.count;
      for (const entry of here(bucket.entries, position)) taken.push(entry);
    }
    return taken;
  }

  #drop(position: Revision): void {
    this.#buckets.delete(position);
    if (this.#heap[0] === position) pop(this.#heap);
    else if (this.#heap.length > STALE_MIN && this.#buckets.size * 2 < this.#heap.length) {
      // Ascending, which is a heap as well.
      this.#heap = [...this.#buckets.keys()].sort((a, b) => a - b);
    }
  }
}

interface Bucket<T> {
  count: number;
  entries: T[];
}

/** Fewer that have left are not worth a sweep. */
const STALE_MIN = 32;

function here<T extends Pending>(entries: readonly T[], position: Revision): T[] {
  return entries.filter((entry) => entry.state === 'pending' && entry.position === position);
}

/** A binary heap: no item is above the two at 2i + 1 and 2i + 2. Positions rise, so that a push mostly stays where it is. */
function push(heap: Revision[], item: Revision): void {
  let place = heap.length;
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above] as Revision;
    if (parent <= item) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = item;
}

/** Takes the least item of a heap that is not empty. */
function pop(heap: Revision[]): Revision {
  const least = heap[0] as Revision;
  const last = heap.pop() as Revision;
  if (heap.length === 0) return least;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child + 1 < heap.length && (heap[child + 1] as Revision) < (heap[child] as Revision)) child++;
    if (child >= heap.length || last <= (heap[child] as Revision)) break;
    heap[place] = heap[child] as Revision;
    place = child;
  }
  heap[place] = last;
  return least;
}
