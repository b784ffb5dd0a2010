import type { Clock } from '../types/clock.ts';

/** Log entries per slice from the timer: well under a millisecond of work. */
const SLICE_ENTRIES = 4096;
/** Log entries per slice taken along by a commit: more than a commit adds, so that writers without a pause keep up. */
const COMMIT_ENTRIES = 64;

export interface CompactorOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Does a slice of at most about `budget` log entries; `true` when nothing is left. */
  readonly step: (budget: number) => boolean;
}

/**
 * Does the physical part of compaction, in slices that never stall the event loop. The logical part has happened
 * before: no read can tell how far this has come (M16).
 */
export class Compactor {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #step: (budget: number) => boolean;
  #isBehind = false;
  #cancel: (() => void) | undefined;

  constructor(options: CompactorOptions) {
    this.#clock = options.clock;
    this.#step = options.step;
  }

  /** The low watermark was raised. */
  start(): void {
    this.#isBehind = true;
    this.#arm();
  }

  /** At the end of a commit, which may have raised the low watermark: take a small slice along, the rest by timer. */
  onCommit(wasRaised: boolean): void {
    if (wasRaised) this.#isBehind = true;
    if (!this.#isBehind) return;
    if (this.#step(COMMIT_ENTRIES)) this.stop();
    else this.#arm();
  }

  stop(): void {
    this.#isBehind = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #slice(): void {
    this.#cancel = undefined;
    if (!this.#isBehind) return;
    if (this.#step(SLICE_ENTRIES)) this.#isBehind = false;
    else this.#arm();
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(0, () => this.#slice());
  }
}
