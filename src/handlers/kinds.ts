import { checkObject } from './checks.ts';
import type { HandlerFunction } from './context.ts';
import { EventHandlers } from './event-handlers.ts';
import type { EventFunction, EventOptions } from './event-options.ts';
import type { KindDeps, KindStats } from './kind-deps.ts';
import type { HandlerOptions } from './options.ts';
import type { Registry } from './registry.ts';
import type { Snapshot } from './snapshot.ts';

/** Options and function of every kind of handler. */
export interface KindTable<T = unknown> {
  readonly change: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly create: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly update: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly resume: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly delete: Kind<HandlerOptions<T>, HandlerFunction<T>>;
  readonly event: Kind<EventOptions<T>, EventFunction<T>>;
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
  readonly #registry: Registry;
  readonly #events: EventHandlers;
  readonly #counters: KindStats;
  readonly #seen = new Map<string, Snapshot>();

  constructor(registry: Registry, deps: KindDeps) {
    this.#registry = registry;
    this.#counters = deps.counters;
    this.#events = new EventHandlers(deps);
  }

  get stats(): KindStats {
    return { ...this.#counters };
  }

  /** Registers a handler of any kind. The kind says of which form the rest is. */
  add(kind: string, options: AnyKind['options'], fn: AnyKind['fn']): void {
    if (kind !== 'event') {
      this.#registry.add(kind, options as HandlerOptions<never>, fn as HandlerFunction<never>);
      return;
    }
    checkObject('register a handler', options);
    const action = `register handler "${options.id}"`;
    this.#registry.check(action, options, fn);
    this.#events.add(action, options as EventOptions<never>, fn as EventFunction<never>);
    this.#registry.take(options.id);
  }

  /** Told of the newest state of a name whenever that is another one, `undefined` if nothing lives under it. */
  observe(name: string, newest: Snapshot | undefined): void {
    const before = this.#seen.get(name);
    if (before === newest) return;
    if (newest === undefined) this.#seen.delete(name);
    else this.#seen.set(name, newest);
    this.#events.observe(before, newest);
  }

  /** No call begins any more; those that are going on get the abort. */
  close(reason: unknown): void {
    this.#events.close(reason);
  }

  /** Resolves once none is going on any more. */
  async drained(): Promise<void> {
    await this.#events.drained();
  }

  /** Nobody waits for those that are still going on. */
  abandon(): void {
    this.#events.abandon();
  }
}
