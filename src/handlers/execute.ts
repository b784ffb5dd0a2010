import { backoffDelayMs } from '../queue/backoff.ts';
import { invariant } from '../types/invariant.ts';
import { RunningCall } from './call.ts';
import { type CallFacts, HandlerCall, SubCall } from './call-context.ts';
import type { DocumentVersion } from './document-version.ts';
import { deepFreeze } from './freeze.ts';
import { isComplete, isPlannedAt, type Job } from './jobs.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import { attemptAfter, type CallResult, type Outcome, outcomeOf } from './outcome.ts';
import type { PassDeps } from './pass-deps.ts';
import type { Attempt, PlanEntry } from './record.ts';
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
  const isOk = outcome.kind === 'ok';
  if (outcome.kind !== 'superseded') {
    const after = attemptAfter(attempt, outcome, deps.clock.wallTime());
    const record = memory.doc?.record(job.id);
    const episode = record?.episode ?? 0;
    memory.pending = {
      apply: (doc) => {
        const settled = doc.settleAttempt(job.id, episode, after);
        if (settled === doc || !isOk) return settled;
        return completeParent(settled.adoptPlan(job.id, plan), job.handler, snapshot);
      },
      replans: isOk && record?.plan !== undefined,
    };
  }
  if (isOk) {
    memory.closures.set(job.id, { digest: job.digest, subs });
    memory.rebuilds.delete(job.id);
  }
  report(execution, outcome);
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
  if (outcome.kind !== 'superseded') {
    const after = attemptAfter(attempt, outcome, deps.clock.wallTime());
    const episode = memory.doc?.record(job.id)?.episode ?? 0;
    memory.pending = {
      apply: (doc) => {
        const settled = doc.settleAttempt(job.id, episode, after);
        if (settled === doc || outcome.kind === 'temporary') return settled;
        const marked = outcome.kind === 'ok' ? settled.markDone(job.id, job.digest, view) : settled;
        return completeParent(marked, job.handler, snapshot);
      },
      replans: false,
    };
  }
  report(execution, outcome);
  return 'leaf';
}

/** `done` of a handler moves once its plan is complete, at once if it has none (A9'a). */
function completeParent(doc: DocumentVersion, handler: Handler, snapshot: Snapshot): DocumentVersion {
  const view = snapshot.viewOf(handler);
  const record = doc.record(handler.id);
  if (view === undefined || !isPlannedAt(record, view.digest) || record?.done === view.digest) return doc;
  return isComplete(handler, doc, snapshot) ? doc.markDone(handler.id, view.digest, view.value) : doc;
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
  const stored = memory.doc?.record(handler.id)?.plan ?? [];
  if (digestOfView(stored) === digestOfView(plan)) return;
  memory.pending = {
    apply: (doc) => completeParent(doc.adoptPlan(handler.id, plan), handler, snapshot),
    replans: true,
  };
  memory.agenda = undefined;
  deps.logger.warn(`Handler "${handler.id}" has registered other sub-handlers on an equal view`, naming(snapshot));
}

async function callHandler(
  execution: Execution,
  isRebuild: boolean,
): Promise<{ readonly result: CallResult; readonly call: HandlerCall }> {
  const { deps, job, memory, snapshot } = execution;
  const { handler } = job;
  const attempt = memory.doc?.record(handler.id)?.attempt ?? attemptOf(execution);
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
  const attempt = memory.doc?.record(job.id)?.attempt ?? null;
  invariant(attempt?.digest === job.digest, `the attempt of "${job.id}" was called without being opened`);
  return attempt;
}

function factsOf(
  { memory, snapshot, job }: Execution,
  view: unknown,
  attempt: Attempt,
  signal: AbortSignal,
): CallFacts {
  const record = memory.doc?.record(job.id);
  const old = deepFreeze(memory.doc?.baseOf(record));
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

/** Ends the call. */
function judge(
  { deps, state, memory, job }: Execution,
  result: CallResult,
  attempt: Attempt,
  policy: Pick<Handler, 'retries' | 'backoff'>,
): Outcome {
  const outcome = outcomeOf(result, attempt, policy, deps.random);
  if (outcome.kind === 'superseded' && state.running?.superseded === true) memory.spared.add(job.id);
  else memory.spared.delete(job.id);
  state.running = undefined;
  return outcome;
}

/** Counts and tells. After the outcome is pending: nothing that goes wrong in telling may lose it. */
function report({ deps, snapshot, job }: Execution, outcome: Outcome): void {
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
}

function naming({ name, uid, resourceVersion }: Snapshot): Record<string, unknown> {
  return { name, uid, resourceVersion };
}
