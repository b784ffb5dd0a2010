import type { LeaseDump } from '../types/lease-dump.ts';

/** A lease in the books; its number is above those of all that were entered before. */
export interface Walked {
  readonly serial: number;
}

export interface LeaseWalkOptions<T extends Walked> {
  /** The books in the order of the numbers; leases may come and go while they are walked. */
  readonly entries: Iterable<T>;
  /** The number of the next lease: it, and what comes later, is not of this walk. */
  readonly end: number;
  /** By the instant at which the walk began. */
  readonly dump: (entry: T) => LeaseDump;
  /** Called once, when nothing has to be kept for the walk any more. */
  readonly onEnd: () => void;
}

/**
 * All leases as they are now, one by one and in no particular order, while the books go on: the dump of hundreds of
 * thousands would stall them.
 *
 * ```text
 *   serial   1  2  3  4  5 | 6  7
 *            ------^       ^ end     3 was the last one; then 2 is renewed: it has been seen
 *                                    4 is renewed, or removed: what it was is kept first
 * ```
 *
 * Whoever does not walk to the end has to call `return`.
 */
export class LeaseWalk<T extends Walked> implements IterableIterator<LeaseDump> {
  readonly #options: LeaseWalkOptions<T>;
  readonly #entries: Iterator<T>;
  /** Number of the last lease that was looked at. */
  #last = -1;
  /** What was changed before it was looked at, as it was before its first change. */
  readonly #kept = new Map<number, LeaseDump>();
  #isOver = false;

  constructor(options: LeaseWalkOptions<T>) {
    this.#options = options;
    this.#entries = options.entries[Symbol.iterator]();
  }

  [Symbol.iterator](): this {
    return this;
  }

  /** A lease is about to change, or to go. */
  keep(entry: T): void {
    const { serial } = entry;
    if (serial <= this.#last || serial >= this.#options.end || this.#kept.has(serial)) return;
    this.#kept.set(serial, this.#options.dump(entry));
  }

  next(): IteratorResult<LeaseDump, undefined> {
    if (this.#isOver) return { done: true, value: undefined };
    const { end, dump } = this.#options;
    const { value: entry, done } = this.#entries.next();
    if (done !== true && entry.serial < end) {
      this.#last = entry.serial;
      const kept = this.#kept.get(entry.serial);
      if (kept === undefined) return { done: false, value: dump(entry) };
      this.#kept.delete(entry.serial);
      return { done: false, value: kept };
    }
    // Those that are left are gone from the books.
    for (const [serial, kept] of this.#kept) {
      this.#kept.delete(serial);
      return { done: false, value: kept };
    }
    return this.return();
  }

  return(): IteratorResult<LeaseDump, undefined> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#kept.clear();
      this.#options.onEnd();
    }
    return { done: true, value: undefined };
  }
}
