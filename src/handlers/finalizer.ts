import { BackendError } from '../types/errors.ts';
import type { SourceObject, SourcePatch } from '../types/source.ts';
import { equalData } from './diff.ts';
import type { ObjectState } from './object-memory.ts';
import { type PassDeps, readObject } from './pass-deps.ts';
import { sendPatch } from './send-patch.ts';
import type { Snapshot } from './snapshot.ts';

/** Whether the object is kept for this controller when somebody deletes it. */
export function isHeld({ finalizer }: PassDeps, snapshot: Snapshot): boolean {
  return snapshot.finalizers.includes(finalizer);
}

/**
 * Whether an object that lives has to be kept from now on: a handler is for it that its deletion concerns. Once it is, it
 * stays so: who is out of scope by then is asked at the deletion (A11'd).
 */
export function mustHold(deps: PassDeps, snapshot: Snapshot): boolean {
  if (snapshot.deleting || isHeld(deps, snapshot)) return false;
  return deps.handlers.some(
    (handler) => (handler.kind === 'delete' || handler.retire !== undefined) && snapshot.viewOf(handler) !== undefined,
  );
}

/** Adds the finalizer, before there is any effect to clean up (A11'a, A12'). */
export function hold(deps: PassDeps, state: ObjectState, snapshot: Snapshot): Promise<void> {
  return patchOn(deps, state, snapshot, { addFinalizer: deps.finalizer });
}

/** Removes the finalizer from the very state on which nothing was left to do; if that is not the newest, nothing (A11'c). */
export function release(deps: PassDeps, state: ObjectState, snapshot: Snapshot): Promise<void> {
  return patchOn(deps, state, snapshot, { removeFinalizer: deps.finalizer });
}

async function patchOn(
  deps: PassDeps,
  state: ObjectState,
  snapshot: Snapshot,
  change: Pick<SourcePatch, 'addFinalizer' | 'removeFinalizer'>,
): Promise<void> {
  const { name, uid, resourceVersion } = snapshot;
  const isHolding = change.addFinalizer !== undefined;
  const patch = { name, uid, resourceVersion, patches: [], ...change };
  const isMade = (next: Snapshot) => isHeld(deps, next) === isHolding && equalData(next.object, snapshot.object);
  const result = await sendPatch(deps, state, patch, { isOwn: true, isMade });
  if (result.type === 'conflict') return readObject(deps, state);
  if (result.type === 'gone') return deps.table.vanish(name, uid);
  const { object } = result;
  if (isHeldObject(deps, object) !== isHolding) {
    // Asked again at once, it would do the same: the queue waits.
    throw new BackendError('patch an object', `its source leaves the finalizer ${deps.finalizer} as it was`);
  }
  deps.counters.patches++;
  const isGone = object.deleting && (object.finalizers ?? []).length === 0;
  if (isGone) deps.table.vanish(name, uid);
}

function isHeldObject({ finalizer }: PassDeps, { finalizers = [] }: SourceObject): boolean {
  return finalizers.includes(finalizer);
}
