import type { Clock } from '../types/clock.ts';
import type { Admission, Restraint } from './admission.ts';
import { errorText } from './error-text.ts';
import { textOf } from './explain-text.ts';
import { type HandlerStatus, inspect } from './inspect.ts';

import type { ObjectState, UidMemory } from './object-memory.ts';
import type { Handler } from './registry.ts';
import { mayRetire } from './retirement-turn.ts';

/** Why a handler or sub is called for an object, or is not, on its newest known state. Times are from now, in ms. */
export type Reason =
  /** `when` says that the object is not for the handler. */
  | { readonly why: 'filtered'; readonly filter: 'when' }
  /** The object is on its way out and the handler is not for deletions, or the other way round. */
  | { readonly why: 'kind' }
  /** A user function has a fault on this state. */
  | { readonly why: 'fault'; readonly error: string }
  /** It has handled what it sees. */
  | { readonly why: 'settled'; readonly digest: string }
  /** It has failed for good on what it sees; `error` if this process has seen it fail. */
  | { readonly why: 'failed'; readonly digest: string; readonly error: string | undefined }
  | { readonly why: 'running' }
  /** Its parent has to be planned on this state first, or, for one that retires, to be settled. */
  | { readonly why: 'parent'; readonly parentId: string }
  | { readonly why: 'retry'; readonly inMs: number; readonly failures: number; readonly error: string | undefined }
  /** Its parent could not be called to register it again. */
  | { readonly why: 'rebuild'; readonly inMs: number }
  /** Own writes call it again and again (A8'). */
  | { readonly why: 'loop'; readonly inMs: number; readonly episodes: number; readonly paths: readonly string[] }
  /** The calls for the object are held back (A33'). */
  | { readonly why: 'breaker'; readonly inMs: number; readonly failures: number }
  /** Of the controller, of the handler, or of the rate: see `ControllerOptions` and `HandlerOptions`. */
  | { readonly why: Restraint }
  /** It is to be called, and in line. */
  | { readonly why: 'due' };

/** What is so of one handler, planned sub, or sub to retire. */
export interface HandlerExplanation {
  /** `handler` or `parent/sub`. */
  readonly id: string;
  /** It is a sub that has left the plan, and its work is to be undone. */
  readonly retires: boolean;
  readonly reason: Reason;
  /** For how long the object has been behind for the handler, subs counted in, in ms; `undefined` if it is not. */
  readonly behindMs: number | undefined;
}

/** What `controller.explain` says. */
export interface Explanation {
  readonly name: string;
  /**
   * `unknown`: nothing lives under the name, as far as is known. `unheld`: it is on its way out and not kept for this
   * controller, so nobody is called. `trouble`: the progress store or the source has failed, and nothing is done for the
   * object before the next attempt. `left`: the controller has stopped before all was done. Else what its place in the
   * queue is.
   */
  readonly object: 'unknown' | 'unheld' | 'trouble' | 'idle' | 'queued' | 'running' | 'waiting' | 'left';
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Of the last failure of the store or the source; `undefined` unless `object` is `trouble`. */
  readonly trouble: { readonly error: string; readonly inMs: number } | undefined;
  /** In the order of registration, each with its planned subs, and with those that it has to retire. */
  readonly handlers: readonly HandlerExplanation[];
  /** All of this for a person: a line for the object and one for each handler. */
  readonly text: string;
}

export interface ExplainDeps {
  readonly handlers: readonly Handler[];
  readonly finalizer: string;
  readonly admission: Admission;
  readonly clock: Clock;
}

/** Explains what is, or is not, done for an object at this moment. Calls nobody, but for pure functions of a new state. */
export function explain(
  deps: ExplainDeps,
  name: string,
  state: ObjectState | undefined,
  place: 'idle' | 'queued' | 'running' | 'waiting' | 'held' | 'left',
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
  const isTrouble = place === 'held' && trouble !== undefined;
  const isUnheld = snapshot.deleting && !snapshot.finalizers.includes(deps.finalizer);
  const memory = state.memory?.uid === snapshot.uid ? state.memory : undefined;
  const handlers = status.handlers.map((one): HandlerExplanation => {
    const handler = handlerOf(deps.handlers, one.id);
    const sinceMs = memory?.lag.sinceMs(handler?.id ?? '');
    return {
      id: one.id,
      retires: one.state === 'retiring',
      reason: handler === undefined ? { why: 'due' } : new Explainer(deps, state, memory, handler, one).reason(),
      behindMs: sinceMs === undefined ? undefined : nowMs - sinceMs,
    };
  });
  return withText({
    name,
    object: isUnheld ? 'unheld' : isTrouble ? 'trouble' : place === 'held' ? 'waiting' : place,
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
  const slash = id.indexOf('/');
  const parentId = slash < 0 ? id : id.slice(0, slash);
  return handlers.find((handler) => handler.id === parentId);
}

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
    if ([...this.#state.running].some((call) => call.id === id)) return { why: 'running' };
    if (this.#state.newest?.hasFault(id) === true) return { why: 'fault', error: errorText(this.#status.fault) };
    return this.#outOfScope() ?? this.#settled() ?? this.#wait() ?? this.#restraint() ?? { why: 'due' };
  }

  #outOfScope(): Reason | undefined {
    const { id, inScope, state } = this.#status;
    const { newest, memory, name } = this.#state;
    const slash = id.lastIndexOf('/');
    const parent = { why: 'parent', parentId: slash < 0 ? id : id.slice(0, slash) } as const;
    if (state === 'retiring') {
      const doc = memory?.effective(name);
      const job = { handler: this.#handler, id };
      return newest !== undefined && doc !== undefined && mayRetire(doc, job, newest) ? undefined : parent;
    }
    if (inScope) return undefined;
    if (id !== this.#handler.id) return parent;
    return newest?.deleting === (this.#handler.kind === 'delete')
      ? { why: 'filtered', filter: 'when' }
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
    const { id, digest, attempted, attempts, loop, state } = this.#status;
    const memory = this.#memory;
    if (memory === undefined) return undefined;
    const record = memory.effective(this.#state.name).record(id);
    const isOpen = state === 'retiring' || attempted === digest;
    const wait = (state === 'retiring' ? record?.retirement : record?.attempt) ?? undefined;
    const inMs = memory.wakeOf(id, isOpen ? wait : undefined, this.#deps.clock) - this.#nowMs;
    if (inMs <= 0) return undefined;
    if (isOpen && (wait?.wakeAtWallMs ?? 0) > 0) {
      return { why: 'retry', inMs, failures: attempts, error: memory.errors.get(id) };
    }
    return loop === undefined ? { why: 'rebuild', inMs } : { why: 'loop', inMs, ...loop };
  }

  #restraint(): Reason | undefined {
    const { admission } = this.#deps;
    if (admission.isPaused) return { why: 'paused' };
    const breaker = this.#memory?.breaker;
    const inMs = (breaker?.wakeClockMs ?? 0) - this.#nowMs;
    if (breaker !== undefined && inMs > 0) return { why: 'breaker', inMs, failures: breaker.status.failures };
    const why = admission.restraintOf(this.#state.name, this.#handler);
    return why === undefined ? undefined : { why };
  }
}
