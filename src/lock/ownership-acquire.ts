import { backoffDelayMs, resolveBackoff } from '../queue/backoff.ts';
import { bytesCodec } from '../store/codecs.ts';
import { abortableSleep } from '../system/abortable.ts';
import type { Clock } from '../types/clock.ts';
import type { AcquireLockOptions } from '../types/coordination.ts';
import { LockTimeoutError } from '../types/errors.ts';
import type { Lease } from '../types/lease.ts';
import { onAbort } from '../types/on-abort.ts';
import type { Random } from '../types/random.ts';
import type { Key } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import { raceAborted, untilAborted } from '../types/until-aborted.ts';
import type { OwnershipClaims, OwnershipNames } from './ownership-names.ts';
import { OwnershipPlace } from './ownership-place.ts';
import { OwnershipScope } from './ownership-scope.ts';
import { givenSession, openSession, type Session } from './session.ts';

/** What locks and elections of one store, or of a part of it, have at hand. */
export interface OwnershipContext<V, K extends Key> {
  readonly store: Store<V, K>;
  readonly clock: Clock;
  readonly random: Random;
  readonly names: OwnershipNames<K>;
  readonly claims: OwnershipClaims;
}

export interface AcquireRequest<W, K extends Key> {
  readonly name: string;
  readonly action: string;
  /** The part below `name/` that the value is of. */
  readonly values: Store<W, K>;
  readonly value: W;
  /** Do not wait. */
  readonly ifFree: boolean;
  readonly options: AcquireLockOptions;
}

/** A name that is owned. Whoever has it calls `give`. */
export interface Owned<K extends Key> {
  readonly name: string;
  readonly place: OwnershipPlace<K>;
  readonly session: Session;
  /** Deletes the key, and a lease of its own. Rejects if that cannot be said; may be called again. */
  readonly give: () => Promise<void>;
}

const TTL_MS_DEFAULT = 10_000;
const LEAVING = resolveBackoff({ baseMs: 100, maxMs: 10_000 });

/**
 * Owns a name, at once or after a wait; `undefined` with `ifFree` if it is not free. Whatever else ends it, its key goes
 * again: with its lease if that is its own, by a delete, tried until it is answered or the lease is lost, if it is not.
 */
export async function acquire<V, W, K extends Key>(
  context: OwnershipContext<V, K>,
  request: AcquireRequest<W, K>,
): Promise<Owned<K> | undefined> {
  const { store, clock } = context;
  const { name, action, options } = request;
  const { signal, timeoutMs, lease, ttlMs = TTL_MS_DEFAULT } = options;
  const scope = new OwnershipScope(clock, {
    signal,
    timeoutMs,
    timeoutError: (waitedMs) => new LockTimeoutError(action, { lock: name, timeoutMs: waitedMs }),
  });
  try {
    await store.ready({ signal: scope.signal });
    const session = lease === undefined ? await openSession(store, ttlMs, scope.signal) : givenSession(lease);
    return await takePlace(context, request, session, scope.signal);
  } finally {
    scope.end();
  }
}

async function takePlace<V, W, K extends Key>(
  context: OwnershipContext<V, K>,
  request: AcquireRequest<W, K>,
  session: Session,
  signal: AbortSignal,
): Promise<Owned<K> | undefined> {
  const { name, action, values, value, ifFree } = request;
  const unclaim = claimName(context, name, session.lease, action);
  const place = placeOf(context, name, session.lease, action);
  let entering: Promise<unknown> | undefined;
  try {
    place.lost.throwIfAborted();
    // It is not cut short: whatever becomes of it has to be known before the key can be deleted.
    const entered = place.enter(values, value, ifFree);
    entering = entered;
    const standing = await raceAborted(entered, [signal, place.lost]);
    if (standing === 'behind' && ifFree) {
      await untilAborted(() => abandon(context, { place, session, unclaim }, undefined), [signal]);
      return undefined;
    }
    if (standing === 'behind') await place.untilFirst(signal);
    place.lost.throwIfAborted();
    signal.throwIfAborted();
  } catch (error) {
    void abandon(context, { place, session, unclaim }, entering);
    throw place.waitError(error);
  }
  return ownedOf(context, { name, place, session, unclaim });
}

/** From now on its loss ends what is left of it. */
export function ownedOf<V, K extends Key>(
  context: OwnershipContext<V, K>,
  parts: { name: string; place: OwnershipPlace<K>; session: Session; unclaim: () => void },
): Owned<K> {
  const { name, place, session, unclaim } = parts;
  onAbort(place.lost, () => void abandon(context, parts, undefined));
  const give = async () => {
    place.close();
    if (!session.isOwn && !place.lost.aborted) await place.leave();
    await session.end();
    unclaim();
  };
  return { name, place, session, give };
}

export function claimName<V, K extends Key>(
  { names, claims }: OwnershipContext<V, K>,
  name: string,
  lease: Lease,
  action: string,
): () => void {
  const unclaim = claims.claim(names.identify(names.full(name, lease.id)), { name, leaseId: lease.id }, action);
  // The key goes with its lease, whatever else was tried to delete it.
  const unlisten = onAbort(lease.signal, unclaim);
  return () => {
    unlisten();
    unclaim();
  };
}

export function placeOf<V, K extends Key>(
  { store, names }: OwnershipContext<V, K>,
  name: string,
  lease: Lease,
  action: string,
): OwnershipPlace<K> {
  const view = store.prefix(names.prefix(name), { codec: bytesCodec() });
  return new OwnershipPlace({ name, view, own: names.own(lease.id), root: names.key(''), lease, action });
}

/** Goes away without a rejection. `entering` is the put of the key, which may be under way still. */
async function abandon<V, K extends Key>(
  { clock, random }: OwnershipContext<V, K>,
  parts: { place: OwnershipPlace<K>; session: Session; unclaim: () => void },
  entering: Promise<unknown> | undefined,
): Promise<void> {
  const { place, session, unclaim } = parts;
  place.close();
  if (session.isOwn) {
    unclaim();
    // One that could not be revoked is renewed no more, and expires.
    await isDone(session.end());
    return;
  }
  await isDone(session.end());
  const { signal } = session.lease;
  if (entering !== undefined) await isDone(entering);
  for (let failures = 0; place.mayBeThere && !signal.aborted; failures++) {
    if (await isDone(place.leave())) break;
    await abortableSleep(clock, backoffDelayMs(failures, LEAVING, random), signal);
  }
  unclaim();
}

function isDone(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
