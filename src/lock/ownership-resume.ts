import type { LockToken } from '../types/coordination.ts';
import { IdentityChangedError, LeaseLostError, LeaseNotFoundError, SessionExpiredError } from '../types/errors.ts';
import type { Key } from '../types/revision.ts';
import { claimName, type Owned, type OwnershipContext, ownedOf, placeOf } from './ownership-acquire.ts';
import { resumeSession } from './session.ts';

export interface ResumeRequest<T, K extends Key> {
  readonly token: LockToken;
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** What the caller is told when it is not owned any more. */
  readonly lost: (cause?: unknown) => Error;
  /** The handle of what was resumed. What it throws gives everything back. */
  readonly handle: (owned: Owned<K>) => T;
}

/**
 * Takes up what another process owns: the key of the token has to be there still, and to be the oldest (store:R46). Its lease
 * renews itself here from then on; what cannot be resumed goes on as it was, without renewals from here.
 */
export async function resumeOwned<V, T, K extends Key>(
  context: OwnershipContext<V, K>,
  { token, action, signal, lost, handle }: ResumeRequest<T, K>,
): Promise<T> {
  const { store } = context;
  const { name, leaseId, fencingToken, identity, ownsLease } = token;
  await store.ready(signal === undefined ? {} : { signal });
  if (identity !== store.identity) throw new IdentityChangedError(action, store.epoch);
  const session = await resumeSession(store, leaseId, signal).catch((error: unknown) => {
    throw error instanceof LeaseNotFoundError ? lost(error) : error;
  });
  let unclaim: (() => void) | undefined;
  const place = placeOf(context, name, session.lease, action);
  try {
    unclaim = claimName(context, name, session.lease, action);
    if ((await place.adopt(fencingToken, signal)) !== 'first') throw lost();
    place.lost.throwIfAborted();
    return handle(ownedOf(context, { name, place, session: session.keep(ownsLease), unclaim }));
  } catch (error) {
    place.close();
    session.leave();
    unclaim?.();
    throw error instanceof LeaseLostError || error instanceof SessionExpiredError ? lost(error) : error;
  }
}

/** What `toJSON` of a handle says. */
export function tokenOf<K extends Key>(identity: string, { name, place, session }: Owned<K>): LockToken {
  return {
    identity,
    name,
    leaseId: session.lease.id,
    fencingToken: place.createRevision,
    ownsLease: session.isOwn,
  };
}
