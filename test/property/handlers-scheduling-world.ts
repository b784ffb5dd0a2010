import type { CallContext } from '../../src/handlers/context.ts';
import { type Controller, createController } from '../../src/handlers/controller.ts';
import { createMemoryProgress, type ProgressStore } from '../../src/handlers/progress.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createObjectSource } from '../../src/testing/object-source.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { InvariantError, PermanentError, TemporaryError } from '../../src/types/errors.ts';
import type { Random } from '../../src/types/random.ts';
import { sleep, type Thing } from '../unit/handlers/harness.ts';
import { below, pick } from './handlers-program.ts';

const TIMEOUT_MS = 200;
const BREAKER_MS = 50;
const nothing = (): void => {};
const silent = { debug: nothing, info: nothing, warn: nothing };
const QUIET_LIMIT_MS = 3_600_000;

interface Plan {
  readonly id: string;
  readonly field: string | undefined;
  readonly concurrency: number;
  readonly retries: number;
  readonly callMsMax: number;
  readonly failureRate: number;
  readonly subs: number;
}

/** A random mix of limits and faults, the same for the same seed. */
export interface SchedulingProgram {
  readonly seed: number;
  readonly names: number;
  readonly concurrency: number;
  readonly handlers: readonly Plan[];
  readonly rate: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly breaker: number | undefined;
  readonly hasPriorities: boolean;
  readonly queuedMax: number;
  readonly steps: number;
  readonly hostility: number;
  readonly writeDelayMsMax: number;
}

export function createSchedulingProgram(seed: number): SchedulingProgram {
  const random = createSeededRandom(seed);
  return {
    seed,
    names: 1 + below(random, 6),
    concurrency: 1 + below(random, 4),
    handlers: Array.from({ length: 1 + below(random, 3) }, (_, index) => ({
      id: `h${index}`,
      field: pick(random, [undefined, 'spec.a', 'spec.b']),
      concurrency: pick(random, [1, 1, 2, 3, Number.POSITIVE_INFINITY]),
      retries: below(random, 4),
      callMsMax: pick(random, [0, 20, 100]),
      failureRate: pick(random, [0, 0.2, 0.6]),
      subs: random() < 0.3 ? 1 + below(random, 3) : 0,
    })),
    rate: random() < 0.5 ? { perSecond: pick(random, [3, 20, 150]), burst: 1 + below(random, 4) } : undefined,
    breaker: random() < 0.4 ? 1 + below(random, 4) : undefined,
    hasPriorities: random() < 0.5,
    queuedMax: pick(random, [1, 3, Number.POSITIVE_INFINITY]),
    steps: 5 + below(random, 30),
    hostility: pick(random, [0, 0.05, 0.2]),
    writeDelayMsMax: pick(random, [0, 0, 10]),
  };
}

export interface SchedulingVerdict {
  readonly violations: readonly string[];
  readonly calls: number;
  readonly trips: number;
  readonly pauses: number;
  readonly held: number;
}

/** Failed calls in a row of one uid, and when the last one was. */
interface Failures {
  readonly count: number;
  readonly atMs: number;
  readonly signal: AbortSignal | undefined;
  readonly before: Failures | undefined;
}

/** Runs a program to its end and lets everything come to rest; checks while it runs and there. */
export async function runScheduling(program: SchedulingProgram): Promise<SchedulingVerdict> {
  const run = new SchedulingRun(program);
  for (let step = 0; step < program.steps; step++) await run.step();
  await run.rest();
  run.checkFinal();
  await run.stop();
  return run.verdict();
}

class SchedulingRun {
  readonly #program: SchedulingProgram;
  readonly #random: Random;
  readonly #clock = createVirtualClock();
  readonly #source;
  readonly #progress: ProgressStore;
  #controller: Controller<Thing>;
  #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();
  readonly #violations: string[] = [];
  readonly #runningOf = new Map<string, number>();
  /** Of this life of the controller. */
  #starts: number[] = [];
  #calls = 0;
  #trips = 0;
  /** What each handler and sub has last handled for good, by object. */
  readonly #handled = new Map<string, string>();
  readonly #failures = new Map<string, Failures>();
  #isPaused = false;
  #pauses = 0;
  #held = 0;
  #isQuiet = false;

  constructor(program: SchedulingProgram) {
    this.#program = program;
    this.#random = createSeededRandom(program.seed ^ 0x2545f491);
    const { hostility } = program;
    const random = this.#random;
    this.#source = createObjectSource<Thing>({
      clock: this.#clock,
      random,
      faults: {
        dropRate: hostility,
        duplicateRate: hostility,
        delayMsMax: hostility * 200,
        staleListRate: hostility * 2,
        readErrorRate: hostility / 2,
      },
    });
    for (let index = 0; index < program.names; index++) this.#source.put(`o${index}`, { spec: { a: 0, b: 0 } });
    this.#progress = this.#slow();
    this.#controller = this.#start();
  }

  #start(): Controller<Thing> {
    const { rate, breaker, concurrency, queuedMax, hasPriorities, handlers } = this.#program;
    this.#stop = new AbortController();
    this.#starts = [];
    const controller = createController<Thing>({
      source: this.#source,
      progress: this.#progress,
      clock: this.#clock,
      random: this.#random,
      view: (object) => object.spec,
      backoff: { baseMs: 20, maxMs: 500 },
      concurrency,
      queuedMax,
      logger: { ...silent, error: (_message, fields) => this.#checkError(fields?.error) },
      ...(rate === undefined ? {} : { rateLimit: rate }),
      ...(breaker === undefined
        ? {}
        : { breaker: { failuresMax: breaker, backoff: { baseMs: BREAKER_MS, maxMs: 2000 } } }),
      ...(hasPriorities ? { priority: ({ spec }: Thing) => Number(spec?.a), ageingMs: 100 } : {}),
    });
    for (const plan of handlers) this.#register(controller, plan);
    this.#done = controller.run({ signal: this.#stop.signal });
    this.#isPaused = false;
    return controller;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const name = `o${below(random, this.#program.names)}`;
    const chance = random();
    if (chance < 0.65) this.#source.put(name, { spec: { a: below(random, 3), b: below(random, 3) } });
    else if (chance < 0.72) this.#source.delete(name);
    else if (chance < 0.78) this.#source.breakWatches();
    else if (chance < 0.8) await this.#restart();
    else this.#pause(chance < 0.9);
    await this.#clock.advance(pick(random, [0, 5, 30, 120]));
    if (this.#controller.stats().watchHeld) this.#held++;
  }

  /** Nothing goes wrong any more, a new list brings what was lost, and no timer is left at the end (I19'). */
  async rest(): Promise<void> {
    this.#isQuiet = true;
    this.#source.setFaults({});
    this.#pause(false);
    await this.#clock.advance(300);
    this.#source.breakWatches();
    let isIdle = false;
    const end = this.#clock.now() + QUIET_LIMIT_MS;
    await this.#clock.advance(0);
    while (this.#clock.pending > 0 && this.#clock.now() < end) await this.#clock.advanceToNext();
    this.#controller.idle().then(
      () => {
        isIdle = true;
      },
      (error: unknown) => this.#violations.push(`idle rejects: ${String(error)}`),
    );
    await this.#clock.settle();
    if (this.#clock.pending > 0) this.#violations.push("I19': a timer is left");
    if (!isIdle) this.#violations.push(`I1': not idle at rest: ${JSON.stringify(this.#controller.stats())}`);
  }

  checkFinal(): void {
    for (const { name, uid, object } of this.#source.objects) {
      const status = this.#controller.state(name);
      if (status?.settled !== true) this.#violations.push(`I1': ${name} is not settled: ${JSON.stringify(status)}`);
      for (const plan of this.#program.handlers) {
        const record = status?.handlers.find(({ id }) => id === plan.id);
        if (record?.state === 'ok' && this.#handled.get(`${uid} ${plan.id}`) !== viewOf(plan, object)) {
          this.#violations.push(`I1': ${name} ${plan.id} is ok, and has not handled the last state`);
        }
      }
    }
    for (const [id, { behind, running, lagMs }] of Object.entries(this.#controller.handlerStats())) {
      if (behind + running + lagMs > 0) this.#violations.push(`I28': ${id} is behind at rest: ${behind}, ${lagMs} ms`);
    }
    const { openBreakers } = this.#controller.stats();
    if (openBreakers > this.#source.objects.length) this.#violations.push(`${openBreakers} breakers are left`);
  }

  async #restart(): Promise<void> {
    await this.stop();
    // A breaker is in memory, and begins anew.
    this.#failures.clear();
    this.#controller = this.#start();
  }

  #checkError(error: unknown): void {
    if (error instanceof InvariantError) this.#violations.push(`an invariant is broken: ${error.message}`);
  }

  async stop(): Promise<void> {
    const { rate } = this.#program;
    this.#stop.abort();
    await this.#clock.advance(5000);
    await this.#done;
    if (rate !== undefined) this.#checkRate(rate.perSecond, rate.burst);
    this.#calls += this.#starts.length;
    this.#trips += this.#controller.stats().breakerTrips;
  }

  verdict(): SchedulingVerdict {
    return {
      violations: this.#violations,
      calls: this.#calls,
      trips: this.#trips,
      pauses: this.#pauses,
      held: this.#held,
    };
  }

  /** Never more than `burst + rate * t` starts in a time of t (I27'). */
  #checkRate(perSecond: number, burst: number): void {
    const starts = this.#starts;
    for (const [from, startMs] of starts.entries()) {
      for (let to = from; to < starts.length; to++) {
        const spanMs = (starts[to] ?? 0) - startMs;
        if (to - from + 1 > burst + (perSecond * spanMs) / 1000 + 1e-6) {
          this.#violations.push(`I27': ${to - from + 1} starts in ${spanMs} ms`);
          return;
        }
      }
    }
  }

  #pause(isPaused: boolean): void {
    if (isPaused) {
      this.#controller.pause();
      if (!this.#isPaused) this.#pauses++;
    } else {
      this.#controller.resume();
    }
    this.#isPaused = isPaused;
    if (this.#controller.stats().paused !== isPaused) this.#violations.push('paused is not shown');
  }

  #register(controller: Controller<Thing>, plan: Plan): void {
    const { id, field, concurrency, retries } = plan;
    const options = { id, concurrency, retries, timeoutMs: TIMEOUT_MS, ...(field === undefined ? {} : { field }) };
    controller.on('change', options, (context) => {
      for (let sub = 0; sub < plan.subs; sub++) {
        context.sub(`s${sub}`, { retries, timeoutMs: TIMEOUT_MS }, (inner) => this.#call(inner, plan, false));
      }
      return this.#call(context, plan, context.rebuild, () => {
        if (!context.rebuild) this.#handled.set(`${context.uid} ${id}`, viewOf(plan, context.object));
      });
    });
  }

  async #call(
    { name, uid, signal }: CallContext<Thing>,
    { id, callMsMax, failureRate, concurrency }: Plan,
    isRebuild: boolean,
    done = (): void => {},
  ): Promise<void> {
    const random = this.#random;
    this.#checkBreaker(uid);
    if (this.#isPaused) this.#violations.push(`A35': a call of ${id} began while paused`);
    this.#starts.push(this.#clock.now());
    this.#enter(`object ${name}`, 1);
    this.#enter(`handler ${id}`, concurrency);
    const leave = (): void => {
      this.#leave(`object ${name}`);
      this.#leave(`handler ${id}`);
    };
    const chance = random();
    if (!this.#isQuiet && chance < 0.03) {
      this.#clock.after(TIMEOUT_MS - 1, () => {
        leave();
        this.#failed(uid, this.#clock.now() + 1);
      });
      return new Promise(() => {});
    }
    const durationMs = below(random, callMsMax + 1);
    if (durationMs > 0) await sleep(this.#clock, durationMs);
    leave();
    if (random() < failureRate) {
      // What is superseded in the turn in which it fails may be taken for the one or the other.
      if (chance < 0.2) this.#failed(uid, this.#clock.now());
      else if (!signal.aborted) this.#failed(uid, this.#clock.now(), signal);
      if (chance < 0.2) throw new PermanentError('never');
      throw chance < 0.6 ? new TemporaryError('later', { delayMs: 1 + below(random, 100) }) : new Error('broken');
    }
    if (!isRebuild) this.#failures.delete(uid);
    done();
  }

  /** After so many failures in a row, no call within the shortest time that the breaker is open (A33'). */
  #checkBreaker(uid: string): void {
    const { count, atMs } = this.#counted(uid) ?? { count: 0, atMs: 0 };
    const { breaker } = this.#program;
    if (breaker === undefined || count < breaker) return;
    const sinceMs = this.#clock.now() - atMs;
    if (sinceMs < BREAKER_MS * 0.8) this.#violations.push(`A33': a call ${sinceMs} ms after failure ${count}`);
  }

  #failed(uid: string, atMs: number, signal?: AbortSignal): void {
    const before = this.#counted(uid);
    this.#failures.set(uid, { count: (before?.count ?? 0) + 1, atMs, signal, before });
  }

  /** Without a last failure whose call turned out to be superseded. */
  #counted(uid: string): Failures | undefined {
    const last = this.#failures.get(uid);
    return last?.signal?.aborted === true ? last.before : last;
  }

  /** Progress whose writes take their time, so that there is something between what is granted and the call. */
  #slow(): ProgressStore {
    const progress = createMemoryProgress();
    const { writeDelayMsMax } = this.#program;
    return {
      ...progress,
      compareAndSet: async (uid, gen, next) => {
        const delayMs = below(this.#random, writeDelayMsMax + 1);
        if (delayMs > 0) await sleep(this.#clock, delayMs);
        return progress.compareAndSet(uid, gen, next);
      },
    };
  }

  #enter(what: string, limit: number): void {
    const running = (this.#runningOf.get(what) ?? 0) + 1;
    this.#runningOf.set(what, running);
    if (running > limit) this.#violations.push(`I26': ${running} calls at a time of ${what}`);
  }

  #leave(what: string): void {
    this.#runningOf.set(what, (this.#runningOf.get(what) ?? 1) - 1);
  }
}

function viewOf({ field }: Plan, { spec }: Thing): string {
  if (field === 'spec.a') return JSON.stringify(spec?.a);
  return JSON.stringify(field === 'spec.b' ? spec?.b : spec);
}
