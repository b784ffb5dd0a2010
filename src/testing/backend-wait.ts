import { systemClock } from '../system/system-clock.ts';
import { BackendAssertionError } from './backend-assertion.ts';

/** Calls of `settle` in which one thing has to come; then it counts as not coming. */
export const SETTLES_MAX = 500;

/** Real time that `advance` is given before the waiting for it begins, at most. */
const REAL_MS_MAX = 60_000;

/** How a call ended. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/**
 * The patience of one case. It waits for calls of the backend, and of whoever tests it, that may never answer. Its only
 * measure of time is `settle`: one that never resolves is waited for, for ever.
 */
export class BackendWait {
  readonly #rule: string;
  readonly #settle: () => Promise<void>;
  readonly #settling = new Set<Promise<void>>();

  constructor(rule: string, settle: () => Promise<void>) {
    this.#rule = rule;
    this.#settle = settle;
  }

  settle(): Promise<void> {
    const settling = this.#settle().finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
    return settling;
  }

  /** How a call ends, which has to be in time. Throws `BackendAssertionError` for one that does not. */
  async outcome<T>(what: string, call: Promise<T>): Promise<Outcome<T>> {
    let found: Outcome<T> | undefined;
    const told = call.then(
      (value) => {
        found = { value };
      },
      (error: unknown) => {
        found = { error };
      },
    );
    for (let turn = 0; turn < SETTLES_MAX && found === undefined; turn++) await Promise.race([told, this.settle()]);
    if (found !== undefined) return found;
    throw new BackendAssertionError({ rule: this.#rule, what, expected: 'an answer', actual: 'none in time' });
  }

  /** The same for a call that lets time pass, which is real time if that is the backend's: the waiting begins behind it. */
  async outcomeAfter<T>(what: string, call: Promise<T>, delayMs: number): Promise<Outcome<T>> {
    let cancel = () => {};
    const passed = new Promise<void>((resolve) => {
      cancel = systemClock.after(Math.min(delayMs, REAL_MS_MAX), resolve);
    });
    await Promise.race([Promise.allSettled([call]), passed]);
    cancel();
    return this.outcome(what, call);
  }

  /** Waits for timers of its own: some test runners look for those that are left. */
  async rest(): Promise<void> {
    await Promise.all(this.#settling);
  }
}
