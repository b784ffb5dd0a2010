import {
  type Controller,
  type ControllerOptions,
  createController,
  createMemoryProgress,
  type MemoryProgress,
} from 'plimsoll';
import {
  createObjectSource,
  createSeededRandom,
  createVirtualClock,
  type MemoryObjectSource,
  type VirtualClock,
} from 'plimsoll/testing';
import { equal } from '../harness.ts';

export interface Thing {
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly metadata?: unknown;
}

/** What outlives a controller. */
export interface World {
  readonly clock: VirtualClock;
  readonly source: MemoryObjectSource<Thing>;
  readonly progress: MemoryProgress;
}

/** One controller, running. */
export interface Life<T> {
  readonly controller: Controller<T>;
  /** That of `run`. */
  readonly done: Promise<void>;
  abort(reason?: unknown): void;
  /** Aborts and lets the drain end. */
  stop(): Promise<void>;
  /** Moves the clock on until the controller is idle. */
  settle(): Promise<void>;
}

export function createWorld(): World {
  const clock = createVirtualClock();
  const source = createObjectSource<Thing>({ clock, random: createSeededRandom(1) });
  return { clock, source, progress: createMemoryProgress() };
}

/** Starts a controller on a world. */
export function start(
  { clock, source, progress }: World,
  register: (controller: Controller<Thing>) => void,
  options: Partial<ControllerOptions<Thing>> = {},
): Promise<Life<Thing>> {
  return startOn(clock, { source, progress, ...options }, register);
}

/** Starts a controller on any source. Waits between attempts are 100, 200, 400, ... ms unless `options` say otherwise. */
export async function startOn<T>(
  clock: VirtualClock,
  options: Pick<ControllerOptions<T>, 'source'> & Partial<ControllerOptions<T>>,
  register: (controller: Controller<T>) => void,
): Promise<Life<T>> {
  const controller = createController<T>({
    clock,
    random: createSeededRandom(2),
    backoff: { baseMs: 100, jitter: 0, maxMs: 10_000 },
    ...options,
  });
  register(controller);
  const stopping = new AbortController();
  const done = controller.run({ signal: stopping.signal });
  await quiet(clock);
  return {
    controller,
    done,
    abort: (reason) => stopping.abort(reason),
    async stop() {
      stopping.abort();
      await quiet(clock);
      await clock.advance(10_000);
      await done;
    },
    settle: () => settle(clock, controller),
  };
}

/** More timers than any case needs: a controller that is not idle by then never will be. */
const TIMERS_MAX = 10_000;

async function settle<T>(clock: VirtualClock, controller: Controller<T>): Promise<void> {
  // What the source has yet to deliver is not known, and `idle` is about what is known.
  await quiet(clock);
  let isIdle = false;
  const idle = controller.idle().then(() => {
    isIdle = true;
  });
  await quiet(clock);
  for (let timers = 0; !isIdle; timers++) {
    const more = timers < TIMERS_MAX && (await clock.advanceToNext());
    await quiet(clock);
    if (!isIdle && !more) throw new Error(`Never idle: ${JSON.stringify(controller.stats())}`);
  }
  await idle;
}

/**
 * Lets promise chains settle without time. Several turns, since in some runtimes a message between ports overtakes
 * chains: a timer made late would be due late.
 */
export async function quiet(clock: VirtualClock): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await clock.settle();
}

/** Work that takes its time on the virtual clock. */
export function sleep(clock: VirtualClock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

/** Work that goes on until its signal aborts, and then fails with the reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Compares the members that `expected` has. */
export function like(actual: object | undefined, expected: Readonly<Record<string, unknown>>): void {
  if (actual === undefined) throw new Error('Nothing to compare');
  equal(Object.fromEntries(Object.keys(expected).map((key) => [key, Reflect.get(actual, key)])), expected);
}
