import { bytesCodec } from '../store/codecs.ts';
import type { LockToken, StoreLock } from '../types/coordination.ts';
import {
  IdentityChangedError,
  LeaseLostError,
  LeaseNotFoundError,
  LockLostError,
  SessionExpiredError,
} from '../types/errors.ts';
import type { Key } from '../types/revision.ts';
import { OwnedName } from './ownership.ts';
import {
  type AcquireRequest,
  acquire,
  claimName,
  type Owned,
  type OwnershipContext,
  ownedOf,
  placeOf,
} from './ownership-acquire.ts';
import { resumeSession } from './session.ts';

/** What the key of a lock holds: JSON text, so that those who list all keys can read it with the usual codecs. */
const LOCK_VALUE: Uint8Array = new TextEncoder().encode('null');

/** Acquires a lock (store:R46); `undefined` with `ifFree` if it is not free. */
export async function acquireMutex<V, K extends Key>(
  context: OwnershipContext<V, K>,
  request: Pick<AcquireRequest<unknown, K>, 'name' | 'action' | 'ifFree' | 'options'>,
): Promise<StoreLock<V, K> | undefined> {
  const values = context.store.prefix(context.names.prefix(request.name), { codec: bytesCodec() });
  const owned = await acquire(context, { ...request, values, value: LOCK_VALUE });
  return owned === undefined ? undefined : new Mutex(context, owned);
}

/** Takes up a lock of another process: the key of the token has to be there still, and to be the oldest. */
export async function resumeMutex<V, K extends Key>(
  context: OwnershipContext<V, K>,
  token: LockToken,
  signal: AbortSignal | undefined,
): Promise<StoreLock<V, K>> {
  const action = 'resume a lock';
  const { store } = context;
  const { name, leaseId, fencingToken, identity, ownsLease } = token;
  const lost = (cause?: unknown) =>
    new LockLostError(action, { lock: name, fencingToken, end: 'lost' }, cause === undefined ? {} : { cause });
  await store.ready(signal === undefined ? {} : { signal });
  if (identity !== store.identity) throw new IdentityChangedError(action, store.epoch);
  const session = await resumeSession(store, leaseId, signal).catch((error: unknown) => {
    throw error instanceof LeaseNotFoundError ? lost(error) : error;
  });
  // What is not resumed goes on as it was, without renewals from here.
  let unclaim: (() => void) | undefined;
  const place = placeOf(context, name, session.lease, action);
  try {
    unclaim = claimName(context, name, session.lease, action);
    if ((await place.adopt(fencingToken, signal)) !== 'first') throw lost();
    place.lost.throwIfAborted();
    return new Mutex(context, ownedOf(context, { name, place, session: session.keep(ownsLease), unclaim }));
  } catch (error) {
    place.close();
    session.leave();
    unclaim?.();
    throw error instanceof LeaseLostError || error instanceof SessionExpiredError ? lost(error) : error;
  }
}

/** A lock that is held. */
class Mutex<V, K extends Key> extends OwnedName<V, K> implements StoreLock<V, K> {
  readonly #token: LockToken;

  constructor(context: OwnershipContext<V, K>, owned: Owned<K>) {
    const { store, names } = context;
    const { name, place, session } = owned;
    const fencingToken = place.createRevision;
    const key = names.full(name, session.lease.id);
    super({
      store,
      key,
      owned,
      endError: (action, isGiven, cause) =>
        new LockLostError(
          action,
          { lock: name, fencingToken, end: isGiven ? 'released' : 'lost' },
          cause === undefined ? {} : { cause },
        ),
    });
    const { identity } = store;
    this.#token = { identity, name, leaseId: session.lease.id, fencingToken, ownsLease: session.isOwn };
  }

  release(): Promise<void> {
    return this.give('use a lock');
  }

  toJSON(): LockToken {
    return { ...this.#token };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
