/** What handlers and sub-handlers have in common. */
export interface AttemptOptions {
  /** Attempts after the first one before a failure is final; 0 for a single attempt. @default Infinity */
  readonly retries?: number;
  /**
   * How long a call may take, in ms; then it counts as failed, its signal aborts and its late result is refused.
   * Without it a call that never settles holds up its object for ever. @default no limit
   */
  readonly timeoutMs?: number;
}

/** Options of `ctx.sub`. */
export interface SubOptions extends AttemptOptions {
  /** Plain JSON data for the sub, copied. Like the id: a function of the parent's view alone (A9'b). */
  readonly args?: unknown;
  /** Depend on this field of the object and the args, instead of the parent's view and the args. Excludes `select`. */
  readonly field?: string;
  /** Depend on a part of the parent's *view* and the args: plain JSON data, copied. Pure. Excludes `field`. */
  readonly select?: (view: unknown) => unknown;
}
