import type { Clock } from '../types/clock.ts';
import type { Admission } from './admission.ts';
import { isOlder, type VersionOrder } from './commit.ts';
import { errorText } from './error-text.ts';
import { textOf } from './explain-text.ts';
import type { Explanation, HandlerExplanation, Reason } from './explanation.ts';
import { type HandlerStatus, inspect } from './inspect.ts';
import { waitOf } from './jobs.ts';
import type { ObjectState, UidMemory } from './object-memory.ts';
import { handlerIdOf, parentIdOf } from './record-id.ts';
import type { Handler } from './registry.ts';
import { retirementWait } from './retirement-turn.ts';

export interface ExplainDeps extends VersionOrder {
  readonly handlers: readonly Handler[];
  readonly finalizer: string;
  readonly admission: Admission;
  readonly clock: Clock;
}

/** Nothing is to be done for the handler or sub on this state. */
const DONE: ReadonlySet<Reason['why']> = new Set<Reason['why']>(['filtered', 'kind', 'settled', 'failed']);

/** Explains what is, or is not, done for an object at this moment. Calls nobody, but for pure functions of a new state. */
export function explain(
  deps: ExplainDeps,
  name: string,
  state: ObjectState | undefined,
  place: 'idle' | 'queued' | 'running' | 'waiting' | 'backing-off' | 'left',
): Explanation {
  const status = inspect(state, deps.handlers);
  const snapshot = state?.newest;
  if (state === undefined || status === undefined || snapshot === undefined) {
    return withText({
      name,
      object: 'unknown',
      uid: undefined,
      resourceVersion: undefined,
      trouble: undefined,
      handlers: [],
    });
  }
  const nowMs = deps.clock.now();
  const { trouble } = state;
  const isTrouble = place === 'backing-off' && trouble !== undefined;
  const isUnheld = snapshot.deleting && !snapshot.finalizers.includes(deps.finalizer);
  const memory = state.memory?.uid === snapshot.uid ? state.memory : undefined;
  const handlers = status.handlers.map((one): HandlerExplanation => {
    const handler = handlerOf(deps.handlers, one.id);
    const reason: Reason =
      handler === undefined ? { why: 'due' } : new Explainer(deps, state, memory, handler, one).reason();
    // Subs are counted for their handler: of those that are done, none is what it is behind with.
    const sinceMs = DONE.has(reason.why) ? undefined : memory?.lag.sinceMs(handler?.id ?? '');
    return {
      id: one.id,
      retires: one.state === 'retiring',
      reason,
      behindMs: sinceMs === undefined ? undefined : nowMs - sinceMs,
    };
  });
  return withText({
    name,
    object: isUnheld ? 'unheld' : isTrouble ? 'trouble' : place === 'backing-off' ? 'waiting' : place,
    uid: snapshot.uid,
    resourceVersion: snapshot.resourceVersion,
    trouble: isTrouble ? { error: trouble.error, inMs: Math.max(0, trouble.untilClockMs - nowMs) } : undefined,
    handlers,
  });
}

function withText(explanation: Omit<Explanation, 'text'>): Explanation {
  return { ...explanation, text: textOf(explanation) };
}

function handlerOf(handlers: readonly Handler[], id: string): Handler | undefined {
  const handlerId = handlerIdOf(id);
  return handlers.find((handler) => handler.id === handlerId);
}

/** Which of them, would need the step from what was handled; together they say that it is not for this one (A20'). */
const CHANGE_FILTERS = 'value, old or new';

/** Looks at one handler or sub, in the order in which the controller would. */
class Explainer {
  readonly #deps: ExplainDeps;
  readonly #state: ObjectState;
  readonly #memory: UidMemory | undefined;
  readonly #handler: Handler;
  readonly #status: HandlerStatus;
  readonly #nowMs: number;

  constructor(
    deps: ExplainDeps,
    state: ObjectState,
    memory: UidMemory | undefined,
    handler: Handler,
    status: HandlerStatus,
  ) {
    this.#deps = deps;
    this.#state = state;
    this.#memory = memory;
    this.#handler = handler;
    this.#status = status;
    this.#nowMs = deps.clock.now();
  }

  reason(): Reason {
    const { id } = this.#status;
    if (this.#state.running.some((call) => call.id === id)) return { why: 'running' };
    if (this.#state.newest?.hasFault(id) === true) return { why: 'fault', error: errorText(this.#status.fault) };
    return this.#outOfScope() ?? this.#settled() ?? this.#wait() ?? this.#restraint() ?? { why: 'due' };
  }

  #outOfScope(): Reason | undefined {
    const { id, inScope, state } = this.#status;
    const { newest, memory, name } = this.#state;
    if (state === 'retiring') {
      const doc = memory?.effective(name);
      const wait = newest && doc && retirementWait(doc, { handler: this.#handler, id }, newest);
      if (wait === undefined) return undefined;
      return 'childId' in wait ? { why: 'children', ...wait } : { why: 'parent', ...wait };
    }
    if (inScope) return undefined;
    if (id !== this.#handler.id) return { why: 'parent', parentId: parentIdOf(id) ?? id };
    return newest?.deleting === (this.#handler.kind === 'delete')
      ? { why: 'filtered', filter: newest.refusalOf(this.#handler) ?? CHANGE_FILTERS }
      : { why: 'kind' };
  }

  #settled(): Reason | undefined {
    const { id, digest, attempted, state } = this.#status;
    if (digest === undefined || attempted !== digest) return undefined;
    if (state === 'ok') return { why: 'settled', digest };
    return state === 'failed' ? { why: 'failed', digest, error: this.#memory?.errors.get(id) } : undefined;
  }

  /** A wait of its own: for a retry, a rebuild of its parent, or the guard against loops. */
  #wait(): Reason | undefined {
    const { id, digest, attempts, loop, state } = this.#status;
    const memory = this.#memory;
    if (memory === undefined) return undefined;
    const record = memory.effective(this.#state.name).record(id);
    const wait = waitOf({ retires: state === 'retiring', digest }, record);
    const inMs = memory.wakeOf(id, wait, this.#deps.clock) - this.#nowMs;
    if (inMs <= 0) return undefined;
    if (wait !== undefined && wait.wakeAtWallMs > 0) {
      return { why: 'retry', inMs, failures: attempts, error: memory.errors.get(id) };
    }
    return loop === undefined ? { why: 'rebuild', inMs } : { why: 'loop', inMs, ...loop };
  }

  #restraint(): Reason | undefined {
    const { admission } = this.#deps;
    const { newest, name } = this.#state;
    const doc = this.#memory?.effective(name);
    if (newest !== undefined && doc !== undefined && isOlder(this.#deps, newest, doc)) {
      return { why: 'old', recorded: doc.header.resourceVersion };
    }
    if (admission.isPaused) return { why: 'paused' };
    const breaker = this.#memory?.breaker;
    const inMs = (breaker?.wakeClockMs ?? 0) - this.#nowMs;
    if (breaker !== undefined && inMs > 0) return { why: 'breaker', inMs, failures: breaker.status.failures };
    const why = admission.restraintOf(this.#state.name, this.#handler);
    return why === undefined ? undefined : { why };
  }
}
