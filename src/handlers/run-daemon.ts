import type { Patch } from '../types/patch.ts';
import type { KindDeps } from './kind-deps.ts';
import type { ObjectState } from './object-memory.ts';
import { outcomeOf } from './outcome.ts';
import { checkParts } from './parts.ts';
import { reportSpawn } from './report-spawn.ts';
import type { DaemonHandler, Spawn } from './spawn.ts';
import { DaemonCall } from './spawn-context.ts';
import type { SpawnedObject } from './spawned-object.ts';
import { TimedCall } from './timed-call.ts';
import { type ObjectWriteEnd, writeObject } from './write-object.ts';

/**
 * Calls a daemon and judges its end (A23'). Resolves with `false` if nobody waited for it any more. Never rejects.
 */
export async function runDaemon(
  deps: KindDeps,
  state: ObjectState,
  object: SpawnedObject,
  spawn: Spawn<DaemonHandler>,
): Promise<boolean> {
  const { clock, counters, logger, random, source } = deps;
  const { handler, changes } = spawn;
  const { name, uid } = object;
  const startedMs = clock.now();
  const call = new TimedCall(handler.id);
  spawn.call = call;
  counters.calls++;
  const { signal } = call;
  const context = new DaemonCall(handler.id, object.newest, spawn.failures, signal, {
    newest: () => object.newest,
    index: deps.index,
    write:
      source.patch === undefined
        ? undefined
        : async (patch) => {
            const end = await writeNow(deps, state, spawn, { uid, patch, signal });
            // Whatever keeps it from being written has ended the daemon, too.
            if (end !== 'landed') signal.throwIfAborted();
          },
    onRefused: (error) => logger.warn(`A patch of daemon "${handler.id}" is not applied`, { name, uid, error }),
  });
  const result = await call.run(() => handler.fn(context), undefined, clock);
  context.close();
  if (spawn.call !== call) {
    logger.info(`Daemon "${handler.id}" has ended after it was abandoned`, { name, uid });
    return false;
  }
  spawn.call = undefined;
  spawn.cancelAbandoning();
  const outcome = outcomeOf(result, { failures: spawn.failures }, handler, random);
  reportSpawn(deps, 'Daemon', handler.id, object.newest, outcome);
  // Who returns for its signal has not come to its own end.
  if (!signal.aborted || outcome.kind === 'permanent') spawn.settle(outcome, { startedMs, changes }, clock.now());
  return true;
}

/** A patch of a daemon is by somebody else, for handlers: it is no part of their turns (A23'). For its own `idleMs` it is no change. */
async function writeNow(
  deps: KindDeps,
  state: ObjectState,
  spawn: Spawn<DaemonHandler>,
  { uid, patch, signal }: { readonly uid: string; readonly patch: Patch; readonly signal: AbortSignal },
): Promise<ObjectWriteEnd> {
  const { handler } = spawn;
  try {
    return await writeObject(deps, state, {
      uid,
      deleting: false,
      patches: [patch],
      isOwn: false,
      accepts: () => !signal.aborted,
      onSend: (base, object) => {
        checkParts('patch an object', object);
        if (handler.idleMs !== undefined) spawn.expected = base.patched(object).viewOf(handler)?.digest;
      },
    });
  } finally {
    spawn.expected = undefined;
  }
}
