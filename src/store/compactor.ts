import type { Clock } from '../types/clock.ts';

/** Log entries per slice from the timer, or a sixteenth as many keys that go: well under a millisecond of work. */
const SLICE_ENTRIES = 4096;
/** Entries that commits add before they take a slice along: one call of the core is dearer than one entry. */
const COMMIT_ENTRIES = 64;
/**
 * Entries done for each one added by a commit: so many that writers who never let a timer run keep up even if every second
 * entry ends a key, which costs 16 more.
 */
const COMMIT_PACE = 16;

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
  /** Entries added by commits since the last slice. */
  #added = 0;
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

  /**
   * At the end of a commit of so many entries, which may have raised the low watermark: takes work along in proportion,
   * the rest is for the timer.
   */
  onCommit(entries: number, wasRaised: boolean): void {
    if (wasRaised) this.#isBehind = true;
    if (!this.#isBehind) return;
    this.#added += entries;
    if (this.#added < COMMIT_ENTRIES) {
      this.#arm();
      return;
    }
    const budget = this.#added * COMMIT_PACE;
    this.#added = 0;
    if (this.#step(budget)) this.stop();
    else this.#arm();
  }

  /** Does a slice at once, for a commit that needs the memory; `false` if there is nothing to do. */
  sliceNow(): boolean {
    if (!this.#isBehind) return false;
    if (this.#step(SLICE_ENTRIES)) this.stop();
    return true;
  }

  stop(): void {
    this.#isBehind = false;
    this.#added = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #slice(): void {
    this.#cancel = undefined;
    if (this.#step(SLICE_ENTRIES)) this.stop();
    else this.#arm();
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(0, () => this.#slice());
  }
}
