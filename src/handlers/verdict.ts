import { invariant } from '../types/invariant.ts';
import type { RunningCall } from './call.ts';
import type { DocumentVersion } from './document-version.ts';
import { type Execution, naming, report } from './execution.ts';
import { viewOn } from './jobs.ts';
import { attemptAfter, type CallResult, type Outcome, outcomeOf, type RetryPolicy } from './outcome.ts';
import { OwnWrite } from './own-write.ts';
import { checkParts } from './parts.ts';
import { patchedObject } from './pass-deps.ts';
import type { CollectedPatches, PatchCollector } from './patch-collector.ts';
import type { Attempt } from './record.ts';
import type { Snapshot } from './snapshot.ts';

/** What a call has come to. */
export interface Verdict {
  readonly outcome: Outcome;
  /** The attempt as it is to be recorded; `undefined` if the call counts for nothing. */
  readonly after: Attempt | undefined;
  /** The state of the call with the call's own patches: what its handler has seen to (A8'). */
  readonly seen: Snapshot;
  /** The attempt where the source makes nothing of the patches: of the state of the call (A8'c). */
  readonly ignored: Attempt | undefined;
  /** The patches, on their way to the object; the verdict is told when they are there, else at once. */
  readonly write: OwnWrite | undefined;
}

/** Judges the end of a call. Nothing is written or told yet. */
export function judge(
  execution: Execution,
  result: CallResult,
  attempt: Attempt,
  policy: RetryPolicy,
  collector: PatchCollector,
  running: RunningCall,
): Verdict {
  const { deps, memory, job, snapshot } = execution;
  const asked = collector.close();
  // A call that took too long had perhaps more to say: its patches are refused together with its result (A7').
  const collected = running.isLate ? NO_PATCHES : asked;
  const patching = patch(execution, result, collected);
  const outcome = outcomeOf(patching.result, attempt, policy, deps.random);
  if (outcome.kind === 'superseded' && running.superseded) memory.spared.add(job.id);
  else memory.spared.delete(job.id);
  const { patched } = patching;
  if (outcome.kind === 'superseded')
    return { outcome, after: undefined, seen: snapshot, ignored: undefined, write: undefined };
  // Who asks for it has not seen to what it writes itself (A8'b).
  const isSelfTriggered = job.entry === undefined && job.handler.selfTrigger;
  const seen = isSelfTriggered ? snapshot : (patched ?? snapshot);
  const wallMs = deps.clock.wallTime();
  const judged = attemptAfter(attempt, outcome, viewOn(seen, job)?.digest ?? job.digest, wallMs);
  const isAgain = isSelfTriggered && outcome.kind === 'ok' && patched !== undefined;
  const after = isAgain && viewOn(patched, job)?.digest !== judged.digest ? { ...judged, again: true } : judged;
  memory.waits(job.id, after, deps.clock);
  const write =
    patched === undefined
      ? undefined
      : new OwnWrite(job, snapshot, collected, {
          onEnd: (end) => report(execution, end === 'superseded' ? { kind: end } : outcome),
          onRefusal: (error) => refusalOf(execution, error, outcome, attempt, policy),
        });
  const isMoved = write !== undefined && (after.digest !== job.digest || after.again === true);
  const ignored = isMoved ? attemptAfter(attempt, outcome, job.digest, wallMs) : undefined;
  return { outcome, after, seen, ignored, write };
}

const NO_PATCHES: CollectedPatches = Object.freeze({ patches: [], ifUnchanged: false });

/** What becomes of a call whose patches are refused: as where they do not fit, it fails, if it has not failed by itself. */
function refusalOf(
  execution: Execution,
  error: unknown,
  judged: Exclude<Outcome, { kind: 'superseded' }>,
  attempt: Attempt,
  policy: RetryPolicy,
): (doc: DocumentVersion) => DocumentVersion {
  const { deps, memory, job, snapshot } = execution;
  deps.logger.warn(`The patches of "${job.id}" are refused`, { ...naming(snapshot), error });
  const failed =
    judged.kind === 'ok' ? outcomeOf({ ok: false, error, aborted: false }, attempt, policy, deps.random) : judged;
  invariant(failed.kind !== 'superseded', `the patches of "${job.id}" were written for a call that counts for nothing`);
  const after = attemptAfter(attempt, failed, job.digest, deps.clock.wallTime());
  const { episode } = execution;
  memory.waits(job.id, after, deps.clock);
  report(execution, failed);
  return (doc) => doc.settleAttempt(job.id, episode, job.digest, after);
}

/**
 * The call's patches on the state of the call. Patches that do not fit it are the handler's mistake, and fail a call that
 * would have succeeded.
 */
function patch(
  { deps, snapshot, job }: Execution,
  result: CallResult,
  { patches }: CollectedPatches,
): { readonly result: CallResult; readonly patched: Snapshot | undefined } {
  if (patches.length === 0) return { result, patched: undefined };
  try {
    const object = patchedObject(deps, snapshot.object, patches);
    checkParts(`apply the patches of "${job.id}"`, object);
    return { result, patched: snapshot.patched(object) };
  } catch (error) {
    if (result.ok) return { result: { ok: false, error, aborted: false }, patched: undefined };
    deps.logger.warn(`Cannot apply the patches of "${job.id}", which has failed`, { ...naming(snapshot), error });
    return { result, patched: undefined };
  }
}
