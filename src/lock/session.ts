import { LeaseNotFoundError, NotAppliedError } from '../types/errors.ts';
import type { Lease, LeaseId } from '../types/lease.ts';
import type { Key } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import { untilAborted } from '../types/until-aborted.ts';

/** The lease that a lock or a candidate lives by. */
export interface Session {
  readonly lease: Lease;
  /** Made for it: it goes with it. */
  readonly isOwn: boolean;
  /**
   * Ends a lease of its own: no renewal any more, and revoked, so that its keys go. If that fails it expires by itself. Of a
   * lease that was given it leaves everything as it is.
   */
  end(): Promise<void>;
}

type LeaseStore = Pick<Store<unknown, Key>, 'grantLease' | 'resumeLease'>;

/** A lease for one lock, which renews itself. */
export async function openSession(store: LeaseStore, ttlMs: number, signal: AbortSignal): Promise<Session> {
  const { lease, stop } = await openRenewing(
    (renewing) => store.grantLease({ ttlMs, keepAlive: true, signal: renewing }),
    signal,
  );
  return ownSession(lease, stop);
}

/** The lease of a lock that another process had, renewed from here too. */
export interface ResumedLease {
  readonly lease: Lease;
  /** The session of the lock that was taken up. Of a lease that is not its own only the renewals end with it. */
  keep(isOwn: boolean): Session;
  /** The lock is not taken up: no renewal from here. */
  leave(): void;
}

export async function resumeSession(
  store: LeaseStore,
  id: LeaseId,
  signal: AbortSignal | undefined,
): Promise<ResumedLease> {
  const { lease, stop } = await openRenewing(
    (renewing) => store.resumeLease(id, { keepAlive: true, signal: renewing }),
    signal,
  );
  const keep = (isOwn: boolean): Session =>
    isOwn ? ownSession(lease, stop) : { lease, isOwn: false, end: async () => stop() };
  return { lease, keep, leave: stop };
}

/** A lease that somebody else keeps. */
export function givenSession(lease: Lease): Session {
  return { lease, isOwn: false, end: async () => undefined };
}

function ownSession(lease: Lease, stop: () => void): Session {
  const end = async () => {
    stop();
    try {
      await lease.revoke();
    } catch (error) {
      // Gone already; or gone, only not to be seen here yet.
      if (!(error instanceof LeaseNotFoundError || error instanceof NotAppliedError)) throw error;
    }
  };
  return { lease, isOwn: true, end };
}

async function openRenewing(
  open: (renewing: AbortSignal) => Promise<Lease>,
  signal: AbortSignal | undefined,
): Promise<{ lease: Lease; stop: () => void }> {
  const renewing = new AbortController();
  const stop = () => renewing.abort();
  try {
    return { lease: await untilAborted(() => open(renewing.signal), [signal]), stop };
  } catch (error) {
    // Should it have been granted, nobody renews it.
    stop();
    throw error;
  }
}
