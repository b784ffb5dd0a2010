import type { DocumentVersion } from './document-version.ts';
import { Doubt } from './doubt.ts';
import { isSameJob, type Job, viewOn } from './jobs.ts';
import type { CollectedPatches } from './patch-collector.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * - `landed`: the object has the patches, or had their effect already.
 * - `dropped`: the object is gone, or on its way out since the call: nothing is written to it (A11'b).
 * - `superseded`: the patches do not fit the newest state: the call counts for nothing, and is made again (A8').
 * - `refused`: the source takes no such patch, now or later: the call has failed.
 */
export type WriteEnd = 'landed' | 'dropped' | 'superseded' | 'refused';

/** What its call hears of a write. */
export interface WriteHooks {
  /** Told once, of every end but a refusal. */
  readonly onEnd: (end: Exclude<WriteEnd, 'refused'>) => void;
  /** The change to the document in place of the one that waits, for a call whose patches are refused. */
  readonly onRefusal: (error: unknown) => (doc: DocumentVersion) => DocumentVersion;
}

/** What a call has asked to be written, on its way into the object. */
export class OwnWrite {
  readonly job: Job;
  /** The call was one for the deletion of the object. */
  readonly isDeleting: boolean;
  readonly #content: string | undefined;
  readonly collected: CollectedPatches;
  readonly #hooks: WriteHooks;
  /** About a patch whose answer got lost, over all attempts to land it. */
  readonly doubt: Doubt = new Doubt();
  #hasEnded = false;

  /** `snapshot`: the state of the call. */
  constructor(job: Job, snapshot: Snapshot, collected: CollectedPatches, hooks: WriteHooks) {
    this.job = job;
    this.isDeleting = snapshot.deleting;
    this.#content = contentOn(snapshot, job);
    this.collected = collected;
    this.#hooks = hooks;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  end(end: Exclude<WriteEnd, 'refused'>): void {
    this.#hasEnded = true;
    this.#hooks.onEnd(end);
  }

  /** Ends it, too. */
  refuse(error: unknown): (doc: DocumentVersion) => DocumentVersion {
    this.#hasEnded = true;
    return this.#hooks.onRefusal(error);
  }

  /** Whether the handler sees on a state what its call was told. Its digest may say less: a resumption has one for all. */
  isUnchangedOn(state: Snapshot): boolean {
    return isSameJob(this.job, state) && contentOn(state, this.job) === this.#content;
  }
}

function contentOn(state: Snapshot, job: Job): string | undefined {
  const view = viewOn(state, job);
  return view?.content ?? view?.digest;
}
