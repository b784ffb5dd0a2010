import {
  BackendError,
  CompactedError,
  InvariantError,
  LeaseLostError,
  LeaseNotFoundError,
  NotAppliedError,
  SessionExpiredError,
} from '../types/errors.ts';
import type { Lease } from '../types/lease.ts';
import { onAbort } from '../types/on-abort.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { Operation, TxnRequest } from '../types/txn.ts';
import { untilAborted } from '../types/until-aborted.ts';
import type { Watch } from '../types/watch.ts';
import { causeOf } from './ownership-errors.ts';
import { reentry } from './ownership-names.ts';

export interface OwnershipPlaceOptions<K extends Key> {
  readonly name: string;
  /** The part of the store below `name/`; values are bytes, so that it can be watched whatever they are. */
  readonly view: Store<Uint8Array, K>;
  /** The key in the view. */
  readonly own: K;
  /** The empty key: the prefix of everything in the view. */
  readonly root: K;
  readonly lease: Lease;
  readonly action: string;
}

/** Where the place stands by the answer of one transaction, which is that of all copies of the data. */
type Standing = 'first' | 'behind' | 'gone';

/**
 * One key in the queue of a name (store:R46): its way from being put to being the oldest, and the watch over it all the
 * while.
 *
 * ```text
 *   enter    txn: put the key if it is not there; who is the oldest?      -> first | behind
 *   wait     look: who is just before me?  --nobody--> txn: is my key there still, and the oldest? -> first
 *              ^            | somebody
 *              +-- any change of that key
 * ```
 *
 * - Owning is decided by the answers of transactions only. Reads here may be of a replica that lags; they tell whom to wait for.
 * - A waiter watches the key just before it, and its own: one commit wakes the one whose turn it is.
 * - `lost` aborts when the lease is lost or the key is gone, waiting or not, so a waiter with a dead lease ends at once. Its
 *   reason: the lease's, what ended the watch (`ClosedError`, `IdentityChangedError`), or `SessionExpiredError` for a key that
 *   somebody deleted.
 */
export class OwnershipPlace<K extends Key> {
  readonly #options: OwnershipPlaceOptions<K>;
  readonly #loss = new AbortController();
  /** A lease that is lost already says so inside the constructor. */
  #unlisten: () => void = () => {};
  #createRevision: Revision = 0;
  /** That of the store before the key was put. */
  #before: Revision = 0;
  #watch: Watch<Uint8Array, K> | undefined;
  #isClosed = false;
  #mayBeThere = false;

  constructor(options: OwnershipPlaceOptions<K>) {
    this.#options = options;
    this.#unlisten = onAbort(options.lease.signal, (reason) => this.#lose(reason));
  }

  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /** The fencing token (store:R47); 0 as long as it is not known. */
  get createRevision(): Revision {
    return this.#createRevision;
  }

  /** Whether a key that was put here may be in the store. Not so after a refusal: what is there then is somebody else's. */
  get mayBeThere(): boolean {
    return this.#mayBeThere;
  }

  /**
   * Puts the key. With `ifFree` only if nobody has one, and otherwise there is no place to leave. `values` is the view that the value is of.
   *
   * @throws `LockReentryError` when the key is there: another process uses this lease for this name
   */
  async enter<W>(values: Store<W, K>, value: W, ifFree: boolean): Promise<Standing> {
    const { view, own, root, lease, name, action } = this.#options;
    // Before anything is written: a part that is not replicated could not be watched.
    this.#before = view.range({ prefix: root, limit: 1, keysOnly: true }).revision;
    const free = { target: 'create', result: '=', value: 0 } as const;
    const entry: TxnRequest<W, K> = {
      compare: [ifFree ? { prefix: root, ...free } : { key: own, ...free }],
      then: [{ type: 'put', key: own, value, lease: lease.id }, oldest(root)],
    };
    const { succeeded, revision, responses } = await values.txn(entry).catch((error: unknown) => {
      this.#mayBeThere = isOpen(error);
      throw error;
    });
    this.#mayBeThere = succeeded;
    if (!succeeded) {
      if (ifFree) return 'behind';
      throw reentry({ name, leaseId: lease.id }, action);
    }
    this.#createRevision = revision;
    if (!this.#isClosed) void this.#follow(revision + 1);
    return this.#isOldest(responses[1]) ? 'first' : 'behind';
  }

  /** Takes up a key that is there, and says where it stands. */
  async adopt(createRevision: Revision, signal: AbortSignal | undefined): Promise<Standing> {
    this.#createRevision = createRevision;
    const { standing, revision } = await this.#ask(signal);
    this.#mayBeThere = standing !== 'gone';
    // From that answer on: what this store has now may be newer, and the key gone.
    if (this.#mayBeThere) void this.#follow(revision + 1);
    return standing;
  }

  /** Resolves when it is the oldest. Rejects with the reason of `signal` or of `lost`. */
  async untilFirst(signal: AbortSignal): Promise<void> {
    const { view, root } = this.#options;
    for (;;) {
      this.lost.throwIfAborted();
      const { kvs, revision } = view.range({
        prefix: root,
        maxCreateRevision: this.#createRevision - 1,
        sortTarget: 'create',
        sortOrder: 'descend',
        limit: 1,
        keysOnly: true,
      });
      const [before] = kvs;
      if (before !== undefined) await this.#untilChanged(before.key, revision + 1, signal);
      else if ((await this.#confirm(signal)) === 'first') return;
    }
  }

  /** Deletes the key if it is the one that was put here, and nothing else (store:R46, R47). */
  async leave(): Promise<void> {
    const { view, own } = this.#options;
    this.close();
    const known = this.#createRevision;
    try {
      await view.txn({
        compare: [
          // Of a put whose answer was lost: whatever was put since is it.
          known > 0
            ? { key: own, target: 'create', result: '=', value: known }
            : { key: own, target: 'create', result: '>', value: this.#before },
        ],
        then: [{ type: 'delete', key: own }],
      });
    } catch (error) {
      // It is deleted, only not here yet.
      if (!(error instanceof NotAppliedError)) throw error;
    }
    this.#mayBeThere = false;
  }

  /** A transaction has found that the key is gone. */
  tellGone(): void {
    this.#mayBeThere = false;
    this.#lose(this.#gone());
  }

  /** Nothing is watched any more. */
  close(): void {
    this.#isClosed = true;
    this.#unlisten();
    void this.#watch?.return();
    this.#watch = undefined;
  }

  /** What who waited is told: losing the lease, or the key, is losing the place. */
  waitError(error: unknown): unknown {
    const isLeaseGone = error instanceof LeaseLostError || error instanceof LeaseNotFoundError;
    return isLeaseGone ? this.#gone(error) : error;
  }

  #gone(cause?: unknown): SessionExpiredError {
    const { action, lease } = this.#options;
    return new SessionExpiredError(action, lease.id, causeOf(cause));
  }

  #lose(reason: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.#loss.abort(reason);
  }

  /** The local copy says that nobody is before it; whether it owns the name, a transaction says. */
  async #confirm(signal: AbortSignal): Promise<Standing> {
    const { standing } = await this.#ask(signal);
    if (standing === 'gone') this.tellGone();
    this.lost.throwIfAborted();
    if (standing === 'behind') throw new InvariantError('an older key of a lock was not in the replica');
    return standing;
  }

  async #ask(signal: AbortSignal | undefined): Promise<{ readonly standing: Standing; readonly revision: Revision }> {
    const { view, own, root } = this.#options;
    const request: TxnRequest<Uint8Array, K> = {
      compare: [{ key: own, target: 'create', result: '=', value: this.#createRevision }],
      then: [oldest(root)],
    };
    const { succeeded, responses, revision } = await untilAborted(
      (aborted) => view.txn(request, { signal: aborted }),
      [signal, this.lost],
    );
    if (!succeeded) return { standing: 'gone', revision };
    return { standing: this.#isOldest(responses[0]) ? 'first' : 'behind', revision };
  }

  #isOldest(
    response: { readonly type: string; readonly kvs?: readonly { readonly createRevision: Revision }[] } | undefined,
  ) {
    return response?.type === 'range' && response.kvs?.[0]?.createRevision === this.#createRevision;
  }

  /** Until anything happens to a key from a revision on. What it was, the next look tells. */
  async #untilChanged(key: K, fromRevision: Revision, signal: AbortSignal): Promise<void> {
    const watch = this.#options.view.watch({ key }, { fromRevision });
    try {
      await untilAborted(() => watch.next(), [signal, this.lost]);
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
    } finally {
      void watch.return();
    }
  }

  /** Hears of the end of the own key. A key that was deleted and put again is another one. */
  async #follow(fromRevision: Revision): Promise<void> {
    const { view, own } = this.#options;
    let from = fromRevision;
    while (!this.#isClosed) {
      try {
        const watch = view.watch({ key: own }, { fromRevision: from });
        this.#watch = watch;
        for await (const { events } of watch) {
          const isOther = events.some((one) => one.type === 'delete' || one.kv.createRevision !== this.#createRevision);
          if (isOther) return this.#loseKey();
        }
        return;
      } catch (error) {
        if (!(error instanceof CompactedError)) return this.#lose(error);
        const next = this.#look(own);
        if (next === undefined) return;
        from = next;
      }
    }
  }

  /** After the watch was overtaken: the key as it is now, and where to go on; nothing if that is the end. */
  #look(own: K): Revision | undefined {
    const { view } = this.#options;
    try {
      const { kvs, revision } = view.range({ key: own, keysOnly: true });
      if (kvs[0]?.createRevision === this.#createRevision) return revision + 1;
      this.#loseKey();
    } catch (error) {
      this.#lose(error);
    }
    return undefined;
  }

  /** Keys go with their lease: if that is lost, it is the reason. */
  #loseKey(): void {
    const { signal } = this.#options.lease;
    this.#mayBeThere = false;
    this.#lose(signal.aborted ? signal.reason : this.#gone());
  }
}

/** Whether a write that failed so may be committed. */
function isOpen(error: unknown): boolean {
  return error instanceof NotAppliedError || (error instanceof BackendError && error.maybeCommitted);
}

function oldest<K extends Key>(root: K): Operation<never, K> {
  return { type: 'range', prefix: root, sortTarget: 'create', limit: 1, keysOnly: true };
}
