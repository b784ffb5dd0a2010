import { type BackoffOptions, resolveBackoff } from '../queue/backoff.ts';
import { Applier } from '../store/applier.ts';
import type { StoreEngine, WriteCall } from '../store/engine.ts';
import type { KeySpace } from '../store/keyspace.ts';
import type { ResolvedLimits } from '../store/limits.ts';
import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedDelete, PreparedOperation, PreparedPut, PreparedTxn } from '../store/prepared.ts';
import type { Retention } from '../store/retention.ts';
import { prepareSelection } from '../store/selection.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import type { Backend, BackendTxnResponse } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
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
import type {
  GrantLeaseOptions,
  Lease,
  LeaseId,
  LeaseStatus,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import { checkLeaseId } from '../types/lease-id.ts';
import { checkTtl } from '../types/lease-ttl.ts';
import type { Logger } from '../types/logger.ts';
import type { Pin, PinOptions } from '../types/pin.ts';
import type { Random } from '../types/random.ts';
import type { DeleteResult, PutResult } from '../types/requests.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { CompactResult, StoreStats } from '../types/store.ts';
import type { OperationResult, TxnResult } from '../types/txn.ts';
import type { Watch, WatchOptions } from '../types/watch.ts';
import { WatchHub } from '../watch/hub.ts';
import { ListManager } from './list-manager.ts';
import { claimOwnLeases, grantOwnLeases, type OwnLeases } from './own-leases.ts';
import { ReplicatedPrefixes } from './prefixes.ts';
import { ReplicaLeases } from './replica-leases.ts';
import { fromBackendTxn, toBackendTxn } from './replica-txn.ts';

export interface ReplicaEngineOptions<K extends Key> {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: ResolvedLimits;
  /** What is replicated. @default [''], everything */
  readonly prefixes?: readonly K[];
  readonly retention?: Retention;
  /** How to wait between attempts to reach the backend. */
  readonly backoff?: BackoffOptions;
  readonly logger?: Logger;
}

/**
 * The engine of a store in front of a backend: reads and watches are served here, from the replica that the list manager
 * keeps; writes go to the backend and resolve once the stream has brought them back (M3), so that a caller reads its own.
 */
export class ReplicaEngine<V, K extends Key> implements StoreEngine {
  readonly limits: ResolvedLimits;
  readonly #mvcc: Mvcc<V, K>;
  readonly #hub: WatchHub;
  readonly #applier: Applier<V, K>;
  readonly #prefixes: ReplicatedPrefixes;
  readonly #manager: ListManager<V, K>;
  readonly #backend: Backend;
  readonly #leases: ReplicaLeases;
  #isClosed = false;

  constructor(mvcc: Mvcc<V, K>, options: ReplicaEngineOptions<K>) {
    const { backend, clock, random, limits, logger, retention = {} } = options;
    const guarded = new GuardedLogger(logger);
    const backoff = resolveBackoff(options.backoff, { baseMs: 50, maxMs: 10_000 });
    this.#mvcc = mvcc;
    this.limits = limits;
    this.#prefixes = new ReplicatedPrefixes(mvcc.keys, options.prefixes ?? [mvcc.keys.key('')]);
    this.#hub = new WatchHub(mvcc.state, { clock, isStarted: false, watchesMax: limits.watches });
    this.#applier = new Applier({ mvcc, listener: this.#hub, clock, retention, pinsMax: limits.pins });
    this.#backend = backend;
    this.#manager = new ListManager({
      backend,
      mvcc,
      hub: this.#hub,
      applier: this.#applier,
      prefixes: this.#prefixes,
      clock,
      random,
      backoff,
      logger: guarded,
      onReset: (error) => {
        this.#leases.end(error);
        this.#applier.pins.resetBelow(Number.POSITIVE_INFINITY);
      },
    });
    this.#leases = new ReplicaLeases({
      backend,
      clock,
      keys: mvcc.keys as unknown as KeySpace<Key>,
      logger: guarded,
      call: (action, start, signal) => this.#manager.ask(action, start, signal),
      untilApplied: (revision, signal) => this.#manager.untilApplied(revision, this.#manager.epoch, signal),
    });
  }

  /** Begins to list and follow; no I/O before. */
  start(): void {
    this.#manager.start();
  }

  get epoch(): number {
    return this.#manager.epoch;
  }

  get identity(): string {
    return this.#manager.identity;
  }

  ready(signal: AbortSignal | undefined): Promise<void> {
    return this.#manager.gate.wait(signal);
  }

  beginRead(action: string): void {
    this.checkOpen(action);
    if (!this.#manager.gate.isOpen) throw new NotReadyError(action, { epoch: this.#manager.epoch });
  }

  /** Throws `ClosedError`, or what has broken the replica for good. */
  checkOpen(action: string): void {
    if (this.#isClosed) throw new ClosedError(action);
    const { failure } = this.#manager.gate;
    if (failure !== undefined) throw failure;
  }

  checkCovers(range: ResolvedRange, action: string): void {
    this.#prefixes.check(range, action);
  }

  checkCoversKey(text: string, action: string): void {
    this.#prefixes.checkKey(text, action);
  }

  /** As with an embedded store, what changes anything cannot be called from inside a codec (M8). */
  beginWrite(action: string): void {
    this.checkOpen(action);
    if (this.#mvcc.values.scope.isActive) throw new TypeError(`Cannot ${action}: called from inside a codec`);
  }

  endWrite(): void {}

  async put<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    put: PreparedPut,
    expected: Revision | undefined,
    call: WriteCall,
  ): Promise<PutResult<W, L>> {
    return this.#guarded(mvcc, put.text, put, expected, call, ({ revision, responses: [response] }) => {
      const { prevKv, lease } = response?.type === 'put' ? response : {};
      return { revision, ...(prevKv === undefined ? {} : { prevKv }), ...(lease === undefined ? {} : { lease }) };
    });
  }

  async delete<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    request: PreparedDelete,
    expected: Revision | undefined,
    call: WriteCall,
  ): Promise<DeleteResult<W, L>> {
    return this.#guarded(mvcc, request.range.text, request, expected, call, ({ revision, responses: [response] }) => {
      const { deleted = 0, prevKvs } = response?.type === 'delete' ? response : {};
      return prevKvs === undefined ? { revision, deleted } : { revision, deleted, prevKvs };
    });
  }

  async txn<W, L extends Key>(mvcc: Mvcc<W, L>, txn: PreparedTxn, call: WriteCall): Promise<TxnResult<W, L>> {
    return this.#write(mvcc, txn, call);
  }

  watch<W, L extends Key>(mvcc: Mvcc<W, L>, range: ResolvedRange, options: WatchOptions): Watch<W, L> {
    return this.#hub.open(mvcc, range, options, this);
  }

  endWatches(mvcc: Mvcc<never, never>): void {
    this.#hub.failSource(mvcc, new ClosedError('watch'));
  }

  /**
   * Waits until the revision is applied, compacts the backend, then the local window (M17). In this order, because a
   * replica that lagged behind a compaction would have to list again.
   */
  async compact(revision: Revision, { action, signal }: WriteCall): Promise<CompactResult> {
    const { epoch } = this.#manager;
    await this.#untilCompactable(revision, epoch, signal);
    await this.#manager.call((aborted) => this.#backend.compact({ revision, signal: aborted }), signal);
    await this.#manager.untilApplied(revision, epoch, signal);
    const { window } = this.#mvcc;
    if (revision > window.compactRevision) this.#applier.compact(revision, action);
    return { requested: revision, compactRevision: window.compactRevision };
  }

  pin(revision: Revision, options: PinOptions): Pin {
    return this.#applier.pins.pin(revision, options);
  }

  async createSnapshot({ action }: WriteCall): Promise<Uint8Array> {
    throw new UnsupportedError(action, 'a snapshot of a replica');
  }

  async grantLease(options: GrantLeaseOptions, { action, signal }: WriteCall): Promise<Lease> {
    checkTtl(options.ttlMs, action);
    if (options.id !== undefined) checkLeaseId(options.id, action);
    return this.#leases.grant(options, action, signal);
  }

  async revokeLease(id: LeaseId, { action, signal }: WriteCall): Promise<RevokeLeaseResult> {
    return this.#leases.revoke(checkLeaseId(id, action), action, signal);
  }

  async keepAliveLease(id: LeaseId, { action, signal }: WriteCall): Promise<{ readonly ttlMs: number }> {
    return this.#leases.keepAlive(checkLeaseId(id, action), action, signal);
  }

  async leaseTimeToLive(
    id: LeaseId,
    options: TimeToLiveOptions,
    { action, signal }: WriteCall,
  ): Promise<LeaseStatus | undefined> {
    return this.#leases.timeToLive(checkLeaseId(id, action), options, action, signal);
  }

  async leases({ action, signal }: WriteCall): Promise<readonly LeaseId[]> {
    return this.#leases.list(action, signal);
  }

  stats(): StoreStats {
    // Of a replica that is broken for good they are still of use.
    if (this.#isClosed) throw new ClosedError('read the stats');
    const { liveKeys, logEntries, versions, memoryBytes } = this.#mvcc.core.stats();
    const replica = { ...this.#manager.stats };
    return {
      keys: liveKeys,
      logEntries,
      storedVersions: versions,
      watchers: this.#hub.stats,
      memoryBytes,
      leases: this.#leases.size,
      pins: this.#applier.pins.stats(),
      replica,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leases.close();
    this.#applier.pins.close();
    await this.#manager.close();
  }

  /**
   * One operation, with `expect` as a compare; a failed one reads the key's revision in the same transaction. `shape`
   * makes the answer of the call from that of the transaction.
   */
  async #guarded<W, L extends Key, R>(
    mvcc: Mvcc<W, L>,
    text: string,
    operation: PreparedPut | PreparedDelete,
    expected: Revision | undefined,
    call: WriteCall,
    shape: (result: TxnResult<W, L>) => R,
  ): Promise<R> {
    const { action } = call;
    const expectedRevision = expected ?? 0;
    const conflict = (result: TxnResult<W, L>) => {
      const found = result.responses[0];
      const actualRevision = (found?.type === 'range' && found.kvs[0]?.modRevision) || 0;
      return new ConflictError(action, { key: mvcc.keys.key(text), expectedRevision, actualRevision });
    };
    try {
      const txn = expected === undefined ? unguarded(operation) : guarded(mvcc, text, operation, expected, action);
      const result = await this.#write(mvcc, txn, call);
      if (!result.succeeded) throw conflict(result);
      return shape(result);
    } catch (error) {
      if (!(error instanceof NotAppliedError)) throw error;
      // The wait was cut short. A write that did not happen is a conflict still; one that did has its own answer.
      const result = error.result as TxnResult<W, L>;
      if (!result.succeeded) throw conflict(result);
      throw new NotAppliedError(action, { revision: error.revision, result: shape(result) }, { cause: error.cause });
    }
  }

  async #write<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    request: PreparedTxn,
    { action, signal }: WriteCall,
  ): Promise<TxnResult<W, L>> {
    if (!this.#backend.capabilities.writable) throw new UnsupportedError(action, 'writing');
    // A codec has run, which may have closed the store.
    this.checkOpen(action);
    const { epoch } = this.#manager;
    const own = await this.#ownLeases(request, action, signal);
    const prepared = own.txn;
    let result: TxnResult<W, L>;
    try {
      const answer = await this.#send(mvcc, action, prepared, signal);
      const claimed = claimOwnLeases(own, answer);
      result = claimed.result;
      this.#forgetLeases(claimed.unused);
    } catch (error) {
      if (!(error instanceof BackendError && error.maybeCommitted)) this.#forgetLeases([...own.granted.values()]);
      throw error;
    }
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

  /** Replaces the TTLs of puts by leases; if one cannot be granted, the others go again. */
  async #ownLeases(request: PreparedTxn, action: string, signal: AbortSignal | undefined): Promise<OwnLeases> {
    const granted: LeaseId[] = [];
    try {
      return await grantOwnLeases(request, async (ttlMs) => {
        const id = await this.#leases.grantId(ttlMs, action, signal);
        granted.push(id);
        return id;
      });
    } catch (error) {
      this.#forgetLeases(granted);
      throw error;
    }
  }

  /** Revokes leases that no key has. One that cannot be revoked now expires by itself. */
  #forgetLeases(ids: readonly LeaseId[]): void {
    for (const id of ids) this.#leases.forget(id);
  }

  /**
   * An answer that got lost, or that cannot be read, is `BackendError {maybeCommitted}`; an error that the backend named
   * itself passes (M4).
   */
  async #send<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    action: string,
    prepared: PreparedTxn,
    signal: AbortSignal | undefined,
  ): Promise<TxnResult<W, L>> {
    const request = toBackendTxn(mvcc, prepared);
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
      return fromBackendTxn(mvcc, prepared, answer);
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
    if (prepared.compare.some(({ range }) => this.#prefixes.touches(range))) return true;
    return [...prepared.then, ...prepared.else].some((operation) => {
      if (operation.type === 'txn') return this.#touches(operation);
      return operation.type === 'put' ? this.#prefixes.has(operation.text) : this.#prefixes.touches(operation.range);
    });
  }

  /** What was written must be in history, unless that revision is in a hole or compacted (M5). */
  #checkEvidence<W, L extends Key>(prepared: PreparedTxn, result: TxnResult<W, L>): void {
    const { state, window } = this.#mvcc;
    const { revision } = result;
    if (revision < window.watchFloor || window.isInHole(revision)) return;
    const branch = result.succeeded ? prepared.then : prepared.else;
    for (const [index, operation] of branch.entries()) {
      const text = writtenKey(operation, result.responses[index]);
      if (text !== undefined && this.#prefixes.has(text) && !state.hasCommit(text, revision)) {
        this.#manager.distrust(`an own write at ${revision} is not in the history that the stream brought`);
        return;
      }
    }
  }
}

function unguarded(operation: PreparedOperation): PreparedTxn {
  return { compare: [], then: [operation], else: [] };
}

function guarded<W, L extends Key>(
  mvcc: Mvcc<W, L>,
  text: string,
  operation: PreparedOperation,
  expected: Revision,
  action: string,
): PreparedTxn {
  const range = mvcc.resolve({ key: mvcc.keys.key(text) }, action);
  const selection = prepareSelection({ keysOnly: true }, action);
  return {
    compare: [{ range, target: 'mod', result: '=', value: expected }],
    then: [operation],
    else: [{ type: 'range', range, revision: 0, selection }],
  };
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
