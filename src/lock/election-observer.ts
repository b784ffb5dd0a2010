import { byteText } from '../core/key-order.ts';
import { CompactedError } from '../types/errors.ts';
import type { WatchBatch } from '../types/event.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { Store } from '../types/store.ts';
import type { Watch } from '../types/watch.ts';

/**
 * The leaders of an election, one after the other (store:R49).
 *
 * ```text
 *   watch of name/    12: put a(c=7) v2     15: delete a           16: put b(c=9)     17: put c(c=12)
 *   candidates        { a, b }              { b }                  { b' }             { b', c }
 *   yields            a v2                  b                      b'                 nothing
 * ```
 *
 * The candidate with the smallest create revision is the leader. What is yielded comes out of one stream in its order, so a
 * value is never followed by an older one. Memory is one row for each candidate. A reader that lags gets the difference to
 * the newest state, and so misses what was overtaken.
 */
export class LeaderStream<V, K extends Key> implements AsyncIterableIterator<KeyValue<V, K>> {
  readonly #store: Store<V, K>;
  readonly #prefix: K;
  readonly #options: SignalOptions;
  readonly #candidates = new Map<string, KeyValue<V, K>>();
  #watch: Watch<V, K>;
  #last: KeyValue<V, K> | undefined;

  constructor(store: Store<V, K>, prefix: K, options: SignalOptions) {
    this.#store = store;
    this.#prefix = prefix;
    this.#options = options;
    this.#watch = this.#open();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<KeyValue<V, K>, undefined>> {
    for (;;) {
      const batch = await this.#batch();
      if (batch === 'overtaken') continue;
      if (batch === undefined) return { done: true, value: undefined };
      this.#apply(batch);
      const leader = this.#leader();
      if (leader === undefined || isSame(leader, this.#last)) continue;
      this.#last = leader;
      return { done: false, value: leader };
    }
  }

  async return(): Promise<IteratorResult<KeyValue<V, K>, undefined>> {
    await this.#watch.return();
    return { done: true, value: undefined };
  }

  #open(): Watch<V, K> {
    return this.#store.watch({ prefix: this.#prefix }, { ...this.#options, initial: true, onSlow: 'coalesce' });
  }

  /** The next batch; nothing after the end. One that compaction has overtaken begins again with the present state. */
  async #batch(): Promise<WatchBatch<V, K> | 'overtaken' | undefined> {
    try {
      const { value, done } = await this.#watch.next();
      return done === true ? undefined : value;
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      this.#watch = this.#open();
      return 'overtaken';
    }
  }

  #apply(batch: WatchBatch<V, K>): void {
    if (batch.initial === true) this.#candidates.clear();
    for (const event of batch.events) {
      const id = textOf(event.kv.key);
      if (event.type === 'put') this.#candidates.set(id, event.kv);
      else this.#candidates.delete(id);
    }
  }

  #leader(): KeyValue<V, K> | undefined {
    let leader: KeyValue<V, K> | undefined;
    for (const one of this.#candidates.values()) {
      if (leader === undefined || one.createRevision < leader.createRevision) leader = one;
    }
    return leader;
  }
}

function textOf(key: Key): string {
  return key instanceof Uint8Array ? byteText(key) : key;
}

function isSame<V, K extends Key>(one: KeyValue<V, K>, other: KeyValue<V, K> | undefined): boolean {
  return one.createRevision === other?.createRevision && one.modRevision === other.modRevision;
}
