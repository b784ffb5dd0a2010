import type { CallHooks } from './call.ts';
import type { Execution } from './verdict.ts';

/** What is counted and given back when a call begins and ends, of whatever kind it is: every call of user code has them. */
export function hooksOf({ deps, state, memory, job, trial }: Execution): CallHooks {
  const { handler } = job;
  const { clock, admission, counters } = deps;
  const metrics = deps.metrics.get(handler.id);
  return {
    begun: () => {
      admission.start(state.name, handler);
      trial.begun = memory.breaker?.begun() ?? 0;
      counters.calls++;
      const record = memory.doc?.record(job.id);
      const wait = (job.retires ? record?.retirement : record?.attempt) ?? undefined;
      const nowMs = clock.now();
      const retryMs = wait === undefined || wait.wakeAtWallMs === 0 ? 0 : memory.wakeOf(job.id, wait, clock);
      const dueMs = memory.lag.dueMs(handler.id) ?? nowMs;
      metrics?.begun(nowMs - Math.max(dueMs, retryMs), (wait?.failures ?? 0) > 0);
    },
    ended: (runMs, isLate) => {
      admission.finish(handler);
      memory.breaker?.ended(trial.begun);
      if (job.entry === undefined && !job.retires) memory.lag.called(handler.id, clock.now());
      metrics?.ended(runMs, isLate);
    },
  };
}
