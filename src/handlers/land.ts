import { ClosedError, InvariantError } from '../types/errors.ts';
import type { SourcePatchResult } from '../types/source.ts';
import { equalData } from './diff.ts';
import { isSameJob } from './jobs.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import type { OwnWrite, WriteEnd } from './own-write.ts';
import { type PassDeps, patchObject, readObject } from './pass-deps.ts';
import { applyPatches } from './patch.ts';
import type { CollectedPatches } from './patch-collector.ts';
import type { Snapshot } from './snapshot.ts';

/** Conflicts in a row on one object before the pass gives up for a while. */
const CONFLICTS_MAX = 16;

/**
 * Writes the patches of the call whose outcome is pending: object first, record last (A8'). They are laid on the newest
 * state, by compare-and-set on its version.
 *
 * ```text
 *   newest N --ifUnchanged, and the input is another one; or they do not fit--> superseded: no outcome, called again
 *      ^     --they change nothing-----------------------------------------> landed
 *      |     --patch, if still N--> patched: the answer is the newest state -> landed
 *      |                            conflict: read, and again
 *      |                            gone -------------------------------------> dropped
 *      +----- read <--------------- no answer; if the object is what was to come out: landed; else throw: the queue
 *                                   waits, and all of this is done again
 * ```
 *
 * Not promised: that a patch whose answer got lost is applied once, where somebody else wrote before it could be looked
 * for. A merge patch does not mind; a JSON patch that does needs a `test`.
 */
export async function landOwnWrite(deps: PassDeps, state: ObjectState, memory: UidMemory): Promise<void> {
  const outcome = memory.pending;
  const write = outcome?.write;
  if (write === undefined || write.hasEnded) return;
  const end = await land(deps, state, memory, write);
  if (end === 'superseded' && memory.pending === outcome) {
    memory.pending = undefined;
    // It was kept up with an outcome that is none.
    memory.agenda = undefined;
    memory.adoptedOn = undefined;
  }
  write.end(end);
}

async function land(deps: PassDeps, state: ObjectState, memory: UidMemory, write: OwnWrite): Promise<WriteEnd> {
  const { ifUnchanged, patches } = write.collected;
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    if (deps.stopped.aborted) throw new ClosedError('patch an object');
    const base = state.newest;
    if (base?.uid !== memory.uid || base.deleting !== write.isDeleting) return 'dropped';
    if (write.hasMade(base)) return 'landed';
    if (ifUnchanged && !isSameJob(write.job, base)) return 'superseded';
    const object = tryApply(base, patches);
    if (object === undefined) return 'superseded';
    if (equalData(object.value, base.object)) return 'landed';
    const result = await send(deps, state, write, base, object.value);
    if (result.type === 'patched') {
      deps.counters.patches++;
      memory.guard.isWritten = true;
      deps.table.observe(result.object, true);
      return 'landed';
    }
    if (result.type === 'gone') deps.table.vanish(state.name, memory.uid);
    else await readObject(deps, state);
  }
  throw new InvariantError(
    `the object "${state.name}" met ${CONFLICTS_MAX} conflicts in a row; who writes it all the time?`,
  );
}

async function send(
  deps: PassDeps,
  state: ObjectState,
  write: OwnWrite,
  { uid, resourceVersion }: Snapshot,
  object: unknown,
): Promise<SourcePatchResult> {
  const { patches } = write.collected;
  try {
    return await patchObject(deps, { name: state.name, uid, resourceVersion, patches });
  } catch (error) {
    write.doubt = { resourceVersion, object };
    await readObject(deps, state);
    const newest = state.newest;
    if (newest?.uid === uid && write.hasMade(newest)) return { type: 'conflict' };
    throw error;
  }
}

/** `undefined` where they do not fit. */
function tryApply(base: Snapshot, patches: CollectedPatches['patches']): { readonly value: unknown } | undefined {
  try {
    return { value: applyPatches(base.object, patches) };
  } catch {
    return undefined;
  }
}
