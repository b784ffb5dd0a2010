import type { LeaseId } from '../types/lease.ts';
import { compareLeaseIds } from '../types/lease-id.ts';

/** What waits in the queue. Who changes `deadline` has to call `update`. */
export interface Expiring {
  readonly id: LeaseId;
  deadline: number;
  /** Where it is in the heap, kept by the queue alone: -1 outside of it. */
  place: number;
}

/**
 * What expires first: by deadline, then by id as a number (M31). A binary heap whose items know their places, so that one
 * which is kept alive or revoked is found without a search.
 *
 * ```text
 *   items   0: {id 7, 100}             the children of the item at i are at 2i + 1 and 2i + 2,
 *           1: {id 2, 300}             and none of them goes before it
 *           2: {id 9, 100}
 *                                      update({id 7, 400})    9 rises to place 0, 7 sinks to place 2
 * ```
 *
 * Holds exactly one entry for each lease: no number of renewals leaves anything behind. Each change costs the logarithm
 * of the number of leases, a look at the first one nothing. (`Heap` of the queue layer can only take out its first item;
 * renewals would pile up in it until somebody clears them away, all at once.)
 */
export class ExpiryQueue<T extends Expiring> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Says that the deadline of an item in the queue has changed, in whichever direction. */
  update(item: T): void {
    this.#rise(item, item.place);
    this.#sink(item, item.place);
  }

  remove(item: T): void {
    const { place } = item;
    const last = this.#items.pop() as T;
    item.place = -1;
    if (last === item) return;
    // What comes from the end may belong above the gap: the end is of another branch.
    this.#rise(last, place);
    this.#sink(last, last.place);
  }

  /** Lets an item rise from a place that is free for it. */
  #rise(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#items[above] as T;
      if (compare(parent, item) <= 0) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(item, place);
  }

  /** Lets an item sink from a place that is free for it. */
  #sink(item: T, from: number): void {
    let place = from;
    for (;;) {
      // There is no right child without a left one.
      const left = this.#items[2 * place + 1];
      const right = this.#items[2 * place + 2];
      const isRight = right !== undefined && compare(right, left as T) < 0;
      const child = isRight ? right : left;
      if (child === undefined || compare(item, child) <= 0) break;
      this.#put(child, place);
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#put(item, place);
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}

function compare(a: Expiring, b: Expiring): number {
  return a.deadline - b.deadline || compareLeaseIds(a.id, b.id);
}
