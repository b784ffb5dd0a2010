import { LimitExceededError } from '../types/errors.ts';
import { stableHash } from './writer-hash.ts';
import { KeyList, WriterKey } from './writer-key.ts';
import { Wakeups } from './writer-wakeups.ts';

/**
 * The keys of a lease, each in its place ({@link WriterKey}), and the moves between the places. Every move costs the same
 * however many keys there are; those with an instant of their own the logarithm of their number.
 *
 * ```text
 *   all      Map of every key that is remembered
 *   pending  list, in the order of their turn          idle   list, idle longest first
 *   wakeups  heap of the parked and the blocked ones
 * ```
 *
 * Bound: `max` keys. Where one more comes, the one that is idle longest is forgotten; with nothing idle the newcomer is
 * refused.
 */
export class WriterKeys {
  readonly pending: KeyList = new KeyList();
  readonly wakeups: Wakeups = new Wakeups();
  readonly #all = new Map<string, WriterKey>();
  readonly #idle = new KeyList();
  readonly #max: number;
  #blocked = 0;
  #parked = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Unexplained conflicts. */
  get blocked(): number {
    return this.#blocked;
  }

  get parked(): number {
    return this.#parked;
  }

  get(key: string): WriterKey | undefined {
    return this.#all.get(key);
  }

  /** `undefined` if there is no room for another one. */
  make(key: string): WriterKey | undefined {
    const found = this.#all.get(key);
    if (found !== undefined) return found;
    if (this.#all.size >= this.#max) {
      const oldest = this.#idle.first;
      if (oldest === undefined) return undefined;
      this.forget(oldest);
    }
    const made = new WriterKey(key);
    this.#all.set(key, made);
    this.#idle.push(made);
    return made;
  }

  /** The same, or `LimitExceededError`. */
  require(key: string, action: string): WriterKey {
    const made = this.make(key);
    if (made !== undefined) return made;
    throw new LimitExceededError(action, { limit: 'keysMax', max: this.#max, actual: this.#max + 1 });
  }

  forget(key: WriterKey): void {
    this.#leave(key);
    key.place = 'gone';
    this.#all.delete(key.key);
  }

  toIdle(key: WriterKey): void {
    this.#leave(key);
    key.place = 'idle';
    this.#idle.push(key);
  }

  /** At the tail. `since` is when it came: earlier than that of others, if it was parked meanwhile. */
  toPending(key: WriterKey, since: number): void {
    this.#leave(key);
    key.place = 'pending';
    key.since = since;
    this.pending.push(key);
  }

  /** Where it was: those that are tried leave from the front, or come back before anything else does. */
  backToPending(key: WriterKey): void {
    this.#leave(key);
    key.place = 'pending';
    this.pending.unshift(key);
  }

  toCalling(key: WriterKey): void {
    this.#leave(key);
    key.place = 'calling';
  }

  toParked(key: WriterKey, wakeAt: number): void {
    this.#leave(key);
    key.place = 'parked';
    this.#parked++;
    this.wakeups.add(key, wakeAt);
  }

  toBlocked(key: WriterKey, wakeAt: number): void {
    this.#leave(key);
    key.place = 'blocked';
    this.#blocked++;
    this.wakeups.add(key, wakeAt);
  }

  /**
   * The pending key with the smallest stable hash that may be written (WL11): a scan, made when a follower acts and not
   * before. Those that may not are put elsewhere by `refused`, which says so.
   */
  probe(refused: (key: WriterKey) => boolean): WriterKey | undefined {
    let least: WriterKey | undefined;
    let leastHash = 0;
    for (let key = this.pending.first; key !== undefined; ) {
      const { next } = key;
      if (!refused(key)) {
        const hash = stableHash(key.key);
        if (least === undefined || hash < leastHash || (hash === leastHash && key.key < least.key)) {
          least = key;
          leastHash = hash;
        }
      }
      key = next;
    }
    return least;
  }

  #leave(key: WriterKey): void {
    if (key.place === 'pending') this.pending.remove(key);
    else if (key.place === 'idle') this.#idle.remove(key);
    else if (key.place === 'parked') this.#parked--;
    else if (key.place === 'blocked') this.#blocked--;
    this.wakeups.remove(key);
  }
}
