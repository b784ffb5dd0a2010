import type { CoreOptions } from '../core/instance.ts';
import { type BackoffOptions, resolveBackoff } from '../queue/backoff.ts';
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
import { jsonCodec } from '../store/codecs.ts';
import { KeySpace } from '../store/keyspace.ts';
import { Mvcc } from '../store/mvcc.ts';
import { type PreparedOperation, type PreparedTxn, prepareTxn } from '../store/prepare-txn.ts';
import { get, range } from '../store/read.ts';
import type { Retention } from '../store/retention.ts';
import { EncodedValues } from '../store/values.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import type { Backend, BackendTxnResponse } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import type { Codec } from '../types/codec.ts';
import {
  BackendError,
  ClosedError,
  ConflictError,
  FutureRevisionError,
  IdentityChangedError,
  NotAppliedError,
  NotReadyError,
  PlimsollError,
  UnsupportedError,
} from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type {
  CompactResult,
  DeleteOptions,
  DeleteResult,
  GetOptions,
  Operation,
  OperationResult,
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
import { ListManager } from './list-manager.ts';
import { ReplicatedPrefixes } from './prefixes.ts';
import { fromBackendTxn, toBackendTxn } from './replica-txn.ts';

export interface ReplicaStoreOptions<V, K extends Key> extends CoreOptions {
  readonly module: WebAssembly.Module;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys?: 'utf8' | 'bytes';
  /** Every value passes through it. @default jsonCodec() */
  readonly codec?: Codec<V>;
  /** What is replicated. @default [''], everything */
  readonly prefixes?: readonly K[];
  readonly retention?: Retention;
  /** How to wait between attempts to reach the backend. */
  readonly backoff?: BackoffOptions;
  readonly logger?: Logger;
}

/**
 * A store in front of a backend: reads and watches are served here, from the replica that the list manager keeps;
 * writes go to the backend and resolve once the stream has brought them back (M3), so that a caller reads its own.
 */
export class ReplicaStore<V, K extends Key> implements Store<V, K> {
  readonly #mvcc: Mvcc<V, K>;
  readonly #hub: WatchHub<V, K>;
  readonly #applier: Applier<V, K>;
  readonly #prefixes: ReplicatedPrefixes;
  readonly #manager: ListManager<V, K>;
  readonly #backend: Backend;
  #isClosed = false;

  constructor(options: ReplicaStoreOptions<V, K>) {
    const { module, backend, clock, random, logger, retention = {} } = options;
    const keys = new KeySpace<K>(options.keys ?? 'utf8');
    const values = new EncodedValues<V>(options.codec ?? (jsonCodec() as Codec<V>));
    const backoff = resolveBackoff(options.backoff, { baseMs: 50, maxMs: 10_000 });
    this.#prefixes = new ReplicatedPrefixes(keys, options.prefixes ?? [keys.key('')]);
    this.#mvcc = new Mvcc<V, K>({ ...options, module, keys, values, revision: 0 });
    this.#hub = new WatchHub(this.#mvcc, { isStarted: false });
    this.#applier = new Applier({ mvcc: this.#mvcc, listener: this.#hub, clock, retention });
    this.#backend = backend;
    this.#manager = new ListManager({
      backend,
      mvcc: this.#mvcc,
      hub: this.#hub,
      applier: this.#applier,
      prefixes: this.#prefixes,
      clock,
      random,
      backoff,
      logger: new GuardedLogger(logger),
    });
  }

  /** Begins to list and follow; no I/O before. */
  start(): void {
    this.#manager.start();
  }

  get revision(): Revision {
    this.#checkReadable('read the revision');
    return this.#mvcc.window.revision;
  }

  get compactRevision(): Revision {
    this.#checkReadable('read the compact revision');
    return this.#mvcc.window.compactRevision;
  }

  get epoch(): number {
    return this.#manager.epoch;
  }

  get identity(): string {
    return this.#manager.identity;
  }

  async ready(options: SignalOptions = NO_OPTIONS): Promise<void> {
    checkOptions(options, SIGNAL_NAMES, 'wait for the store');
    return this.#manager.gate.wait(options.signal);
  }

  get(key: K, options: GetOptions = NO_OPTIONS): KeyValue<V, K> | undefined {
    const action = 'get a key';
    this.#checkReadable(action);
    this.#prefixes.check(this.#mvcc.resolve({ key }, action), action);
    return get(this.#mvcc, key, options);
  }

  range(request: RangeRequest<K>): RangeResult<V, K> {
    const action = 'range over keys';
    this.#checkReadable(action);
    this.#prefixes.check(this.#mvcc.resolve(request, action), action);
    return range(this.#mvcc, request, this);
  }

  async put(key: K, value: V, options: PutOptions = NO_OPTIONS): Promise<PutResult<V, K>> {
    const action = 'put a key';
    checkOptions(options, WRITE_NAMES, action);
    const operation: Operation<V, K> = { type: 'put', key, value, prevKv: options.prevKv === true };
    return this.#guarded(action, key, operation, options, ({ revision, responses }) => {
      const response = responses[0];
      return response?.type === 'put' && response.prevKv !== undefined
        ? { revision, prevKv: response.prevKv }
        : { revision };
    });
  }

  async delete(target: K | KeyRange<K>, options: DeleteOptions = NO_OPTIONS): Promise<DeleteResult<V, K>> {
    const action = 'delete keys';
    checkOptions(options, WRITE_NAMES, action);
    const selected = deleteRange(target, options.expect !== undefined, action);
    const operation: Operation<V, K> = { type: 'delete', prevKv: options.prevKv === true, ...selected };
    const key = 'key' in selected ? selected.key : undefined;
    return this.#guarded(action, key, operation, options, ({ revision, responses }) => {
      const response = responses[0];
      const deleted = response?.type === 'delete' ? response.deleted : 0;
      const prevKvs = response?.type === 'delete' ? response.prevKvs : undefined;
      return prevKvs === undefined ? { revision, deleted } : { revision, deleted, prevKvs };
    });
  }

  async txn(request: TxnRequest<V, K>, options: SignalOptions = NO_OPTIONS): Promise<TxnResult<V, K>> {
    const action = 'run a transaction';
    checkOptions(options, SIGNAL_NAMES, action);
    return this.#write(action, request, options);
  }

  watch(selected: KeyRange<K>, options: WatchOptions = NO_OPTIONS): Watch<V, K> {
    this.#checkOpen('watch');
    checkRange(selected, 'watch');
    const resolved = this.#mvcc.resolve(selected, 'watch');
    this.#prefixes.check(resolved, 'watch');
    return this.#hub.open(resolved, options, this);
  }

  /**
   * Waits until the revision is applied, compacts the backend, then the local window (M17). In this order, because a
   * replica that lagged behind a compaction would have to list again.
   */
  async compact(revision: Revision, options: SignalOptions = NO_OPTIONS): Promise<CompactResult> {
    const action = 'compact';
    this.#checkCallable(action);
    checkOptions(options, SIGNAL_NAMES, action);
    options.signal?.throwIfAborted();
    checkCompact(revision, action);
    const { epoch } = this.#manager;
    await this.#untilCompactable(revision, epoch, options.signal);
    await this.#manager.call((signal) => this.#backend.compact({ revision, signal }), options.signal);
    await this.#manager.untilApplied(revision, epoch, options.signal);
    const { window } = this.#mvcc;
    if (revision > window.compactRevision) this.#applier.compact(revision, action);
    return { requested: revision, compactRevision: window.compactRevision };
  }

  stats(): StoreStats {
    // Of a replica that is broken for good they are still of use.
    if (this.#isClosed) throw new ClosedError('read the stats');
    const { liveKeys, logEntries, versions, memoryBytes } = this.#mvcc.core.stats();
    const replica = { ...this.#manager.stats };
    return { keys: liveKeys, logEntries, storedVersions: versions, watchers: this.#hub.stats, memoryBytes, replica };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#manager.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * One operation, with `expect` as a compare; a failed one reads the key's revision in the same transaction. `shape`
   * makes the answer of the call from that of the transaction.
   */
  async #guarded<R>(
    action: string,
    key: K | undefined,
    operation: Operation<V, K>,
    options: PutOptions,
    shape: (result: TxnResult<V, K>) => R,
  ): Promise<R> {
    const then = [operation];
    const expectedRevision = checkExpect(options.expect, action) ?? 0;
    const isGuarded = options.expect !== undefined && key !== undefined;
    const request: TxnRequest<V, K> = isGuarded
      ? {
          compare: [{ key, target: 'mod', result: '=', value: expectedRevision }],
          then,
          else: [{ type: 'range', key, keysOnly: true }],
        }
      : { then };
    const conflict = (result: TxnResult<V, K>) => {
      const found = result.responses[0];
      const actualRevision = (found?.type === 'range' && found.kvs[0]?.modRevision) || 0;
      return new ConflictError(action, { key: key as K, expectedRevision, actualRevision });
    };
    try {
      const result = await this.#write(action, request, options);
      if (!result.succeeded) throw conflict(result);
      return shape(result);
    } catch (error) {
      if (!(error instanceof NotAppliedError)) throw error;
      // The wait was cut short. A write that did not happen is a conflict still; one that did has its own answer.
      const result = error.result as TxnResult<V, K>;
      if (!result.succeeded) throw conflict(result);
      throw new NotAppliedError(action, { revision: error.revision, result: shape(result) }, { cause: error.cause });
    }
  }

  async #write(action: string, request: TxnRequest<V, K>, options: SignalOptions): Promise<TxnResult<V, K>> {
    this.#checkCallable(action);
    if (!this.#backend.capabilities.writable) throw new UnsupportedError(action, 'writing');
    const { signal } = options;
    signal?.throwIfAborted();
    const prepared = prepareTxn(this.#mvcc, request);
    // A codec has run, which may have closed the store.
    this.#checkOpen(action);
    const { epoch } = this.#manager;
    const result = await this.#send(action, prepared, signal);
    if (!this.#touches(prepared)) return result;
    try {
      await this.#manager.untilApplied(result.revision, epoch, signal);
    } catch (error) {
      if (error instanceof IdentityChangedError) throw error;
      throw new NotAppliedError(action, { revision: result.revision, result }, { cause: error });
    }
    if (epoch === this.#manager.epoch) this.#checkEvidence(prepared, result);
    return result;
  }

  /**
   * An answer that got lost, or that cannot be read, is `BackendError {maybeCommitted}`; an error that the backend named
   * itself passes (M4).
   */
  async #send(action: string, prepared: PreparedTxn, signal: AbortSignal | undefined): Promise<TxnResult<V, K>> {
    const request = toBackendTxn(this.#mvcc, prepared);
    let answer: BackendTxnResponse | undefined;
    let isAnswered = false;
    try {
      await this.#manager.ask(
        action,
        async (aborted) => {
          answer = await this.#backend.txn({ ...request, signal: aborted });
          isAnswered = true;
          return answer;
        },
        signal,
      );
    } catch (error) {
      if (error instanceof IdentityChangedError) throw error;
      if (!isAnswered) {
        if (signal?.aborted === true) throw signal.reason;
        if (error instanceof PlimsollError && !(error instanceof ClosedError)) throw error;
        throw new BackendError(action, 'the answer was lost', { cause: error, maybeCommitted: true });
      }
      // Cut off when the answer was there already: what comes next, the wait, says so with the answer (M4).
      if (!(error instanceof ClosedError) && signal?.aborted !== true) throw unreadable(action, error);
    }
    try {
      return fromBackendTxn(this.#mvcc, prepared, answer);
    } catch (error) {
      throw unreadable(action, error);
    }
  }

  /**
   * Asks the backend before it waits: a revision that nobody has made yet is an error, not a wait. Without progress
   * there may be nothing to bring the wait to its end, so such a backend is compacted at once.
   */
  async #untilCompactable(revision: Revision, epoch: number, signal: AbortSignal | undefined): Promise<void> {
    const { progress } = this.#backend.capabilities;
    if (!progress || (this.#manager.gate.isOpen && revision <= this.#mvcc.window.revision)) return;
    const action = 'compact';
    const position = await this.#manager.ask(action, (aborted) => this.#backend.status({ signal: aborted }), signal);
    if (revision > position.revision) {
      throw new FutureRevisionError(action, { revision, currentRevision: position.revision });
    }
    await this.#manager.untilApplied(revision, epoch, signal);
  }

  /** Whether anything it reads, compares or writes is replicated; if not, there is nothing to wait for (M3). */
  #touches(prepared: PreparedTxn): boolean {
    if (prepared.compare.some(({ text }) => this.#prefixes.has(text))) return true;
    return [...prepared.then, ...prepared.else].some((operation) =>
      operation.type === 'put' ? this.#prefixes.has(operation.text) : this.#prefixes.touches(operation.range),
    );
  }

  /** What was written must be in history, unless that revision is in a hole or compacted (M5). */
  #checkEvidence(prepared: PreparedTxn, result: TxnResult<V, K>): void {
    const { window } = this.#mvcc;
    const { revision } = result;
    if (revision < window.watchFloor || window.isInHole(revision)) return;
    const branch = result.succeeded ? prepared.then : prepared.else;
    for (const [index, operation] of branch.entries()) {
      const text = writtenKey(operation, result.responses[index]);
      if (text !== undefined && this.#prefixes.has(text) && !this.#mvcc.hasCommit(text, revision)) {
        this.#manager.distrust(`an own write at ${revision} is not in the history that the stream brought`);
        return;
      }
    }
  }

  /** Throws `ClosedError`, or what has broken the replica for good. */
  #checkOpen(action: string): void {
    if (this.#isClosed) throw new ClosedError(action);
    const { failure } = this.#manager.gate;
    if (failure !== undefined) throw failure;
  }

  /** As with an embedded store, what changes anything cannot be called from inside a codec (M8). */
  #checkCallable(action: string): void {
    this.#checkOpen(action);
    if (this.#mvcc.values.isInCodec) throw new TypeError(`Cannot ${action}: called from inside a codec`);
  }

  #checkReadable(action: string): void {
    this.#checkOpen(action);
    if (!this.#manager.gate.isOpen) throw new NotReadyError(action, { epoch: this.#manager.epoch });
  }
}

/** The one key that an operation wrote, if it is known from the request and the answer alone. */
function writtenKey<V, K extends Key>(
  operation: PreparedOperation,
  response: OperationResult<V, K> | undefined,
): string | undefined {
  if (operation.type === 'put') return operation.text;
  const isDelete = operation.type === 'delete' && response?.type === 'delete' && response.deleted > 0;
  return isDelete && operation.range.kind === 'point' ? operation.range.text : undefined;
}

function unreadable(action: string, cause: unknown): BackendError {
  return new BackendError(action, 'the answer cannot be read', { cause, maybeCommitted: true });
}
