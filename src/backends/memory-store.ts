import type { CoreOptions } from '../core/instance.ts';
import { Applier } from '../store/applier.ts';
import { checkCompact, checkExpect, deleteRange } from '../store/checks.ts';
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

  async ready(options: SignalOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    this.#checkOpen('wait for the store');
  }

  get(key: K, options: GetOptions = {}): KeyValue<V, K> | undefined {
    this.#checkOpen('get a key');
    return get(this.#mvcc, key, options);
  }

  range(request: RangeRequest<K>): RangeResult<V, K> {
    this.#checkOpen('range over keys');
    return range(this.#mvcc, request);
  }

  async put(key: K, value: V, options: PutOptions = {}): Promise<PutResult<V, K>> {
    const action = 'put a key';
    this.#checkWritable(action);
    options.signal?.throwIfAborted();
    const mvcc = this.#mvcc;
    const text = mvcc.keys.text(key, action);
    const cell = mvcc.values.admit(value, action);
    const slot = mvcc.slotOf(text, mvcc.window.revision);
    this.#expect(options.expect, text, slot, action);
    const { core } = mvcc;
    const revision = mvcc.window.revision + 1;
    const previous = slot < 0 ? undefined : { createRevision: core.createRevision(slot), version: core.version(slot) };
    const prevKv = options.prevKv === true && slot >= 0 ? mvcc.kv(slot) : undefined;
    this.#applier.commit({ revision, changes: [putChange(text, cell, revision, previous)] }, action);
    return prevKv === undefined ? { revision } : { revision, prevKv };
  }

  async delete(target: K | KeyRange<K>, options: DeleteOptions = {}): Promise<DeleteResult<V, K>> {
    const action = 'delete keys';
    this.#checkWritable(action);
    options.signal?.throwIfAborted();
    const mvcc = this.#mvcc;
    const resolved = mvcc.resolve(deleteRange(target, options.expect !== undefined, action), action);
    const { text } = resolved;
    this.#expect(
      options.expect,
      text,
      resolved.kind === 'point' ? mvcc.slotOf(text, mvcc.window.revision) : -1,
      action,
    );
    const branch = new Branch(mvcc, mvcc.window.revision + 1);
    const { deleted, prevKvs } = branch.delete(resolved, options.prevKv === true);
    const revision = this.#commit(branch.changes, action);
    return prevKvs === undefined ? { revision, deleted } : { revision, deleted, prevKvs };
  }

  async txn(request: TxnRequest<V, K>, options: SignalOptions = {}): Promise<TxnResult<V, K>> {
    const action = 'run a transaction';
    this.#checkWritable(action);
    options.signal?.throwIfAborted();
    const mvcc = this.#mvcc;
    const prepared = prepareTxn(mvcc, request);
    const succeeded = compareHolds(mvcc, prepared);
    const branch = new Branch(mvcc, mvcc.window.revision + 1);
    const responses = branch.run(succeeded ? prepared.then : prepared.else);
    return { revision: this.#commit(branch.changes, action), succeeded, responses };
  }

  watch(selected: KeyRange<K>, options: WatchOptions = {}): Watch<V, K> {
    this.#checkOpen('watch');
    return this.#hub.open(this.#mvcc.resolve(selected, 'watch'), options, this);
  }

  async compact(revision: Revision, options: SignalOptions = {}): Promise<CompactResult> {
    const action = 'compact';
    this.#checkWritable(action);
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

  /** Publishes what a branch changed; nothing changed uses no revision (store:R4). */
  #commit(changes: readonly Change[], action: string): Revision {
    const { revision } = this.#mvcc.window;
    if (changes.length === 0) return revision;
    this.#applier.commit({ revision: revision + 1, changes }, action);
    return revision + 1;
  }

  #expect(expect: PutOptions['expect'], text: string, slot: number, action: string): void {
    const expectedRevision = checkExpect(expect, action);
    if (expectedRevision === undefined) return;
    const actualRevision = slot < 0 ? 0 : this.#mvcc.core.modRevision(slot);
    if (actualRevision !== expectedRevision) {
      throw new ConflictError(action, { key: this.#mvcc.keys.key(text), expectedRevision, actualRevision });
    }
  }

  /** A codec runs between the look at the state and the commit: a write from inside it would pull the state away (M8). */
  #checkWritable(action: string): void {
    this.#checkOpen(action);
    if (this.#mvcc.values.isInCodec) throw new TypeError(`Cannot ${action}: called from inside a codec`);
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
