import { equalData } from './diff.ts';
import type { Job } from './jobs.ts';
import type { CollectedPatches } from './patch-collector.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * - `landed`: the object has the patches, or had their effect already.
 * - `dropped`: the object is gone, or on its way out since the call: nothing is written to it (A11'b).
 * - `superseded`: the patches do not fit the newest state: the call counts for nothing, and is made again (A8').
 */
export type WriteEnd = 'landed' | 'dropped' | 'superseded';

/** What a call has asked to be written, on its way into the object. */
export class OwnWrite {
  readonly job: Job;
  /** The call was one for the deletion of the object. */
  readonly isDeleting: boolean;
  readonly collected: CollectedPatches;
  readonly #onEnd: (end: WriteEnd) => void;
  /** A patch whose answer got lost, and what the object is if it was applied. */
  doubt: { readonly resourceVersion: string; readonly object: unknown } | undefined;
  #hasEnded = false;

  constructor(job: Job, isDeleting: boolean, collected: CollectedPatches, onEnd: (end: WriteEnd) => void) {
    this.job = job;
    this.isDeleting = isDeleting;
    this.collected = collected;
    this.#onEnd = onEnd;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  end(end: WriteEnd): void {
    this.#hasEnded = true;
    this.#onEnd(end);
  }

  /** A patch of which nobody knew has made this state: it is what was to come out, in another version. */
  hasMade(state: Snapshot): boolean {
    const { doubt } = this;
    if (doubt === undefined || doubt.resourceVersion === state.resourceVersion) return false;
    return equalData(doubt.object, state.object);
  }
}
