import { invariant } from '../types/invariant.ts';
import { errorText } from './error-text.ts';
import type { Job } from './jobs.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import type { Outcome } from './outcome.ts';
import type { PassDeps } from './pass-deps.ts';
import type { Attempt } from './record.ts';
import type { Snapshot } from './snapshot.ts';

/** One call about to be made, its attempt being open in the document. */
export interface Execution {
  readonly deps: PassDeps;
  readonly state: ObjectState;
  readonly memory: UidMemory;
  readonly snapshot: Snapshot;
  readonly job: Job;
  /** Of the attempt that was opened; calls beside this one may write the document meanwhile. */
  readonly episode: number;
  /** The call runs on its state even if that is outdated. */
  readonly forced: boolean;
  /** What the breaker of the object has said when the call began. */
  readonly trial: { begun: number };
}

/** The open attempt of a call. */
export function attemptOf({ memory, job }: Execution): Attempt {
  const attempt = memory.doc?.record(job.id)?.attempt ?? null;
  invariant(attempt?.digest === job.digest, `the attempt of "${job.id}" was called without being opened`);
  return attempt;
}

/** Whether another call may begin within what was granted for one: it is asked for anew. */
export function mayCall({ deps, state, memory, job }: Execution): boolean {
  if ((memory.breaker?.wakeClockMs ?? 0) > deps.clock.now()) return false;
  return deps.admission.ask(state.name, job.handler) === 'granted';
}

/** Counts and tells. After the outcome is pending: nothing that goes wrong in telling may lose it. */
export function report({ deps, memory, snapshot, job, trial }: Execution, outcome: Outcome): void {
  deps.metrics.get(job.handler.id)?.judged(outcome.kind);
  if (outcome.kind === 'ok') memory.breaker?.succeeded();
  else if (outcome.kind !== 'superseded') memory.breaker?.failed(trial.begun);
  if (outcome.kind === 'ok') memory.errors.delete(job.id);
  else if (outcome.kind !== 'superseded') memory.errors.set(job.id, errorText(outcome.error));
  if (job.handler.kind === 'resume' && (outcome.kind === 'ok' || outcome.kind === 'permanent'))
    memory.resumed.add(job.id);
  const factsOf = () => ({ ...naming(snapshot), handler: job.id });
  switch (outcome.kind) {
    case 'ok':
      deps.counters.successes++;
      break;
    case 'superseded':
      deps.counters.superseded++;
      break;
    case 'temporary':
      deps.counters.temporaryFailures++;
      deps.logger.warn(`Handler "${job.id}" failed and is tried again`, { ...factsOf(), ...outcome });
      break;
    case 'permanent':
      deps.counters.permanentFailures++;
      deps.logger.error(`Handler "${job.id}" failed for good on this input`, { ...factsOf(), error: outcome.error });
      break;
  }
}

export function naming({ name, uid, resourceVersion }: Snapshot): Record<string, unknown> {
  return { name, uid, resourceVersion };
}
