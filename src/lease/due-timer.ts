import type { Clock } from '../types/clock.ts';

export interface DueTimerOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** The earliest deadline that there is at the moment. */
  readonly deadline: () => number | undefined;
  /** Called with at least one deadline reached. What it throws is the clock's to report; the timer goes on. */
  readonly onDue: () => void;
}

/** How soon the timer calls again when what was due still is. */
const AGAIN_MS = 1000;

/**
 * One timer for many deadlines. It is set when there is an earlier one than it is set for, and otherwise left alone: when
 * it fires too early it is set anew.
 *
 * ```text
 *   deadlines      300 -------- renewed --> 350
 *   timer           set for 300 ------ fires: nothing due, set for 350 ------ fires: due
 * ```
 *
 * A thousand renewals cost no timer, and at most one early firing. `onDue` that leaves something due is called again
 * after a second, not at once: it could not do it, and must not keep the event loop busy. `arm` ends that wait.
 */
export class DueTimer {
  readonly #options: DueTimerOptions;
  #cancel: (() => void) | undefined;
  /** When it fires, if it is set. */
  #at = 0;
  #isFiring = false;
  #closed = false;

  constructor(options: DueTimerOptions) {
    this.#options = options;
  }

  /** Says that there may be an earlier deadline, or that what was due is done. */
  arm(): void {
    this.#armFrom(Number.NEGATIVE_INFINITY);
  }

  /** Says that there is no deadline any more. */
  disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  close(): void {
    this.#closed = true;
    this.disarm();
  }

  /** Sets the timer for the earliest deadline, though not before `earliest`. */
  #armFrom(earliest: number): void {
    const { clock, deadline } = this.#options;
    const due = deadline();
    if (due === undefined || this.#closed || this.#isFiring) return;
    const at = Math.max(due, earliest);
    if (this.#cancel !== undefined && this.#at <= at) return;
    this.disarm();
    this.#at = at;
    this.#cancel = clock.after(Math.max(0, at - clock.now()), () => this.#fire());
  }

  #fire(): void {
    this.#cancel = undefined;
    const now = this.#options.clock.now();
    // Whatever comes and goes in the call, the timer is set once, after it.
    this.#isFiring = true;
    try {
      if (this.#isDue(now)) this.#options.onDue();
    } finally {
      this.#isFiring = false;
      this.#armFrom(this.#isDue(now) ? now + AGAIN_MS : Number.NEGATIVE_INFINITY);
    }
  }

  #isDue(now: number): boolean {
    const due = this.#options.deadline();
    return due !== undefined && due <= now;
  }
}
