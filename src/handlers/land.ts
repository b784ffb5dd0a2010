import type { ObjectState, PendingOutcome, UidMemory } from './object-memory.ts';
import type { OwnWrite, WriteEnd } from './own-write.ts';
import type { PassDeps } from './pass-deps.ts';
import { isRefusal, writeObject } from './write-object.ts';

/**
 * Writes the patches of the calls whose outcomes are pending: object first, record last (A8'). They are laid on the newest
 * state, by compare-and-set on its version, one call after the other.
 *
 * ```text
 *   not accepted: `ifUnchanged`, and the input is another one;  or they do not fit --> superseded: no outcome, called again
 *   landed, dropped (see `writeObject`) ----------------------------------------------> the outcome is written
 *   landed, and the handler sees what its call was told ------------------------------> so it is, as of that (A8'c)
 *   refused for good -----------------------------------------------------------------> refused: the call has failed
 *   no answer, conflicts --> thrown: the queue waits, and all of this is done again
 * ```
 *
 * Not promised: that a patch whose answer got lost is applied once, where somebody else wrote before it could be looked
 * for. A merge patch does not mind; a JSON patch that does needs a `test`.
 */
export async function landOwnWrites(deps: PassDeps, state: ObjectState, memory: UidMemory): Promise<void> {
  for (let next = firstToLand(memory); next !== undefined; next = firstToLand(memory)) {
    const { outcome, write } = next;
    const end = await land(deps, state, memory, write);
    if (end === 'ignored') {
      const { ignored, replans } = outcome;
      if (ignored !== undefined) memory.replace(outcome, { apply: ignored(), replans });
      memory.agenda = undefined;
    }
    if (end === 'superseded' || typeof end === 'object') {
      const refused = typeof end === 'object' ? { apply: write.refuse(end.error), replans: false } : undefined;
      memory.replace(outcome, refused);
      // It was kept up with an outcome that is none.
      memory.agenda = undefined;
      memory.adoptedOn = undefined;
    }
    if (typeof end !== 'object') write.end(end === 'ignored' ? 'landed' : end);
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

/** As `WriteEnd`, a refusal with its error. `ignored`: landed, but the handler sees what its call was told. */
type Landing = Exclude<WriteEnd, 'refused'> | 'ignored' | { readonly error: unknown };

async function land(deps: PassDeps, state: ObjectState, memory: UidMemory, write: OwnWrite): Promise<Landing> {
  const { ifUnchanged, patches } = write.collected;
  // What is thrown between `accepts` and `onSend` is that they do not fit.
  let isLaying = false;
  let isIgnored = false;
  try {
    const end = await writeObject(deps, state, {
      uid: memory.uid,
      deleting: write.isDeleting,
      patches,
      isOwn: true,
      accepts: (base) => {
        if (ifUnchanged && !write.isUnchangedOn(base)) return false;
        isLaying = true;
        return true;
      },
      onSend: () => {
        isLaying = false;
      },
      onPatched: (made) => {
        isIgnored = write.isUnchangedOn(made);
      },
      doubt: write.doubt,
    });
    if (isIgnored) return 'ignored';
    return end === 'refused' ? 'superseded' : end;
  } catch (error) {
    if (isLaying) return 'superseded';
    if (isRefusal(error)) return { error };
    throw error;
  }
}
