import { KeySpace } from '../../store/keyspace.ts';
import { DEFAULT_LIMITS } from '../../store/limits.ts';
import { prepareTxn } from '../../store/prepare-txn.ts';
import { PlainValues } from '../../store/values.ts';
import type {
  Backend,
  BackendCallOptions,
  BackendCapabilities,
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
import type { Clock } from '../../types/clock.ts';
import {
  CompactedError,
  FutureRevisionError,
  KeyNotFoundError,
  LeaseNotFoundError,
  LimitExceededError,
} from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import { checkRangeRequest, checkTxnRequest } from '../check-request.ts';
import { txnOf } from '../txn-terms.ts';
import type { CallOptions, EtcdClient } from './client.ts';
import { backendError, EtcdRefusal } from './errors.ts';
import { EtcdLeases } from './leases.ts';
import { NOTHING, Position } from './position.ts';
import { readRanges } from './range.ts';
import { EtcdStream, watchAnswerOf } from './stream.ts';
import { outcomeOf, wireSelection, wireTxn } from './txn.ts';
import { wireRange } from './wire.ts';

export interface EtcdBackendFacts {
  readonly clock: Pick<Clock, 'now'>;
  /**
   * Whether watches are asked how far they are complete (`capabilities.progress`): only on a transport whose streams take a
   * second request, and with members whose answers can be believed. Else a replica asks what has changed (M20).
   */
  readonly offersProgress: boolean;
}

/**
 * A cluster of etcd as a `Backend`, over whatever transport its client has. Reads are linearizable, which is etcd's default.
 *
 * Data are named by the cluster's id. A cluster that was wiped and made again may have the same one: then a revision that goes
 * back is what gives it away.
 */
export class EtcdBackend implements Backend {
  readonly capabilities: BackendCapabilities;
  readonly leases: EtcdLeases;
  readonly #client: EtcdClient;
  readonly #facts: EtcdBackendFacts;
  readonly #where: Position;
  readonly #types = {
    keys: new KeySpace<Uint8Array>('bytes'),
    values: new PlainValues<Uint8Array>(DEFAULT_LIMITS.valueBytes),
  };

  constructor(client: EtcdClient, facts: EtcdBackendFacts) {
    this.#client = client;
    this.#facts = facts;
    this.capabilities = { progress: facts.offersProgress, writable: true, leases: true };
    this.#where = new Position(client);
    this.leases = new EtcdLeases({
      client,
      position: (signal) => this.#position('ask where etcd is', signal),
      explain: (error, action) => explained(error, action),
    });
  }

  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    const { ranges, revision = 0, signal } = request;
    const action = 'read from etcd';
    checkRangeRequest(request, action);
    const [first] = ranges;
    if (first === undefined) {
      const position = await this.#position(action, signal);
      return { ...position, revision: revision > 0 ? revision : position.revision, count: 0, kvs: [] };
    }
    const call = { action, signal };
    try {
      const answer = await readRanges(this.#client, request, call);
      this.#where.mayRead(first.start);
      return answer;
    } catch (error) {
      throw await this.#revisionRefusal(error, { revision, key: first.start }, call);
    }
  }

  status({ signal }: BackendCallOptions): Promise<BackendPosition> {
    return this.#position('ask where etcd is', signal);
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    const position = (signal: AbortSignal | undefined) => this.#position('watch etcd', signal);
    return new EtcdStream({ ...this.#facts, client: this.#client, position }, request);
  }

  async txn(given: BackendTxnRequest): Promise<BackendTxnResponse> {
    const action = 'run a transaction';
    checkTxnRequest(given, action);
    const { signal, ...request } = given;
    signal?.throwIfAborted();
    // etcd does not find every key that is written twice; and what is wrong is told with its facts.
    prepareTxn(this.#types, txnOf(request), DEFAULT_LIMITS.txnOperations);
    const isEmpty = request.then.length === 0 && request.else.length === 0;
    const asked = isEmpty ? { ...request, then: [NOTHING], else: [NOTHING] } : request;
    try {
      return await this.#client.call(
        'kv/txn',
        wireTxn(asked),
        { action, signal, isWrite: true },
        (answer, position) => {
          const { succeeded, responses } = outcomeOf(answer, asked);
          return { ...position, succeeded, responses: isEmpty ? [] : responses };
        },
      );
    } catch (error) {
      throw await this.#txnRefusal(error, request, { action, signal });
    }
  }

  async compact({ revision, signal }: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    const action = 'compact etcd';
    checkInteger('the revision', revision, action, 0);
    const body = { revision: String(revision) };
    try {
      await this.#client.call('kv/compaction', body, { action, signal, isWrite: true }, () => undefined);
    } catch (error) {
      if (!(error instanceof EtcdRefusal && error.is('compacted'))) {
        throw await this.#revisionRefusal(error, { revision }, { action, signal });
      }
      const compactRevision = await this.#compactRevision({ atLeast: revision }, { action, signal });
      throw new CompactedError(action, { minRevision: compactRevision + 1, compactRevision });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }

  async #position(action: string, signal: AbortSignal | undefined): Promise<BackendPosition> {
    try {
      return await this.#where.ask({ action, signal });
    } catch (error) {
      throw explained(error, action);
    }
  }

  /** With the facts that etcd leaves out when it refuses a revision. `key` is one that was to be read. */
  async #revisionRefusal(
    error: unknown,
    { revision, key }: { readonly revision: Revision; readonly key?: Uint8Array | undefined },
    { action, signal }: CallOptions,
  ): Promise<unknown> {
    if (!(error instanceof EtcdRefusal)) return error;
    if (error.is('compacted')) {
      const compactRevision = await this.#compactRevision({ atLeast: revision + 1, key }, { action, signal });
      return new CompactedError(action, { minRevision: compactRevision, compactRevision });
    }
    if (!error.is('future')) return explained(error, action);
    const { revision: currentRevision } = await this.#position(action, signal);
    return new FutureRevisionError(action, { revision, currentRevision });
  }

  /**
   * What was compacted, where a refusal has proven that it is `atLeast` so much. A watch from below is told: etcd ends it. One
   * from that revision itself or above it would let go on, without a word; so a read there comes first, which is refused if
   * more was compacted. Who may read neither is told what is certain.
   */
  async #compactRevision(
    { atLeast, key = Uint8Array.of(0) }: { readonly atLeast: Revision; readonly key?: Uint8Array | undefined },
    { action, signal }: CallOptions,
  ): Promise<Revision> {
    const revision = Math.max(1, atLeast);
    try {
      const body = wireSelection({ start: key }, revision, { countOnly: true });
      await this.#client.call('kv/range', body, { action, signal }, () => undefined);
      return atLeast;
    } catch (error) {
      // A revision that is still to come is not compacted.
      if (error instanceof EtcdRefusal && (error.is('denied') || error.is('future'))) return atLeast;
      if (!(error instanceof EtcdRefusal && error.is('compacted'))) throw explained(error, action);
    }
    const create = { create_request: { ...wireRange({ start: key }), start_revision: String(revision) } };
    const call = { action, signal, isBrief: true };
    for await (const { isCanceled, compactRevision } of this.#client.explainedStream(
      'watch',
      create,
      call,
      watchAnswerOf,
    )) {
      if (isCanceled) return Math.max(atLeast, compactRevision);
    }
    return atLeast;
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
    const ranges = operations.filter((one) => one.type === 'range');
    const revision = ranges.reduce((most, one) => Math.max(most, one.revision ?? 0), 0);
    const oldest = ranges
      .filter((one) => (one.revision ?? 0) > 0)
      .sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0))[0];
    const asked = error.is('compacted') ? { revision: oldest?.revision ?? 0, key: oldest?.range.start } : { revision };
    return this.#revisionRefusal(error, asked, { action, signal });
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
