import { checkMembers, checkOptions, NO_OPTIONS, SIGNAL_NAMES } from '../store/checks.ts';
import type { KeySpace } from '../store/keyspace.ts';
import type { Coordinate } from '../store/typed-store-options.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkSignal } from '../types/check-signal.ts';
import type { Clock } from '../types/clock.ts';
import type {
  AcquireLockOptions,
  Leadership,
  LockToken,
  StoreCoordination,
  StoreLock,
  TryLockOptions,
} from '../types/coordination.ts';
import { InvariantError } from '../types/errors.ts';
import { checkLeaseId } from '../types/lease-id.ts';
import { checkRenewedTtl, checkTtl } from '../types/lease-ttl.ts';
import type { Random } from '../types/random.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import type { Store } from '../types/store.ts';
import { campaign, leaderOf, resumeElected } from './election.ts';
import { LeaderStream } from './election-observer.ts';
import { acquireMutex, resumeMutex } from './mutex.ts';
import type { OwnershipContext } from './ownership-acquire.ts';
import { OwnershipClaims, OwnershipNames } from './ownership-names.ts';

const TRY_NAMES: ReadonlySet<string> = new Set<keyof TryLockOptions>(['ttlMs', 'lease', 'signal']);
const ACQUIRE_NAMES: ReadonlySet<string> = new Set<keyof AcquireLockOptions>(['ttlMs', 'lease', 'signal', 'timeoutMs']);
const TOKEN_NAMES: ReadonlySet<string> = new Set<keyof LockToken>([
  'identity',
  'name',
  'leaseId',
  'fencingToken',
  'ownsLease',
]);

/** What brings locks and elections to one store and all parts of it. */
export function createCoordinate(options: { readonly clock: Clock; readonly random: Random }): Coordinate {
  const claims = new OwnershipClaims();
  return <V, K extends Key>(store: Store<V, K>, keys: Pick<KeySpace<K>, 'base' | 'mode'>) =>
    new Coordination<V, K>({ ...options, store, claims, names: new OwnershipNames(keys) });
}

/** The door of locks and elections: what is given is checked here, before anything else happens. */
class Coordination<V, K extends Key> implements StoreCoordination<V, K> {
  readonly #context: OwnershipContext<V, K>;

  constructor(context: OwnershipContext<V, K>) {
    this.#context = context;
  }

  async acquireLock(name: string, options: AcquireLockOptions = NO_OPTIONS): Promise<StoreLock<V, K>> {
    const action = 'acquire a lock';
    const own = this.#checked(name, options, ACQUIRE_NAMES, action);
    return present(await acquireMutex(this.#context, { name, action, options: own, ifFree: false }));
  }

  async tryLock(name: string, options: TryLockOptions = NO_OPTIONS): Promise<StoreLock<V, K> | undefined> {
    const action = 'acquire a lock';
    const own = this.#checked(name, options, TRY_NAMES, action);
    return acquireMutex(this.#context, { name, action, options: own, ifFree: true });
  }

  async resumeLock(token: LockToken, options: SignalOptions = NO_OPTIONS): Promise<StoreLock<V, K>> {
    const checked = this.#checkedToken(token, options, 'resume a lock');
    return resumeMutex(this.#context, checked.token, checked.signal);
  }

  async resumeLeadership(token: LockToken, options: SignalOptions = NO_OPTIONS): Promise<Leadership<V, K>> {
    const checked = this.#checkedToken(token, options, 'resume a leadership');
    return resumeElected(this.#context, checked.token, checked.signal);
  }

  async campaign(name: string, value: V, options: AcquireLockOptions = NO_OPTIONS): Promise<Leadership<V, K>> {
    const action = 'campaign';
    const own = this.#checked(name, options, ACQUIRE_NAMES, action);
    return present(await campaign(this.#context, { name, action, value, options: own }));
  }

  leader(name: string): KeyValue<V, K> | undefined {
    this.#context.names.check(name, 'read the leader');
    return leaderOf(this.#context, name);
  }

  observe(name: string, options: SignalOptions = NO_OPTIONS): AsyncIterableIterator<KeyValue<V, K>> {
    const action = 'observe an election';
    const { names, store } = this.#context;
    names.check(name, action);
    const signal = checkOptions(options, SIGNAL_NAMES, action);
    return new LeaderStream(store, names.prefix(name), signal === undefined ? {} : { signal });
  }

  /** The token as it was checked, each member read once. */
  #checkedToken(token: LockToken, options: SignalOptions, action: string) {
    const signal = checkOptions(options, SIGNAL_NAMES, action);
    checkMembers(token, TOKEN_NAMES, action, 'the token is not an object', 'member of a token');
    const { identity, name, leaseId, fencingToken, ownsLease } = token;
    this.#context.names.check(name, action);
    checkLeaseId(leaseId, action, 'leaseId');
    checkInteger('fencingToken', fencingToken, action, 1);
    if (typeof identity !== 'string') throw new TypeError(`Cannot ${action}: identity is not text`);
    if (typeof ownsLease !== 'boolean') throw new TypeError(`Cannot ${action}: ownsLease is not a boolean`);
    signal?.throwIfAborted();
    return { token: { identity, name, leaseId, fencingToken, ownsLease }, signal };
  }

  /** The options as they were checked, each read once. */
  #checked(
    name: string,
    options: AcquireLockOptions,
    allowed: ReadonlySet<string>,
    action: string,
  ): AcquireLockOptions {
    this.#context.names.check(name, action);
    const signal = checkOptions(options, allowed, action);
    const { ttlMs, lease, timeoutMs } = options;
    if (ttlMs !== undefined) {
      checkTtl(ttlMs, action);
      checkRenewedTtl(ttlMs, action);
    }
    if (timeoutMs !== undefined) checkInteger('timeoutMs', timeoutMs, action, 1);
    if (lease !== undefined) {
      if (ttlMs !== undefined) throw new TypeError(`Cannot ${action}: lease and ttlMs exclude each other`);
      if (typeof lease !== 'object' || lease === null || lease.signal === undefined) {
        throw new TypeError(`Cannot ${action}: lease is not the handle of a lease`);
      }
      checkSignal(lease.signal, action, 'lease is not the handle of a lease');
      checkLeaseId(lease.id, action, 'lease.id');
    }
    signal?.throwIfAborted();
    return {
      ...(ttlMs === undefined ? undefined : { ttlMs }),
      ...(lease === undefined ? undefined : { lease }),
      ...(timeoutMs === undefined ? undefined : { timeoutMs }),
      ...(signal === undefined ? undefined : { signal }),
    };
  }
}

/** Who waits gets it or is told why not. */
function present<T>(owned: T | undefined): T {
  if (owned === undefined) throw new InvariantError('a wait for a lock ended without one');
  return owned;
}
