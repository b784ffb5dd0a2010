import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import type { Random } from '../types/random.ts';
import type { ObjectSource } from '../types/source.ts';
import type { ObjectState } from './object-memory.ts';
import type { ObjectTable } from './object-table.ts';
import type { ProgressStore } from './progress.ts';
import type { Handler } from './registry.ts';
import type { ViewDigest } from './view.ts';

/** Figures that only rise. */
export interface Counters {
  calls: number;
  successes: number;
  temporaryFailures: number;
  permanentFailures: number;
  passes: number;
  writes: number;
  superseded: number;
  relists: number;
  faults: number;
}

/** Everything a pass works with; one for each controller. */
export interface Environment {
  readonly source: ObjectSource;
  readonly progress: ProgressStore;
  readonly essence: ViewDigest;
  readonly handlers: readonly Handler[];
  readonly policy: 'supersede' | 'complete';
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly table: ObjectTable;
  readonly counters: Counters;
  /** Aborts when the controller is to stop: no call begins after it, outcomes are still written. */
  readonly stopping: AbortSignal;
  /** Aborts when it has stopped: nothing is written any more. */
  readonly stopped: AbortSignal;
  /** A new id for each write, different in each process. */
  readonly nextWriteId: () => string;
}

/**
 * Reads the object itself and takes the answer like any other state. An empty answer kills the uid that was known when
 * the question was sent (row 22); one with another uid does so by being newer.
 */
export async function readObject(env: Environment, state: ObjectState): Promise<void> {
  const uid = state.newest?.uid;
  const object = await env.source.get(state.name, { signal: env.stopped });
  if (object !== undefined) env.table.observe(object);
  else if (uid !== undefined) env.table.vanish(state.name, uid);
}
