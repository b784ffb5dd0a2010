import type { WriteCall } from '../store/engine.ts';
import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedDelete, PreparedOperation, PreparedPut, PreparedTxn } from '../store/prepared.ts';
import { prepareSelection } from '../store/selection.ts';
import type { Backend } from '../types/backend.ts';
import { BackendError, ConflictError, NotAppliedError, PlimsollError, UnsupportedError } from '../types/errors.ts';
import type { LeaseId } from '../types/lease.ts';
import type { DeleteResult, PutResult } from '../types/requests.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { OperationResult, TxnResult } from '../types/txn.ts';
import type { ListManager } from './list-manager.ts';
import { claimOwnLeases, grantOwnLeases, type OwnLeases } from './own-leases.ts';
import type { ReplicatedPrefixes } from './prefixes.ts';
import type { ReplicaLeases } from './replica-leases.ts';
import { fromBackendTxn, toBackendTxn } from './replica-txn.ts';
import type { SentWrites } from './sent-writes.ts';

export interface ReplicaWritesOptions<V, K extends Key> {
  readonly backend: Backend;
  readonly mvcc: Mvcc<V, K>;
  readonly manager: ListManager<V, K>;
  readonly prefixes: ReplicatedPrefixes;
  readonly leases: ReplicaLeases;
  readonly sent: SentWrites;
  /** Throws `ClosedError`, or what has broken the replica for good. */
  readonly checkOpen: (action: string) => void;
}

/**
 * The writes of a replica: sent to the backend as transactions, awaited until the stream has brought them back (M3), and
 * looked up in the history that it brought (M5).
 */
export class ReplicaWrites<V, K extends Key> {
  readonly #backend: Backend;
  readonly #mvcc: Mvcc<V, K>;
  readonly #manager: ListManager<V, K>;
  readonly #prefixes: ReplicatedPrefixes;
  readonly #leases: ReplicaLeases;
  readonly #sent: SentWrites;
  readonly #checkOpen: (action: string) => void;

  constructor(options: ReplicaWritesOptions<V, K>) {
    this.#backend = options.backend;
    this.#mvcc = options.mvcc;
    this.#manager = options.manager;
    this.#prefixes = options.prefixes;
    this.#leases = options.leases;
    this.#sent = options.sent;
    this.#checkOpen = options.checkOpen;
  }

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

  async #write<W, L extends Key>(mvcc: Mvcc<W, L>, request: PreparedTxn, call: WriteCall): Promise<TxnResult<W, L>> {
    const { action, signal } = call;
    const { capabilities } = this.#backend;
    if (!capabilities.writable) throw new UnsupportedError(action, 'writing');
    if (capabilities.leases !== true && namesLease(request)) throw new UnsupportedError(action, 'leases');
    // A codec has run, which may have closed the store.
    this.#checkOpen(action);
    const { epoch } = this.#manager;
    const own = await this.#ownLeases(request, action, signal);
    const prepared = own.txn;
    let result: TxnResult<W, L>;
    try {
      const question = toBackendTxn(mvcc, prepared);
      const answer = await this.#sent.send(
        call,
        (aborted) => this.#backend.txn({ ...question, signal: aborted }),
        (told) => fromBackendTxn(mvcc, prepared, told),
      );
      const claimed = claimOwnLeases(own, answer);
      result = claimed.result;
      this.#forgetLeases(claimed.unused);
    } catch (error) {
      // What may be committed keeps its leases: to revoke them would delete its keys. They expire by themselves.
      if (isRefusal(error, signal)) this.#forgetLeases([...own.granted.values()]);
      throw error;
    }
    if (!this.#touches(prepared)) return result;
    await this.#sent.applied(call, result.revision, epoch, result);
    if (epoch !== this.#manager.epoch || this.#isEvident(prepared, result)) return result;
    this.#manager.distrust(`an own write at ${result.revision} is not in the history that the stream brought`);
    // The caller reads what it wrote, so it waits until that is mended.
    await this.#sent.applied(call, result.revision, epoch, result);
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

  /** Whether anything it reads, compares or writes is replicated; if not, there is nothing to wait for (M3). */
  #touches(prepared: PreparedTxn): boolean {
    if (prepared.compare.some(({ range }) => this.#prefixes.touches(range))) return true;
    return [...prepared.then, ...prepared.else].some((operation) => {
      if (operation.type === 'txn') return this.#touches(operation);
      return operation.type === 'put' ? this.#prefixes.has(operation.text) : this.#prefixes.touches(operation.range);
    });
  }

  /** What was written must be in history, unless that revision is in a hole or compacted (M5). */
  #isEvident<W, L extends Key>(prepared: PreparedTxn, result: TxnResult<W, L>): boolean {
    const { state, window } = this.#mvcc;
    const { revision } = result;
    if (revision < window.watchFloor || window.isInHole(revision)) return true;
    const branch = result.succeeded ? prepared.then : prepared.else;
    return branch.every((operation, index) => {
      const text = writtenKey(operation, result.responses[index]);
      return text === undefined || !this.#prefixes.has(text) || state.hasCommit(text, revision);
    });
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

/** Whether the backend has said that nothing was written. A signal's reason says nothing about it. */
function isRefusal(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true || !(error instanceof PlimsollError)) return false;
  return !(error instanceof BackendError && error.maybeCommitted);
}

/** Whether a put in any branch attaches its key to a lease: what a backend without leases is never asked for. */
function namesLease(txn: PreparedTxn): boolean {
  return [...txn.then, ...txn.else].some((operation) => {
    if (operation.type === 'txn') return namesLease(operation);
    if (operation.type !== 'put') return false;
    const { lease } = operation;
    return lease.type === 'own' || (lease.type === 'id' && lease.id !== '0');
  });
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
