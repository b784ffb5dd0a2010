import type { Codec } from '../types/codec.ts';
import { ConflictError } from '../types/errors.ts';
import type {
  GrantLeaseOptions,
  KeepAliveResult,
  LeaseId,
  LeaseStatus,
  RevokeLeaseResult,
  TimeToLiveOptions,
} from '../types/lease.ts';
import type { Limits } from '../types/limits.ts';
import type { PinOptions } from '../types/pin.ts';
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
import type { CompactResult } from '../types/store.ts';
import type { Operation, TxnRequest, TxnResult } from '../types/txn.ts';
import type { WatchOptions } from '../types/watch.ts';
import { checkKitOptions } from './kit-options.ts';
import { compareHolds, Draft, rowsOf } from './model-draft.ts';
import { History, type ModelPin } from './model-history.ts';
import { ModelKeys, valueBytes } from './model-keys.ts';
import { type LeaseEntry, type ModelLease, ModelLeases } from './model-leases.ts';
import { isKeyAscending, safeInteger, selectRows } from './model-rows.ts';
import { checkPath, type PathState, type PutShape, RequestChecks } from './model-txn.ts';
import type { ModelWatch } from './model-watch.ts';

export type { ModelPin } from './model-history.ts';
export type { ModelLease } from './model-leases.ts';
export type { ModelWatch } from './model-watch.ts';

export interface ReferenceModelOptions<V = unknown> {
  /** The store's codec: values are compared by their bytes. @default strings as UTF-8, bytes, else JSON text */
  readonly codec?: Codec<V>;
  readonly retention?: {
    /** Log entries that stay, a number from 1 on. @default 10000 */
    readonly events?: number;
  };
  /** Each an integer from 1 on. `storeBytes` and `watches` are not in the model. @default the store's */
  readonly limits?: Omit<Limits, 'storeBytes' | 'watches'>;
  /** Milliseconds, as of the store's clock; decides what is due. @default a clock that stands still */
  readonly now?: () => number;
  /** Names the next lease that is granted without an id: a store chooses by chance. @default '1', '2', ... */
  readonly leaseId?: () => LeaseId;
}

/**
 * An embedded store as a specification would write it: the whole state is kept once per revision, every question is a
 * scan, nothing is ever forgotten. Slow, synchronous, and short enough to be checked by reading. Answers and errors
 * are those of `Store`, but that tokens of `continue` are its own and messages may differ.
 *
 * Not in it: `update`, `prefix`, snapshots, retention by bytes and age, watches with `progressMs`, pins that are bounded by
 * bytes, and checks of types that TypeScript makes.
 */
export interface ReferenceModel<V, K extends Key = string> {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  get(key: K, options?: GetOptions): KeyValue<V, K> | undefined;
  range(request: RangeRequest<K>): RangeResult<V, K>;
  put(key: K, value: V | undefined, options?: PutOptions): PutResult<V, K>;
  putAll(entries: readonly PutEntry<V, K>[]): PutAllResult;
  delete(range: K | KeyRange<K>, options?: DeleteOptions): DeleteResult<V, K>;
  txn(request: TxnRequest<V, K>): TxnResult<V, K>;
  compact(revision: Revision): CompactResult;
  pin(revision: Revision, options: PinOptions): ModelPin;
  watch(range: KeyRange<K>, options?: WatchOptions): ModelWatch<V, K>;
  grantLease(options: GrantLeaseOptions): ModelLease;
  revokeLease(id: LeaseId): RevokeLeaseResult;
  keepAliveLease(id: LeaseId): KeepAliveResult;
  leaseTimeToLive(id: LeaseId, options?: TimeToLiveOptions): LeaseStatus | undefined;
  leases(): readonly LeaseId[];
}

/**
 * Makes a {@link ReferenceModel} for tests that compare: run the same operations on a store and on the model.
 *
 * @throws TypeError for an unknown option, limit or bound of retention
 * @example
 * ```ts
 * import { createReferenceModel } from 'plimsoll/testing';
 *
 * const model = createReferenceModel<string>();
 * model.put('a', 'x'); // { revision: 2 }
 * model.range({ prefix: '' }).count; // 1
 * ```
 */
export function createReferenceModel<V = unknown, K extends Key = string>(
  options: ReferenceModelOptions<V> = {},
): ReferenceModel<V, K> {
  const action = 'make a reference model';
  checkKitOptions(options, ['codec', 'retention', 'limits', 'now', 'leaseId'], action);
  const { retention = {}, limits = {} } = options;
  checkKitOptions(retention, ['events'], action);
  checkKitOptions(limits, LIMIT_NAMES, action);
  return new Model<V, K>(options);
}

type PutOperation<V, K extends Key> = Extract<Operation<V, K>, { type: 'put' }>;

const LIMITS = {
  keyBytes: 65_535,
  valueBytes: 1_572_864,
  txnOperations: 128,
  txnBytes: 16_777_216,
  leases: 1_000_000,
  pins: 1000,
};
const LIMIT_NAMES = Object.keys(LIMITS) as (keyof typeof LIMITS)[];

class Model<V, K extends Key> implements ReferenceModel<V, K> {
  readonly #history: History<V, K>;
  readonly #leases: ModelLeases;
  readonly #keys: ModelKeys<K>;
  readonly #limits: typeof LIMITS;
  readonly #encode: (value: V) => Uint8Array;
  readonly #now: () => number;

  constructor({ codec, retention, limits, now = () => 0, leaseId }: ReferenceModelOptions<V>) {
    this.#encode = codec === undefined ? valueBytes : (value) => codec.encode(value);
    this.#limits = { ...LIMITS, ...limits };
    this.#now = now;
    this.#history = new History(retention?.events ?? 10_000);
    this.#leases = new ModelLeases(this.#limits.leases, leaseId);
    this.#keys = new ModelKeys(this.#limits.keyBytes);
  }

  get revision(): Revision {
    return this.#current().revision;
  }

  get compactRevision(): Revision {
    return this.#current().compactRevision;
  }

  get(key: K, options: GetOptions = {}): KeyValue<V, K> | undefined {
    const history = this.#current();
    const id = this.#keys.id(key);
    return history.stateAt(history.readable(options.revision)).get(id);
  }

  range(request: RangeRequest<K>): RangeResult<V, K> {
    const history = this.#current();
    const has = this.#keys.has(request);
    let { revision } = request;
    let behind = '';
    if (request.continue !== undefined) {
      if (!isKeyAscending(request)) throw new TypeError('continue needs ascending key order');
      const [at, id] = request.continue.split('/') as [string, string];
      if (revision !== undefined && revision > 0 && revision !== Number(at)) throw new RangeError('another revision');
      revision = Number(at);
      behind = id;
      if ('key' in request || !has(behind)) throw new RangeError('another range');
    }
    selectRows([], request, this.#encode);
    const at = history.readable(revision);
    const rows = rowsOf(history.stateAt(at), (id) => has(id) && id > behind);
    const { lastId, ...page } = selectRows(rows, request, this.#encode);
    const canContinue = page.more && isKeyAscending(request);
    return { revision: history.revision, ...page, ...(canContinue ? { continue: `${at}/${lastId}` } : {}) };
  }

  put(key: K, value: V | undefined, options: PutOptions = {}): PutResult<V, K> {
    const { signal: _, expect, ...how } = options;
    const operation = { type: 'put', key, ...(value === undefined ? {} : { value }), ...how } as PutOperation<V, K>;
    this.#checks().put(operation);
    this.#current();
    this.#expect(expect, key);
    const { revision, responses } = this.#commit([operation]);
    const { type: _type, ...answer } = responses[0] as Extract<(typeof responses)[0], { type: 'put' }>;
    return { revision, ...answer };
  }

  putAll(entries: readonly PutEntry<V, K>[]): PutAllResult {
    this.#checks().putAll(entries as readonly PutShape<V, K>[]);
    this.#current();
    const { revision, responses } = this.#commit(entries.map((entry) => ({ type: 'put', ...entry })));
    if (entries.every(({ ttlMs }) => ttlMs === undefined)) return { revision };
    return { revision, leases: responses.map((one) => (one.type === 'put' ? one.lease : undefined)) };
  }

  delete(range: K | KeyRange<K>, options: DeleteOptions = {}): DeleteResult<V, K> {
    const isKey = typeof range === 'string' || range instanceof Uint8Array;
    const selected: KeyRange<K> = isKey ? { key: range } : range;
    if (options.expect !== undefined && !('key' in selected)) throw new TypeError('expect needs a single key');
    this.#keys.has(selected);
    this.#current();
    if ('key' in selected) this.#expect(options.expect, selected.key);
    const operation = { type: 'delete', ...selected, prevKv: options.prevKv === true } as const;
    const { revision, responses } = this.#commit([operation]);
    const { type: _, ...answer } = responses[0] as Extract<(typeof responses)[0], { type: 'delete' }>;
    return { revision, ...answer };
  }

  txn(request: TxnRequest<V, K>): TxnResult<V, K> {
    this.#checks().txn(request);
    const { compare = [], then = [], else: otherwise = [] } = request;
    this.#current();
    const succeeded = compare.every((one) => compareHolds(this.#path(), one));
    const { revision, responses } = this.#commit(succeeded ? then : otherwise);
    return { revision, succeeded, responses };
  }

  compact(revision: Revision): CompactResult {
    return this.#current().compact(revision);
  }

  pin(revision: Revision, options: PinOptions): ModelPin {
    return this.#current().pin(revision, options, this.#now(), this.#limits.pins);
  }

  watch(range: KeyRange<K>, options: WatchOptions = {}): ModelWatch<V, K> {
    const { fromRevision = 0 } = options;
    const has = this.#keys.has(range);
    if (safeInteger(fromRevision) < 0 || this.#keys.isEmpty(range)) throw new RangeError('watch');
    if (options.initial === true && options.fromRevision !== undefined) throw new TypeError('watch');
    return this.#current().watch(has, options, () => void this.#current());
  }

  grantLease({ ttlMs, id }: GrantLeaseOptions): ModelLease {
    this.#current();
    return this.#leases.grant(ttlMs, id, this.#now());
  }

  revokeLease(id: LeaseId): RevokeLeaseResult {
    this.#current();
    return this.#end(this.#leases.require(id), 'revoked');
  }

  keepAliveLease(id: LeaseId): KeepAliveResult {
    this.#current();
    const entry = this.#leases.require(id);
    entry.deadline = this.#now() + entry.ttlMs;
    return { ttlMs: entry.ttlMs };
  }

  leaseTimeToLive(id: LeaseId, options: TimeToLiveOptions = {}): LeaseStatus | undefined {
    this.#current();
    const entry = this.#leases.get(id);
    if (entry === undefined) return undefined;
    const status = { id, grantedTtlMs: entry.ttlMs, remainingMs: entry.deadline - this.#now() };
    return options.keys === true ? { ...status, keys: this.#attached(id).map(({ key }) => key) } : status;
  }

  leases(): readonly LeaseId[] {
    this.#current();
    return this.#leases.ids();
  }

  /** The history, after everything that is due by now has happened (M31). Every public call begins with it. */
  #current(): History<V, K> {
    const now = this.#now();
    for (let due = this.#leases.due(now); due !== undefined; due = this.#leases.due(now)) this.#end(due, 'expired');
    this.#history.breakPins(now);
    return this.#history;
  }

  /** One commit deletes the keys of a lease, ascending; without keys there is no commit (store:R41). */
  #end(entry: LeaseEntry, end: 'expired' | 'revoked'): RevokeLeaseResult {
    const ids = new Set(this.#attached(entry.id).map(({ key }) => this.#keys.id(key)));
    const draft = this.#draft();
    draft.delete((id) => ids.has(id));
    const revision = this.#history.commit(draft.events, draft.state);
    this.#leases.remove(entry, { end, revision });
    return { revision, deleted: ids.size };
  }

  #attached(id: LeaseId): KeyValue<V, K>[] {
    return [...this.#history.newest.values()].filter(({ lease }) => lease === id);
  }

  #expect(expect: PutOptions['expect'], key: K): void {
    if (expect === undefined) return;
    const { modRevision: expectedRevision } = expect;
    if (safeInteger(expectedRevision) < 0) throw new RangeError('expect.modRevision');
    const actualRevision = this.#history.newest.get(this.#keys.id(key))?.modRevision ?? 0;
    if (expectedRevision === actualRevision) return;
    throw new ConflictError('write', { key, expectedRevision, actualRevision });
  }

  /** Runs operations as one commit, or throws before it has done anything. */
  #commit(operations: readonly Operation<V, K>[]) {
    if (checkPath(this.#path(), operations) > 0) this.#checkLeases(operations);
    const draft = this.#draft();
    const responses = operations.map((operation) => draft.run(operation));
    const revision = this.#history.commit(draft.events, draft.state);
    for (const { id, ttlMs } of draft.leases) this.#leases.addKeyed(ttlMs, id, this.#now());
    this.#leases.dropUnused(new Set([...this.#history.newest.values()].map(({ lease }) => lease)));
    return { revision, responses };
  }

  /** How many leases it comes to, tried out with ids that are none. */
  #checkLeases(operations: readonly Operation<V, K>[]): void {
    let made = 0;
    const draft = this.#draft(() => `new ${++made}`);
    for (const operation of operations) draft.run(operation);
    const used = new Set([...draft.state.values()].map(({ lease }) => lease));
    const kept = draft.leases.filter(({ id }) => used.has(id));
    this.#leases.checkCommit(kept.length, used);
  }

  #checks(): RequestChecks<V, K> {
    return new RequestChecks(this.#keys, this.#encode, this.#limits);
  }

  #path(): PathState<V, K> {
    return {
      before: this.#history.newest,
      keys: this.#keys,
      encode: this.#encode,
      hasLease: (id) => this.#leases.has(id),
      readable: (revision) => this.#history.readable(revision),
    };
  }

  #draft(newLeaseId = () => this.#leases.newId()): Draft<V, K> {
    return new Draft({
      ...this.#path(),
      revision: this.#history.revision + 1,
      stateAt: (revision) => this.#history.stateAt(revision),
      newLeaseId,
    });
  }
}
