import { ClosedError } from '../types/errors.ts';
import type { ObjectSource } from '../types/source.ts';
import { CONFLICTS_MAX, tooManyConflicts } from './conflicts.ts';
import { type DocumentVersion, emptyDocument } from './document-version.ts';
import { isDone, isFilteredStep, isPlanned, isSameJob, type Job } from './jobs.ts';
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
 * the store or the source threw, and with `ClosedError` once the controller has stopped, if it does not throw that at once.
 */
export function commit(
  deps: PassDeps,
  state: ObjectState,
  memory: UidMemory,
  intent: Intent | undefined,
): CommitResult | Promise<CommitResult> {
  if (!deps.documents.areInMemory || hasToLand(memory)) return commitByTurns(deps, state, memory, intent);
  const draft = draftOf(deps, state, memory, intent);
  if (typeof draft === 'string') return draft;
  const { doc } = draft;
  const isWritten = deps.documents.swap(memory.uid, doc.header.gen - 1, doc);
  if (isWritten !== true) return commitByTurns(deps, state, memory, intent);
  return written(deps, memory, draft);
}

/** The same where somebody has to be waited for. */
async function commitByTurns(
  deps: PassDeps,
  state: ObjectState,
  memory: UidMemory,
  intent: Intent | undefined,
): Promise<CommitResult> {
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    // Each time: other calls may have ended meanwhile, and no outcome is written before the patches of its call.
    while (hasToLand(memory)) await landOwnWrites(deps, state, memory);
    const draft = draftOf(deps, state, memory, intent);
    if (typeof draft === 'string') return draft;
    const isWritten = await write(deps, state, memory, draft);
    if (isWritten) return draft.result;
  }
  throw tooManyConflicts('write progress', `the progress of ${JSON.stringify(state.name)}`);
}

/** What is to be written, and what is known once it is. */
interface Draft {
  readonly doc: DocumentVersion;
  readonly sent: SentWrite;
  readonly result: Exclude<CommitResult, 'gone'>;
}

/** Makes it of the document as it was read or written last; or says that there is nothing to write. */
function draftOf(
  deps: PassDeps,
  state: ObjectState,
  memory: UidMemory,
  intent: Intent | undefined,
): Draft | 'superseded' | 'gone' {
  if (deps.stopped.aborted) throw new ClosedError('write progress');
  if (state.newest?.uid !== memory.uid) return 'gone';
  const outcomes = memory.outcomes.slice();
  const settled = memory.effective(state.name);
  const jobs = intent === undefined ? [] : jobsOf(deps, state, settled, intent);
  const carry = jobs.length > 0;
  if (settled === memory.doc && !carry) {
    memory.drop(outcomes);
    return 'superseded';
  }
  let opened = settled;
  for (const job of jobs) opened = open(opened, job);
  // `isWanted` has refused a state below the version in the document, so this never goes back.
  const version = carry && intent ? intent.snapshot.resourceVersion : versionSeen(deps, settled, outcomes);
  // Only along with something else: at rest nothing is written (I19').
  const isTidy = memory.isTidied || settled.header.gen === 0;
  const tidied = isTidy ? opened : opened.tidied(deps, deps.clock.wallTime(), deps.recordTtlMs);
  const doc = tidied.written(deps.nextWriteId(), version);
  return { doc, sent: { outcomes, jobs }, result: carry ? 'carried' : 'superseded' };
}

/** The job of an intent with those that it is opened with; none if it is not wanted any more. */
function jobsOf(deps: PassDeps, state: ObjectState, doc: DocumentVersion, intent: Intent): readonly Job[] {
  const { job, next } = intent;
  if (!isWanted(deps, state, doc, intent, job)) return [];
  return next.length === 0 ? [job] : [job, ...next.filter((one) => isWanted(deps, state, doc, intent, one))];
}

function written(deps: PassDeps, memory: UidMemory, { doc, sent, result }: Draft): Draft['result'] {
  deps.counters.writes++;
  memory.wrote(doc, sent);
  memory.isTidied = true;
  return result;
}

/** One attempt to write. `false` is a conflict, with everything read anew. */
async function write(deps: PassDeps, state: ObjectState, memory: UidMemory, draft: Draft): Promise<boolean> {
  const { doc } = draft;
  const { gen, writeId } = doc.header;
  try {
    if (await deps.documents.swap(memory.uid, gen - 1, doc)) {
      written(deps, memory, draft);
      return true;
    }
  } catch (error) {
    memory.doubt(writeId, draft.sent);
    await reload(deps, state, memory);
    if (memory.doc?.header.writeId !== writeId) throw error;
    memory.isTidied = true;
    return true;
  }
  await reload(deps, state, memory);
  // The document was written by somebody else, so the object may be another one, too.
  await readObject(deps, state);
  return false;
}

/** Reads the document; a doubtful write of ours that turns up in it is settled thereby. */
export async function reload(deps: PassDeps, state: ObjectState, memory: UidMemory): Promise<void> {
  const doc = await deps.documents.get(memory.uid, state.name, memory.doc);
  memory.reload(doc ?? emptyDocument(memory.uid, state.name));
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
  { snapshot, forced }: Pick<Intent, 'snapshot' | 'forced'>,
  job: Job,
): boolean {
  const newest = state.newest;
  if (deps.stopping.aborted || newest?.uid !== snapshot.uid || newest.deleting !== snapshot.deleting) return false;
  if (isOlder(deps, snapshot, doc)) return false;
  if (!forced && !isSameJob(job, newest)) return false;
  if (isDone(job, doc.record(job.id))) return false;
  if (job.retires) return mayRetire(doc, job, snapshot);
  return job.entry === undefined ? !isFilteredStep(job.handler, doc, snapshot) : isPlanned(job, doc);
}

/** Who knows the order of versions. */
export interface VersionOrder {
  readonly source: Pick<ObjectSource, 'compare'>;
}

/** A call was made on a newer state than this one, in an earlier life (rows 17, 18). */
export function isOlder(deps: VersionOrder, snapshot: Snapshot, doc: DocumentVersion): boolean {
  const { resourceVersion } = doc.header;
  return resourceVersion !== '' && deps.source.compare(snapshot.resourceVersion, resourceVersion) < 0;
}

/** The source itself shows a state that is older: for as long as it does, nobody is called. Told once. */
export function tellOld(deps: PassDeps, memory: UidMemory, { name, uid, resourceVersion }: Snapshot): void {
  if (memory.isToldOld) return;
  memory.isToldOld = true;
  const facts = { name, uid, resourceVersion, recorded: memory.doc?.header.resourceVersion };
  deps.logger.warn('The source shows a state that is older than what is recorded of it: nobody is called', facts);
}

function open(doc: DocumentVersion, { id, digest, handler, entry, retires }: Job): DocumentVersion {
  if (retires) return doc.openRetirement(id);
  if (entry === undefined) return doc.openAttempt(id, digest, { schema: handler.schema });
  return doc.openAttempt(id, digest, { tried: handler.retire === undefined ? undefined : triedOf(entry.args) });
}
