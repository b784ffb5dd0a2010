import type { AttemptOptions } from './attempt-options.ts';

/** Options of `ctx.sub`. */
export interface SubOptions extends AttemptOptions {
  /** Plain JSON data for the sub, copied. Like the id: a function of the parent's view alone (A9'b). */
  readonly args?: unknown;
  /** Depend on this field of the object and the args, instead of the parent's view and the args. Excludes `select`. */
  readonly field?: string;
  /** Depend on a part of the parent's *view* and the args: plain JSON data, copied. Pure. Excludes `field`. */
  readonly select?: (view: unknown) => unknown;
}
