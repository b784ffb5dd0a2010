import type { KindStats } from './kind-deps.ts';
import type { Counters } from './pass-deps.ts';

/** Figures of the moment, and counts since the start. */
export interface ControllerStats extends KindStats {
  /** Objects known. */
  readonly objects: number;
  /** Objects in line for a pass. */
  readonly queued: number;
  /** Objects with a pass going on. */
  readonly running: number;
  /** Objects that wait for a retry, for a failed store or source, for a limit, or for their breaker. */
  readonly waiting: number;
  /**
   * Objects not known to be settled for their newest state: queued, running or waiting; once the controller has stopped,
   * those that it left so.
   */
  readonly behind: number;
  /** No call begins, until `resume`. */
  readonly paused: boolean;
  /** The watch of the source is not read on: more than `queuedMax` objects are in line, and not half of them done (A34'). */
  readonly watchHeld: boolean;
  /** Objects whose breaker is open or half-open (A33'). */
  readonly openBreakers: number;
  /** How often a breaker has opened. */
  readonly breakerTrips: number;
  /** Calls begun, those to rebuild included. */
  readonly calls: number;
  readonly successes: number;
  readonly temporaryFailures: number;
  readonly permanentFailures: number;
  /** Passes begun; each has at most one call of each handler. */
  readonly passes: number;
  /** Documents written. */
  readonly writes: number;
  /** Calls that were aborted and so count for nothing. */
  readonly superseded: number;
  /** Lists after the first one. */
  readonly relists: number;
  /**
   * States on which a function of the user threw, or returned what it may not, once for each handler: `when`, functions for
   * labels, annotations, `value`, `old` and `new`, `select`, `view`, index functions, `priority`; or a digest.
   */
  readonly faults: number;
  /** Patches written into objects. */
  readonly patches: number;
  /** Episodes of handlers that had to wait because own writes call them again and again (A8'). */
  readonly loops: number;
}

/** Counters of a controller that begins. */
export function freshCounters(): Counters {
  return {
    calls: 0,
    successes: 0,
    temporaryFailures: 0,
    permanentFailures: 0,
    passes: 0,
    writes: 0,
    superseded: 0,
    relists: 0,
    faults: 0,
    patches: 0,
    loops: 0,
  };
}
