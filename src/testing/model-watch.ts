import { CompactedError, SlowWatcherError } from '../types/errors.ts';
import type { WatchBatch, WatchEvent } from '../types/event.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { WatchOptions } from '../types/watch.ts';

/** One change of one key, by the hex form of its bytes. */
export interface ModelEvent<V, K extends Key> {
  readonly id: string;
  readonly event: WatchEvent<V, K>;
}

/** What a model watch looks at: everything that ever happened, and the low watermark. */
export interface ModelHistory<V, K extends Key> {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  /** Events by commit, nothing ever trimmed. */
  readonly commits: ReadonlyMap<Revision, readonly ModelEvent<V, K>[]>;
  /** The whole state at a revision, by id, ascending. */
  stateAt(revision: Revision): ReadonlyMap<string, KeyValue<V, K>>;
}

/** A watch of the model: the batches it would be given now, one a call. */
export interface ModelWatch<V, K extends Key = string> {
  /** The next batch; `undefined` when there is none now. Throws the error that ended the watch, once. */
  next(): WatchBatch<V, K> | undefined;
  /** Over: nothing more will come. */
  readonly isDone: boolean;
  /** One progress batch, when everything else was delivered (store:R34). */
  requestProgress(): void;
  readonly progressRevision: Revision;
  /** Its signal was aborted: `next` throws the reason, once. */
  abort(reason: unknown): void;
  /** The consumer had enough. */
  close(): void;
}

/**
 * A cursor that looks through the whole history at every call. It has no states: what the store must remember (idle or
 * pending) is worked out anew from what was delivered.
 */
export class ReferenceWatch<V, K extends Key> implements ModelWatch<V, K> {
  readonly #history: ModelHistory<V, K>;
  readonly #has: (id: string) => boolean;
  readonly #options: WatchOptions;
  /** Makes what is due happen. */
  readonly #due: () => void;
  #isInitial: boolean;
  #wantsProgress = false;
  /** Everything below was delivered, or does not concern this watch. */
  #from: Revision;
  #failure: (() => unknown) | undefined;
  #isDone = false;
  /** What is there already when it begins is no lag of a watch with `close`. */
  readonly #backlogEnd: Revision;
  /** Set when the watch is over. */
  #lastProgress: Revision | undefined;

  constructor(history: ModelHistory<V, K>, has: (id: string) => boolean, options: WatchOptions, due: () => void) {
    this.#history = history;
    this.#due = due;
    this.#has = has;
    this.#options = options;
    this.#isInitial = options.initial === true;
    this.#backlogEnd = history.revision;
    const { fromRevision = 0 } = options;
    this.#from = fromRevision > 0 ? fromRevision : history.revision + 1;
    if (fromRevision > 0 && fromRevision < history.compactRevision) {
      this.#failure = () => this.#compacted();
      this.#lastProgress = 0;
    }
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get progressRevision(): Revision {
    if (this.#lastProgress !== undefined) return this.#lastProgress;
    if (this.#isInitial) return 0;
    const next = this.#firstUndelivered();
    return next === undefined ? this.#history.revision : next - 1;
  }

  /** The low watermark was raised: a watch that still has to deliver something below it is over. */
  compacted(): void {
    const next = this.#isInitial || this.#failure !== undefined || this.#isDone ? undefined : this.#firstUndelivered();
    if (next !== undefined && next < this.#history.compactRevision) this.#end(() => this.#compacted());
  }

  abort(reason: unknown): void {
    this.#end(() => reason);
  }

  close(): void {
    this.#lastProgress = this.progressRevision;
    this.#isDone = true;
  }

  /** Of a watch whose future start was not reached it is forgotten. */
  requestProgress(): void {
    this.#due();
    const { fromRevision = 0 } = this.#options;
    if (fromRevision <= this.#history.revision) this.#wantsProgress = true;
  }

  next(): WatchBatch<V, K> | undefined {
    if (this.#isDone) return undefined;
    this.#due();
    return this.#batch() ?? this.#progress();
  }

  #progress(): WatchBatch<V, K> | undefined {
    if (!this.#wantsProgress) return undefined;
    this.#wantsProgress = false;
    return { revision: this.#history.revision, progress: true, events: [] };
  }

  #batch(): WatchBatch<V, K> | undefined {
    if (this.#failure !== undefined) return this.#fail(this.#failure());
    const { revision } = this.#history;
    if (this.#isInitial) {
      this.#isInitial = false;
      this.#from = revision + 1;
      const rows = [...this.#history.stateAt(revision)].filter(([id]) => this.#has(id));
      return { revision, initial: true, events: rows.map(([, kv]) => ({ type: 'put', kv })) };
    }
    const commit = this.#firstUndelivered();
    if (commit === undefined) return undefined;
    const { onSlow = 'lag', lagEventsMax = 1000 } = this.#options;
    const lagEvents = this.#entriesFrom(onSlow === 'close' ? Math.max(commit, this.#backlogEnd + 1) : commit);
    if (onSlow === 'lag' || lagEvents <= lagEventsMax) {
      this.#from = commit + 1;
      return { revision: commit, events: this.#matching(commit).map((one) => this.#dress(one, commit - 1)) };
    }
    if (onSlow === 'close') return this.#fail(new SlowWatcherError({ resumeRevision: commit, lagEvents }));
    this.#from = revision + 1;
    const events = this.#difference(commit);
    return events.length === 0 ? undefined : { revision, after: commit - 1, span: true, events };
  }

  /** What is told is made then: compaction may have gone on (M40). */
  #end(failure: () => unknown): void {
    if (this.#failure !== undefined || this.#isDone) return;
    this.#lastProgress = this.progressRevision;
    this.#failure = failure;
  }

  #fail(error: unknown): never {
    this.#lastProgress = this.progressRevision;
    this.#isDone = true;
    throw error;
  }

  #compacted(): Error {
    const { compactRevision } = this.#history;
    return new CompactedError('watch', { minRevision: compactRevision, compactRevision });
  }

  #firstUndelivered(): Revision | undefined {
    for (const commit of this.#history.commits.keys()) {
      if (commit >= this.#from && this.#matching(commit).length > 0) return commit;
    }
    return undefined;
  }

  #matching(commit: Revision): ModelEvent<V, K>[] {
    const all = this.#history.commits.get(commit) ?? [];
    return all.filter(({ id, event }) => this.#has(id) && this.#passes(event));
  }

  #passes(event: WatchEvent<V, K>): boolean {
    return this.#options.filter !== (event.type === 'put' ? 'noput' : 'nodelete');
  }

  #entriesFrom(from: Revision): number {
    let entries = 0;
    for (const [commit, events] of this.#history.commits) if (commit >= from) entries += events.length;
    return entries;
  }

  /** The event, with the state at `before` when that was asked for and can still be read (M29). */
  #dress({ id, event }: ModelEvent<V, K>, before: Revision): WatchEvent<V, K> {
    const canRead = this.#options.prevKv === true && before >= this.#history.compactRevision;
    const prevKv = canRead ? this.#history.stateAt(before).get(id) : undefined;
    return prevKv === undefined ? event : { ...event, prevKv };
  }

  /** The last event of each key since `from`, without keys that came and went, if that can be told (M14). */
  #difference(from: Revision): WatchEvent<V, K>[] {
    const last = new Map<string, WatchEvent<V, K>>();
    for (const [commit, events] of this.#history.commits) {
      if (commit >= from) for (const { id, event } of events) if (this.#has(id)) last.set(id, event);
    }
    const canRead = from - 1 >= this.#history.compactRevision;
    const before = this.#history.stateAt(from - 1);
    return [...last]
      .filter(([id, event]) => this.#passes(event) && !(event.type === 'delete' && canRead && !before.has(id)))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, event]) => this.#dress({ id, event }, from - 1));
  }
}
