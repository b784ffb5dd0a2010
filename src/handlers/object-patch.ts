import { ClosedError, InvariantError } from '../types/errors.ts';
import type { Patch } from '../types/patch.ts';
import { equalData } from './diff.ts';
import type { ObjectState } from './object-memory.ts';
import { checkParts } from './parts.ts';
import { type PassDeps, patchObject, readObject } from './pass-deps.ts';
import { applyPatches } from './patch.ts';
import type { Snapshot } from './snapshot.ts';

/** Conflicts in a row on one object before it is given up. */
const CONFLICTS_MAX = 16;

/** What is to be written into an object, and for which uid. */
export interface ObjectPatch {
  readonly uid: string;
  readonly patches: readonly Patch[];
  /** Asked about each state before the patches are laid on it; `false` and what it throws end the patch. */
  readonly isFor: (newest: Snapshot) => boolean;
  /** Told of what the patches make of the newest state, before they are sent. */
  readonly onSend?: (base: Snapshot, object: unknown) => void;
}

export type PatchEnd = 'landed' | 'dropped' | 'refused';

/**
 * Patches an object at once, on its newest state, by compare-and-set; on a conflict it is read and done over. Not written,
 * `dropped`, where the uid is gone or on its way out, and `refused` where `isFor` says so.
 *
 * A patch whose answer got lost is looked for by what it would have made. Rejects with what does not fit, what `isFor`
 * throws, and what the source rejects with.
 */
export async function patchNow(deps: PassDeps, state: ObjectState, patch: ObjectPatch): Promise<PatchEnd> {
  const { uid, patches } = patch;
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    if (deps.stopped.aborted) throw new ClosedError('patch an object');
    const base = state.newest;
    if (base?.uid !== uid || base.deleting) return 'dropped';
    if (!patch.isFor(base)) return 'refused';
    const object = applyPatches(base.object, patches);
    checkParts('patch an object', object);
    if (equalData(object, base.object)) return 'landed';
    patch.onSend?.(base, object);
    const result = await send(deps, state, base, patches, object);
    if (result === 'landed') return 'landed';
    if (result.type === 'patched') {
      deps.counters.patches++;
      deps.table.observe(result.object);
      return 'landed';
    }
    if (result.type === 'gone') deps.table.vanish(state.name, uid);
    else await readObject(deps, state);
  }
  throw new InvariantError(
    `the object "${state.name}" met ${CONFLICTS_MAX} conflicts in a row; who writes it all the time?`,
  );
}

async function send(
  deps: PassDeps,
  state: ObjectState,
  { uid, resourceVersion }: Snapshot,
  patches: readonly Patch[],
  object: unknown,
): Promise<Awaited<ReturnType<typeof patchObject>> | 'landed'> {
  try {
    return await patchObject(deps, { name: state.name, uid, resourceVersion, patches });
  } catch (error) {
    await readObject(deps, state);
    const newest = state.newest;
    const isMade = newest?.uid === uid && newest.resourceVersion !== resourceVersion;
    if (isMade && equalData(newest.object, object)) return 'landed';
    throw error;
  }
}
