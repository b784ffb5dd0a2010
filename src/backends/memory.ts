import type { CoreOptions } from '../core/instance.ts';
import { Applier } from '../store/applier.ts';
import type { Change } from '../store/commit.ts';
import { KeySpace } from '../store/keyspace.ts';
import { Mvcc } from '../store/mvcc.ts';
import { get, range } from '../store/read.ts';
import type { Retention } from '../store/retention.ts';
import { compareHolds, prepareTxn, runBranch, tombstone } from '../store/txn.ts';
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
 * second copy behind it (ARCHITECTURE decision 4). A write is a synchronous commit; the promise only keeps the shape
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
    const revision = mvcc.window.revision + 1;
    const isNew = slot < 0;
    const change: Change = {
      text,
      type: 'put',
      cell,
      createRevision: isNew ? revision : mvcc.core.createRevision(slot),
      modRevision: revision,
      version: isNew ? 1 : mvcc.core.version(slot) + 1,
      lease: '0',
    };
    const prevKv = options.prevKv === true && !isNew ? mvcc.kv(slot) : undefined;
    this.#applier.commit({ revision, changes: [change] }, action);
    return prevKv === undefined ? { revision } : { revision, prevKv };
  }

  async delete(target: K | KeyRange<K>, options: DeleteOptions = {}): Promise<DeleteResult<V, K>> {
    const action = 'delete keys';
    this.#checkWritable(action);
    options.signal?.throwIfAborted();
    const mvcc = this.#mvcc;
    const selected = isKey<K>(target) ? { key: target } : target;
    const resolved = mvcc.resolve(selected, action);
    if (options.expect !== undefined) {
      if (resolved.kind !== 'point') throw new TypeError(`Cannot ${action}: expect needs a single key`);
      this.#expect(options.expect, resolved.text, mvcc.slotOf(resolved.text, mvcc.window.revision), action);
    }
    const slots = mvcc.slots(resolved, mvcc.window.revision, 0).slice();
    const prevKvs = options.prevKv === true ? Array.from(slots, (slot) => mvcc.kv(slot)) : undefined;
    let revision = mvcc.window.revision;
    if (slots.length > 0) {
      revision++;
      const changes = Array.from(slots, (slot) => tombstone(mvcc.textAt(slot), revision));
      this.#applier.commit({ revision, changes }, action);
    }
    const result = { revision, deleted: slots.length };
    return prevKvs === undefined ? result : { ...result, prevKvs };
  }

  async txn(request: TxnRequest<V, K>, options: SignalOptions = {}): Promise<TxnResult<V, K>> {
    const action = 'run a transaction';
    this.#checkWritable(action);
    options.signal?.throwIfAborted();
    const mvcc = this.#mvcc;
    const prepared = prepareTxn(mvcc, request);
    const succeeded = compareHolds(mvcc, prepared);
    let revision = mvcc.window.revision;
    const { responses, changes } = runBranch(mvcc, succeeded ? prepared.then : prepared.else, revision + 1);
    if (changes.length > 0) {
      revision++;
      this.#applier.commit({ revision, changes }, action);
    }
    return { revision, succeeded, responses };
  }

  watch(selected: KeyRange<K>, options: WatchOptions = {}): Watch<V, K> {
    this.#checkOpen('watch');
    return this.#hub.open(this.#mvcc.resolve(selected, 'watch'), options, this.identity);
  }

  async compact(revision: Revision, options: SignalOptions = {}): Promise<CompactResult> {
    const action = 'compact';
    this.#checkWritable(action);
    options.signal?.throwIfAborted();
    if (!Number.isSafeInteger(revision) || revision < 0) {
      throw new RangeError(`Cannot ${action}: the revision is ${revision}, allowed is a safe integer from 0 on`);
    }
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
    this.#applier.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #expect(expect: PutOptions['expect'], text: string, slot: number, action: string): void {
    if (expect === undefined) return;
    const expectedRevision = expect.modRevision;
    if (!Number.isSafeInteger(expectedRevision) || expectedRevision < 0) {
      throw new RangeError(`Cannot ${action}: expect.modRevision is not a safe integer from 0 on`);
    }
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

function isKey<K extends Key>(target: K | KeyRange<K>): target is K {
  return typeof target === 'string' || target instanceof Uint8Array;
}

/** 64 random bits as hex: enough to tell two data sets apart. */
function randomId(random: Random): string {
  const word = () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return word() + word();
}
