import type { RunResult } from '../queue/keyed-queue.ts';
import { Breaker } from './breaker.ts';
import { type ObjectState, UidMemory } from './object-memory.ts';
import { Pass } from './pass.ts';
import type { PassDeps } from './pass-deps.ts';

/** What takes turns with the passes of an object: its timers and daemons. */
export interface Calls {
  /** Whether `turn` would make a call now. */
  isDue(name: string): boolean;
  /** `undefined`: it has none. */
  turn(state: ObjectState): Promise<void> | undefined;
}

/**
 * The turn of an object: what is left of dead uids goes, then one pass on its newest state, then the calls that take turns
 * with passes; and its places in line are kept.
 */
export async function runTurn(deps: PassDeps, calls: Calls, state: ObjectState): Promise<RunResult> {
  const { admission, counters } = deps;
  const { name } = state;
  counters.passes++;
  admission.enter(name);
  try {
    const result = await passOrFail(deps, calls, state);
    const others = otherCalls(deps, calls, state);
    if (others !== undefined) await others;
    if (result === 'again') admission.comeBack(name);
    else admission.rest(name);
    return result;
  } catch (error) {
    // It waits by backoff now, and nobody can wake it.
    admission.leave(name);
    throw error;
  }
}

/** One pass. Whatever keeps it from its end, the other calls have their turn. */
async function passOrFail(deps: PassDeps, calls: Calls, state: ObjectState): Promise<RunResult> {
  try {
    return await (state.hasGarbage ? passAfterGarbage(deps, state) : pass(deps, state));
  } catch (error) {
    const { name } = state;
    deps.admission.leave(name);
    try {
      await otherCalls(deps, calls, state);
    } catch (second) {
      // The first one is told of by the queue.
      if (!deps.stopped.aborted)
        deps.logger.error('Cannot call the timers and daemons of an object', { name, error: second });
    }
    throw error;
  }
}

function otherCalls({ admission }: PassDeps, calls: Calls, state: ObjectState): Promise<void> | undefined {
  if (calls.isDue(state.name)) {
    // It is woken for what it waits for, and has its calls after that.
    if (admission.isOverdue(state.name)) return undefined;
    admission.away(state.name);
  }
  return calls.turn(state);
}

async function passAfterGarbage(deps: PassDeps, state: ObjectState): Promise<RunResult> {
  await deleteGarbage(deps, state);
  return pass(deps, state);
}

function pass(deps: PassDeps, state: ObjectState): RunResult | Promise<RunResult> {
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
