import type { Leadership, LockToken } from '../types/coordination.ts';
import { NotAppliedError, NotLeaderError } from '../types/errors.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { SignalOptions } from '../types/signal.ts';
import { OwnedName } from './ownership.ts';
import { type AcquireRequest, acquire, type Owned, type OwnershipContext } from './ownership-acquire.ts';
import { causeOf } from './ownership-errors.ts';
import { resumeOwned, tokenOf } from './ownership-resume.ts';

/** Waits to be elected (store:R49): the queue is that of locks, and the key holds the candidate's value. */
export async function campaign<V, K extends Key>(
  context: OwnershipContext<V, K>,
  request: Pick<AcquireRequest<V, K>, 'name' | 'action' | 'value' | 'options'>,
): Promise<Leadership<V, K> | undefined> {
  const values = context.store.prefix(context.names.prefix(request.name));
  const owned = await acquire(context, { ...request, values, ifFree: false });
  if (owned === undefined) return undefined;
  return new Elected(context, owned, { value: request.value, revision: owned.place.createRevision });
}

/** Takes up a leadership of another process, with the value that was published last. */
export function resumeElected<V, K extends Key>(
  context: OwnershipContext<V, K>,
  token: LockToken,
  signal: AbortSignal | undefined,
): Promise<Leadership<V, K>> {
  const action = 'resume a leadership';
  const { name: election, fencingToken, leaseId } = token;
  const { store, names } = context;
  const lost = (cause?: unknown) => new NotLeaderError(action, { election, fencingToken, end: 'lost' }, causeOf(cause));
  return resumeOwned(context, {
    token,
    action,
    signal,
    lost,
    handle: (owned) => {
      // The answer that it is the oldest has been applied here: this is what it said, or newer.
      const kv = store.get(names.full(election, leaseId));
      if (kv?.createRevision !== fencingToken) throw lost();
      return new Elected(context, owned, { value: kv.value, revision: kv.modRevision });
    },
  });
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

  readonly #token: LockToken;

  constructor(
    { store, names }: OwnershipContext<V, K>,
    owned: Owned<K>,
    published: { readonly value: V; readonly revision: Revision },
  ) {
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
          causeOf(cause),
        ),
    });
    this.#value = published.value;
    this.#revision = published.revision;
    this.#token = tokenOf(store.identity, owned);
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

  toJSON(): LockToken {
    return { ...this.#token };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }
}
