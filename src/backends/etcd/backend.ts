import { KeySpace } from '../../store/keyspace.ts';
import { DEFAULT_LIMITS } from '../../store/limits.ts';
import { prepareTxn } from '../../store/prepare-txn.ts';
import { PlainValues } from '../../store/values.ts';
import type {
  Backend,
  BackendCallOptions,
  BackendKeyValue,
  BackendOperation,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnRequest,
  BackendTxnResponse,
  BackendWatchRequest,
  BackendWatchStream,
} from '../../types/backend.ts';
import { checkInteger } from '../../types/check-integer.ts';
import {
  CompactedError,
  FutureRevisionError,
  KeyNotFoundError,
  LeaseNotFoundError,
  LimitExceededError,
} from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import { txnOf } from '../txn-terms.ts';
import { backendError, EtcdRefusal } from './errors.ts';
import type { CallOptions, Gateway } from './gateway.ts';
import { EtcdLeases } from './leases.ts';
import { EtcdStream } from './stream.ts';
import { responsesOf, type WireRangeAnswer, type WireTxnAnswer, wireSelection, wireTxn } from './txn.ts';
import { type Header, integerOf, rowOf } from './wire.ts';

/** The smallest key there is: what is asked about when only the header is wanted. */
const ANY_KEY = { start: Uint8Array.of(0) };

/**
 * A cluster of etcd as a `Backend`, over the JSON gateway that each member has beside gRPC. Reads are linearizable, which is
 * etcd's default; a watch is not told how far it is complete (no `capabilities.progress`), since the gateway's watch hears
 * one message and no more: so a replica asks what has changed instead (M20).
 *
 * Data are named by the cluster's id. A cluster that was wiped and made again may have the same one: then a revision that goes
 * back is what gives it away.
 */
export class EtcdBackend implements Backend {
  readonly capabilities = { progress: false, writable: true, leases: true } as const;
  readonly leases: EtcdLeases;
  readonly #gateway: Gateway;
  readonly #types = {
    keys: new KeySpace<Uint8Array>('bytes'),
    values: new PlainValues<Uint8Array>(DEFAULT_LIMITS.valueBytes),
  };

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.leases = new EtcdLeases({
      gateway,
      position: (signal) => this.#position('ask where etcd is', signal),
      explain: (error, action) => explained(error, action),
    });
  }

  /** Several ranges are one transaction, so that they are of one revision. */
  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    const {
      ranges,
      revision = 0,
      minModRevision = 0,
      limit = 0,
      keysOnly = false,
      countOnly = false,
      signal,
    } = request;
    const action = 'read from etcd';
    const selection = { minModRevision, limit, keysOnly, countOnly };
    const success = ranges.map((range) => ({ request_range: wireSelection(range, revision, selection) }));
    const answer = await this.#reading(action, revision, signal, () =>
      this.#gateway.call<WireTxnAnswer>('kv/txn', { success }, { action, signal }),
    );
    let count = 0;
    const kvs: BackendKeyValue[] = [];
    for (const { response_range } of answer.responses ?? []) {
      count += integerOf(response_range?.count, 'a count');
      for (const row of response_range?.kvs ?? []) kvs.push(rowOf(row));
    }
    const { identity, revision: newest } = positionOf(answer.header);
    const page = limit > 0 ? kvs.slice(0, limit) : kvs;
    return { identity, revision: revision > 0 ? revision : newest, count, kvs: page };
  }

  status({ signal }: BackendCallOptions): Promise<BackendPosition> {
    return this.#position('ask where etcd is', signal);
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    return new EtcdStream(this.#gateway, request, (signal) => this.#position('watch etcd', signal));
  }

  async txn({ signal, ...request }: BackendTxnRequest): Promise<BackendTxnResponse> {
    const action = 'run a transaction';
    signal?.throwIfAborted();
    // etcd does not find every key that is written twice; and what is wrong is told with its facts.
    prepareTxn(this.#types, txnOf(request), DEFAULT_LIMITS.txnOperations);
    let answer: WireTxnAnswer;
    try {
      answer = await this.#gateway.call<WireTxnAnswer>('kv/txn', wireTxn(request), { action, signal, isWrite: true });
    } catch (error) {
      throw await this.#txnRefusal(error, request, { action, signal });
    }
    const { succeeded = false, responses } = answer;
    const branch = succeeded ? request.then : request.else;
    return { ...positionOf(answer.header), succeeded, responses: responsesOf(responses, branch) };
  }

  async compact({ revision, signal }: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    const action = 'compact etcd';
    checkInteger('the revision', revision, action, 0);
    await this.#reading(action, revision, signal, () =>
      this.#gateway.call<object>('kv/compaction', { revision: String(revision) }, { action, signal, isWrite: true }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gateway.close();
  }

  /** By a read that etcd agrees upon with its cluster: the status of a member is only its own (B2). */
  async #position(action: string, signal: AbortSignal | undefined): Promise<BackendPosition> {
    const body = wireSelection(ANY_KEY, 0, { countOnly: true });
    try {
      const { header } = await this.#gateway.call<WireRangeAnswer>('kv/range', body, { action, signal });
      return positionOf(header);
    } catch (error) {
      throw explained(error, action);
    }
  }

  /** With the facts that etcd leaves out when it refuses a revision. */
  async #reading<T>(
    action: string,
    revision: Revision,
    signal: AbortSignal | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw await this.#revisionRefusal(error, revision, { action, signal });
    }
  }

  async #revisionRefusal(error: unknown, revision: Revision, { action, signal }: CallOptions): Promise<unknown> {
    if (!(error instanceof EtcdRefusal)) return error;
    if (error.is('compacted')) {
      const compactRevision = await this.#compactRevision(action, signal);
      const minRevision = action === 'compact etcd' ? compactRevision + 1 : compactRevision;
      return new CompactedError(action, { minRevision, compactRevision });
    }
    if (!error.is('future')) return explained(error, action);
    const { revision: currentRevision } = await this.#position(action, signal);
    return new FutureRevisionError(action, { revision, currentRevision });
  }

  /** A watch from the first revision is told where it may start. */
  async #compactRevision(action: string, signal: AbortSignal | undefined): Promise<Revision> {
    const create = { create_request: { key: 'AA==', start_revision: '1' } };
    const stream = this.#gateway.stream<{ readonly compact_revision?: string; readonly canceled?: boolean }>(
      'watch',
      create,
      { action, signal },
    );
    for await (const { compact_revision, canceled } of stream) {
      if (canceled === true) return integerOf(compact_revision, 'a compact revision');
    }
    return 0;
  }

  async #txnRefusal(
    error: unknown,
    request: Omit<BackendTxnRequest, 'signal'>,
    { action, signal }: CallOptions,
  ): Promise<unknown> {
    if (!(error instanceof EtcdRefusal)) return error;
    const operations = [...operationsOf(request)];
    if (error.is('leaseNotFound')) {
      const ids = operations.flatMap((one) => (one.type === 'put' && one.lease !== undefined ? [one.lease] : []));
      return new LeaseNotFoundError(action, await this.#missingLease(ids, signal));
    }
    if (error.is('keyNotFound')) {
      const puts = operations.flatMap((one) => (one.type === 'put' && keepsSomething(one) ? [one.key] : []));
      return new KeyNotFoundError(action, await this.#missingKey(puts, signal));
    }
    if (error.is('tooManyOperations')) {
      const max = DEFAULT_LIMITS.txnOperations;
      return new LimitExceededError(action, { limit: 'txnOperations', max, actual: operations.length });
    }
    const revision = operations.reduce(
      (most, one) => Math.max(most, one.type === 'range' ? (one.revision ?? 0) : 0),
      0,
    );
    return this.#revisionRefusal(error, revision, { action, signal });
  }

  /** etcd does not say which; by now it may be there. */
  async #missingLease(ids: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    for (const id of ids) {
      const request = signal === undefined ? { id } : { id, signal };
      if (id !== '0' && (await this.leases.timeToLive(request)).status === undefined) return id;
    }
    return ids[0] ?? '0';
  }

  async #missingKey(keys: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<Uint8Array> {
    for (const start of keys) {
      const request = { ranges: [{ start }], countOnly: true };
      const { count } = await this.range(signal === undefined ? request : { ...request, signal });
      if (count === 0) return start;
    }
    return keys[0] ?? new Uint8Array(0);
  }
}

function positionOf(header: Header | undefined): BackendPosition {
  return { identity: header?.cluster_id ?? '', revision: integerOf(header?.revision, 'a revision') };
}

/** What etcd refused, in the words of the contract; everything else is in them already, or is the reason of a signal. */
function explained(error: unknown, action: string): unknown {
  return error instanceof EtcdRefusal ? backendError(action, error.endpoint, error) : error;
}

function* operationsOf({ then, else: otherwise }: Omit<BackendTxnRequest, 'signal'>): Generator<BackendOperation> {
  for (const one of [...then, ...otherwise]) {
    if (one.type === 'txn') yield* operationsOf(one);
    else yield one;
  }
}

function keepsSomething({ ignoreValue, ignoreLease }: Extract<BackendOperation, { type: 'put' }>): boolean {
  return ignoreValue === true || ignoreLease === true;
}
