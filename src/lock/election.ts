import type { Leadership } from '../types/coordination.ts';
import { NotAppliedError, NotLeaderError } from '../types/errors.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
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
  /** Of the commit with the value. */
  #revision: Revision;

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
    this.#revision = fencingToken;
  }

  get value(): V {
    return this.#value;
  }

  async proclaim(value: V, options?: SignalOptions): Promise<void> {
    try {
      const put = { type: 'put', key: this.key, value, lease: this.lease.id } as const;
      this.#published(value, (await this.txn({ then: [put] }, options)).revision);
    } catch (error) {
      // It is published, only not to be seen here yet.
      if (error instanceof NotAppliedError) this.#published(value, error.revision);
      throw error;
    }
  }

  /** Answers may come in another order than that of the commits. */
  #published(value: V, revision: Revision): void {
    if (revision < this.#revision) return;
    this.#revision = revision;
    this.#value = value;
  }

  resign(): Promise<void> {
    return this.give('lead');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }
}
