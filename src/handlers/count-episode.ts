import { diffViews } from './diff.ts';
import { type Job, oldOf, viewOn } from './jobs.ts';
import type { UidMemory } from './object-memory.ts';
import type { PassDeps } from './pass-deps.ts';
import type { Snapshot } from './snapshot.ts';

/** Counts the episode that begins; one that own writes have brought about again and again is told of (A8'). */
export function countEpisode(deps: PassDeps, { guard, doc }: UidMemory, snapshot: Snapshot, job: Job): void {
  if (!guard.isWritten) return;
  const { clock, counters, logger } = deps;
  const record = doc?.record(job.id);
  const paths = (): readonly string[] =>
    diffViews(oldOf(doc, record, job, snapshot), viewOn(snapshot, job)?.value).map(({ path }) => path);
  const loop = guard.begun(job, record?.episode ?? 0, clock.now(), job.handler.backoff, paths);
  if (loop === undefined) return;
  counters.loops++;
  const { name, uid, resourceVersion } = snapshot;
  logger.warn(`Handler "${job.id}" is called again and again for what handlers write: it is slowed down`, {
    name,
    uid,
    resourceVersion,
    handler: job.id,
    episodes: loop.episodes,
    paths: loop.paths,
  });
}
