import type { Pacer } from '../queue/pacer.ts';
import type { Clock } from '../types/clock.ts';
import { UnsupportedError } from '../types/errors.ts';
import type { Logger } from '../types/logger.ts';
import type { Patch } from '../types/patch.ts';
import type { Random } from '../types/random.ts';
import type { ObjectSource, SourcePatch, SourcePatchResult } from '../types/source.ts';
import type { Admission } from './admission.ts';
import type { Breakers } from './breaker.ts';
import type { Documents } from './documents.ts';
import type { HandlerMetrics } from './handler-metrics.ts';
import type { IndexAccess } from './index-options.ts';
import type { ObjectState } from './object-memory.ts';
import type { ObjectTable } from './object-table.ts';
import { applyPatches } from './patch.ts';
import type { ProgressStore } from './progress.ts';
import type { Handler } from './registry.ts';

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
  patches: number;
  loops: number;
}

/** Everything a pass works with; one for each controller. */
export interface PassDeps {
  readonly source: ObjectSource;
  readonly progress: ProgressStore;
  /** Those of `progress`. */
  readonly documents: Documents;
  readonly handlers: readonly Handler[];
  readonly handlerIds: ReadonlySet<string>;
  /** Of the handlers with a `retire` hook. */
  readonly retiringIds: ReadonlySet<string>;
  /** How long records of handlers that are no more are kept, in ms (A14'). */
  readonly recordTtlMs: number;
  /** Keeps objects until they are cleaned up (A11'). */
  readonly finalizer: string;
  readonly policy: 'supersede' | 'complete';
  /** Whether records are written around each call, or around those of a pass (A12'b). */
  readonly persist: 'call' | 'pass';
  /** Calls at a time within one pass (A10'b). */
  readonly parallel: number;
  readonly clock: Clock;
  /** Counts calls; the queue counts passes with the same one. */
  readonly pacer: Pacer;
  readonly random: Random;
  readonly logger: Logger;
  readonly table: ObjectTable;
  readonly counters: Counters;
  /** Of every registered handler, by id. */
  readonly metrics: ReadonlyMap<string, HandlerMetrics>;
  readonly admission: Admission;
  readonly breakers: Breakers | undefined;
  /** Aborts when the controller is to stop: no call begins after it, outcomes are still written. */
  readonly stopping: AbortSignal;
  /** Aborts when it has stopped: nothing is written any more. */
  readonly stopped: AbortSignal;
  /** Reads and patches of the source that are going on: aborted together with `stopped`. At most one for each running pass. */
  readonly reads: Set<AbortController>;
  /** The indexes of the controller, for those who are called. */
  readonly index: IndexAccess['index'];
  /** A daemon of this uid has not ended: the object stays until it has (A23'). */
  readonly isOccupied: (name: string, uid: string) => boolean;
  /** A new id for each write, different in each process. */
  readonly nextWriteId: () => string;
}

/**
 * Reads the object itself and takes the answer like any other state. An empty answer kills the uid that was known when
 * the question was sent (row 22); one with another uid does so by being newer.
 */
export async function readObject(deps: PassDeps, state: ObjectState): Promise<void> {
  const uid = state.newest?.uid;
  const object = await withSignal(deps, (signal) => deps.source.get(state.name, { signal }));
  // Of those that are not written in TypeScript some say `null`.
  if (object !== undefined && object !== null) deps.table.observe(object);
  else if (uid !== undefined) deps.table.vanish(state.name, uid);
}

/** Patches the object. The answer is not taken in yet. */
export function patchObject(deps: PassDeps, patch: SourcePatch): Promise<SourcePatchResult> {
  return withSignal(deps, (signal) => {
    if (deps.source.patch === undefined) throw new UnsupportedError('patch an object', 'patching by its source');
    return deps.source.patch(patch, { signal });
  });
}

/**
 * A signal for each question to the source: as many listeners on the one of the controller would be a leak in a source
 * that leaves its own behind, and a warning of the platform in any other.
 */
async function withSignal<R>(deps: PassDeps, ask: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const question = new AbortController();
  if (deps.stopped.aborted) question.abort(deps.stopped.reason);
  deps.reads.add(question);
  try {
    return await ask(question.signal);
  } finally {
    deps.reads.delete(question);
  }
}

/** What patches make of an object, as handlers see it: without what only records need (A42'). */
export function patchedObject(
  { progress }: Pick<PassDeps, 'progress'>,
  object: unknown,
  patches: readonly Patch[],
): unknown {
  const patched = applyPatches(object, patches);
  return progress.conceal === undefined ? patched : progress.conceal(patched);
}
