/**
 * The time seam. Everything below `adapters/` takes its time from one of these; nothing reads a global clock.
 * `now` never goes back; `wallTime` may. Delays above 2^31-1 ms work.
 */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start. */
  now(): number;
  /** Milliseconds since the Unix epoch, for what leaves the process. */
  wallTime(): number;
  /** Runs `fn` once after at least `delayMs` (a task of its own, never inside this call). Returns the cancel function. */
  after(delayMs: number, fn: () => void): () => void;
}
