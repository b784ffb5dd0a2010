import { type BackoffOptions, resolveBackoff } from '../queue/backoff.ts';
import { Applier } from '../store/applier.ts';
import type { StoreEngine, WriteCall } from '../store/engine.ts';
import type { KeySpace } from '../store/keyspace.ts';
import type { ResolvedLimits } from '../store/limits.ts';
import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedDelete, PreparedPut, PreparedTxn } from '../store/prepared.ts';
import type { Retention } from '../store/retention.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import type { Backend } from '../types/backend.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, FutureRevisionError, NotReadyError, UnsupportedError } from '../types/errors.ts';
import type {
  GrantLeaseOptions,
  KeepAliveResult,
  Lease,
  LeaseId,
  LeaseStatus,
  ResumeLeaseOptions,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import type { Logger } from '../types/logger.ts';
import type { Pin, PinOptions } from '../types/pin.ts';
import type { Random } from '../types/random.ts';
import type { DeleteResult, PutResult } from '../types/requests.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { CompactResult, StoreStats } from '../types/store.ts';
import type { TxnResult } from '../types/txn.ts';
import type { Watch, WatchOptions } from '../types/watch.ts';
import { WatchHub } from '../watch/hub.ts';
import { ListManager } from './list-manager.ts';
import { ReplicatedPrefixes } from './prefixes.ts';
import { ReplicaLeases } from './replica-leases.ts';
import { ReplicaWrites } from './replica-writes.ts';
import { SentWrites } from './sent-writes.ts';

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
  /** Reads of a state that may be older are refused. @default no bound */
  readonly maxStaleMs?: number;
  /** All that is here is compared with all that is there, about so often (M44). @default never */
  readonly consistencyCheckMs?: number;
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
  readonly #sent: SentWrites;
  readonly #leases: ReplicaLeases;
  readonly #writes: ReplicaWrites<V, K>;
  #isClosed = false;

  constructor(mvcc: Mvcc<V, K>, options: ReplicaEngineOptions<K>) {
    const { backend, clock, random, limits, logger, retention = {} } = options;
    const guarded = new GuardedLogger(logger);
    const backoff = resolveBackoff(options.backoff, { baseMs: 50, maxMs: 10_000 }, 'open a store');
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
      maxStaleMs: options.maxStaleMs,
      consistencyCheckMs: options.consistencyCheckMs,
      onReset: (error) => {
        this.#leases.end(error);
        this.#applier.pins.resetBelow(Number.POSITIVE_INFINITY);
      },
    });
    const sent = new SentWrites(this.#manager);
    this.#sent = sent;
    this.#leases = new ReplicaLeases({
      backend,
      clock,
      random,
      keys: mvcc.keys as unknown as KeySpace<Key>,
      logger: guarded,
      begin: (action) => this.beginWrite(action),
      call: (action, start, signal) => this.#manager.ask(action, start, signal),
      sent,
    });
    this.#writes = new ReplicaWrites({
      backend,
      mvcc,
      manager: this.#manager,
      prefixes: this.#prefixes,
      leases: this.#leases,
      sent,
      checkOpen: (action) => this.checkOpen(action),
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

  get lifetime(): AbortSignal {
    return this.#manager.lifetime;
  }

  ready(signal: AbortSignal | undefined): Promise<void> {
    return this.#manager.gate.wait(signal);
  }

  beginRead(action: string): void {
    this.checkOpen(action);
    if (!this.#manager.gate.isOpen) throw new NotReadyError(action, { epoch: this.#manager.epoch });
  }

  checkFresh(action: string): void {
    this.#manager.checkFresh(action);
  }

  sync({ signal }: WriteCall): Promise<Revision> {
    return this.#manager.sync(signal);
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
    if (this.#mvcc.values.scope.isActive) throw new TypeError(`Cannot ${action}: called from inside a codec or toJSON`);
  }

  endWrite(): void {}

  put<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    put: PreparedPut,
    expected: Revision | undefined,
    call: WriteCall,
  ): Promise<PutResult<W, L>> {
    return this.#writes.put(mvcc, put, expected, call);
  }

  delete<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    request: PreparedDelete,
    expected: Revision | undefined,
    call: WriteCall,
  ): Promise<DeleteResult<W, L>> {
    return this.#writes.delete(mvcc, request, expected, call);
  }

  txn<W, L extends Key>(mvcc: Mvcc<W, L>, txn: PreparedTxn, call: WriteCall): Promise<TxnResult<W, L>> {
    return this.#writes.txn(mvcc, txn, call);
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
  async compact(revision: Revision, call: WriteCall): Promise<CompactResult> {
    const { action, signal } = call;
    const { epoch } = this.#manager;
    await this.#untilCompactable(revision, epoch, signal);
    await this.#manager.call((aborted) => this.#backend.compact({ revision, signal: aborted }), signal);
    await this.#sent.applied(call, revision, epoch, { requested: revision, compactRevision: revision });
    const { window } = this.#mvcc;
    if (revision > window.compactRevision) this.#applier.compact(revision, action);
    return { requested: revision, compactRevision: window.compactRevision };
  }

  pin(revision: Revision, options: Required<PinOptions>): Pin {
    return this.#applier.pins.pin(revision, options);
  }

  async createSnapshot({ action }: WriteCall): Promise<Uint8Array> {
    throw new UnsupportedError(action, 'a snapshot of a replica');
  }

  async grantLease(options: GrantLeaseOptions, call: WriteCall): Promise<Lease> {
    return this.#leases.grant(options, call);
  }

  async resumeLease(id: LeaseId, options: ResumeLeaseOptions, call: WriteCall): Promise<Lease> {
    return this.#leases.resume(id, options, call);
  }

  async revokeLease(id: LeaseId, call: WriteCall): Promise<RevokeLeaseResult> {
    return this.#leases.revoke(id, call);
  }

  async keepAliveLease(id: LeaseId, call: WriteCall): Promise<KeepAliveResult> {
    return this.#leases.keepAlive(id, call);
  }

  async leaseTimeToLive(id: LeaseId, options: TimeToLiveOptions, call: WriteCall): Promise<LeaseStatus | undefined> {
    return this.#leases.timeToLive(id, options, call);
  }

  async leases(call: WriteCall): Promise<readonly LeaseId[]> {
    return this.#leases.list(call);
  }

  stats(): StoreStats {
    // Of a replica that is broken for good they are still of use.
    if (this.#isClosed) throw new ClosedError('read the stats');
    return {
      ...this.#mvcc.state.stats(),
      watchers: this.#hub.stats,
      leases: this.#leases.size,
      pins: this.#applier.pins.stats(),
      replica: this.#manager.stats,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leases.close();
    this.#applier.pins.close();
    await this.#manager.close();
  }

  /** Asks the backend before it waits: a revision that nobody has made yet is an error, not a wait. */
  async #untilCompactable(revision: Revision, epoch: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#manager.gate.isOpen && revision <= this.#mvcc.window.revision) return;
    const action = 'compact';
    const position = await this.#manager.ask(action, (aborted) => this.#backend.status({ signal: aborted }), signal);
    if (revision > position.revision) {
      throw new FutureRevisionError(action, { revision, currentRevision: position.revision });
    }
    await this.#manager.untilApplied(revision, epoch, signal);
  }
}
