import { setMaxListeners } from 'node:events';
import { openStore } from '../../open-store.ts';
import { createSeededRandom } from '../../system/seeded-random.ts';
import type { Clock } from '../../types/clock.ts';
import type { Revision } from '../../types/revision.ts';
import type { Store } from '../../types/store.ts';
import { raceAborted } from '../../types/until-aborted.ts';
import { DataError } from '../errors.ts';
import { type Check, checkDemo } from './checks.ts';
import { Condition } from './condition.ts';
import { DemoHandlers, type Work } from './demo-handlers.ts';
import type { Resource } from './difference.ts';
import type { EventSource } from './event-source.ts';
import { ListReader } from './list-reader.ts';
import type { ProgressFigures } from './progress-line.ts';
import { ReplayingWatcher } from './replaying-watcher.ts';
import { delay, RETENTION_EVENTS, type RunState } from './run-state.ts';
import { SleepingWatcher } from './sleeping-watcher.ts';
import { StreamBackend } from './stream-backend.ts';
import { StreamFeed } from './stream-feed.ts';
import { TrueState } from './true-state.ts';
import type { TruthFile } from './truth-file.ts';
import { Watchdog } from './watchdog.ts';

export interface DemoOptions {
  readonly source: EventSource;
  readonly clock: Clock;
  /** Ends the demo early; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Of the reader's choices and of every jitter. */
  readonly seed: number;
  readonly killAt: number | undefined;
  readonly truthFile: TruthFile | undefined;
  /** 0 is never. */
  readonly timeoutMs: number;
  /** For tests, which put something broken in the place of a part. */
  readonly parts?: { readonly backend?: StreamBackend; readonly work?: Work };
}

export interface DemoReport {
  readonly checks: readonly Check[];
  readonly figures: Readonly<Record<string, number>>;
  /** What was done, for people, a line each. @default events and objects */
  readonly summary?: readonly string[];
}

interface DemoParts {
  readonly replaying: ReplayingWatcher;
  readonly sleeping: SleepingWatcher;
  readonly reader: ListReader;
  readonly handlers: DemoHandlers;
}

/** How often it is looked whether the store has everything. */
const SETTLE_POLL_MS = 2;
/** Listeners on the demo's signal, above which Node suspects a leak. */
const LISTENERS_MAX = 50;

/**
 * The demo: a replica of a watch stream, loaded at full speed while clients list from it, watch it and handle it.
 *
 * ```text
 *               .-> truth (plain fold) ----------------------------------------------.
 *   stream -> feed -> backend ==list, watch==> store --range--> reader               |
 *                        ^ connection lost       |--watch--> replaying watcher       v
 *                        '  at event N           |--watch--> sleeping watcher  --> checks
 *                                                '--source--> controller: parent + 3 slow subs -> ledger
 * ```
 *
 * Every part runs as a task of its own; the first one that fails ends all others, and its error is thrown once they
 * have ended and the store is closed.
 */
export class Demo {
  readonly #options: DemoOptions;
  readonly #abort = new AbortController();
  readonly #changed = new Condition();
  readonly #truth = new TrueState();
  readonly #backend: StreamBackend;
  readonly #watchdog: Watchdog;
  readonly #tasks: Promise<void>[] = [];
  /** Those tasks that end by themselves once everything is read. */
  readonly #readers: Promise<void>[] = [];
  readonly #startedAt: number;
  #store: Store<Resource> | undefined;
  #handlers: DemoHandlers | undefined;
  #phase = 'listing';

  constructor(options: DemoOptions) {
    const { clock, signal, source, timeoutMs, parts } = options;
    this.#options = options;
    this.#startedAt = clock.now();
    this.#backend = parts?.backend ?? new StreamBackend(source.action);
    this.#watchdog = new Watchdog(clock, timeoutMs, (error) => this.#abort.abort(error));
    // Each part of the demo listens for a while; their number is fixed.
    setMaxListeners(LISTENERS_MAX, this.#abort.signal);
    if (signal.aborted) this.#abort.abort(signal.reason);
    signal.addEventListener('abort', () => this.#abort.abort(signal.reason), { once: true });
  }

  /** Resolves with what was found; throws what ended the demo early. */
  async run(): Promise<DemoReport> {
    const store = await openStore<Resource>({
      backend: this.#backend,
      waitReady: false,
      retention: { events: RETENTION_EVENTS },
      clock: this.#options.clock,
      random: createSeededRandom(this.#options.seed + 1),
    });
    try {
      return await this.#main(store);
    } catch (error) {
      this.#abort.abort(error);
      throw this.#abort.signal.reason;
    } finally {
      this.#watchdog.close();
      this.#abort.abort(new DataError('go on with the demo', 'it is over'));
      this.#options.source.close();
      await Promise.allSettled(this.#tasks);
      await store.close();
    }
  }

  get figures(): ProgressFigures {
    const stats = this.#handlers?.stats;
    return {
      events: this.#truth.counts.events,
      low: this.#store?.compactRevision ?? 0,
      high: this.#store?.revision ?? 0,
      queue: (stats?.queued ?? 0) + (stats?.running ?? 0),
      behind: stats?.behind ?? 0,
      phase: this.#phase,
    };
  }

  async #main(store: Store<Resource>): Promise<DemoReport> {
    const { source, clock, killAt, truthFile } = this.#options;
    const { signal } = this.#abort;
    const truth = this.#truth;
    const backend = this.#backend;
    const changed = this.#changed;
    // By what the backend has: if that is less than the truth, the checks are to say what is missing.
    const isSettled = (): boolean =>
      feed.isEnded && this.#store !== undefined && this.#store.revision >= backend.revision;
    const parts = this.#createParts({ store, truth, clock, changed, signal, isSettled });
    const { action, events, isLive } = source;
    const onListed = (): Promise<void> => this.#begin(store, parts, isSettled);
    const onEvent = (): void => this.#watchdog.beat();
    const feed = new StreamFeed({
      action,
      events,
      isLive,
      backend,
      truth,
      changed,
      clock,
      signal,
      killAt,
      onListed,
      onEvent,
    });

    this.#enter('listing', () => 'the first list of the stream');
    await this.#guard(this.#start(feed.run()));
    this.#enter('catching up', () => `the replica at ${store.revision} to be at revision ${backend.revision}`);
    while (!isSettled()) await this.#guard(delay(clock, SETTLE_POLL_MS, signal));
    changed.notify();
    const { handlers } = parts;
    this.#enter('handling', () => `the handlers, ${handlers.stats.behind} objects are behind`);
    const listed = store.range({ prefix: '' }).kvs;
    await this.#guard(handlers.untilIdle(listed));
    this.#enter('watching', () => `the watchers, ${truth.pending} changes are unread`);
    await this.#guard(Promise.all(this.#readers));
    handlers.stop();

    const expected = source.truth?.() ?? truth.objects;
    const checks = checkDemo({ ...parts, expected, events: truth.counts.events, listed, truthFile, killAt, store });
    return { checks, figures: this.#summary(store, handlers) };
  }

  #createParts(run: RunState): DemoParts {
    const { seed, parts } = this.#options;
    const replaying = new ReplayingWatcher(run, () => this.#backend.lost);
    return {
      replaying,
      sleeping: new SleepingWatcher(run, (): Revision => replaying.progressRevision),
      reader: new ListReader(run, createSeededRandom(seed)),
      handlers: new DemoHandlers({
        run,
        random: createSeededRandom(seed + 2),
        ...(parts?.work === undefined ? {} : { work: parts.work }),
      }),
    };
  }

  /** The first list is there. The watchers have it before anything changes, so that they see every change. */
  async #begin(store: Store<Resource>, parts: DemoParts, isSettled: () => boolean): Promise<void> {
    const { replaying, sleeping, reader, handlers } = parts;
    await store.ready({ signal: this.#abort.signal });
    this.#store = store;
    this.#handlers = handlers;
    await Promise.all([replaying.open(), sleeping.open()]);
    this.#start(handlers.serve());
    this.#readers.push(
      this.#start(replaying.follow()),
      this.#start(sleeping.follow()),
      this.#start(reader.serve(() => isSettled() && handlers.stats.behind === 0)),
    );
    this.#enter('reading', () => 'the next event of the stream');
  }

  #summary(store: Store<Resource>, handlers: DemoHandlers): Readonly<Record<string, number>> {
    const { calls, temporaryFailures, permanentFailures, behind } = handlers.stats;
    return {
      ...this.#truth.counts,
      objects: this.#truth.objects.size,
      revision: store.revision,
      compactRevision: store.compactRevision,
      ...(store.stats().replica ?? {}),
      handlerCalls: calls,
      handlerFailures: temporaryFailures + permanentFailures,
      behind,
      elapsedMs: Math.round(this.#options.clock.now() - this.#startedAt),
    };
  }

  #enter(phase: string, waitsFor: () => string): void {
    this.#phase = phase;
    this.#watchdog.enter(waitsFor);
  }

  /** A task whose failure ends the demo. */
  #start(task: Promise<void>): Promise<void> {
    this.#tasks.push(task);
    task.catch((error: unknown) => this.#abort.abort(error));
    return task;
  }

  /** The same promise, or the reason why the demo ends early. */
  #guard<T>(promise: Promise<T>): Promise<T> {
    return raceAborted(promise, [this.#abort.signal]);
  }
}
