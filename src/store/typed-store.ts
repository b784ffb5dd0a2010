import { checkInteger } from '../types/check-integer.ts';
import type {
  AcquireLockOptions,
  Leadership,
  LockToken,
  StoreCoordination,
  StoreLock,
  TryLockOptions,
} from '../types/coordination.ts';
import { ClosedError, UnsupportedError } from '../types/errors.ts';
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
import { checkLeaseId } from '../types/lease-id.ts';
import { checkRenewedTtl, checkTtl } from '../types/lease-ttl.ts';
import type { Pin, PinOptions } from '../types/pin.ts';
import type {
  DeleteOptions,
  DeleteResult,
  GetOptions,
  PutAllResult,
  PutEntry,
  PutOptions,
  PutResult,
  RangeRequest,
  RangeResult,
} from '../types/requests.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { CompactResult, PrefixOptions, Store, StoreStats } from '../types/store.ts';
import type { TxnRequest, TxnResult } from '../types/txn.ts';
import type { UpdateOptions, UpdateResult, UpdateTxn } from '../types/update.ts';
import type { Watch, WatchOptions } from '../types/watch.ts';
import {
  checkExpect,
  checkFlag,
  checkMembers,
  checkOptions,
  checkRange,
  DELETE_NAMES,
  deleteRange,
  GRANT_NAMES,
  NO_OPTIONS,
  PREFIX_NAMES,
  PUT_NAMES,
  RESUME_NAMES,
  SIGNAL_NAMES,
  TTL_NAMES,
} from './checks.ts';
import type { StoreEngine } from './engine.ts';
import { Mvcc } from './mvcc.ts';
import { shaped } from './not-applied.ts';
import { readPinOptions } from './pins.ts';
import { preparePut } from './prepare-put.ts';
import { prepareTxn } from './prepare-txn.ts';
import { preparePutAll, putAllResult } from './put-all.ts';
import { get, range } from './read.ts';
import { checkTxnBytes } from './size-checks.ts';
import type { TypedStoreOptions } from './typed-store-options.ts';
import { runUpdate } from './update.ts';
import { CodecValues, type ValuePolicy } from './values.ts';
import { prepareWatchOptions } from './watch-checks.ts';

/**
 * What users hold: checks requests at the door, encodes them, and hands them to the engine. The whole store and each
 * `prefix` of it are one of these, over one engine.
 */
export class TypedStore<V, K extends Key> implements Store<V, K> {
  readonly #engine: StoreEngine;
  readonly #mvcc: Mvcc<V, K>;
  readonly #options: TypedStoreOptions;
  /** Made when it is asked for: most parts of a store have no locks. */
  #coordination: StoreCoordination<V, K> | undefined;
  /** What its locks and elections use. */
  #coordinated: TypedStore<V, K> | undefined;
  #isClosed = false;
  /** Of a part that was updated: most parts never are. */
  #partLife: AbortController | undefined;

  constructor(engine: StoreEngine, mvcc: Mvcc<V, K>, options: TypedStoreOptions) {
    this.#engine = engine;
    this.#mvcc = mvcc;
    this.#options = options;
  }

  get revision(): Revision {
    this.#beginRead('read the revision');
    return this.#mvcc.window.revision;
  }

  get compactRevision(): Revision {
    this.#beginRead('read the compact revision');
    return this.#mvcc.window.compactRevision;
  }

  get epoch(): number {
    return this.#engine.epoch;
  }

  get identity(): string {
    return this.#engine.identity;
  }

  async ready(options: SignalOptions = NO_OPTIONS): Promise<void> {
    return this.#engine.ready(this.#wait('wait for the store', options).signal);
  }

  async sync(options: SignalOptions = NO_OPTIONS): Promise<Revision> {
    return this.#engine.sync(this.#wait('sync', options));
  }

  get(key: K, options: GetOptions = NO_OPTIONS): KeyValue<V, K> | undefined {
    this.#beginFreshRead('get a key');
    return get(this.#mvcc, key, options, this.#engine);
  }

  range(request: RangeRequest<K>): RangeResult<V, K> {
    this.#beginFreshRead('range over keys');
    return range(this.#mvcc, request, this.#engine);
  }

  async put(key: K, value: V | undefined, options: PutOptions = NO_OPTIONS): Promise<PutResult<V, K>> {
    const action = 'put a key';
    this.#beginWrite(action);
    try {
      const signal = checkOptions(options, PUT_NAMES, action);
      const expected = checkExpect(options.expect, action);
      signal?.throwIfAborted();
      const put = preparePut(this.#mvcc, key, value, options, action);
      this.#checkPart(action);
      return this.#engine.put(this.#mvcc, put, expected, { action, signal });
    } finally {
      this.#engine.endWrite();
    }
  }

  async putAll(entries: readonly PutEntry<V, K>[], options: SignalOptions = NO_OPTIONS): Promise<PutAllResult> {
    const action = 'put keys';
    this.#beginWrite(action);
    try {
      const signal = checkOptions(options, SIGNAL_NAMES, action);
      signal?.throwIfAborted();
      const txn = preparePutAll(this.#mvcc, entries, this.#engine.limits.txnBytes, action);
      this.#checkPart(action);
      const answer = this.#engine.txn(this.#mvcc, txn, { action, signal });
      const shape = (one: TxnResult<V, K>) => putAllResult(txn, one);
      return answer instanceof Promise ? shaped(answer, action, shape) : shape(answer);
    } finally {
      this.#engine.endWrite();
    }
  }

  async delete(target: K | KeyRange<K>, options: DeleteOptions = NO_OPTIONS): Promise<DeleteResult<V, K>> {
    const action = 'delete keys';
    this.#beginWrite(action);
    try {
      const signal = checkOptions(options, DELETE_NAMES, action);
      const { expect, prevKv } = options;
      const expected = checkExpect(expect, action);
      signal?.throwIfAborted();
      const resolved = this.#mvcc.resolve(deleteRange(target, expected !== undefined, action), action);
      const request = { type: 'delete', range: resolved, prevKv: checkFlag('prevKv', prevKv, action) } as const;
      this.#checkPart(action);
      return this.#engine.delete(this.#mvcc, request, expected, { action, signal });
    } finally {
      this.#engine.endWrite();
    }
  }

  async txn(request: TxnRequest<V, K>, options: SignalOptions = NO_OPTIONS): Promise<TxnResult<V, K>> {
    const action = 'run a transaction';
    this.#beginWrite(action);
    try {
      const signal = checkOptions(options, SIGNAL_NAMES, action);
      signal?.throwIfAborted();
      const prepared = prepareTxn(this.#mvcc, request, this.#engine.limits.txnOperations);
      checkTxnBytes(this.#mvcc, prepared, this.#engine.limits.txnBytes, action);
      this.#checkPart(action);
      return this.#engine.txn(this.#mvcc, prepared, { action, signal });
    } finally {
      this.#engine.endWrite();
    }
  }

  async update<R>(
    fn: (txn: UpdateTxn<V, K>) => R | PromiseLike<R>,
    options: UpdateOptions = {},
  ): Promise<UpdateResult<R>> {
    this.#checkOpen('update');
    return runUpdate(this, fn, options, (action) => this.#checkOpen(action), this.#lifetimes());
  }

  watch(selected: KeyRange<K>, options: WatchOptions = NO_OPTIONS): Watch<V, K> {
    const action = 'watch';
    this.#checkOpen(action);
    checkRange(selected, action);
    const resolved = this.#mvcc.resolve(selected, action);
    this.#engine.checkCovers(resolved, action);
    const own = prepareWatchOptions(resolved, options);
    this.#checkOpen(action);
    return this.#engine.watch(this.#mvcc, resolved, own);
  }

  async compact(revision: Revision, options: SignalOptions = NO_OPTIONS): Promise<CompactResult> {
    const call = this.#call('compact', options, SIGNAL_NAMES);
    checkInteger('the revision', revision, call.action, 0);
    return this.#engine.compact(revision, call);
  }

  pin(revision: Revision, options: PinOptions): Pin {
    const action = 'pin a revision';
    this.#checkOpen(action);
    const own = readPinOptions(options, action);
    this.#beginRead(action);
    return this.#engine.pin(revision, own);
  }

  async grantLease(options: GrantLeaseOptions & SignalOptions): Promise<Lease> {
    const action = 'grant a lease';
    const call = this.#call(action, options, GRANT_NAMES);
    const { ttlMs, id } = options;
    checkTtl(ttlMs, action);
    const keepAlive = checkFlag('keepAlive', options.keepAlive, action);
    if (keepAlive) checkRenewedTtl(ttlMs, action);
    const named = id === undefined ? {} : { id: checkLeaseId(id, action) };
    this.#checkOpen(action);
    return this.#engine.grantLease({ ttlMs, keepAlive, ...named }, call);
  }

  async resumeLease(id: LeaseId, options: ResumeLeaseOptions & SignalOptions = NO_OPTIONS): Promise<Lease> {
    const call = this.#call('resume a lease', options, RESUME_NAMES);
    const keepAlive = checkFlag('keepAlive', options.keepAlive, call.action);
    this.#checkOpen(call.action);
    return this.#engine.resumeLease(checkLeaseId(id, call.action), { keepAlive }, call);
  }

  async revokeLease(id: LeaseId, options: SignalOptions = NO_OPTIONS): Promise<RevokeLeaseResult> {
    const call = this.#call('revoke a lease', options, SIGNAL_NAMES);
    return this.#engine.revokeLease(checkLeaseId(id, call.action), call);
  }

  async keepAliveLease(id: LeaseId, options: SignalOptions = NO_OPTIONS): Promise<KeepAliveResult> {
    const call = this.#call('keep a lease alive', options, SIGNAL_NAMES);
    return this.#engine.keepAliveLease(checkLeaseId(id, call.action), call);
  }

  async leaseTimeToLive(
    id: LeaseId,
    options: TimeToLiveOptions & SignalOptions = NO_OPTIONS,
  ): Promise<LeaseStatus | undefined> {
    const call = this.#call('read a lease', options, TTL_NAMES);
    const keys = checkFlag('keys', options.keys, call.action);
    this.#checkOpen(call.action);
    return this.#engine.leaseTimeToLive(checkLeaseId(id, call.action), { keys }, call);
  }

  async leases(options: SignalOptions = NO_OPTIONS): Promise<readonly LeaseId[]> {
    return this.#engine.leases(this.#call('list leases', options, SIGNAL_NAMES));
  }

  prefix<W = V>(prefix: K, options: PrefixOptions<W> = NO_OPTIONS): Store<W, K> {
    const action = 'open a prefix';
    this.#checkOpen(action);
    checkMembers(options, PREFIX_NAMES, action, 'the options are not an object', 'option');
    const { keys, values, state } = this.#mvcc;
    const { codec } = options;
    const own = codec === undefined ? (values as unknown as ValuePolicy<W>) : CodecValues.of(values, codec, action);
    return new TypedStore(this.#engine, new Mvcc(state, keys.below(prefix, action), own, undefined), {
      ...this.#options,
      isPart: true,
    });
  }

  async acquireLock(name: string, options: AcquireLockOptions = NO_OPTIONS): Promise<StoreLock<V, K>> {
    return this.#coordinationFor('acquire a lock').acquireLock(name, options);
  }

  async tryLock(name: string, options: TryLockOptions = NO_OPTIONS): Promise<StoreLock<V, K> | undefined> {
    return this.#coordinationFor('acquire a lock').tryLock(name, options);
  }

  async resumeLock(token: LockToken, options: SignalOptions = NO_OPTIONS): Promise<StoreLock<V, K>> {
    return this.#coordinationFor('resume a lock').resumeLock(token, options);
  }

  async resumeLeadership(token: LockToken, options: SignalOptions = NO_OPTIONS): Promise<Leadership<V, K>> {
    return this.#coordinationFor('resume a leadership').resumeLeadership(token, options);
  }

  async campaign(name: string, value: V, options: AcquireLockOptions = NO_OPTIONS): Promise<Leadership<V, K>> {
    return this.#coordinationFor('campaign').campaign(name, value, options);
  }

  leader(name: string): KeyValue<V, K> | undefined {
    const action = 'read the leader';
    this.#beginFreshRead(action);
    return this.#coordinationFor(action).leader(name);
  }

  observe(name: string, options: SignalOptions = NO_OPTIONS): AsyncIterableIterator<KeyValue<V, K>> {
    return this.#coordinationFor('observe an election').observe(name, options);
  }

  async createSnapshot(options: SignalOptions = NO_OPTIONS): Promise<Uint8Array> {
    this.#beginRead('create a snapshot');
    const call = this.#wait('create a snapshot', options);
    if (this.#options.isPart === true) throw new UnsupportedError(call.action, 'a snapshot of a prefix');
    return this.#engine.createSnapshot(call);
  }

  stats(): StoreStats {
    this.#checkPart('read the stats');
    return this.#engine.stats();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#options.isPart !== true) return this.#engine.close();
    await this.#coordinated?.close();
    this.#partLife?.abort(new ClosedError('use the store'));
    this.#engine.endWatches(this.#mvcc as unknown as Mvcc<never, never>);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** All user code of a write (getters, codecs) and, embedded, the commit itself happen in one turn, up to `endWrite`. */
  #beginWrite(action: string): void {
    this.#checkPart(action);
    this.#engine.beginWrite(action);
  }

  /** For what changes something and runs no user code: not from inside a write or a codec (M8). */
  #checkNotWriting(action: string): void {
    this.#beginWrite(action);
    this.#engine.endWrite();
  }

  #call(action: string, options: SignalOptions, names: ReadonlySet<string>) {
    this.#checkNotWriting(action);
    return this.#wait(action, options, names);
  }

  /** For what only waits: the signal, read once. */
  #wait(action: string, options: SignalOptions, names: ReadonlySet<string> = SIGNAL_NAMES) {
    const signal = checkOptions(options, names, action);
    signal?.throwIfAborted();
    this.#checkOpen(action);
    return { action, signal };
  }

  /** What ends a wait of this store, or of this part of it. */
  #lifetimes(): readonly AbortSignal[] {
    const { lifetime } = this.#engine;
    if (this.#options.isPart !== true) return [lifetime];
    this.#partLife ??= new AbortController();
    return [lifetime, this.#partLife.signal];
  }

  #beginRead(action: string): void {
    this.#checkPart(action);
    this.#engine.beginRead(action);
  }

  #beginFreshRead(action: string): void {
    this.#beginRead(action);
    if (this.#options.isOfAnyAge !== true) this.#engine.checkFresh(action);
  }

  #coordinationFor(action: string): StoreCoordination<V, K> {
    this.#checkOpen(action);
    this.#coordinated ??= new TypedStore(this.#engine, this.#mvcc, { ...this.#options, isOfAnyAge: true });
    this.#coordination ??= this.#options.coordinate<V, K>(this.#coordinated, this.#mvcc.keys);
    return this.#coordination;
  }

  /** First, and again once options are read: one with a getter of its own may have closed the store. */
  #checkOpen(action: string): void {
    this.#checkPart(action);
    this.#engine.checkOpen(action);
  }

  #checkPart(action: string): void {
    if (this.#isClosed && this.#options.isPart === true) throw new ClosedError(action);
  }
}
