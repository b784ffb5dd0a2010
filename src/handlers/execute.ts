import { backoffDelayMs } from '../queue/backoff.ts';
import { invariant } from '../types/invariant.ts';
import { RunningCall } from './call.ts';
import { type CallFacts, HandlerCall, SubCall } from './call-context.ts';
import { deepFreeze } from './freeze.ts';
import { isComplete, isPlannedAt, type Job } from './jobs.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import { attemptAfter, type CallResult, type Outcome, outcomeOf } from './outcome.ts';
import type { PassDeps } from './pass-deps.ts';
import {
  type Attempt,
  adoptPlan,
  baseOf,
  markDone,
  type PlanEntry,
  type ProgressDocument,
  settleAttempt,
} from './record.ts';
import type { Handler, SubHandler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import { digestOfView } from './view.ts';

/** One call about to be made, its attempt being open in the document. */
export interface Execution {
  readonly deps: PassDeps;
  readonly state: ObjectState;
  readonly memory: UidMemory;
  readonly snapshot: Snapshot;
  readonly job: Job;
  /** The call runs on its state even if that is outdated. */
  readonly forced: boolean;
}

/** What a call was to the pass: `planned` if it registered subs, `leaf` if not; `unrunnable` if it was not made. */
export type ExecutionResult = 'planned' | 'leaf' | 'unrunnable';

/** Calls a handler and leaves its outcome pending. */
export async function executeHandler(execution: Execution): Promise<ExecutionResult> {
  const { deps, job, memory, snapshot } = execution;
  const attempt = attemptOf(execution);
  const { result, call } = await callHandler(execution, false);
  const { plan, subs } = call.seal();
  const outcome = judge(execution, result, attempt, job.handler);
  if (outcome.kind === 'superseded') return 'leaf';
  const after = attemptAfter(attempt, outcome, deps.clock.wallTime());
  const episode = memory.doc?.records[job.id]?.episode ?? 0;
  const isOk = outcome.kind === 'ok';
  if (isOk) {
    memory.closures.set(job.id, { digest: job.digest, subs });
    memory.rebuilds.delete(job.id);
  }
  memory.pending = {
    apply: (doc) => {
      const settled = settleAttempt(doc, job.id, episode, after);
      if (settled === doc || !isOk) return settled;
      return completeParent(adoptPlan(settled, job.id, plan), job.handler, snapshot);
    },
  };
  return isOk && plan.length > 0 ? 'planned' : 'leaf';
}

/** Calls a sub, after its parent if nobody has its function (A9'd), and leaves the outcome pending. */
export async function executeSub(execution: Execution, entry: PlanEntry): Promise<ExecutionResult> {
  const { deps, job, memory, snapshot } = execution;
  let sub = closureOf(memory, job, entry);
  if (sub === undefined) {
    await rebuild(execution);
    sub = closureOf(memory, job, entry);
    const newest = execution.state.newest;
    const isLost = newest?.uid !== snapshot.uid || newest.deleting || deps.stopping.aborted;
    if (sub === undefined || memory.pending !== undefined || isLost) return 'unrunnable';
  }
  const attempt = attemptOf(execution);
  const view = sub.selected === undefined ? snapshot.viewOfSub(job.handler, entry)?.value : sub.selected.value;
  const running = begin(execution, true);
  const context = new SubCall(factsOf(execution, view, attempt, running.signal), job.handler.id, sub);
  const result = await running.run(() => sub.fn(context), sub.timeoutMs, deps.clock);
  const outcome = judge(execution, result, attempt, { retries: sub.retries, backoff: job.handler.backoff });
  if (outcome.kind === 'superseded') return 'leaf';
  const after = attemptAfter(attempt, outcome, deps.clock.wallTime());
  const episode = memory.doc?.records[job.id]?.episode ?? 0;
  memory.pending = {
    apply: (doc) => {
      const settled = settleAttempt(doc, job.id, episode, after);
      if (settled === doc || outcome.kind === 'temporary') return settled;
      const marked = outcome.kind === 'ok' ? markDone(settled, job.id, job.digest, view) : settled;
      return completeParent(marked, job.handler, snapshot);
    },
  };
  return 'leaf';
}

/** `done` of a handler moves once its plan is complete, at once if it has none (A9'a). */
function completeParent(doc: ProgressDocument, handler: Handler, snapshot: Snapshot): ProgressDocument {
  const view = snapshot.viewOf(handler);
  if (view === undefined || !isPlannedAt(doc.records[handler.id], view.digest)) return doc;
  return isComplete(handler, doc, snapshot) ? markDone(doc, handler.id, view.digest, view.value) : doc;
}

function closureOf(memory: UidMemory, job: Job, entry: PlanEntry): SubHandler | undefined {
  const closures = memory.closures.get(job.handler.id);
  return closures?.digest === job.handlerDigest ? closures.subs.get(entry.id) : undefined;
}

/**
 * Calls a parent only to have its subs registered. The same view must give the same plan; where it does not, the new
 * one is adopted and reported. A failure is nobody's attempt: the parent's subs rest for a while.
 */
async function rebuild(execution: Execution): Promise<void> {
  const { deps, state, job, memory, snapshot } = execution;
  const { handler } = job;
  const { result, call } = await callHandler(execution, true);
  state.running = undefined;
  const { plan, subs } = call.seal();
  if (!result.ok) {
    if (result.aborted) return;
    const failures = memory.rebuilds.get(handler.id)?.failures ?? 0;
    const delayMs = backoffDelayMs(failures, handler.backoff, deps.random);
    memory.rebuilds.set(handler.id, { deadlineClockMs: deps.clock.now() + delayMs, failures: failures + 1 });
    deps.logger.warn(`Cannot rebuild the sub-handlers of "${handler.id}"`, {
      ...naming(snapshot),
      error: result.error,
    });
    return;
  }
  memory.rebuilds.delete(handler.id);
  memory.closures.set(handler.id, { digest: job.handlerDigest, subs });
  const stored = memory.doc?.records[handler.id]?.plan ?? [];
  if (digestOfView(stored) === digestOfView(plan)) return;
  deps.logger.warn(`Handler "${handler.id}" has registered other sub-handlers on an equal view`, naming(snapshot));
  memory.pending = { apply: (doc) => completeParent(adoptPlan(doc, handler.id, plan), handler, snapshot) };
}

async function callHandler(
  execution: Execution,
  isRebuild: boolean,
): Promise<{ readonly result: CallResult; readonly call: HandlerCall }> {
  const { deps, job, memory, snapshot } = execution;
  const { handler } = job;
  const record = memory.doc?.records[handler.id];
  const attempt = record?.attempt ?? attemptOf(execution);
  const running = begin(execution, !isRebuild);
  const asHandler = { ...execution, job: { ...job, id: handler.id, digest: job.handlerDigest } };
  const facts = factsOf(asHandler, snapshot.viewOf(handler)?.value, attempt, running.signal);
  const call = new HandlerCall(facts, handler.id, isRebuild);
  const result = await running.run(() => handler.fn(call), handler.timeoutMs, deps.clock);
  return { result, call };
}

/** Makes the call the one that newer states and the end of the controller are told to. */
function begin({ deps, state, memory, snapshot, job, forced }: Execution, isAttempt: boolean): RunningCall {
  const isSupersedable = isAttempt && deps.policy === 'supersede' && !forced && !memory.spared.has(job.id);
  const running = new RunningCall(job, snapshot, isSupersedable);
  state.running = running;
  deps.counters.calls++;
  return running;
}

function attemptOf({ memory, job }: Execution): Attempt {
  const attempt = memory.doc?.records[job.id]?.attempt ?? null;
  invariant(attempt?.digest === job.digest, `the attempt of "${job.id}" was called without being opened`);
  return attempt;
}

function factsOf(
  { memory, snapshot, job }: Execution,
  view: unknown,
  attempt: Attempt,
  signal: AbortSignal,
): CallFacts {
  const record = memory.doc?.records[job.id];
  const old = memory.doc === undefined ? undefined : deepFreeze(baseOf(memory.doc, record));
  return {
    object: snapshot.object,
    uid: snapshot.uid,
    name: snapshot.name,
    resourceVersion: snapshot.resourceVersion,
    old,
    new: view,
    cause: (record?.done ?? null) === null ? 'create' : 'update',
    attempt: attempt.failures,
    idempotencyKey: JSON.stringify([snapshot.uid, job.id, job.digest, record?.episode ?? 0]),
    signal,
  };
}

/** Ends the call and counts it. */
function judge(
  { deps, state, memory, snapshot, job }: Execution,
  result: CallResult,
  attempt: Attempt,
  policy: Pick<Handler, 'retries' | 'backoff'>,
): Outcome {
  const outcome = outcomeOf(result, attempt, policy, deps.random);
  if (outcome.kind === 'superseded' && state.running?.superseded === true) memory.spared.add(job.id);
  else memory.spared.delete(job.id);
  state.running = undefined;
  const facts = { ...naming(snapshot), handler: job.id };
  switch (outcome.kind) {
    case 'ok':
      deps.counters.successes++;
      break;
    case 'superseded':
      deps.counters.superseded++;
      break;
    case 'temporary':
      deps.counters.temporaryFailures++;
      deps.logger.warn(`Handler "${job.id}" failed and is tried again`, { ...facts, ...outcome });
      break;
    case 'permanent':
      deps.counters.permanentFailures++;
      deps.logger.error(`Handler "${job.id}" failed for good on this input`, { ...facts, error: outcome.error });
      break;
  }
  return outcome;
}

function naming({ name, uid, resourceVersion }: Snapshot): Record<string, unknown> {
  return { name, uid, resourceVersion };
}
