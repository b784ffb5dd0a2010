/** What handlers and sub-handlers have in common. */
export interface AttemptOptions {
  /** Attempts after the first one before a failure is final; 0 for a single attempt. @default Infinity */
  readonly retries?: number;
  /**
   * How long a call may take, in ms; then it counts as failed, its signal aborts and its late result is refused.
   * It needs the event loop: a function that blocks it is not cut short. Without it a call that never settles holds up its
   * object for ever. @default no limit
   */
  readonly timeoutMs?: number;
}
