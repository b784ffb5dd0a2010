import { compareKeyText } from '../core/key-order.ts';
import { Applier } from '../store/applier.ts';
import { type Change, putChange, tombstone } from '../store/commit.ts';
import type { StoreEngine, WriteCall } from '../store/engine.ts';
import type { ResolvedLimits } from '../store/limits.ts';
import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedDelete, PreparedPut, PreparedTxn } from '../store/prepared.ts';
import type { Retention } from '../store/retention.ts';
import { Branch } from '../store/run-txn.ts';
import { Snapshots } from '../store/snapshots.ts';
import { branchOf, checkPath, checkPut, choosePath } from '../store/txn-path.ts';
import { randomId } from '../system/random-id.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, ConflictError, InvariantError, StoreFullError } from '../types/errors.ts';
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
import type { Pin, PinOptions } from '../types/pin.ts';
import type { Random } from '../types/random.ts';
import type { DeleteResult, PutResult } from '../types/requests.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { CompactResult, StoreStats } from '../types/store.ts';
import type { TxnResult } from '../types/txn.ts';
import type { Watch, WatchOptions } from '../types/watch.ts';
import { WatchHub } from '../watch/hub.ts';
import { dueFirstClock } from './due-first-clock.ts';
import type { LeaseCalls } from './memory-lease.ts';
import { MemoryLeases } from './memory-leases.ts';

export interface MemoryEngineOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: ResolvedLimits;
  readonly retention?: Retention;
}

/** 64 bits: enough to tell two data sets apart, as long as they are not from one seed. */
const ID_WORDS = 2;
const EXPIRE = 'delete the keys of an expired lease';
const RESTORE = 'open a store from a snapshot';

/**
 * The engine of an embedded store: versioned state, watches, leases and retention wired together, nothing durable. It IS
 * the store, with no second copy behind it (D4). A write is a synchronous commit; the promises only keep the shape that
 * replicas need.
 *
 * Every operation first commits what is due (M31): the history is that of a perfect timer.
 */
export class MemoryEngine<V, K extends Key> implements StoreEngine {
  readonly epoch: number = 1;
  readonly limits: ResolvedLimits;
  readonly #mvcc: Mvcc<V, K>;
  readonly #hub: WatchHub;
  readonly #applier: Applier<V, K>;
  readonly #leases: MemoryLeases;
  readonly #snapshots: Snapshots<V, K>;
  readonly #random: Random;
  #identity: string;
  readonly #leaseCalls: LeaseCalls;
  readonly #lifetime = new AbortController();
  #isClosed = false;
  /** A write is under way: user code in it (a getter, a codec, `toJSON`) must not make another one at its revision. */
  #isWriting = false;

  constructor(mvcc: Mvcc<V, K>, options: MemoryEngineOptions) {
    const { clock, random, limits, retention = {} } = options;
    this.#mvcc = mvcc;
    this.limits = limits;
    this.#hub = new WatchHub(mvcc.state, {
      clock,
      isStarted: true,
      watchesMax: limits.watches,
      beforeRead: () => this.#expireDue(),
    });
    this.#applier = new Applier({
      mvcc,
      listener: this.#hub,
      clock: dueFirstClock(clock, () => this.#expireOnTime()),
      retention,
      pinsMax: limits.pins,
    });
    this.#leases = new MemoryLeases({ clock, random, leasesMax: limits.leases, onDue: () => this.#expireOnTime() });
    this.#leaseCalls = {
      begin: (action) => this.#checkNotWriting(action),
      keepAlive: (id) => this.keepAliveLease(id, { action: 'keep a lease alive', signal: undefined }),
      timeToLive: (id, ttl) => this.leaseTimeToLive(id, ttl),
      revoke: (id) => this.revokeLease(id, { action: 'revoke a lease', signal: undefined }),
    };
    this.#snapshots = new Snapshots({ mvcc, clock, compactor: this.#applier.compactor });
    this.#random = random;
    this.#identity = randomId(random, ID_WORDS);
  }

  get identity(): string {
    return this.#identity;
  }

  get lifetime(): AbortSignal {
    return this.#lifetime.signal;
  }

  async ready(): Promise<void> {}

  beginRead(action: string): void {
    this.checkOpen(action);
    this.#expireDue();
  }

  checkFresh(): void {}

  async sync({ action }: WriteCall): Promise<Revision> {
    this.beginRead(action);
    return this.#mvcc.window.revision;
  }

  checkOpen(action: string): void {
    if (this.#isClosed) throw new ClosedError(action);
  }

  checkCovers(): void {}

  checkCoversKey(): void {}

  /** What user code runs between the look at the state and the commit must not pull the state away (M8). */
  beginWrite(action: string): void {
    this.checkOpen(action);
    if (this.#mvcc.values.scope.isActive) throw new TypeError(`Cannot ${action}: called from inside a codec or toJSON`);
    if (this.#isWriting) throw new TypeError(`Cannot ${action}: called from inside another write`);
    this.#expireDue();
    this.#isWriting = true;
  }

  endWrite(): void {
    this.#isWriting = false;
  }

  /** For what changes something and runs no user code. */
  #checkNotWriting(action: string): void {
    this.beginWrite(action);
    this.endWrite();
  }

  put<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    put: PreparedPut,
    expected: Revision | undefined,
    call: WriteCall,
  ): PutResult<W, L> {
    const { state, core } = mvcc;
    const { action } = call;
    const now = mvcc.window.revision;
    const slot = state.slotOf(put.text, now);
    this.#expect(mvcc, expected, put.text, slot, action);
    const isPlain = put.lease.type === 'id' && put.lease.id === '0' && !put.ignoreValue;
    if (!isPlain) return this.#putBranch(mvcc, put, call);
    const previous = slot < 0 ? undefined : { createRevision: core.createRevision(slot), version: core.version(slot) };
    const prevKv = put.prevKv && slot >= 0 ? mvcc.kv(slot) : undefined;
    const change = putChange({ text: put.text, cell: put.cell, lease: '0' }, now + 1, previous);
    const revision = this.#commit([change], action);
    return prevKv === undefined ? { revision } : { revision, prevKv };
  }

  delete<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    request: PreparedDelete,
    expected: Revision | undefined,
    call: WriteCall,
  ): DeleteResult<W, L> {
    const now = mvcc.window.revision;
    const { range, prevKv } = request;
    const slot = range.kind === 'point' ? mvcc.state.slotOf(range.text, now) : -1;
    this.#expect(mvcc, expected, range.text, slot, call.action);
    const branch = new Branch(mvcc, now + 1, call.action, noLease);
    const { deleted, prevKvs } = branch.delete(range, prevKv);
    const revision = this.#commit(branch.changes, call.action);
    return prevKvs === undefined ? { revision, deleted } : { revision, deleted, prevKvs };
  }

  txn<W, L extends Key>(mvcc: Mvcc<W, L>, txn: PreparedTxn, call: WriteCall): TxnResult<W, L> {
    const path = choosePath(mvcc, txn, call.action);
    checkPath(mvcc, txn, path, (id) => this.#leases.lessor.require(id, call.action), call.action);
    return this.#leases.withOwn(call.action, (grantOwn) => {
      const branch = new Branch(mvcc, mvcc.window.revision + 1, call.action, grantOwn);
      const responses = branch.run(branchOf(txn, path), path);
      const revision = this.#commit(branch.changes, call.action);
      return { revision, succeeded: path.get(txn) === true, responses };
    });
  }

  watch<W, L extends Key>(mvcc: Mvcc<W, L>, range: ResolvedRange, options: WatchOptions): Watch<W, L> {
    this.#expireDue();
    return this.#hub.open(mvcc, range, options, this);
  }

  endWatches(mvcc: Mvcc<never, never>): void {
    this.#hub.failSource(mvcc, new ClosedError('watch'));
  }

  async compact(revision: Revision, { action }: WriteCall): Promise<CompactResult> {
    return { requested: revision, compactRevision: this.#applier.compact(revision, action) };
  }

  pin(revision: Revision, options: Required<PinOptions>): Pin {
    return this.#applier.pins.pin(revision, options);
  }

  createSnapshot({ signal }: WriteCall): Promise<Uint8Array> {
    return this.#snapshots.create({ identity: this.identity, leases: () => this.#leases.lessor.dump() }, signal);
  }

  /** Fills the store, which must be new, before anybody has it. After a failure it can only be closed. */
  async restore(snapshot: Uint8Array, keepIdentity: boolean, signal: AbortSignal | undefined): Promise<void> {
    const restored = await this.#snapshots.restore(snapshot, (one) => this.#applier.commit(one, RESTORE), signal);
    this.#leases.restore(restored.leases, restored.attached, RESTORE);
    if (keepIdentity) this.#identity = restored.identity;
    // From one seed, both would have the same one.
    else if (this.#identity === restored.identity) this.#identity = randomId(this.#random, ID_WORDS);
  }

  async grantLease(options: GrantLeaseOptions, call: WriteCall): Promise<Lease> {
    return this.#leases.grant(options, this.#leaseCalls, call);
  }

  async resumeLease(id: LeaseId, options: ResumeLeaseOptions, call: WriteCall): Promise<Lease> {
    return this.#leases.resume(id, options, this.#leaseCalls, call);
  }

  async revokeLease(id: LeaseId, { action }: WriteCall): Promise<RevokeLeaseResult> {
    const { lessor } = this.#leases;
    const texts = lessor.keys(lessor.require(id, action));
    const revision = this.#leases.end(id, 'revoked', () => this.#deleteKeys(texts, action));
    return { revision, deleted: texts.length };
  }

  async keepAliveLease(id: LeaseId, { action }: WriteCall): Promise<KeepAliveResult> {
    const { ttlMs } = this.#leases.lessor.keepAlive(id, action);
    return { ttlMs };
  }

  async leaseTimeToLive(id: LeaseId, options: TimeToLiveOptions): Promise<LeaseStatus | undefined> {
    const { lessor } = this.#leases;
    const record = lessor.get(id);
    if (record === undefined) return undefined;
    const status = { id, grantedTtlMs: record.ttlMs, remainingMs: Math.max(1, lessor.remaining(record)) };
    if (options.keys !== true) return status;
    const texts = lessor.keys(record).sort(compareKeyText);
    return { ...status, keys: texts.map((text) => this.#mvcc.keys.key(text)) };
  }

  async leases(): Promise<readonly LeaseId[]> {
    return this.#leases.lessor.ids();
  }

  stats(): StoreStats {
    this.beginRead('read the stats');
    return {
      ...this.#mvcc.state.stats(),
      watchers: this.#hub.stats,
      leases: this.#leases.lessor.size,
      pins: this.#applier.pins.stats(),
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#lifetime.abort(new ClosedError('use the store'));
    this.#hub.close();
    this.#leases.close();
    this.#applier.pins.close();
    this.#snapshots.close();
    this.#applier.stop();
  }

  /** A put that has to do with a lease, or keeps what is there. */
  #putBranch<W, L extends Key>(mvcc: Mvcc<W, L>, put: PreparedPut, { action }: WriteCall): PutResult<W, L> {
    checkPut(mvcc, put, (id) => this.#leases.lessor.require(id, action), action);
    return this.#leases.withOwn(action, (grantOwn) => {
      const branch = new Branch(mvcc, mvcc.window.revision + 1, action, grantOwn);
      const { prevKv, lease } = branch.put(put);
      const revision = this.#commit(branch.changes, action);
      return { revision, ...(prevKv === undefined ? {} : { prevKv }), ...(lease === undefined ? {} : { lease }) };
    });
  }

  /**
   * Publishes changes that were made for the next revision; no change uses no revision (store:R4). Whatever of the user's
   * has run since the write began may have closed the store.
   */
  #commit(changes: readonly Change[], action: string): Revision {
    const { revision } = this.#mvcc.window;
    const bytes = this.#applier.measure(changes, action);
    this.checkOpen(action);
    if (changes.length === 0) return revision;
    this.#publish(changes, action, bytes);
    return revision + 1;
  }

  #publish(changes: readonly Change[], action: string, bytes?: number): void {
    const revision = this.#mvcc.window.revision + 1;
    const hasLeases = this.#leases.lessor.size > 0;
    const before = hasLeases ? this.#leasesOf(changes) : undefined;
    if (before !== undefined) this.#leases.checkRoom(changes, before, action);
    this.#applier.commit({ revision, changes }, action, bytes);
    if (before !== undefined) this.#leases.follow(changes, before, revision);
  }

  #leasesOf(changes: readonly Change[]): Map<string, LeaseId> {
    const { state, window } = this.#mvcc;
    const leases = new Map<string, LeaseId>();
    for (const { text } of changes) {
      const slot = state.slotOf(text, window.revision);
      if (slot >= 0) leases.set(text, state.leaseAt(slot));
    }
    return leases;
  }

  /** Deletes keys in ascending order as one commit (store:R41). Returns the revision they are gone at. */
  #deleteKeys(texts: readonly string[], action: string): Revision {
    const revision = this.#mvcc.window.revision + 1;
    if (texts.length === 0) return revision - 1;
    this.#publish(
      [...texts].sort(compareKeyText).map((text) => tombstone(text, revision)),
      action,
    );
    return revision;
  }

  /**
   * Commits every lease that is due: in order of deadline and id, one revision each, none for a lease without keys (M31).
   * Inside of a write, and of a read whose codec asks again, nothing is due any more: they began with this, and what they
   * look at must stay.
   */
  #expireDue(): void {
    if (this.#isWriting || this.#isClosed || this.#mvcc.values.scope.isActive) return;
    for (let due = this.#leases.due(); due !== undefined; due = this.#leases.due()) {
      const { id, texts } = due;
      this.#leases.end(id, 'expired', () => this.#expire(texts));
    }
  }

  /** In a store without room for the deletes, history makes way; without history, they come in parts. */
  #expire(texts: readonly string[]): Revision {
    try {
      return this.#deleteKeys(texts, EXPIRE);
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      if (this.#applier.dropHistory() || this.#snapshots.giveWay(error)) return this.#expire(texts);
      if (texts.length === 1) throw error;
      const sorted = [...texts].sort(compareKeyText);
      this.#expire(sorted.slice(0, sorted.length >> 1));
      return this.#expire(sorted.slice(sorted.length >> 1));
    }
  }

  /** For those who wait. A store that has no room for a delete says so to whoever calls it next. */
  #expireOnTime(): void {
    if (this.#isClosed) return;
    try {
      this.#expireDue();
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
    }
  }

  #expect<W, L extends Key>(
    mvcc: Mvcc<W, L>,
    expectedRevision: Revision | undefined,
    text: string,
    slot: number,
    action: string,
  ): void {
    if (expectedRevision === undefined) return;
    const actualRevision = slot < 0 ? 0 : mvcc.core.modRevision(slot);
    if (actualRevision !== expectedRevision) {
      throw new ConflictError(action, { key: mvcc.keys.key(text), expectedRevision, actualRevision });
    }
  }
}

/** Of a write that has no put. */
function noLease(): never {
  throw new InvariantError('a delete makes no lease');
}
