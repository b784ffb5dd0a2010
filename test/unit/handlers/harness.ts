import type { Controller } from '../../../src/handlers/controller.ts';
import { createController } from '../../../src/handlers/controller.ts';
import type { ControllerStats } from '../../../src/handlers/controller-stats.ts';
import type { ControllerOptions } from '../../../src/handlers/options.ts';
import { createMemoryProgress, type MemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../../src/handlers/record.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createObjectSource, type MemoryObjectSource } from '../../../src/testing/object-source.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

export interface Thing {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** One world: a clock, a source and a progress store that outlive controllers. */
export interface World {
  readonly clock: VirtualClock;
  readonly source: MemoryObjectSource<Thing>;
  readonly progress: MemoryProgress;
  /** Every document that was written, in order. */
  readonly written: ProgressDocument[];
  start(register: (controller: Controller<Thing>) => void, options?: Partial<ControllerOptions<Thing>>): Promise<Life>;
}

/** One controller, running. */
export interface Life {
  readonly controller: Controller<Thing>;
  /** That of `run`. */
  readonly done: Promise<void>;
  /** Begins to end it: no call begins any more. */
  abort(): void;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Advances the clock until the controller is idle; fails after `limitMs`. */
  settle(limitMs?: number): Promise<void>;
  stats(): ControllerStats;
}

export function createWorld(seed = 1): World {
  const clock = createVirtualClock();
  const source = createObjectSource<Thing>({ clock, random: createSeededRandom(seed) });
  const progress = createMemoryProgress();
  const written: ProgressDocument[] = [];
  const logged: ProgressStore = {
    ...progress,
    async compareAndSet(uid, gen, next) {
      const done = await progress.compareAndSet(uid, gen, next);
      if (done) written.push(next);
      return done;
    },
  };
  return {
    clock,
    source,
    progress,
    written,
    async start(register, options = {}) {
      const random = createSeededRandom(seed + 1);
      const controller = createController<Thing>({
        source,
        progress: logged,
        clock,
        random,
        backoff: { baseMs: 100, jitter: 0, maxMs: 10_000 },
        ...options,
      });
      register(controller);
      const stop = new AbortController();
      const done = controller.run({ signal: stop.signal });
      await clock.settle();
      return {
        controller,
        done,
        abort: () => stop.abort(),
        async stop() {
          stop.abort();
          await clock.advance(10_000);
          await done;
        },
        async settle(limitMs = 600_000) {
          // What the source has yet to deliver is not known, and `idle` is about what is known.
          await clock.settle();
          let idle = false;
          const waiting = controller.idle().then(() => {
            idle = true;
          });
          const end = clock.now() + limitMs;
          await clock.settle();
          while (!idle) {
            const more = await clock.advanceToNext();
            if (!idle && (!more || clock.now() > end)) {
              throw new Error(`not idle after ${limitMs} ms: ${JSON.stringify(controller.stats())}`);
            }
          }
          await waiting;
        },
        stats: () => controller.stats(),
      };
    },
  };
}

/** A call that takes its time on the virtual clock. */
export function sleep(clock: VirtualClock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
