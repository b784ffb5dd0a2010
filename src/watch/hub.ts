import type { Clock } from '../types/clock.ts';
import { ClosedError, IdentityChangedError, LimitExceededError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Watch, WatchOptions } from '../types/watch.ts';
import { PendingWatchers } from './pending-watchers.ts';
import { WakeIndex } from './wake-index.ts';
import { type HubWatcher, Watcher, type WatcherHome, type WatchSource, type WatchWindow } from './watcher.ts';

/** What the hub has to know of a commit: which keys, in which direction. */
export interface PublishedCommit {
  readonly revision: Revision;
  /** Only on a span. */
  readonly after?: Revision;
  /** The span of a repair: history below it was wrong, watchers that lag are ended (M13). */
  readonly repair?: boolean;
  readonly changes: readonly { readonly text: string; readonly type: 'put' | 'delete' }[];
}

/** The state that is watched, as far as the hub looks at it. */
export interface WatchedState {
  readonly window: WatchWindow;
}

export interface WatchHubOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Whether there is a state to watch already. */
  readonly isStarted: boolean;
  readonly watchesMax: number;
  /** Commits what is due, before a consumer is answered (M31). */
  readonly beforeRead?: () => void;
}

/** Which data are behind the store now. */
export interface DataSet {
  readonly identity: string;
  readonly epoch: number;
}

/**
 * Who to wake for a commit, and whom compaction passes. One per store, peer of its versioned state.
 *
 * Promised: one commit wakes a watcher once; waking costs what matches, compaction what it ends; a watcher ends at most
 * once, and idle ones are never ended by compaction. Not promised: when a woken consumer runs, so retention should be
 * above one turn's burst.
 *
 * Most watchers that are woken have read before the next match, so a pending one stays in the index until a match finds it
 * there: to leave and come back each time was most of what a wake-up cost.
 */
export class WatchHub implements WatcherHome {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly #state: WatchedState;
  readonly #watchesMax: number;
  readonly #beforeRead: () => void;
  readonly #index = new WakeIndex<HubWatcher>();
  readonly #all = new Set<HubWatcher>();
  readonly #pending = new PendingWatchers<HubWatcher>();
  /** Those with a start above the revision at which they were opened, up to the next span, which may jump over it (M12). */
  readonly #future = new Set<HubWatcher>();
  /** Those whose consumer is to be answered in the microtask that is due, if there are any. */
  #woken: HubWatcher[] = [];
  #isStarted: boolean;

  constructor(state: WatchedState, options: WatchHubOptions) {
    this.#state = state;
    this.clock = options.clock;
    this.#watchesMax = options.watchesMax;
    this.#beforeRead = options.beforeRead ?? (() => {});
    this.#isStarted = options.isStarted;
  }

  get stats(): { readonly idle: number; readonly pending: number } {
    return { idle: this.#all.size - this.#pending.size, pending: this.#pending.size };
  }

  /** Opens a watch of options that were checked, and that nobody changes any more. Throws `LimitExceededError`; a start too old is told by `next()`. */
  open<V, K extends Key>(
    source: WatchSource<V, K>,
    range: ResolvedRange,
    options: WatchOptions,
    data: DataSet,
  ): Watch<V, K> {
    if (this.#all.size >= this.#watchesMax) {
      throw new LimitExceededError('watch', { limit: 'watches', max: this.#watchesMax, actual: this.#all.size + 1 });
    }
    const watcher = new Watcher<V, K>(this, source, range, options);
    this.#all.add(watcher);
    if (options.signal?.aborted === true) {
      watcher.fail(options.signal.reason);
    } else if (this.#isStarted) {
      this.#begin(watcher, data);
    }
    return watcher;
  }

  /** The first snapshot (or the first after a reset) is published: watches that waited begin. */
  start(data: DataSet): void {
    this.#isStarted = true;
    for (const watcher of [...this.#all]) this.#begin(watcher, data);
  }

  /** After each publish, before anybody else can look. */
  published(commit: PublishedCommit): void {
    const { revision, after } = commit;
    if (after !== undefined) this.#endInsideSpan(after, revision, commit.repair === true);
    const position = after === undefined || commit.repair === true ? revision : after + 1;
    for (const { text, type } of commit.changes) {
      this.#index.visit(text, (watcher) => {
        if (watcher.state !== 'idle') {
          this.#leaveIndex(watcher);
          return;
        }
        if (revision < watcher.from) return;
        if (watcher.options.filter === (type === 'put' ? 'noput' : 'nodelete')) return;
        watcher.notify(position);
      });
    }
  }

  /** The low watermark was raised: pending watchers below it get `CompactedError`, once (M26). */
  compacted(): void {
    const { compactRevision, watchFloor } = this.#state.window;
    for (const watcher of this.#pending.takeBelow(compactRevision)) watcher.failCompacted(watchFloor);
  }

  /** The data were replaced: every watch that had begun ends; those that wait go on waiting (M24). */
  reset(epoch: number): void {
    this.#isStarted = false;
    for (const watcher of [...this.#all]) {
      if (watcher.state !== 'waiting') watcher.fail(new IdentityChangedError('watch', epoch));
    }
  }

  /**
   * The state was made anew at a later revision of the same data, and what led there is not known: every watch that has
   * delivered anything ends. One that still has its initial batch to come, or starts above, goes on.
   */
  restarted(): void {
    const { revision, watchFloor } = this.#state.window;
    for (const watcher of [...this.#all]) {
      if (watcher.state === 'initial' || watcher.from > revision) continue;
      watcher.failCompacted(watchFloor);
    }
  }

  close(): void {
    this.fail(new ClosedError('watch'));
  }

  /** Nothing will come any more: every watch ends with the error. */
  fail(error: unknown): void {
    for (const watcher of [...this.#all]) watcher.fail(error);
  }

  /** Ends the watches of one source. */
  failSource(source: WatchSource<never, never>, error: unknown): void {
    for (const watcher of [...this.#all]) if (watcher.source === source) watcher.fail(error);
  }

  beforeRead(): void {
    this.#beforeRead();
  }

  /** One microtask for all: ten thousand of them cost more than what they do. */
  wake(watcher: HubWatcher): void {
    if (this.#woken.push(watcher) === 1) queueMicrotask(() => this.#serveWoken());
  }

  becameIdle(watcher: HubWatcher, before: Revision): void {
    this.#pending.left(before);
    if (!watcher.isIndexed) {
      this.#index.add(watcher.range, watcher);
      watcher.isIndexed = true;
    }
    if (watcher.from > this.#state.window.revision) this.#future.add(watcher);
  }

  becamePending(watcher: HubWatcher, before: Revision): void {
    this.#pending.left(before);
    this.#pending.add(watcher);
  }

  ended(watcher: HubWatcher): void {
    this.#pending.left(watcher.position);
    this.#leaveIndex(watcher);
    this.#future.delete(watcher);
    this.#all.delete(watcher);
  }

  #leaveIndex(watcher: HubWatcher): void {
    this.#index.remove(watcher.range, watcher);
    watcher.isIndexed = false;
  }

  /** Those who are woken meanwhile too. What one of them throws is its own consumer's: `serve` throws nothing. */
  #serveWoken(): void {
    for (const watcher of this.#woken) watcher.serve();
    this.#woken = [];
  }

  #begin(watcher: HubWatcher, { identity, epoch }: DataSet): void {
    const expected = watcher.options.identity;
    if (expected !== undefined && expected !== identity) watcher.fail(new IdentityChangedError('watch', epoch));
    else watcher.start();
  }

  /** A start that waited in the future and now lies in a hole, and, on a repair, whoever had not kept up. */
  #endInsideSpan(after: Revision, revision: Revision, isRepair: boolean): void {
    for (const watcher of [...this.#future]) {
      if (watcher.from > revision) continue;
      this.#future.delete(watcher);
      if (watcher.from > after + 1) watcher.failCompacted(revision + 1);
    }
    if (!isRepair) return;
    for (const watcher of this.#pending.takeBelow(Number.POSITIVE_INFINITY)) watcher.failCompacted(revision + 1);
  }
}
