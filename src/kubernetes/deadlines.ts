import type { Clock } from '../types/clock.ts';
import { raceAborted } from '../types/until-aborted.ts';

type Timers = Pick<Clock, 'now' | 'after'>;

/** How long the end of a connection is waited for, in ms: one whose transport never says that it has ended must not hold up the next. */
const ENDING_MS = 5_000;

/** Waits until something has ended, whatever came of it; not for ever. */
export async function untilEnded(clock: Timers, ending: PromiseLike<unknown>): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = clock.after(ENDING_MS, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    ending.then(done, done);
  });
}

/** A request whose life is that of `controller`. */
export interface DeadlineOptions<R> {
  readonly clock: Timers;
  readonly timeoutMs: number;
  readonly controller: AbortController;
  /** The reason of the abort at the deadline. */
  readonly late: () => unknown;
  /** Gets what comes after the abort. */
  readonly discard: (result: R) => unknown;
}

/**
 * The deadline stands still from now on, until what it returned is called; then all of it begins anew. For what keeps a request back that
 * it has not sent yet.
 */
type Hold = () => () => void;

/**
 * Answers within a deadline: rejects with the reason of the controller once it aborts, by the deadline or by anybody else, but not before
 * the request has ended too, so that the next one is never beside it.
 */
export async function withDeadline<R>(
  { clock, timeoutMs, controller, late, discard }: DeadlineOptions<R>,
  start: (signal: AbortSignal, hold: Hold) => Promise<R>,
): Promise<R> {
  const { signal } = controller;
  signal.throwIfAborted();
  let isOver = false;
  const arm = () => clock.after(timeoutMs, () => controller.abort(late()));
  let cancel = arm();
  const hold = () => {
    cancel();
    return () => {
      cancel();
      if (!isOver) cancel = arm();
    };
  };
  const sent = call(start, signal, hold);
  try {
    return await raceAborted(sent, [signal]);
  } catch (error) {
    if (signal.aborted) await untilEnded(clock, sent.then(discard));
    throw error;
  } finally {
    isOver = true;
    cancel();
  }
}

async function call<R>(
  start: (signal: AbortSignal, hold: Hold) => Promise<R>,
  signal: AbortSignal,
  hold: Hold,
): Promise<R> {
  return start(signal, hold);
}

/**
 * Calls `fn` when nothing has been heard for so long. Only waiting counts: while what was heard is being worked on, nobody listens.
 * One timer, which is set anew when it fires too early: there may be news a thousand times a second.
 */
export class Silence {
  readonly #clock: Timers;
  readonly #fn: () => void;
  #limitMs: number;
  #waitingSince: number | undefined;
  #cancel: (() => void) | undefined;

  constructor(clock: Timers, limitMs: number, fn: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#fn = fn;
  }

  /** Somebody waits for the next word from now on. */
  listen(): void {
    this.#waitingSince = this.#clock.now();
    if (this.#cancel === undefined) this.#arm(this.#limitMs);
  }

  heard(): void {
    this.#waitingSince = undefined;
  }

  /** Another limit, for what is waited for next. */
  limit(limitMs: number): void {
    this.#limitMs = limitMs;
    this.stop();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#cancel = undefined;
      if (this.#waitingSince === undefined) return;
      const leftMs = this.#waitingSince + this.#limitMs - this.#clock.now();
      if (leftMs <= 0) this.#fn();
      else this.#arm(leftMs);
    });
  }
}
