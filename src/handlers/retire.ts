import { backoffDelayMs } from '../queue/backoff.ts';
import { invariant } from '../types/invariant.ts';
import { enterCall, leaveCall } from './call-hooks.ts';
import type { RetireContext } from './context.ts';
import { type Execution, report } from './execution.ts';
import { deepFreeze } from './freeze.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { HandlerRecord, Retirement } from './record.ts';
import { parentIdOf, subIdOf } from './record-id.ts';

/**
 * Calls a parent's hook for a sub that has left its plan, and leaves the outcome pending: the record goes with the first
 * success. Until then there is another call, without limit: the effect of the sub would stay in the world for ever.
 */
export async function executeRetirement(execution: Execution): Promise<void> {
  const { deps, memory, job } = execution;
  const { retire, timeoutMs, backoff } = job.handler;
  const record = memory.doc?.record(job.id);
  const retirement = record?.retirement;
  invariant(retire !== undefined && retirement !== undefined, `"${job.id}" was retired without being opened`);
  const running = enterCall(execution, false);
  const context = contextOf(execution, record, retirement, running.signal);
  running.begin(deps.clock);
  const result = await running.run(() => retire(context), timeoutMs, deps.clock);
  leaveCall(execution, running);
  const attempt = { ...retirement, digest: '', state: 'open' } as const;
  const judged = outcomeOf(result, attempt, { retries: Number.POSITIVE_INFINITY, backoff }, deps.random);
  const outcome: Outcome =
    judged.kind !== 'permanent'
      ? judged
      : { kind: 'temporary', error: judged.error, delayMs: backoffDelayMs(retirement.failures, backoff, deps.random) };
  const { episode, failures } = retirement;
  if (outcome.kind === 'ok') {
    memory.push({ apply: (doc) => doc.settleRetirement(job.id, undefined, episode), replans: true });
  } else if (outcome.kind === 'temporary') {
    const { delayMs } = outcome;
    const after = { episode, failures: failures + 1, delayMs, wakeAtWallMs: deps.clock.wallTime() + delayMs };
    memory.waits(job.id, after, deps.clock);
    memory.push({ apply: (doc) => doc.settleRetirement(job.id, after, episode), replans: false });
  }
  report(execution, outcome);
}

function contextOf(
  { deps, snapshot, job }: Execution,
  record: HandlerRecord | undefined,
  { failures, episode }: Retirement,
  signal: AbortSignal,
): RetireContext {
  return Object.freeze({
    object: snapshot.object,
    uid: snapshot.uid,
    name: snapshot.name,
    resourceVersion: snapshot.resourceVersion,
    id: subIdOf(job.id),
    parentId: parentIdOf(job.id) ?? job.handler.id,
    tried: deepFreeze((record?.tried ?? []).map(({ args }) => args)),
    attempt: failures,
    idempotencyKey: JSON.stringify([snapshot.uid, job.id, 'retire', episode]),
    signal,
    index: deps.index,
  });
}
