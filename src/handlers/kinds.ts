import { Activities, type ActivityFunction, type ActivityOptions } from './activities.ts';
import { checkObject, registering } from './checks.ts';
import type { HandlerFunction } from './context.ts';
import { EventHandlers } from './event-handlers.ts';
import type { EventFunction, EventOptions } from './event-options.ts';
import type { IndexFunction, IndexOptions, ObjectIndex } from './index-options.ts';
import { Indexes } from './indexes.ts';
import type { KindDeps, KindStats } from './kind-deps.ts';
import type { ObjectState } from './object-memory.ts';
import type { HandlerOptions } from './options.ts';
import type { Registry } from './registry.ts';
import type { Snapshot } from './snapshot.ts';
import type { DaemonFunction, DaemonOptions, TimerFunction, TimerOptions } from './spawn-options.ts';
import { daemonOf, timerOf } from './spawn-registry.ts';
import { Spawning } from './spawning.ts';

/** Options and function of every kind of handler. */
export interface KindTable<T = unknown> {
  readonly change: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly create: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly update: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly resume: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly delete: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly event: Kind<EventOptions<T>, EventFunction<T>>;
  readonly timer: Kind<TimerOptions<T>, TimerFunction<T>>;
  readonly daemon: Kind<DaemonOptions<T>, DaemonFunction<T>>;
  readonly index: Kind<IndexOptions<T>, IndexFunction<T>>;
  readonly startup: Kind<ActivityOptions, ActivityFunction>;
  readonly cleanup: Kind<ActivityOptions, ActivityFunction>;
}

interface Kind<O, F> {
  readonly options: O;
  readonly fn: F;
}

type AnyKind = KindTable<never>[keyof KindTable];

/**
 * The kinds of handlers beside those that have records, and what they have in common: they are told of every accepted state,
 * and they end with the controller.
 */
export class Kinds {
  readonly #deps: KindDeps;
  readonly #registry: Registry;
  readonly #events: EventHandlers;
  readonly #indexes: Indexes;
  readonly #activities: Activities;
  readonly #spawning: Spawning;
  readonly #seen = new Map<string, Snapshot>();

  constructor(registry: Registry, deps: KindDeps) {
    this.#registry = registry;
    this.#deps = deps;
    this.#events = new EventHandlers(deps);
    this.#spawning = new Spawning(deps);
    this.#indexes = new Indexes(deps.logger);
    this.#activities = new Activities(deps);
  }

  get stats(): KindStats {
    return { ...this.#deps.kindCounters, daemons: this.#spawning.running, omitted: this.#indexes.omitted };
  }

  /** Registers a handler of any kind. The kind says of which form the rest is, and each form is checked. */
  add(kind: string, options: AnyKind['options'], fn: AnyKind['fn']): void {
    const add = this.#adderOf(kind);
    if (add === undefined) {
      this.#registry.add(kind, options as HandlerOptions<never>, fn as HandlerFunction<never>);
      return;
    }
    checkObject('register a handler', options);
    const action = registering(options.id);
    this.#registry.check(action, options, fn);
    add(action, options, fn);
    this.#registry.take(options.id);
  }

  /** Before the first list: `false` if the stop came first. Rejects where one has failed for good. */
  startup(): Promise<boolean> {
    return this.#activities.startup();
  }

  /** After everything else has ended. */
  cleanup(): Promise<void> {
    return this.#activities.cleanup();
  }

  /** Told of the newest state of a name whenever that is another one, `undefined` if nothing lives under it. */
  observe(name: string, newest: Snapshot | undefined): void {
    const before = this.#seen.get(name);
    if (before === newest) return;
    if (newest === undefined) this.#seen.delete(name);
    else this.#seen.set(name, newest);
    // Whoever is called next finds this state in the indexes.
    this.#indexes.observe(name, newest);
    this.#spawning.observe(name, newest);
    this.#events.observe(before, newest);
  }

  index<V>(id: string): ObjectIndex<V> {
    return this.#indexes.get(id);
  }

  /** Whether `turn` would make a call for the object now. */
  isDue(name: string): boolean {
    return !this.#deps.admission.isPaused && this.#spawning.isDue(name);
  }

  /** The turn of an object: to be called when no call for it is going on. In a pause it is put off to a pass after that. */
  turn(state: ObjectState): Promise<void> | undefined {
    if (!this.#deps.admission.isPaused) return this.#spawning.turn(state);
    this.#deps.notify(state.name);
    return undefined;
  }

  /** Whether the object has to stay, though nothing is left to do for its deletion. */
  isOccupied(name: string, uid: string): boolean {
    return this.#spawning.isOccupied(name, uid);
  }

  /** No call begins any more; those that are going on get the abort. */
  close(reason: unknown): void {
    this.#events.close(reason);
    this.#spawning.close(reason);
  }

  /** Resolves once none is going on any more. */
  async drained(): Promise<void> {
    await Promise.all([this.#events.drained(), this.#spawning.drained()]);
  }

  /** Nobody waits for those that are still going on. */
  abandon(): void {
    this.#events.abandon();
    this.#spawning.abandon();
  }

  #adderOf(kind: string): ((action: string, options: AnyKind['options'], fn: AnyKind['fn']) => void) | undefined {
    const { defaultBackoff } = this.#deps;
    switch (kind) {
      case 'event':
        return (action, options, fn) =>
          this.#events.add(action, options as EventOptions<never>, fn as EventFunction<never>);
      case 'index':
        return (action, options, fn) =>
          this.#indexes.add(action, options as IndexOptions<never>, fn as IndexFunction<never>);
      case 'timer':
        return (action, options, fn) =>
          this.#spawning.add(
            timerOf(action, options as TimerOptions<never>, fn as TimerFunction<never>, defaultBackoff),
          );
      case 'daemon':
        return (action, options, fn) =>
          this.#spawning.add(
            daemonOf(action, options as DaemonOptions<never>, fn as DaemonFunction<never>, defaultBackoff),
          );
      case 'startup':
      case 'cleanup':
        return (action, options, fn) =>
          this.#activities.add(kind, action, options as ActivityOptions, fn as ActivityFunction);
      default:
        return undefined;
    }
  }
}
