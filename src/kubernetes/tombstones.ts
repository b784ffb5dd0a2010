import type { Clock } from '../types/clock.ts';

export interface TombstonesOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** How long one is kept, in ms. */
  readonly ttlMs: number;
  /** So many at most; the oldest one goes for a new one. */
  readonly max: number;
}

/** The end of one life, or its leave of the selector. */
export interface Tombstone {
  /** The version at which it is known to be gone: of its DELETED, or of the list that did not have it. */
  readonly goneAt: string;
  /** It was deleted, and did not only leave the selector: this uid never comes back. */
  readonly isFinal: boolean;
}

/**
 * Uids that have gone, for as long as an event about them may still be on its way (IN3).
 *
 * ```text
 *   uid -> version, when       in the order of when: the oldest one is the first of the Map
 * ```
 *
 * What was forgotten before its last event came is taken for an object again, until the next list says that it is none.
 */
export class Tombstones {
  readonly #options: TombstonesOptions;
  readonly #byUid = new Map<string, Tombstone & { readonly at: number }>();

  constructor(options: TombstonesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byUid.size;
  }

  add(uid: string, tombstone: Tombstone): void {
    const at = this.#options.clock.now();
    this.#byUid.delete(uid);
    this.#byUid.set(uid, { ...tombstone, at });
    for (const [oldest, { at: since }] of this.#byUid) {
      if (this.#byUid.size <= this.#options.max && at - since < this.#options.ttlMs) break;
      this.#byUid.delete(oldest);
    }
  }

  get(uid: string): Tombstone | undefined {
    const found = this.#byUid.get(uid);
    if (found === undefined || this.#options.clock.now() - found.at < this.#options.ttlMs) return found;
    this.#byUid.delete(uid);
    return undefined;
  }

  delete(uid: string): void {
    this.#byUid.delete(uid);
  }
}
