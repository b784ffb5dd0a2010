import { type Controller, createController } from '../../handlers/controller.ts';
import { createMemoryProgress, type ProgressStore } from '../../handlers/progress.ts';
import { createSeededRandom } from '../../system/seeded-random.ts';
import { createObjectSource, type MemoryObjectSource, type ObjectSourceFaults } from '../../testing/object-source.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import { untilAborted } from '../../types/until-aborted.ts';
import type { DemoReport } from '../demo/demo.ts';
import { pick } from '../demo/pick.ts';
import type { ProgressFigures } from '../demo/progress-line.ts';
import { delay } from '../demo/run-state.ts';
import { Watchdog } from '../demo/watchdog.ts';
import { DataError } from '../errors.ts';
import type { App } from './app.ts';
import { checkChaos } from './checks.ts';
import { Edits } from './edits.ts';
import { register } from './handlers.ts';
import { OutsideWorld } from './outside-world.ts';
import { Process } from './process.ts';
import { RATES, Trouble } from './trouble.ts';

export interface ChaosOptions {
  readonly clock: Clock;
  /** Ends it early; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Of the edits and of everything that goes wrong. */
  readonly seed: number;
  readonly objects: number;
  readonly edits: number;
  /** 0 is never. */
  readonly timeoutMs: number;
  /** A sub-handler makes a mistake that has to be found. */
  readonly isBroken: boolean;
}

/** What goes wrong in the source itself. Watch items are lost and doubled by the process, which counts them. */
const FAULTS: ObjectSourceFaults = {
  delayMsMax: 4,
  staleListRate: RATES.staleList,
  readErrorRate: 0.02,
  readDelayMsMax: 2,
  patchDelayMsMax: 2,
};
/** The longest pause between two edits. */
const GAP_MS_MAX = 4;
/** Edits between two kills at any moment, besides those in the middle of a call or a write. */
const EDITS_A_KILL = 60;
/** The longest time until a process that was killed is started anew. */
const RESTART_MS_MAX = 20;
const POLL_MS = 5;
/** How long it is listened for calls after everything was told once more. */
const REST_MS = 100;

/**
 * The chaos demo: a controller on objects that are edited all the time, in a world in which processes are killed and
 * started anew, lists are old, changes get lost, come twice or late, and answers to writes get lost.
 *
 * ```text
 *   edits --> object source --[Process: stale, lost, doubled, unanswered]--> controller --> handlers --> outside world
 *                  ^                                                            |  ^                         |
 *                  '------------- patches, finalizers --------------------------'  '-- progress, kept        v
 *                                                                                     over kills         --> checks
 * ```
 *
 * Then nothing goes wrong any more, and everything has to be so as if nothing ever had.
 */
export class Chaos {
  readonly #options: ChaosOptions;
  readonly #abort = new AbortController();
  readonly #random: Random;
  readonly #trouble: Trouble;
  readonly #source: MemoryObjectSource<App>;
  readonly #edits: Edits;
  readonly #world = new OutsideWorld();
  readonly #progress: ProgressStore;
  readonly #watchdog: Watchdog;
  readonly #startedAt: number;
  #controller: Controller<App> | undefined;
  #process: Process | undefined;
  #processes = 0;
  #calls = 0;
  #writes = 0;
  #edited = 0;
  #phase = 'starting';
  #stop = new AbortController();
  #stopped: Promise<void> = Promise.resolve();
  #cancelStart = (): void => {};

  constructor(options: ChaosOptions) {
    const { clock, signal, seed, objects, timeoutMs } = options;
    this.#options = options;
    this.#startedAt = clock.now();
    this.#random = createSeededRandom(seed + 1);
    this.#trouble = new Trouble(createSeededRandom(seed + 2));
    this.#source = createObjectSource<App>({ clock, random: createSeededRandom(seed + 3), faults: FAULTS });
    this.#edits = new Edits(this.#source, createSeededRandom(seed), objects);
    this.#progress = this.#countWrites(createMemoryProgress());
    this.#watchdog = new Watchdog(clock, timeoutMs, (error) => this.#abort.abort(error));
    if (signal.aborted) this.#abort.abort(signal.reason);
    signal.addEventListener('abort', () => this.#abort.abort(signal.reason), { once: true });
  }

  get figures(): ProgressFigures {
    const { queued = 0, running = 0, behind = 0 } = this.#controller?.stats() ?? {};
    const high = Number(this.#source.resourceVersion);
    return {
      events: this.#edited,
      low: 0,
      high,
      queue: queued + running,
      behind,
      phase: `${this.#phase}, ${this.#trouble.counts.kills} kills`,
    };
  }

  /** Resolves with what was found; throws what ended it early. */
  async run(): Promise<DemoReport> {
    try {
      return await this.#main();
    } catch (error) {
      this.#abort.abort(error);
      throw this.#abort.signal.reason;
    } finally {
      this.#watchdog.close();
      this.#cancelStart();
      this.#stop.abort();
      await this.#stopped;
    }
  }

  async #main(): Promise<DemoReport> {
    const { clock, edits } = this.#options;
    const { signal } = this.#abort;
    this.#start();
    this.#enter('chaos', () => 'the next edit');
    for (; this.#edited < edits; this.#edited++) {
      this.#edits.make();
      this.#watchdog.beat();
      if (this.#random() < 1 / EDITS_A_KILL) this.#process?.kill();
      await delay(clock, this.#random() * GAP_MS_MAX, signal);
    }
    // What got lost is made up for by the next list.
    this.#trouble.end();
    this.#source.setFaults({});
    this.#source.breakWatches();
    this.#enter('settling', () => `the controller, ${this.figures.behind} objects are behind`);
    while (!this.#isSettled()) await delay(clock, POLL_MS, signal);
    const controller = this.#controller;
    const process = this.#process;
    if (controller === undefined || process === undefined) throw new DataError('finish the demo', 'nothing runs');
    await untilAborted(() => controller.idle(), [signal]);
    this.#enter('resting', () => 'the end of the rest');
    const rest = await this.#rest();
    const { objects } = this.#source;
    const { deleted } = this.#edits;
    const world = this.#world;
    const found = checkChaos({ objects, world, controller, process: process.number, deleted, rest });
    return this.#report(found);
  }

  /** Begins a process on the records of those before it. */
  #start(): void {
    const { clock, isBroken, seed } = this.#options;
    const trouble = this.#trouble;
    const process = new Process(++this.#processes, clock, trouble, () => this.#ended());
    const controller = createController<App>({
      source: process.source(this.#source),
      progress: process.progress(this.#progress),
      clock: process.clock,
      random: createSeededRandom(seed + 1000 + process.number),
      backoff: { baseMs: 5, maxMs: 100 },
      drainMs: 1000,
    });
    register(controller, { process, world: this.#world, random: this.#random, trouble, isBroken });
    this.#process = process;
    this.#controller = controller;
    this.#stop = new AbortController();
    this.#stopped = controller.run({ signal: this.#stop.signal }).catch((error: unknown) => this.#abort.abort(error));
  }

  /** A process was killed: what it had under way will never end, and another one takes its place after a while. */
  #ended(): void {
    this.#calls += this.#controller?.stats().calls ?? 0;
    this.#controller = undefined;
    this.#process = undefined;
    this.#stopped = Promise.resolve();
    this.#cancelStart = this.#options.clock.after(pick(this.#random, RESTART_MS_MAX), () => this.#start());
  }

  /** The controller knows the last state of everything, and has nothing left to do. */
  #isSettled(): boolean {
    const controller = this.#controller;
    const { objects } = this.#source;
    if (controller === undefined || objects.some(({ deleting }) => deleting)) return false;
    const { behind, objects: known } = controller.stats();
    if (behind > 0 || known !== objects.length) return false;
    return objects.every(({ name, resourceVersion }) => controller.state(name)?.resourceVersion === resourceVersion);
  }

  /** Tells everything once more that is still known to have happened. */
  async #rest(): Promise<{ readonly calls: number; readonly writes: number }> {
    const { clock } = this.#options;
    const before = { calls: this.#allCalls, writes: this.#writes };
    this.#source.replay();
    await delay(clock, REST_MS, this.#abort.signal);
    return { calls: this.#allCalls - before.calls, writes: this.#writes - before.writes };
  }

  get #allCalls(): number {
    return this.#calls + (this.#controller?.stats().calls ?? 0);
  }

  #report({ checks, misses }: ReturnType<typeof checkChaos>): DemoReport {
    const { kills, staleLists, lostItems, doubledItems, lostAnswers, failedCalls } = this.#trouble.counts;
    const { repeated } = this.#world;
    const elapsedMs = Math.round(this.#options.clock.now() - this.#startedAt);
    const figures = {
      edits: this.#edited,
      objects: this.#source.objects.length,
      created: this.#edits.created,
      deleted: this.#edits.deleted.size,
      kills,
      staleLists,
      lostItems,
      doubledItems,
      lostAnswers,
      failedCalls,
      handlerCalls: this.#allCalls,
      repeatedCalls: repeated,
      misses,
      behind: this.#controller?.stats().behind ?? 0,
      elapsedMs,
    };
    const summary = [
      `${this.#edited} edits, ${kills} kills, ${staleLists} stale lists, ${lostItems} changes lost and ${doubledItems} doubled, ${lostAnswers} answers lost`,
      `${figures.handlerCalls} calls, ${failedCalls} failed, ${repeated} repeated what was done, ${misses} misses`,
    ];
    return { checks, figures, summary };
  }

  #countWrites(store: ProgressStore): ProgressStore {
    return {
      get: (uid, name) => store.get(uid, name),
      list: () => store.list(),
      delete: (uid) => store.delete(uid),
      compareAndSet: (uid, gen, next) => {
        this.#writes++;
        return store.compareAndSet(uid, gen, next);
      },
    };
  }

  #enter(phase: string, waitsFor: () => string): void {
    this.#phase = phase;
    this.#watchdog.enter(waitsFor);
  }
}
