import { backoffDelayMs } from '../queue/backoff.ts';
import { RunningCall } from './call.ts';
import { type CallFacts, HandlerCall, SubCall } from './call-context.ts';
import { type DocumentVersion, triedOf } from './document-version.ts';
import { deepFreeze } from './freeze.ts';
import { isComplete, isPlannedAt, type Job } from './jobs.ts';
import type { UidMemory } from './object-memory.ts';
import type { CallResult } from './outcome.ts';
import { PatchCollector } from './patch-collector.ts';
import type { Attempt, HandlerRecord, PlanEntry } from './record.ts';
import { type Handler, isParental, type SubHandler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import { attemptOf, type Execution, judge, naming, report } from './verdict.ts';
import { digestOfView } from './view.ts';

/** What a call was to the pass: `planned` if it registered subs, `leaf` if not; `unrunnable` if it was not made. */
export type ExecutionResult = 'planned' | 'leaf' | 'unrunnable';

/** Calls a handler and leaves its outcome pending. */
export async function executeHandler(execution: Execution): Promise<ExecutionResult> {
  const { job, memory } = execution;
  const attempt = attemptOf(execution);
  const { result, call, collector } = await callHandler(execution, false);
  const { plan, subs } = call.seal();
  const { outcome, after, seen, write } = judge(execution, result, attempt, job.handler, collector);
  const isOk = outcome.kind === 'ok';
  if (after !== undefined) {
    const record = memory.doc?.record(job.id);
    const episode = record?.episode ?? 0;
    memory.pending = {
      apply: (doc) => {
        const settled = doc.settleAttempt(job.id, episode, job.digest, after);
        if (settled === doc || !isOk) return settled;
        return completeParent(settled.adoptPlan(job.id, plan, job.handler.retire !== undefined), job.handler, seen);
      },
      replans: isOk && record?.plan !== undefined,
      write,
    };
  }
  if (isOk && after !== undefined) {
    memory.closures.set(job.id, { digest: after.digest, subs });
    memory.rebuilds.delete(job.id);
  }
  if (write === undefined) report(execution, outcome);
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
  const viewIn = (state: Snapshot): unknown =>
    sub.selected === undefined ? state.viewOfSub(job.handler, entry)?.value : sub.selected.value;
  const running = begin(execution, true);
  const collector = new PatchCollector(job.id, deps.source.patch !== undefined);
  const facts = factsOf(execution, viewIn(snapshot), attempt, running.signal, collector);
  const context = new SubCall(facts, job.handler.id, sub);
  const result = await running.run(() => sub.fn(context), sub.timeoutMs, deps.clock);
  const policy = { retries: sub.retries, backoff: job.handler.backoff };
  const { outcome, after, seen, write } = judge(execution, result, attempt, policy, collector);
  if (after !== undefined) {
    const episode = memory.doc?.record(job.id)?.episode ?? 0;
    memory.pending = {
      apply: (doc) => {
        const settled = doc.settleAttempt(job.id, episode, job.digest, after);
        if (settled === doc || outcome.kind === 'temporary') return settled;
        if (outcome.kind === 'permanent') return completeParent(settled, job.handler, seen);
        const done = settled.settleTried(job.id, triedOf(entry.args)).markDone(job.id, after.digest, viewIn(seen));
        return completeParent(done, job.handler, seen);
      },
      replans: false,
      write,
    };
  }
  if (write === undefined) report(execution, outcome);
  return 'leaf';
}

/** `done` of a handler moves once its plan is complete, at once if it has none (A9'a). */
function completeParent(doc: DocumentVersion, handler: Handler, snapshot: Snapshot): DocumentVersion {
  const view = snapshot.viewOf(handler);
  const record = doc.record(handler.id);
  if (view === undefined || !isPlannedAt(record, view.digest) || record?.done === view.digest) return doc;
  if (!isComplete(handler, doc, snapshot)) return doc;
  // Nobody asks a handler that is called once for its `old` (A6').
  return doc.markDone(handler.id, view.digest, isParental(handler.kind) ? view.value : undefined);
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
  // What it asks to be written, it has asked before, when it succeeded.
  const { result, call, collector } = await callHandler(execution, true);
  collector.close();
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
    apply: (doc) => completeParent(doc.adoptPlan(handler.id, plan, handler.retire !== undefined), handler, snapshot),
    replans: true,
  };
  memory.agenda = undefined;
  deps.logger.warn(`Handler "${handler.id}" has registered other sub-handlers on an equal view`, naming(snapshot));
}

async function callHandler(
  execution: Execution,
  isRebuild: boolean,
): Promise<{ readonly result: CallResult; readonly call: HandlerCall; readonly collector: PatchCollector }> {
  const { deps, job, memory, snapshot } = execution;
  const { handler } = job;
  const attempt = memory.doc?.record(handler.id)?.attempt ?? attemptOf(execution);
  const running = begin(execution, !isRebuild);
  const asHandler = { ...execution, job: { ...job, id: handler.id, digest: job.handlerDigest } };
  const collector = new PatchCollector(handler.id, deps.source.patch !== undefined);
  const facts = factsOf(asHandler, snapshot.viewOf(handler)?.value, attempt, running.signal, collector);
  const call = new HandlerCall(facts, handler, isRebuild);
  const result = await running.run(() => handler.fn(call), handler.timeoutMs, deps.clock);
  return { result, call, collector };
}

/** Makes the call the one that newer states and the end of the controller are told to. */
function begin({ deps, state, memory, snapshot, job, forced }: Execution, isAttempt: boolean): RunningCall {
  const isSupersedable = isAttempt && deps.policy === 'supersede' && !forced && !memory.spared.has(job.id);
  const running = new RunningCall(job, snapshot, isSupersedable);
  state.running = running;
  deps.counters.calls++;
  return running;
}

function factsOf(
  { deps, memory, snapshot, job }: Execution,
  view: unknown,
  attempt: Attempt,
  signal: AbortSignal,
  patches: PatchCollector,
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
    cause: causeOf(job, record),
    attempt: attempt.failures,
    idempotencyKey: JSON.stringify([snapshot.uid, job.id, attempt.opened ?? job.digest, record?.episode ?? 0]),
    signal,
    patches,
    index: deps.index,
  };
}

/** A handler of one kind is called for one cause; one for changes, and a sub, for a creation until its first success (A6'). */
function causeOf({ id, handler }: Job, record: HandlerRecord | undefined): CallFacts['cause'] {
  if (id === handler.id && handler.kind !== 'change') return handler.kind;
  return (record?.done ?? null) === null ? 'create' : 'update';
}
