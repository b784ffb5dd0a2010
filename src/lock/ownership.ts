import { NO_OPTIONS } from '../store/checks.ts';
import type { Ownership } from '../types/coordination.ts';
import { NotAppliedError, SessionExpiredError } from '../types/errors.ts';
import type { Lease } from '../types/lease.ts';
import { onAbort } from '../types/on-abort.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { Store } from '../types/store.ts';
import type { TxnRequest, TxnResult } from '../types/txn.ts';
import type { Owned } from './ownership-acquire.ts';

export interface OwnershipParts<V, K extends Key> {
  readonly store: Store<V, K>;
  readonly key: K;
  readonly owned: Owned<K>;
  /** What a lock and a leadership call their end. `given`: by the owner itself. */
  readonly endError: (action: string, isGiven: boolean, cause?: unknown) => Error;
}

/**
 * A name that is owned, as its owner sees it: what a lock and a leadership have in common.
 *
 * ```text
 *   guard     compare [create(key) = token]  then [ the request, whole, as a nested transaction ]
 *   txn       the same, sent; a compare that fails is the error, so an answer is that of the request alone
 * ```
 *
 * The signal aborts before the key is deleted when it is given up, so whoever works under it ends before the next owner begins.
 */
export class OwnedName<V, K extends Key> implements Ownership<V, K> {
  readonly name: string;
  readonly key: K;
  readonly fencingToken: Revision;
  readonly lease: Lease;
  readonly #parts: OwnershipParts<V, K>;
  readonly #ended = new AbortController();
  #unlisten: (() => void) | undefined;
  #isGiven = false;
  #giving: Promise<void> | undefined;

  constructor(parts: OwnershipParts<V, K>) {
    const { place, session, name } = parts.owned;
    this.name = name;
    this.key = parts.key;
    this.fencingToken = place.createRevision;
    this.lease = session.lease;
    this.#parts = parts;
    this.#unlisten = onAbort(place.lost, (reason) => this.#end(reason));
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  guard(request: TxnRequest<V, K>): TxnRequest<V, K> {
    if (typeof request !== 'object' || request === null) {
      throw new TypeError('Cannot guard a transaction: the request is not an object');
    }
    return {
      compare: [{ key: this.key, target: 'create', result: '=', value: this.fencingToken }],
      then: [{ ...request, type: 'txn' }],
    };
  }

  async txn(request: TxnRequest<V, K>, options: SignalOptions = NO_OPTIONS): Promise<TxnResult<V, K>> {
    const action = 'run a guarded transaction';
    const guarded = this.guard(request);
    this.requireOwned(action);
    try {
      return this.#answer(await this.#parts.store.txn(guarded, options), action);
    } catch (error) {
      if (!(error instanceof NotAppliedError)) throw error;
      const result = this.#answer(error.result as TxnResult<V, K>, action);
      throw new NotAppliedError(action, { revision: error.revision, result }, { cause: error.cause });
    }
  }

  /** Throws if it is known to be lost or given up. That it does not throw says nothing: the store knows. */
  protected requireOwned(action: string): void {
    if (this.signal.aborted) throw this.#parts.endError(action, this.#isGiven, this.signal.reason);
  }

  /** One at a time; one that has failed may be tried again. */
  protected give(action: string): Promise<void> {
    if (!this.signal.aborted) {
      this.#isGiven = true;
      this.#end(this.#parts.endError(action, true));
    }
    this.#giving ??= this.#parts.owned.give().catch((error: unknown) => {
      this.#giving = undefined;
      throw error;
    });
    return this.#giving;
  }

  #answer({ revision, succeeded, responses }: TxnResult<V, K>, action: string): TxnResult<V, K> {
    const [inner] = responses;
    if (succeeded && inner?.type === 'txn') {
      return { revision, succeeded: inner.succeeded, responses: inner.responses };
    }
    // The watch will say it too, in a moment.
    this.#parts.owned.place.tellGone();
    throw this.#parts.endError(action, this.#isGiven, this.signal.aborted ? this.signal.reason : undefined);
  }

  #end(reason: unknown): void {
    this.#unlisten?.();
    if (reason instanceof SessionExpiredError) {
      this.#ended.abort(this.#parts.endError('go on', false));
    } else {
      this.#ended.abort(reason);
    }
  }
}
