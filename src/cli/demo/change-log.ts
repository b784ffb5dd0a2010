import type { BackendWatchItem } from '../../types/backend.ts';
import type { Revision } from '../../types/revision.ts';

export type LogItem = Exclude<BackendWatchItem, { readonly type: 'open' }>;

/** Items kept; a connection that is further behind has to list again. */
export const LOG_ITEMS_MAX = 10_000;

/**
 * What a backend still knows of its past: changes and progress marks in order of revision, the newest `LOG_ITEMS_MAX`.
 *
 * ```text
 *      dropped        floor                     newest
 *   ..............  [ 800100  800103  800110  ... ]        a watch may start at the floor and above
 * ```
 */
export class ChangeLog {
  #items: LogItem[] = [];
  #floor: Revision = 0;

  /** Smallest revision that a watch may start from. */
  get floor(): Revision {
    return this.#floor;
  }

  /** The revision is above all others: the caller has checked it. */
  append(item: LogItem): void {
    this.#items.push(item);
    // Half at a time, so that the cost of moving the rest is shared by many.
    if (this.#items.length > LOG_ITEMS_MAX * 1.5) this.compact(this.#revisionAt(this.#items.length - LOG_ITEMS_MAX));
  }

  /** Drops what is below the revision. */
  compact(revision: Revision): void {
    if (revision <= this.#floor) return;
    this.#items = this.#items.slice(this.#indexOf(revision));
    this.#floor = revision;
  }

  /** The first item at or above the revision. */
  from(revision: Revision): LogItem | undefined {
    return this.#items[this.#indexOf(revision)];
  }

  /** How many items are at or above the revision. */
  countFrom(revision: Revision): number {
    return this.#items.length - this.#indexOf(revision);
  }

  #indexOf(revision: Revision): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#revisionAt(middle) < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #revisionAt(index: number): Revision {
    return this.#items[index]?.revision ?? Number.POSITIVE_INFINITY;
  }
}
