import type { Clock } from '../types/clock.ts';

/** Some tenths of a millisecond on a machine of 2020, so that most steps are below one on a slow or a busy one. */
const STEP_UNITS = 1024;
/** So many bytes are as much work as one row without any. */
const UNIT_BYTES = 256;
/** JSON of some size against text of that size. */
const JSON_FACTOR = 2;

/** The work of a row whose key and value have so many bytes. */
export function rowUnits(bytes: number, isJson = false): number {
  return (1 + bytes / UNIT_BYTES) * (isJson ? JSON_FACTOR : 1);
}

/** Says when a step is long enough. It counts, and looks at no clock: the same work has the same steps everywhere. */
export class StepLength {
  #left = STEP_UNITS;

  /** So much more was done; `true` when the step should end. */
  isOver(units: number): boolean {
    this.#left -= units;
    if (this.#left > 0) return false;
    this.#left = STEP_UNITS;
    return true;
  }
}

export interface StepOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once, at once, when the work is done or given up. */
  readonly onEnd?: () => void;
}

interface Job {
  readonly fail: (error: unknown) => void;
}

/**
 * Runs long work in short steps, each but the first in a task of its own. The first runs inside `run`, so that small work
 * is done without any timer.
 */
export class StepRunner {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #jobs = new Set<Job>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Rejects with what a step throws, with the signal's reason between two steps, and with that of `fail`. */
  run<T>(steps: Iterator<void, T>, { signal, onEnd }: StepOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      let cancel = () => {};
      const end = () => {
        if (!this.#jobs.delete(job)) return;
        cancel();
        onEnd?.();
      };
      const job: Job = {
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const next = () => {
        try {
          signal?.throwIfAborted();
          const step = steps.next();
          if (step.done !== true) {
            // A getter of a shared value may have closed the store.
            if (this.#jobs.has(job)) cancel = this.#clock.after(0, next);
          } else {
            end();
            resolve(step.value);
          }
        } catch (error) {
          job.fail(error);
        }
      };
      this.#jobs.add(job);
      next();
    });
  }

  /** Gives up whatever runs; `false` if nothing does. */
  fail(error: unknown): boolean {
    const hasAny = this.#jobs.size > 0;
    for (const job of [...this.#jobs]) job.fail(error);
    return hasAny;
  }
}
