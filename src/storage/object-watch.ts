import type { Clock } from '../types/clock.ts';
import { CompactedError, IdentityChangedError } from '../types/errors.ts';
import type { WatchBatch } from '../types/event.ts';
import { onAbort } from '../types/on-abort.ts';
import type { Revision } from '../types/revision.ts';
import type { Watch } from '../types/watch.ts';
import { ExpiredError } from './errors.ts';
import type { Bookmark, KubernetesObject, StorageWatch, StorageWatchEvent } from './types.ts';
import { type Change, changesOf, eventOf } from './watch-changes.ts';

export interface ObjectWatchOptions<O extends KubernetesObject> {
  /** Of the store, with `prevKv`: whole commits. */
  readonly inner: Watch<O>;
  readonly clock: Clock;
  readonly predicate: ((object: O) => boolean) | undefined;
  /** For the error of a start that is gone. */
  readonly resourceVersion: string;
  readonly hasInitialEnd: boolean;
  /** `undefined`: none. */
  readonly bookmarkMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Waits until the watch may begin. */
  readonly untilFresh: (signal: AbortSignal) => Promise<void>;
  /** The store's newest revision; `undefined` while it has none. */
  readonly newest: () => Revision | undefined;
  readonly onEnd: (watch: ObjectWatch<O>) => void;
}

/** A bookmark comes so long before the end of a watch with a time limit. */
const LAST_BOOKMARK_MS = 2000;
const INITIAL_EVENTS_END = Object.freeze({ 'k8s.io/initial-events-end': 'true' });

/**
 * A watch of objects: a cursor of the store, taken apart into events.
 *
 * ```text
 *   store's watch: batch = one commit, or a state  -->  changes not yet delivered  -->  event, if the predicate says so
 *                  progress, when nothing is left  ---------------------------------->  BOOKMARK
 * ```
 *
 * It holds one batch. A consumer that is slow has a store's cursor that is slow, which costs nobody anything (M26); when
 * compaction passes it, it is told so: `ExpiredError`.
 */
export class ObjectWatch<O extends KubernetesObject> implements StorageWatch<O> {
  readonly #options: ObjectWatchOptions<O>;
  #changes: readonly Change<O>[] = [];
  #delivered = 0;
  #isStarted = false;
  #isReading = false;
  #isEnded = false;
  /** What the consumer still has to be told, any value. */
  #failure: { readonly error: unknown } | undefined;
  /** The revision of an initial state whose end is still to be told. */
  #initialEnd: Revision | undefined;
  #stopAt: Revision | undefined;
  #bookmarkAt: number;
  #isLastBookmarkDue = false;
  readonly #life = new AbortController();
  readonly #undo: (() => void)[] = [];

  constructor(options: ObjectWatchOptions<O>) {
    this.#options = options;
    const { clock, signal, timeoutMs, bookmarkMs } = options;
    this.#bookmarkAt = clock.now() + (bookmarkMs ?? Number.POSITIVE_INFINITY);
    if (timeoutMs !== undefined) {
      const lead = Math.min(LAST_BOOKMARK_MS, timeoutMs / 2);
      if (bookmarkMs !== undefined) this.#undo.push(clock.after(timeoutMs - lead, () => this.#lastBookmark()));
      this.#undo.push(clock.after(timeoutMs, () => this.#end()));
    }
    if (signal !== undefined) this.#undo.push(onAbort(signal, (reason) => this.fail(reason)));
  }

  async next(): Promise<IteratorResult<StorageWatchEvent<O>, undefined>> {
    if (this.#isReading)
      throw new TypeError('Cannot read a watch: another next() is waiting, a watch has one consumer');
    this.#isReading = true;
    let event: StorageWatchEvent<O> | undefined;
    try {
      event = await this.#read();
    } catch (error) {
      // What ended it meanwhile has said why.
      if (!this.#isEnded) this.fail(error);
    } finally {
      this.#isReading = false;
    }
    return event === undefined ? this.#result() : { value: event, done: false };
  }

  stop(): void {
    if (this.#isEnded || this.#stopAt !== undefined) return;
    const newest = this.#options.newest();
    if (newest === undefined) {
      this.#end();
      return;
    }
    this.#stopAt = newest;
    if (this.#isDrained()) this.#end();
  }

  /** Ends it with an error, any value, which the consumer gets once. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#failure = { error };
    this.#end();
  }

  async return(): Promise<IteratorResult<StorageWatchEvent<O>, undefined>> {
    this.#failure = undefined;
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** The next event; `undefined` at the end. */
  async #read(): Promise<StorageWatchEvent<O> | undefined> {
    const { inner, predicate, untilFresh } = this.#options;
    if (!this.#isStarted && !this.#isEnded) {
      await untilFresh(this.#life.signal);
      this.#isStarted = true;
    }
    while (!this.#isEnded) {
      for (let change = this.#change(); change !== undefined; change = this.#change()) {
        const event = eventOf(change, predicate);
        if (event !== undefined) return event;
      }
      const initialEnd = this.#initialEnd;
      this.#initialEnd = undefined;
      if (initialEnd !== undefined) return bookmark(initialEnd, INITIAL_EVENTS_END);
      if (this.#isDrained()) {
        this.#end();
        return undefined;
      }
      const disarm = this.#armBookmark();
      const { value: batch, done } = await inner.next().finally(disarm);
      if (done === true) this.#end();
      else if (batch.progress === true) {
        if (this.#takeBookmark()) return bookmark(batch.revision);
      } else if (this.#isPastStop(batch)) this.#end();
      else {
        this.#changes = changesOf(batch);
        this.#delivered = 0;
        if (batch.initial === true && this.#options.hasInitialEnd) this.#initialEnd = batch.revision;
      }
    }
    return undefined;
  }

  #change(): Change<O> | undefined {
    return this.#isEnded ? undefined : this.#changes[this.#delivered++];
  }

  /** Everything from before `stop()` was delivered. */
  #isDrained(): boolean {
    const { inner } = this.#options;
    if (this.#stopAt === undefined || this.#delivered < this.#changes.length) return false;
    return this.#initialEnd === undefined && inner.progressRevision >= this.#stopAt;
  }

  /** Nothing in the batch is from before `stop()`. */
  #isPastStop({ after, initial, revision }: WatchBatch<O>): boolean {
    return this.#stopAt !== undefined && initial !== true && (after ?? revision - 1) >= this.#stopAt;
  }

  /** Asks for a bookmark when one is due: now, or while the consumer waits. */
  #armBookmark(): () => void {
    const { clock, inner } = this.#options;
    const waitMs = this.#bookmarkAt - clock.now();
    if (waitMs <= 0 || this.#isLastBookmarkDue) inner.requestProgress();
    if (waitMs <= 0 || waitMs === Number.POSITIVE_INFINITY) return () => {};
    return clock.after(waitMs, () => inner.requestProgress());
  }

  /** Whether a progress batch is one that was waited for. */
  #takeBookmark(): boolean {
    const { clock, bookmarkMs } = this.#options;
    const isDue = this.#isLastBookmarkDue || clock.now() >= this.#bookmarkAt;
    if (isDue) {
      this.#isLastBookmarkDue = false;
      this.#bookmarkAt = clock.now() + (bookmarkMs ?? Number.POSITIVE_INFINITY);
    }
    return isDue;
  }

  #lastBookmark(): void {
    this.#isLastBookmarkDue = true;
    this.#options.inner.requestProgress();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#changes = [];
    for (const undo of this.#undo) undo();
    void this.#options.inner.return();
    this.#life.abort();
    this.#options.onEnd(this);
  }

  /** The answer of a watch that has ended; throws what ended it, once. */
  #result(): IteratorResult<StorageWatchEvent<O>, undefined> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw this.#told(failure.error);
    return { value: undefined, done: true };
  }

  #told(error: unknown): unknown {
    if (!(error instanceof CompactedError || error instanceof IdentityChangedError)) return error;
    const { resourceVersion } = this.#options;
    return new ExpiredError('watch objects', { resourceVersion, cause: error });
  }
}

function bookmark(
  revision: Revision,
  annotations?: Readonly<Record<string, string>>,
): { readonly type: 'BOOKMARK'; readonly object: Bookmark } {
  const metadata = Object.freeze({
    resourceVersion: String(revision),
    ...(annotations === undefined ? {} : { annotations }),
  });
  return Object.freeze({ type: 'BOOKMARK', object: Object.freeze({ metadata }) });
}
