import { ValueError } from '../types/errors.ts';
import type { KindDeps } from './kind-deps.ts';
import type { ObjectState } from './object-memory.ts';
import { type CallResult, outcomeOf } from './outcome.ts';
import { checkParts } from './parts.ts';
import { applyPatches } from './patch.ts';
import { type CollectedPatches, PatchCollector } from './patch-collector.ts';
import { reportSpawn } from './report-spawn.ts';
import type { Snapshot } from './snapshot.ts';
import type { Spawn, TimerHandler } from './spawn.ts';
import { TimerCall } from './spawn-context.ts';
import { TimedCall } from './timed-call.ts';
import { writeObject } from './write-object.ts';

/**
 * Calls a timer and writes its patches, after the call, whether it has succeeded or failed (A22'). Patches that do
 * not fit the state of the call, or that are not written for another reason, fail it; those that do not fit the newest state
 * have it made again. Never rejects.
 */
export async function runTimer(
  deps: KindDeps,
  state: ObjectState,
  { newest: snapshot }: { readonly newest: Snapshot },
  spawn: Spawn<TimerHandler>,
): Promise<void> {
  const { clock, counters, source, random } = deps;
  const { handler, changes } = spawn;
  const startedMs = clock.now();
  const call = new TimedCall(handler.id);
  spawn.call = call;
  counters.calls++;
  const collector = new PatchCollector(handler.id, source.patch !== undefined);
  const called = await call.run(
    () => handler.fn(new TimerCall(snapshot, spawn.failures, call.signal, collector, deps.index)),
    handler.timeoutMs,
    clock,
  );
  const collected = collector.close();
  // The patches of a call that was stopped are dropped, as are those of one that took too long, whatever it has come to.
  const result = call.aborted ? called : await land(deps, state, snapshot, spawn, collected, called);
  spawn.call = undefined;
  const isStopped = call.aborted && !call.isLate;
  const outcome = outcomeOf(result, { failures: spawn.failures }, handler, random);
  reportSpawn(deps, 'Timer', handler.id, snapshot, outcome);
  // What was cut short is made again when the object comes into scope again, without an interval.
  if (!isStopped || outcome.kind === 'permanent') spawn.settle(outcome, { startedMs, changes }, clock.now());
  else if (outcome.kind === 'ok') spawn.settleStopped(startedMs, clock.now());
}

/** What is left of the result of a call once its patches are written; as with handlers of changes (A8'). */
async function land(
  deps: KindDeps,
  state: ObjectState,
  snapshot: Snapshot,
  spawn: Spawn<TimerHandler>,
  { patches, ifUnchanged }: CollectedPatches,
  result: CallResult,
): Promise<CallResult> {
  if (patches.length === 0) return result;
  const { handler } = spawn;
  const digestOf = (state: Snapshot): string | undefined => state.viewOf(handler)?.digest;
  let isFitting = false;
  try {
    applyPatches(snapshot.object, patches);
    isFitting = true;
    const end = await writeObject(deps, state, {
      uid: snapshot.uid,
      deleting: false,
      patches,
      isOwn: true,
      accepts: (newest) => !ifUnchanged || digestOf(newest) === digestOf(snapshot),
      onSend: (base, object) => {
        checkParts('patch an object', object);
        if (handler.idleMs !== undefined) spawn.expected = digestOf(base.patched(object));
      },
    });
    return end === 'refused' ? SUPERSEDED : result;
  } catch (error) {
    if (isFitting && error instanceof ValueError) return SUPERSEDED;
    deps.logger.warn(`The patches of timer "${handler.id}" are not applied`, { name: snapshot.name, error });
    return result.ok ? { ok: false, error, aborted: false } : result;
  } finally {
    spawn.expected = undefined;
  }
}

/** The call counts for nothing and is made again. */
const SUPERSEDED: CallResult = Object.freeze({ ok: false, error: undefined, aborted: true });
