import type { RunResult } from '../queue/keyed-queue.ts';
import { Breaker } from './breaker.ts';
import { type ObjectState, UidMemory } from './object-memory.ts';
import { Pass } from './pass.ts';
import type { PassDeps } from './pass-deps.ts';

/** The turn of an object: what is left of dead uids goes, then one pass on its newest state; and its places in line are kept. */
export async function runPass(deps: PassDeps, state: ObjectState): Promise<RunResult> {
  deps.counters.passes++;
  deps.admission.enter(state.name);
  try {
    const result = await pass(deps, state);
    // Who comes back at once keeps what it has asked for, and its place in every line.
    if (result !== 'again') deps.admission.rest(state.name);
    return result;
  } catch (error) {
    deps.admission.leave(state.name);
    throw error;
  }
}

async function pass(deps: PassDeps, state: ObjectState): Promise<RunResult> {
  if (state.hasGarbage) await deleteGarbage(deps, state);
  const snapshot = state.newest;
  if (state.memory !== undefined && state.memory.uid !== snapshot?.uid) {
    state.memory.breaker?.forget();
    state.memory = undefined;
  }
  if (snapshot === undefined) {
    if (state.garbage.length === 0) deps.table.forget(state.name);
    return state.garbage.length === 0 ? 'idle' : 'again';
  }
  state.memory ??= new UidMemory(snapshot.uid, deps.breakers && new Breaker(deps.breakers));
  return new Pass(deps, state, state.memory, snapshot).run();
}

/** Documents of dead uids go before anything is done for the living one. */
async function deleteGarbage(deps: PassDeps, state: ObjectState): Promise<void> {
  for (const uid of state.garbage) {
    if (deps.stopped.aborted) return;
    await deps.progress.delete(uid);
    state.collected(uid);
  }
}
