import { backoffDelayMs } from '../queue/backoff.ts';
import type { RunningCall } from './call.ts';
import { type CallFacts, HandlerCall, SubCall } from './call-context.ts';
import { enterCall, leaveCall } from './call-hooks.ts';
import type { Success } from './document-step.ts';
import type { DocumentVersion } from './document-version.ts';
import { attemptOf, type Execution, mayCall, naming, report } from './execution.ts';
import { deepFreeze } from './freeze.ts';
import { isComplete, isPlannedAt, type Job, oldOf, viewOn } from './jobs.ts';
import type { PendingOutcome, UidMemory } from './object-memory.ts';
import type { CallResult } from './outcome.ts';
import { PatchCollector } from './patch-collector.ts';
import { isSamePlan, triedOf } from './planned-record.ts';
import type { Attempt, HandlerRecord, PlanEntry } from './record.ts';
import { isParental, type SubHandler } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import type { TimedCall } from './timed-call.ts';
import { judge } from './verdict.ts';
import { digestOfView, type View } from './view.ts';

/**
 * What a call was to the pass: `planned` if it registered subs, `leaf` if not; `unrunnable` if it was not made, for want of
 * its function, and `replanned` if that was since its parent has other subs than it had.
 */
export type ExecutionResult = 'planned' | 'leaf' | 'unrunnable' | 'replanned';

/**
 * Calls a handler or a sub, a sub after the parents above it if nobody has its function (A9'd); its outcome is pending.
 * Answers at once where nothing has to be waited for.
 */
export function execute(execution: Execution): ExecutionResult | Promise<ExecutionResult> {
  const { memory, job } = execution;
  const known = closureOf(memory, job);
  // Without a wait where there is nothing to rebuild: what was granted for the call is used before the next one is asked for.
  return job.entry === undefined || known !== undefined ? make(execution, known) : makeRebuilt(execution);
}

async function makeRebuilt(execution: Execution): Promise<ExecutionResult> {
  const sub = await functionOf(execution, execution.job);
  return sub === 'unrunnable' || sub === 'replanned' ? sub : make(execution, sub);
}

/** Makes the call, of a handler or, with its function, of a sub. */
function make(execution: Execution, sub: SubHandler | undefined): ExecutionResult | Promise<ExecutionResult> {
  const attempt = attemptOf(execution);
  const called = callParent(execution, execution.job, sub, false);
  const { ended } = called;
  if (ended instanceof Promise) return ended.then((result) => conclude(execution, sub, attempt, called, result));
  return conclude(execution, sub, attempt, called, ended);
}

/** Leaves the outcome of a call pending. */
function conclude(
  execution: Execution,
  sub: SubHandler | undefined,
  attempt: Attempt,
  { call, collector, running }: Called,
  result: CallResult,
): ExecutionResult {
  const { deps, job, memory, episode } = execution;
  leaveCall(execution, running);
  const { plan, subs } = call.seal();
  const policy = { retries: sub?.retries ?? job.handler.retries, backoff: job.handler.backoff };
  const { outcome, after, seen, ignored, write } = judge(execution, result, attempt, policy, collector, running);
  const isOk = outcome.kind === 'ok';
  if (after !== undefined) {
    const record = memory.doc?.record(job.id);
    const lineage = lineageOf(memory, job);
    const settle = (as: Attempt, on: Snapshot): PendingOutcome['apply'] => {
      const success = isOk ? successOf(job, sub, plan, on) : undefined;
      return (doc) => {
        const settled = doc.settleAttempt(job.id, episode, job.digest, as, success);
        if (settled === doc || outcome.kind === 'temporary') return settled;
        if (!isOk) return complete(settled, lineage.above, on);
        return complete(settled.adoptPlan(job.id, plan, job.handler.retire !== undefined), lineage, on);
      };
    };
    memory.push({
      apply: settle(after, seen),
      replans: isOk && record?.plan !== undefined && !isSamePlan(record.plan, plan),
      write,
      ignored:
        ignored &&
        (() => {
          const known = memory.closures.get(job.id);
          if (known?.digest === after.digest) memory.closures.set(job.id, { digest: ignored.digest, subs: known.subs });
          return settle(ignored, execution.snapshot);
        }),
    });
  } else if (deps.persist === 'pass') {
    // It was opened together with others, who have waited longer for their turn by now (A5').
    memory.push({ apply: (doc) => doc.stamp(job.id, episode), replans: false });
  }
  if (isOk && after !== undefined) {
    // Only of parents: a plan has thousands of others.
    if (sub === undefined || plan.length > 0) memory.closures.set(job.id, { digest: after.digest, subs });
    else memory.closures.delete(job.id);
    memory.rebuilds.delete(job.id);
  }
  if (write === undefined) report(execution, outcome);
  return isOk && plan.length > 0 ? 'planned' : 'leaf';
}

function successOf(job: Job, sub: SubHandler | undefined, plan: readonly PlanEntry[], snapshot: Snapshot): Success {
  const view = plan.length > 0 ? undefined : viewOn(snapshot, job);
  const tried = sub && triedOf(sub.args);
  return { tried, seen: view && { view: seenBy(job, sub?.selected, view) } };
}

/** One step on the way from a sub up to its handler. */
interface Step {
  readonly job: Job;
  /** What it selected, which no state can tell. */
  readonly selected: SubHandler['selected'];
  readonly above: Step | undefined;
}

function lineageOf(memory: UidMemory, job: Job): Step {
  const above = job.parent === undefined ? undefined : lineageOf(memory, job.parent);
  return { job, selected: closureOf(memory, job)?.selected, above };
}

/** `done` moves once a plan is complete, at once if there is none; bottom up, as far as that goes (A9'a, A9'f). */
function complete(doc: DocumentVersion, lineage: Step | undefined, snapshot: Snapshot): DocumentVersion {
  let next = doc;
  for (let step = lineage; step !== undefined; step = step.above) {
    const { job, selected } = step;
    const view = viewOn(snapshot, job);
    const record = next.record(job.id);
    if (view === undefined || !isPlannedAt(record, view.digest) || !isComplete(job, next, snapshot)) return next;
    // To see it costs a walk through the object, of no use where all is known.
    const isKnown =
      record?.done === view.digest && record.doneSchema === undefined && next.baseOf(record) !== undefined;
    if (!isKnown) next = next.markDone(job.id, view.digest, seenBy(job, selected, view));
  }
  return next;
}

/** What `old` is to be. Nobody asks a handler that is called once for it (A6'). */
function seenBy({ handler }: Job, selected: SubHandler['selected'], view: View): unknown {
  return isParental(handler.kind) ? (selected ?? view).value : undefined;
}

function closureOf(memory: UidMemory, { entry, parent }: Job): SubHandler | undefined {
  if (entry === undefined || parent === undefined) return undefined;
  const closures = memory.closures.get(parent.id);
  return closures?.digest === parent.digest ? closures.subs.get(entry.id) : undefined;
}

/** The function of a sub: its parent's is needed first if it has to register it again, and so on up to the handler. */
async function functionOf(
  execution: Execution,
  job: Job,
): Promise<SubHandler | undefined | Extract<ExecutionResult, 'unrunnable' | 'replanned'>> {
  const { deps, state, memory, snapshot } = execution;
  const known = closureOf(memory, job);
  const { parent } = job;
  if (known !== undefined || parent === undefined) return known;
  const parentSub = await functionOf(execution, parent);
  if (parentSub === 'unrunnable' || parentSub === 'replanned') return parentSub;
  const isSame = await rebuild(execution, parent, parentSub);
  if (!isSame) return 'replanned';
  const newest = state.newest;
  const isLost = newest?.uid !== snapshot.uid || newest.deleting || deps.stopping.aborted;
  const sub = isLost ? undefined : closureOf(memory, job);
  // What was granted was used by the call to rebuild.
  return sub !== undefined && mayCall(execution) ? sub : 'unrunnable';
}

/** Whether a job needs calls of others first: of its parents, to register its function. */
export function needsRebuild(memory: UidMemory, job: Job): boolean {
  return !job.retires && job.entry !== undefined && closureOf(memory, job) === undefined;
}

/**
 * Calls a parent only to have its subs registered. The same view must give the same plan; where it does not, the new
 * one is adopted and reported, with the answer `false`. A failure is nobody's attempt: what is below the parent rests for
 * a while.
 */
async function rebuild(execution: Execution, parent: Job, sub: SubHandler | undefined): Promise<boolean> {
  const { deps, memory, snapshot } = execution;
  const { id, handler } = parent;
  // What it asks to be written, it has asked before, when it succeeded.
  const { ended, call, collector, running } = callParent(execution, parent, sub, true);
  const result = await ended;
  leaveCall(execution, running);
  collector.close();
  const { plan, subs } = call.seal();
  if (!result.ok) {
    if (result.aborted) return true;
    const failures = memory.rebuilds.get(id)?.failures ?? 0;
    const delayMs = backoffDelayMs(failures, handler.backoff, deps.random);
    memory.rebuilds.set(id, { deadlineClockMs: deps.clock.now() + delayMs, failures: failures + 1 });
    memory.breaker?.failed(execution.trial.begun);
    deps.logger.warn(`Cannot rebuild the sub-handlers of "${id}"`, { ...naming(snapshot), error: result.error });
    return true;
  }
  memory.rebuilds.delete(id);
  memory.closures.set(id, { digest: parent.digest, subs });
  const stored = memory.doc?.record(id)?.plan ?? [];
  if (digestOfView(stored) === digestOfView(plan)) return true;
  const lineage = lineageOf(memory, parent);
  memory.push({
    apply: (doc) => complete(doc.adoptPlan(id, plan, handler.retire !== undefined), lineage, snapshot),
    replans: true,
  });
  memory.agenda = undefined;
  deps.logger.warn(`Handler "${id}" has registered other sub-handlers on an equal view`, naming(snapshot));
  return false;
}

/** Calls a handler, or, with its function, a sub: for an attempt, or to rebuild. */
function callParent(execution: Execution, callee: Job, sub: SubHandler | undefined, isRebuild: boolean): Called {
  const { deps, memory, snapshot } = execution;
  const { handler } = callee;
  const attempt = memory.doc?.record(callee.id)?.attempt ?? attemptOf(execution);
  const running = enterCall(execution, !isRebuild && isSupersedable(execution));
  const collector = new PatchCollector(callee.id, deps.source.patch !== undefined);
  const view = (sub?.selected ?? viewOn(snapshot, callee))?.value;
  const facts = factsOf(execution, callee, view, attempt, running, collector);
  const call =
    sub === undefined ? new HandlerCall(facts, handler, isRebuild) : new SubCall(facts, callee, sub, isRebuild);
  const run = call instanceof HandlerCall ? () => handler.fn(call) : () => sub?.fn(call);
  running.begin(deps.clock);
  return { ended: running.run(run, (sub ?? handler).timeoutMs, deps.clock), call, collector, running };
}

interface Called {
  readonly ended: CallResult | Promise<CallResult>;
  readonly call: HandlerCall | SubCall;
  readonly collector: PatchCollector;
  readonly running: RunningCall;
}

/** Whether an attempt is aborted for newer input. */
function isSupersedable({ deps, memory, job, forced }: Execution): boolean {
  return deps.policy === 'supersede' && !forced && !memory.spared.has(job.id);
}

function factsOf(
  { deps, memory, snapshot }: Execution,
  job: Job,
  view: unknown,
  attempt: Attempt,
  call: TimedCall,
  patches: PatchCollector,
): CallFacts {
  const record = memory.doc?.record(job.id);
  const old = deepFreeze(oldOf(memory.doc, record, job, snapshot));
  return {
    object: snapshot.object,
    uid: snapshot.uid,
    name: snapshot.name,
    resourceVersion: snapshot.resourceVersion,
    old,
    new: view,
    cause: causeOf(job, record),
    attempt: attempt.failures,
    key: [snapshot.uid, job.id, attempt.opened ?? job.digest, record?.episode ?? 0],
    call,
    patches,
    doc: memory.doc,
    index: deps.index,
  };
}

/** A handler of one kind is called for one cause; one for changes, and a sub, for a creation until its first success (A6'). */
function causeOf({ id, handler }: Job, record: HandlerRecord | undefined): CallFacts['cause'] {
  if (id === handler.id && handler.kind !== 'change') return handler.kind;
  return (record?.done ?? null) === null ? 'create' : 'update';
}
