import { BackendError, ClosedError, LimitExceededError, UnsupportedError, ValueError } from '../types/errors.ts';
import type { Patch } from '../types/patch.ts';
import type { SourcePatchResult } from '../types/source.ts';
import { CONFLICTS_MAX, tooManyConflicts } from './conflicts.ts';
import { equalData } from './diff.ts';
import { Doubt } from './doubt.ts';
import type { ObjectState } from './object-memory.ts';
import { type PassDeps, patchedObject, readObject } from './pass-deps.ts';
import { sendPatch } from './send-patch.ts';
import type { Snapshot } from './snapshot.ts';

/** What is to be written into an object, and for which uid. */
export interface ObjectWrite {
  readonly uid: string;
  /** Whether the object was on its way out for whoever writes: if that has changed, nothing is written. */
  readonly deleting: boolean;
  readonly patches: readonly Patch[];
  /** What it makes is by this controller, for the guard against loops and for breakers (A8', A33'); if not, by somebody else. */
  readonly isOwn: boolean;
  /** Asked about each state right before the patches are laid on it; `false` ends the write. */
  readonly accepts: (base: Snapshot) => boolean;
  /** Told of what the patches make of a state, right before they are sent. What it throws ends the write. */
  readonly onSend?: (base: Snapshot, object: unknown) => void;
  /** Told of the state that a patch has made, where that is the newest one. */
  readonly onPatched?: (made: Snapshot) => void;
  /** Outlives the write, for whoever writes the same again after it has failed. @default of this write */
  readonly doubt?: Doubt;
}

/**
 * - `landed`: the object has the patches, or had their effect already.
 * - `dropped`: the uid is gone, or on its way out since: nothing is written.
 * - `refused`: by `accepts`.
 */
export type ObjectWriteEnd = 'landed' | 'dropped' | 'refused';

/**
 * Patches an object on its newest state, by compare-and-set on its version.
 *
 * ```text
 *   newest N --accepts it? do they fit? --no---> refused, thrown
 *      ^     --they change nothing-------------> landed
 *      |     --patch, if still N--> patched: the answer is the newest state -> landed
 *      |                            conflict: read, and again, at most 16 times
 *      |                            gone --------> dropped
 *      |                            refused for good: thrown
 *      +----- read <--------------- no answer; if the object is what was to come out: landed; else thrown
 * ```
 *
 * Rejects with what does not fit, with what the source rejects with, with `BackendError` after too many conflicts, and with
 * `ClosedError` once the controller has stopped.
 */
export async function writeObject(deps: PassDeps, state: ObjectState, write: ObjectWrite): Promise<ObjectWriteEnd> {
  const { uid, deleting, patches, doubt = new Doubt() } = write;
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    if (deps.stopped.aborted) throw new ClosedError('patch an object');
    const base = state.newest;
    if (base?.uid !== uid || base.deleting !== deleting) return 'dropped';
    if (doubt.hasMade(base)) return 'landed';
    if (!write.accepts(base)) return 'refused';
    const object = patchedObject(deps, base.object, patches);
    if (equalData(object, base.object)) return 'landed';
    write.onSend?.(base, object);
    const result = await send(deps, state, write, base, object, doubt);
    if (result.type === 'patched') {
      deps.counters.patches++;
      if (write.isOwn && state.memory?.uid === uid) state.memory.guard.isWritten = true;
      const made = state.newest;
      if (made?.resourceVersion === result.object.resourceVersion) write.onPatched?.(made);
      return 'landed';
    }
    if (result.type === 'gone') deps.table.vanish(state.name, uid);
    else await readObject(deps, state);
  }
  throw tooManyConflicts('patch an object', `the object ${JSON.stringify(state.name)}`);
}

function send(
  deps: PassDeps,
  state: ObjectState,
  { patches, isOwn }: ObjectWrite,
  base: Snapshot,
  object: unknown,
  doubt: Doubt,
): Promise<SourcePatchResult> {
  const { uid, resourceVersion } = base;
  const recover = async (error: unknown): Promise<SourcePatchResult> => {
    if (isRefusal(error)) throw error;
    doubt.raise(base, object);
    await readObject(deps, state);
    const newest = state.newest;
    if (newest?.uid === uid && doubt.hasMade(newest)) return { type: 'conflict' };
    throw error;
  };
  const patch = { name: state.name, uid, resourceVersion, patches };
  return sendPatch(deps, state, patch, { isOwn, isMade: (next) => doubt.hasMade(next), recover });
}

/** The source has said that the patch is not applied, and that to ask again is no use: it is for whoever asked to know. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent && !error.maybeCommitted;
  return error instanceof ValueError || error instanceof LimitExceededError || error instanceof UnsupportedError;
}
