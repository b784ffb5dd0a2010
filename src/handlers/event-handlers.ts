import { isCount, KeyedQueue } from '../queue/keyed-queue.ts';
import { wrongNumber } from '../types/wrong-number.ts';
import { checkAttempts, checkNames } from './checks.ts';
import type { EventContext, EventFunction, EventOptions } from './event-options.ts';
import { FILTER_NAMES } from './filter-options.ts';
import { type ObjectFilter, objectFilter } from './filters.ts';
import type { KindDeps } from './kind-deps.ts';
import type { Snapshot } from './snapshot.ts';
import { TimedCall } from './timed-call.ts';

const NAMES: readonly (keyof EventOptions)[] = [...FILTER_NAMES, 'id', 'backlogMax', 'timeoutMs'];

interface EventHandler {
  readonly id: string;
  readonly filter: ObjectFilter | undefined;
  readonly backlogMax: number;
  readonly timeoutMs: number | undefined;
  readonly fn: EventFunction;
}

interface Event {
  readonly type: EventContext['type'];
  readonly snapshot: Snapshot;
}

/** What waits for one handler about one name. */
interface Backlog {
  readonly handler: EventHandler;
  readonly events: Event[];
}

/**
 * Tells handlers of raw events (A21'): every state that the controller accepts, and every deletion.
 *
 * ```text
 *   accepted state --in scope--> backlog of (handler, name) --one after the other--> call
 *                                full: the oldest goes        what it throws is logged
 * ```
 *
 * - Calls of one handler for one name never overlap and are in order; all of them together are at most `concurrency`.
 * - No record and no retry: what a process did not get to, or has failed, is lost.
 * - They run beside the passes of their object, and nobody waits for them: neither `idle` nor a handler of changes.
 */
export class EventHandlers {
  readonly #deps: KindDeps;
  readonly #handlers: EventHandler[] = [];
  readonly #backlogs = new Map<string, Backlog>();
  readonly #running = new Set<TimedCall>();
  readonly #queue: KeyedQueue;

  constructor(deps: KindDeps) {
    this.#deps = deps;
    const { clock, random, pacer, concurrency } = deps;
    this.#queue = new KeyedQueue({ run: (key) => this.#callNext(key), concurrency, pacer, clock, random });
  }

  add(action: string, options: EventOptions<never>, fn: EventFunction<never>): void {
    checkNames(action, options, NAMES);
    checkAttempts(action, options);
    const { id, backlogMax = 16, timeoutMs } = options;
    if (!isCount(backlogMax) || backlogMax === Number.POSITIVE_INFINITY) {
      throw wrongNumber(action, 'backlogMax', backlogMax, 'a whole number from 1 on');
    }
    const filter = objectFilter(action, options);
    // A source yields nothing but what its type says, so this is where `T` becomes `unknown`.
    this.#handlers.push({ id, filter, backlogMax, timeoutMs, fn: fn as EventFunction });
  }

  /** Tells of one step of a name: from one state, or nothing, to another, or nothing. */
  observe(before: Snapshot | undefined, newest: Snapshot | undefined): void {
    const isSameLife = before?.uid === newest?.uid;
    if (before !== undefined && !isSameLife) this.#tell({ type: 'deleted', snapshot: before });
    if (newest !== undefined) this.#tell({ type: isSameLife ? 'modified' : 'added', snapshot: newest });
  }

  close(reason: unknown): void {
    this.#queue.close();
    for (const call of this.#running) call.abort(reason);
  }

  drained(): Promise<void> {
    return this.#queue.drained();
  }

  /** Nobody waits for what is still running. */
  abandon(): void {
    for (const call of this.#running) call.abandon();
  }

  #tell(event: Event): void {
    for (const handler of this.#handlers) {
      if (!event.snapshot.isFor(handler)) continue;
      const key = `${handler.id}/${event.snapshot.name}`;
      const backlog = this.#backlogs.get(key) ?? { handler, events: [] };
      this.#backlogs.set(key, backlog);
      if (backlog.events.length >= handler.backlogMax) {
        backlog.events.shift();
        this.#deps.kindCounters.eventsDropped++;
      }
      backlog.events.push(event);
      this.#queue.notify(key);
    }
  }

  async #callNext(key: string): Promise<'again' | 'idle'> {
    const backlog = this.#backlogs.get(key);
    const event = backlog?.events.shift();
    if (backlog !== undefined && event !== undefined) await this.#call(backlog.handler, event);
    if (backlog !== undefined && backlog.events.length > 0) return 'again';
    this.#backlogs.delete(key);
    return 'idle';
  }

  async #call({ id, timeoutMs, fn }: EventHandler, { type, snapshot }: Event): Promise<void> {
    const { clock, logger, kindCounters, stopping, index } = this.#deps;
    const { name, uid, resourceVersion, deleting } = snapshot;
    const call = new TimedCall(id);
    if (stopping.aborted) return;
    this.#running.add(call);
    kindCounters.events++;
    const { signal } = call;
    const contextOf = (): EventContext => {
      const { object } = snapshot;
      return Object.freeze({ type, object, uid, name, resourceVersion, deleting, signal, index });
    };
    const result = await call.run(() => fn(contextOf()), timeoutMs, clock);
    this.#running.delete(call);
    if (result.ok || result.aborted) return;
    kindCounters.eventFailures++;
    logger.error(`Event handler "${id}" failed`, { name, uid, resourceVersion, type, error: result.error });
  }
}
