import type { SourcePatch, SourcePatchResult } from '../types/source.ts';
import type { ObjectState } from './object-memory.ts';
import { type PassDeps, patchObject } from './pass-deps.ts';
import type { Snapshot } from './snapshot.ts';

/** How a patch is told from what others do meanwhile. */
export interface PatchOrigin {
  /** What it makes is by this controller (A8'); if not, by somebody else. */
  readonly isOwn: boolean;
  /** Where nobody has answered, what the patch was to make is taken for its work. */
  readonly isMade: (state: Snapshot) => boolean;
  /** Asked about a rejection, before it is settled what became of the patch. Rejects, too, or gives the answer that counts. */
  readonly recover?: (error: unknown) => Promise<SourcePatchResult>;
}

/**
 * Patches an object and takes the answer in at once: what the watch brings before the answer is taken in, it brings while
 * the patch is on its way.
 */
export async function sendPatch(
  deps: PassDeps,
  state: ObjectState,
  patch: SourcePatch,
  { isOwn, isMade, recover }: PatchOrigin,
): Promise<SourcePatchResult> {
  if (isOwn) state.patchSent();
  try {
    const result = await patchObject(deps, patch);
    const made = result.type === 'patched' ? result.object : undefined;
    if (made !== undefined) deps.table.observe(made, isOwn);
    if (isOwn) state.patchEnded((next) => next.resourceVersion === made?.resourceVersion);
    return result;
  } catch (error) {
    if (recover === undefined) throw error;
    return await recover(error);
  } finally {
    // Nothing is left to end where there was an answer.
    if (isOwn) state.patchEnded(isMade);
  }
}
