import type { KindDeps } from './kind-deps.ts';
import type { Outcome } from './outcome.ts';
import type { Snapshot } from './snapshot.ts';

/** Counts and tells how a call of a timer or daemon has ended. */
export function reportSpawn(
  { counters, logger }: KindDeps,
  kind: 'Timer' | 'Daemon',
  id: string,
  { name, uid, resourceVersion }: Snapshot,
  outcome: Outcome,
): void {
  const facts = { name, uid, resourceVersion, handler: id };
  switch (outcome.kind) {
    case 'ok':
      counters.successes++;
      break;
    case 'superseded':
      counters.superseded++;
      break;
    case 'temporary':
      counters.temporaryFailures++;
      logger.warn(`${kind} "${id}" failed and is tried again`, { ...facts, ...outcome });
      break;
    case 'permanent':
      counters.permanentFailures++;
      logger.error(`${kind} "${id}" failed for good on this object`, { ...facts, error: outcome.error });
      break;
  }
}
