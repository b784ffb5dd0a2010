import type { Tally } from './coverage.ts';
import { errorOf, messageOf } from './shrink.ts';

/** What `run.mjs` tells a worker. */
export interface WorkerOptions {
  readonly seed: number;
  readonly programs: number;
  readonly worker: number;
  readonly workers: number;
  readonly smoke: boolean;
  /** One program only, as a failure prints it: its kind and its number. */
  readonly only?: string;
  /** For the report of coverage: a file with what all workers have counted. */
  readonly tallies?: string;
}

/** What a worker tells `run.mjs`: the last line of its output. */
export interface PartResult {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** Figures, and what was left out and why: told, and without a say. */
  readonly notes: readonly string[];
  readonly tally: Tally;
}

export interface Failure {
  readonly name: string;
  readonly message: string;
}

/** A fault that is found once is found again and again: after so many the part ends. */
const FAILURES_MAX = 5;
const PROGRESS_MS = 10_000;

/** Checks of one part, counted. */
export class Part {
  passed = 0;
  readonly failures: Failure[] = [];
  readonly notes: string[] = [];
  #told = performance.now();

  /** Enough has failed: what is left would only take time. */
  get isOver(): boolean {
    return this.failures.length >= FAILURES_MAX;
  }

  check(name: string, run: () => void): void {
    const error = errorOf(run);
    this.count(name, error === undefined ? undefined : messageOf(error));
  }

  count(name: string, failure: string | undefined): void {
    if (failure === undefined) this.passed++;
    else this.failures.push({ name, message: failure });
  }

  /** A sign of life on standard error, not more often than is of use. */
  progress(what: () => string): void {
    if (performance.now() - this.#told < PROGRESS_MS) return;
    this.#told = performance.now();
    console.error(`  ${what()}`);
  }

  result(tally: Tally): PartResult {
    return { passed: this.passed, failures: this.failures, notes: this.notes, tally };
  }
}
