import { byteRangeHas, compareBytes } from '../../core/key-order.ts';
import type {
  Backend,
  BackendCallOptions,
  BackendEvent,
  BackendKeyValue,
  BackendPosition,
  BackendRangeRequest,
  BackendRangeResponse,
  BackendTxnResponse,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
} from '../../types/backend.ts';
import { BackendError, CompactedError, FutureRevisionError, UnsupportedError } from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import { DataError } from '../errors.ts';
import { ChangeLog } from './change-log.ts';
import { Condition } from './condition.ts';
import type { ObjectEvent, StreamEvent } from './stream-event.ts';

/** Revisions that no stream will ever deliver: above `after`, up to and including `revision`. */
export interface LostRange {
  readonly after: Revision;
  readonly revision: Revision;
}

interface LiveObject {
  readonly uid: string;
  readonly kv: BackendKeyValue;
}

const encoder = new TextEncoder();

/**
 * A foreign watch stream as a `Backend`: what a cluster's API server is to a replica, at the size of a demo.
 *
 * ```text
 *   stream      ADDED ADDED ADDED | BOOKMARK MODIFIED DELETED ...
 *               first list,       | revisions rise strictly from here on
 *               any order         |
 *   range()     waits ----------->| all live objects at the newest revision
 *   watch(r)                        change log from r on, then what comes
 * ```
 *
 * Read-only: `txn` is refused; `compact` drops its own change log, which is all the history there is. `disconnect`
 * makes it behave like a server that went away: streams end, calls fail, while events still come in. One data set, so
 * one identity for the life of the backend.
 */
export class StreamBackend implements Backend {
  readonly capabilities = { progress: true, writable: false } as const;
  readonly #action: string;
  readonly #live = new Map<string, LiveObject>();
  readonly #log = new ChangeLog();
  /** Tells of new items, of the end of the first list, and of the connection. */
  readonly #changed = new Condition();
  /** Tells of delivered items. */
  readonly #delivery = new Condition();
  #isListed = false;
  #isUp = true;
  /** Rises with each disconnect: ends the streams and calls of before. */
  #outages = 0;
  #revision: Revision = 0;
  /** Everything up to here was taken by the replica. */
  #delivered: Revision = 0;
  /** The newest item handed to the replica, which may not have asked past it. */
  #handed: Revision = 0;
  #lost: LostRange | undefined;

  constructor(action: string) {
    this.#action = action;
  }

  get revision(): Revision {
    return this.#revision;
  }

  get isListed(): boolean {
    return this.#isListed;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** What the last outage took from the replica, once it is over. */
  get lost(): LostRange | undefined {
    return this.#lost;
  }

  /** Items that the replica has not asked past yet. */
  get undelivered(): number {
    return this.#log.countFrom(this.#delivered + 1);
  }

  /** Takes one event. Throws `DataError`, with nothing changed, for one that cannot follow what came before. */
  ingest(event: StreamEvent): void {
    if (!this.#isListed) {
      this.#list(event);
      return;
    }
    const { revision } = event;
    if (revision <= this.#revision) {
      throw this.#fault(event, `the revision goes back: ${revision} comes after ${this.#revision}`);
    }
    const change = event.type === 'BOOKMARK' ? undefined : this.#apply(event);
    this.#revision = revision;
    this.#log.append(
      change === undefined ? { type: 'progress', revision } : { type: 'change', revision, events: [change] },
    );
    this.#changed.notify();
  }

  /** The first list is complete: it can be read, and watched from the revision behind it on. */
  endList(): void {
    this.#isListed = true;
    this.#log.compact(this.#revision + 1);
    this.#delivered = this.#revision;
    this.#handed = this.#revision;
    this.#changed.notify();
  }

  /** Ends all streams and calls, and refuses new ones until `reconnect`. */
  disconnect(): void {
    this.#isUp = false;
    this.#outages++;
    this.#changed.notify();
  }

  /** Takes calls again, without any of the history: whoever was connected before has to list again. */
  reconnect(): void {
    this.#log.compact(this.#revision + 1);
    if (this.#isListed) this.#lost = { after: this.#handed, revision: this.#revision };
    this.#isUp = true;
  }

  /** Resolves once at most `itemsMax` items wait for the replica: the back-pressure on the feed. */
  untilRoom(itemsMax: number, signal: AbortSignal): Promise<void> {
    return this.#delivery.until(() => this.undelivered <= itemsMax, signal);
  }

  async range(request: BackendRangeRequest): Promise<BackendRangeResponse> {
    const { ranges, minModRevision = 0, limit = 0, keysOnly = false, countOnly = false } = request;
    await this.#untilListed('list', request.signal);
    this.#checkRevision(request.revision ?? 0);
    const found: BackendKeyValue[] = [];
    for (const { kv } of this.#live.values()) if (ranges.some((range) => byteRangeHas(range, kv.key))) found.push(kv);
    const kvs = found.filter(({ modRevision }) => modRevision >= minModRevision);
    kvs.sort((a, b) => compareBytes(a.key, b.key));
    this.#delivered = this.#revision;
    this.#handed = this.#revision;
    this.#delivery.notify();
    const rows = countOnly ? [] : kvs.slice(0, limit > 0 ? limit : kvs.length);
    return {
      ...this.#position(),
      count: found.length,
      kvs: keysOnly ? rows.map((kv) => ({ ...kv, value: new Uint8Array(0) })) : rows,
    };
  }

  async status(request: BackendCallOptions): Promise<BackendPosition> {
    await this.#untilListed('read the status', request.signal);
    return this.#position();
  }

  watch(request: BackendWatchRequest): BackendWatchStream {
    let wantsProgress = false;
    const takeProgress = (): boolean => {
      const wanted = wantsProgress;
      wantsProgress = false;
      return wanted;
    };
    return {
      requestProgress: () => {
        wantsProgress = true;
        this.#changed.notify();
      },
      [Symbol.asyncIterator]: () => this.#items(request, () => wantsProgress, takeProgress),
    };
  }

  async txn(): Promise<BackendTxnResponse> {
    throw new UnsupportedError('write', 'writing to a watch stream');
  }

  async compact(request: { readonly revision: Revision } & BackendCallOptions): Promise<void> {
    request.signal?.throwIfAborted();
    this.#checkUp('compact');
    this.#log.compact(request.revision);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
  }

  /** Pull-based: the replica asks for the next item once it has applied the one before. */
  async *#items(
    request: BackendWatchRequest,
    wantsProgress: () => boolean,
    takeProgress: () => boolean,
  ): AsyncGenerator<BackendWatchItem, void, undefined> {
    await this.#untilListed('watch', request.signal);
    const outages = this.#outages;
    yield { type: 'open', ...this.#position() };
    let next = request.fromRevision;
    for (;;) {
      this.#checkUp('watch', outages);
      if (next < this.#log.floor) {
        throw new CompactedError('watch', { minRevision: this.#log.floor, compactRevision: this.#log.floor });
      }
      const item = this.#log.from(next);
      if (item !== undefined) {
        this.#handed = Math.max(this.#handed, item.revision);
        yield item;
        next = item.revision + 1;
        this.#delivered = Math.max(this.#delivered, item.revision);
        this.#delivery.notify();
      } else if (takeProgress()) {
        yield { type: 'progress', revision: this.#revision };
      } else {
        const from = next;
        const isNews = () => this.#outages !== outages || wantsProgress() || this.#log.from(from) !== undefined;
        await this.#changed.until(isNews, request.signal);
      }
    }
  }

  /** In any order of revisions; of an object that is listed twice, the newer state counts. */
  #list(event: StreamEvent): void {
    if (event.type !== 'ADDED') throw this.#fault(event, `the first list has an event of type ${event.type}`);
    const before = this.#live.get(event.key)?.kv.modRevision ?? 0;
    if (before === event.revision) {
      throw this.#fault(event, `the first list has ${event.key} at revision ${event.revision} twice`);
    }
    if (before < event.revision) {
      this.#live.delete(event.key);
      this.#put(event);
    }
    this.#revision = Math.max(this.#revision, event.revision);
  }

  /** `undefined` for the deletion of what is not there: nothing but progress. */
  #apply(event: ObjectEvent): BackendEvent | undefined {
    if (event.type !== 'DELETED') return { type: 'put', kv: this.#put(event) };
    const live = this.#live.get(event.key);
    if (live === undefined) return undefined;
    this.#live.delete(event.key);
    return { type: 'delete', key: live.kv.key, modRevision: event.revision };
  }

  /** Another uid is another object: the deletion in between was not told. */
  #put(event: ObjectEvent): BackendKeyValue {
    const { key, uid, revision, object } = event;
    const before = this.#live.get(key);
    const isSame = before !== undefined && before.uid === uid;
    const kv: BackendKeyValue = {
      key: before?.kv.key ?? encoder.encode(key),
      value: encoder.encode(JSON.stringify(object)),
      createRevision: isSame ? before.kv.createRevision : revision,
      modRevision: revision,
      version: isSame ? before.kv.version + 1 : 1,
      lease: '0',
    };
    this.#live.set(key, { uid, kv });
    return kv;
  }

  #position(): BackendPosition {
    return { identity: 'watch-stream', revision: this.#revision };
  }

  /** Only the newest state is kept. */
  #checkRevision(revision: Revision): void {
    const currentRevision = this.#revision;
    if (revision > currentRevision) throw new FutureRevisionError('list', { revision, currentRevision });
    if (revision > 0 && revision < currentRevision) {
      throw new CompactedError('list', { minRevision: currentRevision, compactRevision: currentRevision });
    }
  }

  async #untilListed(action: string, signal: AbortSignal | undefined): Promise<void> {
    const outages = this.#outages;
    this.#checkUp(action);
    await this.#changed.until(() => this.#isListed || this.#outages !== outages, signal);
    this.#checkUp(action, outages);
  }

  #checkUp(action: string, outages: number = this.#outages): void {
    if (this.#isUp && outages === this.#outages) return;
    throw new BackendError(action, 'the connection was dropped');
  }

  #fault(event: StreamEvent, reason: string): DataError {
    return new DataError(this.#action, reason, { place: event.place });
  }
}
