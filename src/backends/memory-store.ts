import type { CoreOptions } from '../core/instance.ts';
import { Applier } from '../store/applier.ts';
import {
  checkCompact,
  checkExpect,
  checkOptions,
  checkRange,
  deleteRange,
  NO_OPTIONS,
  SIGNAL_NAMES,
  WRITE_NAMES,
} from '../store/checks.ts';
import { type Change, putChange } from '../store/commit.ts';
import { KeySpace } from '../store/keyspace.ts';
import { Mvcc } from '../store/mvcc.ts';
import { prepareTxn } from '../store/prepare-txn.ts';
import { get, range } from '../store/read.ts';
import type { Retention } from '../store/retention.ts';
import { Branch, compareHolds } from '../store/run-txn.ts';
import { EncodedValues, PlainValues, TrustedValues, type ValuePolicy } from '../store/values.ts';
import type { Clock } from '../types/clock.ts';
import type { Codec } from '../types/codec.ts';
import { ClosedError, ConflictError } from '../types/errors.ts';
import type { Random } from '../types/random.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type {
  CompactResult,
  DeleteOptions,
  DeleteResult,
  GetOptions,
  PutOptions,
  PutResult,
  RangeRequest,
  RangeResult,
  SignalOptions,
  Store,
  StoreStats,
  TxnRequest,
  TxnResult,
  Watch,
  WatchOptions,
} from '../types/store.ts';
import { WatchHub } from '../watch/hub.ts';

export interface MemoryStoreOptions<V> extends CoreOptions {
  readonly module: WebAssembly.Module;
  readonly clock: Clock;
  readonly random: Random;
  /** @default 'utf8' */
  readonly keys?: 'utf8' | 'bytes';
  /** Keeps values as the bytes of this codec. @default plain values */
  readonly codec?: Codec<V>;
  /** `trusted` shares values with the caller, without copy or freeze. @default 'copied' */
  readonly values?: 'copied' | 'trusted';
  readonly retention?: Retention;
}

/**
 * The embedded store: versioned state, watches and retention wired together, nothing durable. It IS the store, with no
 * second copy behind it (D4). A write is a synchronous commit; the promise only keeps the shape
 * that replicas need.
 */
export class MemoryStore<V, K extends Key> implements Store<V, K> {
  readonly identity: string;
  readonly epoch: number = 1;
  readonly #mvcc: Mvcc<V, K>;
  readonly #hub: WatchHub<V, K>;
  readonly #applier: Applier<V, K>;
  #isClosed = false;
  /** A write is under way: user code in it (a getter, a codec, `toJSON`) must not make another one at its revision. */
  #isWriting = false;

  constructor(options: MemoryStoreOptions<V>) {
    const { module, clock, random, retention = {} } = options;
    const keys = new KeySpace<K>(options.keys ?? 'utf8');
    const mvcc = new Mvcc<V, K>({ ...options, module, keys, values: policy(options), revision: 1 });
    this.#mvcc = mvcc;
    this.#hub = new WatchHub(mvcc, { isStarted: true });
    this.#applier = new Applier({ mvcc, listener: this.#hub, clock, retention });
    this.identity = randomId(random);
  }

  get revision(): Revision {
    this.#checkOpen('read the revision');
    return this.#mvcc.window.revision;
  }

  get compactRevision(): Revision {
    this.#checkOpen('read the compact revision');
    return this.#mvcc.window.compactRevision;
  }

  async ready(options: SignalOptions = NO_OPTIONS): Promise<void> {
    const action = 'wait for the store';
    checkOptions(options, SIGNAL_NAMES, action);
    options.signal?.throwIfAborted();
    this.#checkOpen(action);
  }

  get(key: K, options: GetOptions = NO_OPTIONS): KeyValue<V, K> | undefined {
    this.#checkOpen('get a key');
    return get(this.#mvcc, key, options);
  }

  range(request: RangeRequest<K>): RangeResult<V, K> {
    this.#checkOpen('range over keys');
    return range(this.#mvcc, request, this);
  }

  async put(key: K, value: V, options: PutOptions = NO_OPTIONS): Promise<PutResult<V, K>> {
    const action = 'put a key';
    this.#begin(action);
    try {
      checkOptions(options, WRITE_NAMES, action);
      const { expect, prevKv: wantsPrevKv, signal } = options;
      const expected = checkExpect(expect, action);
      signal?.throwIfAborted();
      const mvcc = this.#mvcc;
      const text = mvcc.keys.text(key, action);
      const cell = mvcc.values.admit(value, action);
      const slot = mvcc.slotOf(text, mvcc.window.revision);
      this.#expect(expected, text, slot, action);
      const { core } = mvcc;
      const previous =
        slot < 0 ? undefined : { createRevision: core.createRevision(slot), version: core.version(slot) };
      const prevKv = wantsPrevKv === true && slot >= 0 ? mvcc.kv(slot) : undefined;
      const revision = this.#commit([putChange(text, cell, mvcc.window.revision + 1, previous)], action);
      return prevKv === undefined ? { revision } : { revision, prevKv };
    } finally {
      this.#isWriting = false;
    }
  }

  async delete(target: K | KeyRange<K>, options: DeleteOptions = NO_OPTIONS): Promise<DeleteResult<V, K>> {
    const action = 'delete keys';
    this.#begin(action);
    try {
      checkOptions(options, WRITE_NAMES, action);
      const { expect, prevKv, signal } = options;
      const expected = checkExpect(expect, action);
      signal?.throwIfAborted();
      const mvcc = this.#mvcc;
      const { revision: now } = mvcc.window;
      const resolved = mvcc.resolve(deleteRange(target, expected !== undefined, action), action);
      const { kind, text } = resolved;
      this.#expect(expected, text, kind === 'point' ? mvcc.slotOf(text, now) : -1, action);
      const branch = new Branch(mvcc, now + 1);
      const { deleted, prevKvs } = branch.delete(resolved, prevKv === true);
      const revision = this.#commit(branch.changes, action);
      return prevKvs === undefined ? { revision, deleted } : { revision, deleted, prevKvs };
    } finally {
      this.#isWriting = false;
    }
  }

  async txn(request: TxnRequest<V, K>, options: SignalOptions = NO_OPTIONS): Promise<TxnResult<V, K>> {
    const action = 'run a transaction';
    this.#begin(action);
    try {
      checkOptions(options, SIGNAL_NAMES, action);
      options.signal?.throwIfAborted();
      const mvcc = this.#mvcc;
      const prepared = prepareTxn(mvcc, request);
      const succeeded = compareHolds(mvcc, prepared);
      const branch = new Branch(mvcc, mvcc.window.revision + 1);
      const responses = branch.run(succeeded ? prepared.then : prepared.else);
      return { revision: this.#commit(branch.changes, action), succeeded, responses };
    } finally {
      this.#isWriting = false;
    }
  }

  watch(selected: KeyRange<K>, options: WatchOptions = NO_OPTIONS): Watch<V, K> {
    this.#checkOpen('watch');
    checkRange(selected, 'watch');
    return this.#hub.open(this.#mvcc.resolve(selected, 'watch'), options, this);
  }

  async compact(revision: Revision, options: SignalOptions = NO_OPTIONS): Promise<CompactResult> {
    const action = 'compact';
    this.#checkWritable(action);
    checkOptions(options, SIGNAL_NAMES, action);
    options.signal?.throwIfAborted();
    checkCompact(revision, action);
    return { requested: revision, compactRevision: this.#applier.compact(revision, action) };
  }

  stats(): StoreStats {
    this.#checkOpen('read the stats');
    const { liveKeys, logEntries, versions, memoryBytes } = this.#mvcc.core.stats();
    return { keys: liveKeys, logEntries, storedVersions: versions, watchers: this.#hub.stats, memoryBytes };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hub.close();
    this.#applier.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Publishes changes that were made for the next revision; no change uses no revision (store:R4). Whatever of the user's
   * has run since the write began may have closed the store.
   */
  #commit(changes: readonly Change[], action: string): Revision {
    const { revision } = this.#mvcc.window;
    const bytes = this.#applier.measure(changes);
    this.#checkOpen(action);
    if (changes.length === 0) return revision;
    this.#applier.commit({ revision: revision + 1, changes }, action, bytes);
    return revision + 1;
  }

  #expect(expectedRevision: Revision | undefined, text: string, slot: number, action: string): void {
    if (expectedRevision === undefined) return;
    const actualRevision = slot < 0 ? 0 : this.#mvcc.core.modRevision(slot);
    if (actualRevision !== expectedRevision) {
      throw new ConflictError(action, { key: this.#mvcc.keys.key(text), expectedRevision, actualRevision });
    }
  }

  /** Of a write, all of which happens in one turn. */
  #begin(action: string): void {
    this.#checkWritable(action);
    this.#isWriting = true;
  }

  /** What user code runs between the look at the state and the commit must not pull the state away (M8). */
  #checkWritable(action: string): void {
    this.#checkOpen(action);
    if (this.#mvcc.values.isInCodec) throw new TypeError(`Cannot ${action}: called from inside a codec`);
    if (this.#isWriting) throw new TypeError(`Cannot ${action}: called from inside another write`);
  }

  #checkOpen(action: string): void {
    if (this.#isClosed) throw new ClosedError(action);
  }
}

function policy<V>(options: MemoryStoreOptions<V>): ValuePolicy<V> {
  if (options.values === 'trusted') return new TrustedValues<V>();
  return options.codec === undefined ? new PlainValues<V>() : new EncodedValues(options.codec);
}

/** 64 random bits as hex: enough to tell two data sets apart, as long as they are not from one seed. */
function randomId(random: Random): string {
  const word = () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return word() + word();
}
