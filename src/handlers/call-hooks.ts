import { type CallHooks, RunningCall } from './call.ts';
import type { Execution } from './execution.ts';
import type { HandlerMetrics } from './handler-metrics.ts';
import { waitOf } from './jobs.ts';

/** Makes a call the one that newer states and the end of the controller are told to. Its `begin` and `run` are to follow. */
export function enterCall(execution: Execution, isSupersedable: boolean): RunningCall {
  const { state, snapshot, job } = execution;
  const running = new RunningCall(job, snapshot, isSupersedable, new CallAccount(execution));
  state.enter(running);
  // A parent was perhaps called in between, to register it anew.
  const { newest } = state;
  if (newest?.uid !== snapshot.uid || newest.deleting !== snapshot.deleting) running.reconsider(newest);
  return running;
}

/** The end of that. */
export function leaveCall({ deps, state }: Execution, running: RunningCall): void {
  running.end(deps.clock);
  state.leave(running);
}

/** What is counted and given back when a call begins and ends, of whatever kind it is: every call of user code has them. */
class CallAccount implements CallHooks {
  readonly #execution: Execution;
  readonly #metrics: HandlerMetrics | undefined;

  constructor(execution: Execution) {
    this.#execution = execution;
    this.#metrics = execution.deps.metrics.get(execution.job.handler.id);
  }

  begun(nowMs: number): void {
    const { deps, state, memory, job, trial } = this.#execution;
    const { handler } = job;
    deps.admission.start(state.name, handler);
    trial.begun = memory.breaker?.begun() ?? 0;
    deps.counters.calls++;
    const wait = waitOf(job, memory.doc?.record(job.id));
    const retryMs = wait === undefined || wait.wakeAtWallMs === 0 ? 0 : memory.wakeOf(job.id, wait, deps.clock);
    const dueMs = memory.lag.dueMs(handler.id) ?? nowMs;
    this.#metrics?.begun(nowMs - Math.max(dueMs, retryMs), (wait?.failures ?? 0) > 0);
  }

  ended(nowMs: number, runMs: number, isLate: boolean): void {
    const { deps, memory, job, trial } = this.#execution;
    deps.admission.finish(job.handler);
    memory.breaker?.ended(trial.begun);
    if (job.entry === undefined && !job.retires) memory.lag.called(job.handler.id, nowMs);
    this.#metrics?.ended(runMs, isLate);
  }
}
