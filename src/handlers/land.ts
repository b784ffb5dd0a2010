import {
  BackendError,
  ClosedError,
  InvariantError,
  LimitExceededError,
  UnsupportedError,
  ValueError,
} from '../types/errors.ts';
import type { SourcePatchResult } from '../types/source.ts';
import { equalData } from './diff.ts';
import type { ObjectState, PendingOutcome, UidMemory } from './object-memory.ts';
import type { OwnWrite, WriteEnd } from './own-write.ts';
import { type PassDeps, patchObject, readObject } from './pass-deps.ts';
import { applyPatches } from './patch.ts';
import type { CollectedPatches } from './patch-collector.ts';
import type { Snapshot } from './snapshot.ts';

/** Conflicts in a row on one object before the pass gives up for a while. */
const CONFLICTS_MAX = 16;

/**
 * Writes the patches of the calls whose outcomes are pending: object first, record last (A8'). They are laid on the newest
 * state, by compare-and-set on its version, one call after the other.
 *
 * ```text
 *   newest N --ifUnchanged, and the input is another one; or they do not fit--> superseded: no outcome, called again
 *      ^     --they change nothing-----------------------------------------> landed
 *      |     --patch, if still N--> patched: the answer is the newest state -> landed
 *      |                            conflict: read, and again
 *      |                            gone -------------------------------------> dropped
 *      |                            refused for good ---------------------> refused: the call has failed
 *      +----- read <--------------- no answer; if the object is what was to come out: landed; else throw: the queue
 *                                   waits, and all of this is done again
 * ```
 *
 * Not promised: that a patch whose answer got lost is applied once, where somebody else wrote before it could be looked
 * for. A merge patch does not mind; a JSON patch that does needs a `test`.
 */
export async function landOwnWrites(deps: PassDeps, state: ObjectState, memory: UidMemory): Promise<void> {
  for (let next = firstToLand(memory); next !== undefined; next = firstToLand(memory)) {
    const { outcome, write } = next;
    const end = await land(deps, state, memory, write);
    if (end === 'superseded' || typeof end === 'object') {
      const refused = typeof end === 'object' ? { apply: write.refuse(end.error), replans: false } : undefined;
      memory.replace(outcome, refused);
      // It was kept up with an outcome that is none.
      memory.agenda = undefined;
      memory.adoptedOn = undefined;
    }
    if (typeof end !== 'object') write.end(end);
  }
}

/**
 * Whether patches of calls that have ended are still to be written. To be asked right before their outcomes are taken up: with
 * `parallel`, a call may end between the last landing and whoever has waited for it.
 */
export function hasToLand(memory: UidMemory): boolean {
  return firstToLand(memory) !== undefined;
}

function firstToLand(memory: UidMemory): { readonly outcome: PendingOutcome; readonly write: OwnWrite } | undefined {
  for (const outcome of memory.outcomes) {
    const { write } = outcome;
    if (write !== undefined && !write.hasEnded) return { outcome, write };
  }
  return undefined;
}

/** As `WriteEnd`, a refusal with its error. */
type Landing = Exclude<WriteEnd, 'refused'> | { readonly error: unknown };

async function land(deps: PassDeps, state: ObjectState, memory: UidMemory, write: OwnWrite): Promise<Landing> {
  const { ifUnchanged, patches } = write.collected;
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    if (deps.stopped.aborted) throw new ClosedError('patch an object');
    const base = state.newest;
    if (base?.uid !== memory.uid || base.deleting !== write.isDeleting) return 'dropped';
    if (write.hasMade(base)) return 'landed';
    if (ifUnchanged && !write.isUnchangedOn(base)) return 'superseded';
    const object = tryApply(base, patches);
    if (object === undefined) return 'superseded';
    if (equalData(object.value, base.object)) return 'landed';
    const result = await send(deps, state, write, base, object.value);
    if ('error' in result) return result;
    if (result.type === 'patched') {
      deps.counters.patches++;
      memory.guard.isWritten = true;
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
): Promise<SourcePatchResult | { readonly error: unknown }> {
  const { patches } = write.collected;
  state.patchSent();
  try {
    const result = await patchObject(deps, { name: state.name, uid, resourceVersion, patches });
    // At once: what the watch brings before the answer is taken in, it brings while the patch is on its way.
    const made = result.type === 'patched' ? result.object : undefined;
    if (made !== undefined) deps.table.observe(made, true);
    state.patchEnded((next) => next.resourceVersion === made?.resourceVersion);
    return result;
  } catch (error) {
    if (isRefusal(error)) return { error };
    write.doubt = { resourceVersion, object };
    await readObject(deps, state);
    const newest = state.newest;
    if (newest?.uid === uid && write.hasMade(newest)) return { type: 'conflict' };
    throw error;
  } finally {
    // Where nobody answered, what the patch was to make is taken for its work.
    state.patchEnded((next) => write.hasMade(next));
  }
}

/** The source has said that the patch is not applied, and that to ask again is no use: it is for its handler to know. */
function isRefusal(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent && !error.maybeCommitted;
  return error instanceof ValueError || error instanceof LimitExceededError || error instanceof UnsupportedError;
}

/** `undefined` where they do not fit. */
function tryApply(base: Snapshot, patches: CollectedPatches['patches']): { readonly value: unknown } | undefined {
  try {
    return { value: applyPatches(base.object, patches) };
  } catch {
    return undefined;
  }
}
