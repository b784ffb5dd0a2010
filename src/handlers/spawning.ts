import { hold, isHeld } from './finalizer.ts';
import type { KindDeps } from './kind-deps.ts';
import type { ObjectState } from './object-memory.ts';
import { readObject } from './pass-deps.ts';
import { runDaemon } from './run-daemon.ts';
import { runTimer } from './run-timer.ts';
import type { Snapshot } from './snapshot.ts';
import { type DaemonHandler, Spawn, type SpawnHandler, type TimerHandler } from './spawn.ts';
import type { SpawnedObject } from './spawned-object.ts';

/**
 * Keeps the timers and daemons of every object (A22', A23').
 *
 * ```text
 *   accepted state --> spawns of its uid: in scope? when due? --time--> the object is put in line
 *                                                                            |
 *          turn of the object: pass, then each spawn that is due, once  <----+
 *                timer: the call is waited for       daemon: the finalizer is set, the call begins and goes on by itself
 * ```
 *
 * - Timers take turns with the passes of their object, so its calls do not overlap; daemons run beside them.
 * - Nothing begins for a uid before the object was read, nor once it is known to be dead, on its way out, or out of scope.
 * - Another uid under a name gets its own when the calls of the one before have ended or were abandoned.
 * - One timer of the clock for an object that has something to wait for. None of this counts as work that is behind.
 */
export class Spawning {
  readonly #deps: KindDeps;
  readonly #handlers: SpawnHandler[] = [];
  readonly #objects = new Map<string, SpawnedObject>();
  /** The ends of calls of daemons that are waited for. */
  readonly #daemons = new Map<Spawn, Promise<void>>();
  #isClosed = false;

  constructor(deps: KindDeps) {
    this.#deps = deps;
  }

  /** Daemons whose calls go on and are waited for. */
  get running(): number {
    let running = 0;
    for (const { spawns } of this.#objects.values()) running += spawns.filter(isRunningDaemon).length;
    return running;
  }

  add(handler: SpawnHandler): void {
    this.#handlers.push(handler);
  }

  /** Told of the newest state of a name, `undefined` if nothing lives under it. */
  observe(name: string, newest: Snapshot | undefined): void {
    if (this.#handlers.length === 0 || this.#isClosed) return;
    const object = this.#objects.get(name);
    if (object !== undefined && object.uid !== newest?.uid) this.#bury(object);
    else if (object !== undefined && newest !== undefined) this.#see(object, newest);
    else if (newest !== undefined) this.#see(this.#open(name, newest), newest);
  }

  /** Whether `turn` would make a call for an object now. */
  isDue(name: string): boolean {
    const object = this.#objects.get(name);
    return object?.spawns.some((spawn) => this.#isDue(object, spawn)) === true;
  }

  /** Makes the calls that are due for an object. To be called when no other call for it is going on. */
  turn(state: ObjectState): Promise<void> | undefined {
    const object = this.#objects.get(state.name);
    return object === undefined ? undefined : this.#turnOf(object, state);
  }

  async #turnOf(object: SpawnedObject, state: ObjectState): Promise<void> {
    try {
      for (const spawn of object.spawns) {
        if (!this.#mayBegin(object, spawn)) continue;
        await this.#prepare(object, spawn, state);
        // Once more, and nothing between this and the call: whoever ends calls has to find it.
        if (!this.#mayBegin(object, spawn) || !this.#isPrepared(object, spawn)) continue;
        if (isTimer(spawn)) await runTimer(this.#deps, state, object, spawn);
        else if (isDaemon(spawn)) this.#start(object, spawn, state);
      }
    } finally {
      this.#next(object);
    }
  }

  /** Whether a daemon of this uid has not ended yet. */
  isOccupied(name: string, uid: string): boolean {
    const object = this.#objects.get(name);
    return object?.uid === uid && object.spawns.some(isRunningDaemon);
  }

  /** Nothing begins any more, and what goes on gets the abort. */
  close(reason: unknown): void {
    this.#isClosed = true;
    for (const object of this.#objects.values()) {
      object.cancel();
      for (const spawn of object.spawns) {
        spawn.cancelAbandoning();
        spawn.call?.abort(reason);
      }
    }
  }

  async drained(): Promise<void> {
    await Promise.all(this.#daemons.values());
  }

  /** Nobody waits for what is still going on. */
  abandon(): void {
    for (const { spawns } of this.#objects.values()) for (const { call } of spawns) call?.abandon();
  }

  #open(name: string, newest: Snapshot): SpawnedObject {
    const spawns = this.#handlers.map((handler) => new Spawn(handler));
    const object: SpawnedObject = {
      name,
      uid: newest.uid,
      spawns,
      newest,
      isFresh: false,
      isDead: false,
      armedMs: Number.POSITIVE_INFINITY,
      cancel: () => {},
    };
    this.#objects.set(name, object);
    return object;
  }

  #see(object: SpawnedObject, newest: Snapshot): void {
    object.newest = newest;
    for (const spawn of object.spawns) {
      spawn.see(newest, this.#deps.clock.now());
      if (!spawn.isInScope) this.#stop(object, spawn, newest.deleting ? 'is on its way out' : 'is out of scope');
    }
    this.#arm(object);
  }

  #bury(object: SpawnedObject): void {
    object.isDead = true;
    for (const spawn of object.spawns) this.#stop(object, spawn, 'is deleted');
    this.#next(object);
  }

  /** Ends a call that nobody wants any more; a daemon that does not end in time is left to itself. */
  #stop(object: SpawnedObject, spawn: Spawn, reason: string): void {
    const { call } = spawn;
    if (call === undefined || call.signal.aborted) return;
    const { clock, logger, kindCounters } = this.#deps;
    if (isDaemon(spawn) && spawn.handler.cancellationTimeoutMs !== Number.POSITIVE_INFINITY) {
      const { id, cancellationTimeoutMs } = spawn.handler;
      spawn.cancelAbandoning = clock.after(cancellationTimeoutMs, () => {
        kindCounters.daemonsAbandoned++;
        const { name, uid } = object;
        logger.error(`Daemon "${id}" has not ended ${cancellationTimeoutMs} ms after its signal: it is abandoned`, {
          name,
          uid,
        });
        spawn.call = undefined;
        this.#daemons.delete(spawn);
        this.#ended(object);
      });
    }
    call.abort(new DOMException(`The object ${reason}`, 'AbortError'));
  }

  #isDue(object: SpawnedObject, spawn: Spawn): boolean {
    return !this.#isClosed && !object.isDead && spawn.dueMs <= this.#deps.clock.now();
  }

  /** It is due, and no pause has come meanwhile: in one, the object is put in line for when it ends. */
  #mayBegin(object: SpawnedObject, spawn: Spawn): boolean {
    if (!this.#isDue(object, spawn)) return false;
    if (!this.#deps.admission.isPaused) return true;
    this.#deps.notify(object.name);
    return false;
  }

  /** Sees to what has to be so before a call for a uid. */
  async #prepare(object: SpawnedObject, spawn: Spawn, state: ObjectState): Promise<void> {
    const deps = this.#deps;
    object.isFresh ||= state.memory?.uid === object.uid && state.memory.fresh;
    if (!object.isFresh) {
      await readObject(deps, state);
      object.isFresh = true;
    }
    if (this.#isDue(object, spawn) && !this.#isPrepared(object, spawn)) await hold(deps, state, object.newest);
  }

  /** The object of a daemon is kept for its end, where that is possible. */
  #isPrepared(object: SpawnedObject, spawn: Spawn): boolean {
    return !isDaemon(spawn) || !this.#deps.canHold || isHeld(this.#deps, object.newest);
  }

  /** Begins a call of a daemon, which goes on by itself. */
  #start(object: SpawnedObject, spawn: Spawn<DaemonHandler>, state: ObjectState): void {
    const done = runDaemon(this.#deps, state, object, spawn).then((isKnown) => {
      // One that was abandoned has been replaced perhaps.
      if (!isKnown) return;
      this.#daemons.delete(spawn);
      this.#ended(object);
    });
    this.#daemons.set(spawn, done);
  }

  /** A daemon has ended or was abandoned. */
  #ended(object: SpawnedObject): void {
    this.#next(object);
    // The finalizer may go now.
    if (!object.isDead && object.newest.deleting) this.#deps.notify(object.name);
  }

  /** What is next for an object after a turn or the end of a daemon; for a dead one, the next uid under its name. */
  #next(object: SpawnedObject): void {
    if (this.#isClosed) return;
    const { name } = object;
    const isRunning = object.spawns.some(({ call }) => call !== undefined);
    if (object.isDead) {
      object.cancel();
      if (isRunning || this.#objects.get(name) !== object) return;
      this.#objects.delete(name);
      this.observe(name, this.#deps.table.get(name)?.newest);
      return;
    }
    this.#arm(object);
  }

  /** Has the object put in line when the first of its spawns is due. */
  #arm(object: SpawnedObject): void {
    const { clock, notify } = this.#deps;
    const dueMs = Math.min(...object.spawns.map((spawn) => spawn.dueMs));
    if (dueMs === object.armedMs) return;
    object.cancel();
    object.armedMs = dueMs;
    object.cancel = () => {};
    if (dueMs === Number.POSITIVE_INFINITY) return;
    const wake = (): void => {
      object.armedMs = Number.POSITIVE_INFINITY;
      notify(object.name);
    };
    const waitMs = dueMs - clock.now();
    if (waitMs > 0) object.cancel = clock.after(waitMs, wake);
    else wake();
  }
}

function isTimer(spawn: Spawn): spawn is Spawn<TimerHandler> {
  return spawn.handler.kind === 'timer';
}

function isDaemon(spawn: Spawn): spawn is Spawn<DaemonHandler> {
  return spawn.handler.kind === 'daemon';
}

function isRunningDaemon(spawn: Spawn): boolean {
  return isDaemon(spawn) && spawn.call !== undefined;
}
