import type { Entry, LifeEnd, PendingChange } from './entry.ts';

/**
 * Changes in the order in which their keys came, coalesced: a state takes the place of one of the same life that still waits. The end
 * of a life is never merged with the state before it, nor with the next life (RC4, RC11).
 */
export class Pending<T, I> {
  readonly #isCoalescing: boolean;
  #changes: PendingChange<T, I>[] = [];
  #head = 0;
  #coalesced = 0;
  #taken = 0;

  constructor(options: { readonly isCoalescing: boolean }) {
    this.#isCoalescing = options.isCoalescing;
  }

  get size(): number {
    return this.#changes.length - this.#head;
  }

  /** Changes that have come in one after the other, and how many of them have been taken: who notes the first knows when all are in. */
  get pushed(): number {
    return this.#taken + this.size;
  }

  get taken(): number {
    return this.#taken;
  }

  /** States that another one took the place of. */
  get coalesced(): number {
    return this.#coalesced;
  }

  /** Whether there is one more that waits. */
  put(entry: Entry<T, I>, uid: string, object: T): boolean {
    const waiting = entry.pending;
    if (this.#isCoalescing && waiting?.object !== undefined && waiting.uid === uid) {
      waiting.object = object;
      this.#coalesced++;
      return false;
    }
    this.#add({ entry, uid, object, end: undefined });
    return true;
  }

  remove(entry: Entry<T, I>, uid: string, end: LifeEnd<T>): void {
    this.#add({ entry, uid, object: undefined, end });
  }

  /** The oldest one. */
  take(): PendingChange<T, I> | undefined {
    const change = this.#changes[this.#head];
    if (change === undefined) return undefined;
    this.#head++;
    this.#taken++;
    if (this.#head === this.#changes.length) {
      this.#changes = [];
      this.#head = 0;
    }
    if (change.entry.pending === change) change.entry.pending = undefined;
    return change;
  }

  #add(change: PendingChange<T, I>): void {
    change.entry.pending = change;
    this.#changes.push(change);
  }
}
