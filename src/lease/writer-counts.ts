import type { WriterLeaseStats } from '../types/writer-lease.ts';

/** What a lease counts; the names are those of {@link WriterLeaseStats}. */
export class WriterCounts {
  attempts = 0;
  writes = 0;
  conflicts = 0;
  errors = 0;
  unknownOutcomes = 0;
  lateAnswers = 0;
  unchanged = 0;
  reads = 0;
  readErrors = 0;
  takeovers = 0;
  losses = 0;
  evidence = 0;
  stale = 0;
  coalesced = 0;
  dropped = 0;
  refusals = 0;
  relists = 0;
  lastError: WriterLeaseStats['lastError'] = undefined;
  readonly #waits = { count: 0, sum: 0, max: 0 };

  /** A key is right, so long after it was asked for. */
  right(waitMs: number): void {
    const waits = this.#waits;
    waits.count++;
    waits.sum += waitMs;
    if (waitMs > waits.max) waits.max = waitMs;
  }

  /** All of it, as it is now. */
  numbers(): Omit<WriterCounts, 'right' | 'numbers'> & Pick<WriterLeaseStats, 'waitMs'> {
    return { ...this, waitMs: { ...this.#waits } };
  }
}
