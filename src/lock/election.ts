import type { Leadership } from '../types/coordination.ts';
import { NotLeaderError } from '../types/errors.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import { OwnedName } from './ownership.ts';
import { type AcquireRequest, acquire, type Owned, type OwnershipContext } from './ownership-acquire.ts';

/** Waits to be elected (store:R49): the queue is that of locks, and the key holds the candidate's value. */
export async function campaign<V, K extends Key>(
  context: OwnershipContext<V, K>,
  request: Pick<AcquireRequest<V, K>, 'name' | 'action' | 'value' | 'options'>,
): Promise<Leadership<V, K> | undefined> {
  const values = context.store.prefix(context.names.prefix(request.name));
  const owned = await acquire(context, { ...request, values, ifFree: false });
  return owned === undefined ? undefined : new Elected(context, owned, request.value);
}

/** The oldest candidate is the leader (store:R49). */
export function leaderOf<V, K extends Key>(
  { store, names }: OwnershipContext<V, K>,
  name: string,
): KeyValue<V, K> | undefined {
  return store.range({ prefix: names.prefix(name), sortTarget: 'create', limit: 1 }).kvs[0];
}

class Elected<V, K extends Key> extends OwnedName<V, K> implements Leadership<V, K> {
  #value: V;

  constructor({ store, names }: OwnershipContext<V, K>, owned: Owned<K>, value: V) {
    const { name, place, session } = owned;
    const fencingToken = place.createRevision;
    super({
      store,
      key: names.full(name, session.lease.id),
      owned,
      endError: (action, isGiven, cause) =>
        new NotLeaderError(
          action,
          { election: name, fencingToken, end: isGiven ? 'resigned' : 'lost' },
          cause === undefined ? {} : { cause },
        ),
    });
    this.#value = value;
  }

  get value(): V {
    return this.#value;
  }

  async proclaim(value: V, options?: SignalOptions): Promise<void> {
    await this.txn({ then: [{ type: 'put', key: this.key, value, lease: this.lease.id }] }, options);
    this.#value = value;
  }

  resign(): Promise<void> {
    return this.give('lead');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }
}
