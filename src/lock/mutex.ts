import { bytesCodec } from '../store/codecs.ts';
import type { LockToken, StoreLock } from '../types/coordination.ts';
import { LockLostError } from '../types/errors.ts';
import type { Key } from '../types/revision.ts';
import { OwnedName } from './ownership.ts';
import { type AcquireRequest, acquire, type Owned, type OwnershipContext } from './ownership-acquire.ts';
import { causeOf } from './ownership-errors.ts';
import { resumeOwned, tokenOf } from './ownership-resume.ts';

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

/** Takes up a lock of another process. */
export function resumeMutex<V, K extends Key>(
  context: OwnershipContext<V, K>,
  token: LockToken,
  signal: AbortSignal | undefined,
): Promise<StoreLock<V, K>> {
  const action = 'resume a lock';
  const { name: lock, fencingToken } = token;
  return resumeOwned(context, {
    token,
    action,
    signal,
    lost: (cause) => new LockLostError(action, { lock, fencingToken, end: 'lost' }, causeOf(cause)),
    handle: (owned) => new Mutex(context, owned),
  });
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
        new LockLostError(action, { lock: name, fencingToken, end: isGiven ? 'released' : 'lost' }, causeOf(cause)),
    });
    this.#token = tokenOf(store.identity, owned);
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
