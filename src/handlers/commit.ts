import { ClosedError } from '../types/errors.ts';
import { CONFLICTS_MAX, tooManyConflicts } from './conflicts.ts';
import { type DocumentVersion, emptyDocument, versionOf } from './document-version.ts';
import { isBarred, isDone, isPlanned, isSameJob, type Job } from './jobs.ts';
import { hasToLand, landOwnWrites } from './land.ts';
import type { ObjectState, PendingOutcome, SentWrite, UidMemory } from './object-memory.ts';
import { type PassDeps, readObject } from './pass-deps.ts';
import { triedOf } from './planned-record.ts';
import { mayRetire } from './retirement-turn.ts';
import type { Snapshot } from './snapshot.ts';

/** What a pass wants to begin: a job on its state. */
export interface Intent {
  readonly job: Job;
  /** What it means to begin after that, to be opened with it; none if each is to have a write of its own (A12'b). */
  readonly next: readonly Job[];
  readonly snapshot: Snapshot;
  /** The job runs on its state even if that is outdated (A10'). */
  readonly forced: boolean;
}

/**
 * - `carried`: the outcome is written and the intent with it; the call may begin.
 * - `superseded`: the outcome is written; the intent is not, since it is no longer wanted.
 * - `gone`: the object is dead; nothing was written.
 */
export type CommitResult = 'carried' | 'superseded' | 'gone';

/**
 * Writes what is pending, the outcomes of the calls before, and the intent of the next one, as one compare-and-set (A12').
 *
 * ```text
 *        +------------------------------------------------------------+
 *        v                                                            | conflict: read document and object again
 *   document of gen g  --outcome-->  --intent, if still wanted-->  write as gen g+1  --yes--> newest document
 *                                                                     | no answer: read; if ours is there, it counts;
 *                                                                       if not, throw: the queue waits and tries again
 * ```
 *
 * Patches of those calls go into the object before (A8').
 *
 * What is pending stays pending until it is known to be written, so a failing store repeats no call. Rejects with what
 * the store or the source threw, and with `ClosedError` once the controller has stopped.
 */
export async function commit(
  deps: PassDeps,
  state: ObjectState,
  memory: UidMemory,
  intent: Intent | undefined,
): Promise<CommitResult> {
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    // Each time: other calls may have ended meanwhile, and no outcome is written before the patches of its call.
    while (hasToLand(memory)) await landOwnWrites(deps, state, memory);
    if (deps.stopped.aborted) throw new ClosedError('write progress');
    if (state.newest?.uid !== memory.uid) return 'gone';
    const outcomes = [...memory.outcomes];
    const settled = memory.effective(state.name);
    const carry = intent !== undefined && isWanted(deps, state, settled, intent);
    if (settled === memory.doc && !carry) {
      memory.drop(outcomes);
      return 'superseded';
    }
    const jobs = carry ? [intent.job, ...intent.next.filter((job) => isWanted(deps, state, settled, intent, job))] : [];
    const opened = jobs.reduce(open, settled);
    // `isWanted` has refused a state below the version in the document, so this never goes back.
    const version = carry ? intent.snapshot.resourceVersion : versionSeen(deps, settled, outcomes);
    // Only along with something else: at rest nothing is written (I19').
    const isTidy = memory.isTidied || settled.header.gen === 0;
    const tidied = isTidy ? opened : opened.tidied(deps, deps.clock.wallTime(), deps.recordTtlMs);
    const next = tidied.written(deps.nextWriteId(), version);
    const sent: SentWrite = { outcomes, opened: jobs.map((job) => episodeOf(next, job)) };
    if (!(await write(deps, state, memory, next, sent))) continue;
    memory.isTidied = true;
    return carry ? 'carried' : 'superseded';
  }
  throw tooManyConflicts('write progress', `the progress of ${JSON.stringify(state.name)}`);
}

/** One attempt to write. `false` is a conflict, with everything read anew. */
async function write(
  deps: PassDeps,
  state: ObjectState,
  memory: UidMemory,
  next: DocumentVersion,
  sent: SentWrite,
): Promise<boolean> {
  const { gen, writeId } = next.header;
  try {
    if (await deps.progress.compareAndSet(memory.uid, gen - 1, next.toDocument())) {
      deps.counters.writes++;
      memory.wrote(next, sent);
      return true;
    }
  } catch (error) {
    memory.doubt(writeId, sent);
    await reload(deps, state, memory);
    if (memory.doc?.header.writeId === writeId) return true;
    throw error;
  }
  await reload(deps, state, memory);
  // The document was written by somebody else, so the object may be another one, too.
  await readObject(deps, state);
  return false;
}

/** Reads the document; a doubtful write of ours that turns up in it is settled thereby. */
export async function reload(deps: PassDeps, state: ObjectState, memory: UidMemory): Promise<void> {
  const document = await deps.progress.get(memory.uid, state.name);
  if (document === undefined) memory.reload(emptyDocument(memory.uid, state.name));
  else memory.reload(memory.doc?.isStoredAs(document) === true ? memory.doc : versionOf(document));
}

/** The highest version used: also where a state was only taken as done, or an older list would sweep the document away. */
function versionSeen(deps: PassDeps, doc: DocumentVersion, outcomes: readonly PendingOutcome[]): string {
  const { resourceVersion } = doc.header;
  const adopted = outcomes.findLast((outcome) => outcome.resourceVersion !== undefined)?.resourceVersion;
  if (adopted === undefined) return resourceVersion;
  return resourceVersion === '' || deps.source.compare(adopted, resourceVersion) > 0 ? adopted : resourceVersion;
}

/** A10' on the newest state, and the job is still due in the very document that will be replaced (row 20). */
function isWanted(
  deps: PassDeps,
  state: ObjectState,
  doc: DocumentVersion,
  { snapshot, forced, job: first }: Intent,
  job: Job = first,
): boolean {
  const newest = state.newest;
  if (deps.stopping.aborted || newest?.uid !== snapshot.uid || newest.deleting !== snapshot.deleting) return false;
  if (isOlder(deps, snapshot, doc)) return false;
  if (!forced && !isSameJob(job, newest)) return false;
  if (isDone(job, doc.record(job.id))) return false;
  if (job.retires) return mayRetire(doc, job, snapshot);
  return job.entry === undefined ? !isBarred(job.handler, doc, snapshot) : isPlanned(job, doc);
}

/** A call was made on a newer state than this one, in an earlier life (rows 17, 18). */
export function isOlder(deps: PassDeps, snapshot: Snapshot, doc: DocumentVersion): boolean {
  const { resourceVersion } = doc.header;
  return resourceVersion !== '' && deps.source.compare(snapshot.resourceVersion, resourceVersion) < 0;
}

function open(doc: DocumentVersion, { id, digest, handler, entry, retires }: Job): DocumentVersion {
  if (retires) return doc.openRetirement(id);
  if (entry === undefined) return doc.openAttempt(id, digest, { schema: handler.schema });
  return doc.openAttempt(id, digest, { tried: handler.retire === undefined ? undefined : triedOf(entry.args) });
}

function episodeOf(doc: DocumentVersion, { id, retires }: Job): { readonly id: string; readonly episode: number } {
  const record = doc.record(id);
  return { id, episode: (retires ? record?.retirement?.episode : record?.episode) ?? 0 };
}
