import { reasonOf } from '../server/kubernetes/api-status.ts';
import { API_VERBS, type ApiVerb, type RequestInfo } from '../server/kubernetes/request-info.ts';
import { checkChoice } from '../store/checks.ts';
import { checkInteger } from '../types/check-integer.ts';
import { shown } from '../types/shown.ts';
import type { ApiWatchBody } from './api-watch-body.ts';
import { checkKitOptions } from './kit-options.ts';

/** Which requests a fault is for. */
export interface ApiFaultScope {
  /** `pods`, `deployments.apps`. @default all, discovery too */
  readonly resource?: string;
  /** @default all */
  readonly verb?: ApiVerb | readonly ApiVerb[];
  /** The one in the path. @default all, those across namespaces too */
  readonly namespace?: string;
  /** @default all */
  readonly name?: string;
}

/** A fault of so many requests. */
export interface CountedScope extends ApiFaultScope {
  /** How many requests, from 1; `Infinity` for all until `remove()`. @default 1 */
  readonly times?: number;
}

export interface FailRequestOptions extends CountedScope {
  /** The HTTP status, from 400 to 599. */
  readonly code: number;
  /** @default Kubernetes' word for the code */
  readonly reason?: string;
  /** @default says that it is a fault of the test */
  readonly message?: string;
  /** In the header `Retry-After` and in the details. @default 1 for 429, else none */
  readonly retryAfterSeconds?: number;
  /** Only requests with this bearer token. @default all */
  readonly token?: string;
}

export interface ResetOptions extends CountedScope {
  /**
   * `before`: the request is not executed. `after`: it is, and its answer is lost. `body`: half of the body arrives; of
   * a watch half of its next line.
   *
   * @default 'before'
   */
  readonly when?: 'before' | 'after' | 'body';
}

/** A fault that is in force. */
export interface ApiFault {
  /** Requests, or events, that it has met. */
  readonly hits: number;
  readonly isActive: boolean;
  /** Ends it: what it holds back goes on. May be called again. */
  remove(): void;
}

/**
 * What networks and servers do to a client. Nothing happens by itself. Of several faults that a request meets, each does its part
 * in the order in which they were made; a refusal is the end of it.
 *
 * | verb | what a client sees |
 * |---|---|
 * | `fail` | a Status of any code: 429 with Retry-After, 401, 403, 500, 503 |
 * | `expire` | 410: of a watch as an ERROR event, of another request as its Status |
 * | `reset` | a connection that breaks before, after or within the answer |
 * | `delay`, `hang` | an answer that is slow, or does not come |
 * | `stale` | gets and lists of a state that is over |
 * | `endWatches`, `resetWatches`, `expireWatches` | open watches that end: quietly, broken, with 410 |
 * | `truncateWatches` | half a line, then the end |
 * | `stallWatches` | watches that are open and say nothing |
 * | `duplicateEvents`, `injectLine` | an event twice, a line that nobody sent |
 */
export interface ApiFaults {
  /** @throws RangeError for a code that is no failure */
  fail(options: FailRequestOptions): ApiFault;
  expire(scope?: CountedScope & { readonly as?: 'event' | 'status' }): ApiFault;
  /** `fetch` rejects with a TypeError whose cause has the code `ECONNRESET`; a listener destroys the socket. */
  reset(options?: ResetOptions): ApiFault;
  /** Answers come so many ms later, by the server's clock; what they say is of the end of the delay. */
  delay(options: CountedScope & { readonly delayMs: number }): ApiFault;
  /** Requests wait, unexecuted, until `remove()`. @default `times` Infinity */
  hang(scope?: CountedScope): ApiFault;
  /**
   * Gets and lists are of the state at `resourceVersion`, until `remove()`; one that asks for a newer state gets it. Watches are as ever.
   *
   * @default the state of now
   */
  stale(options?: CountedScope & { readonly resourceVersion?: string }): ApiFault;
  /** Returns how many there were, as the other verbs of open watches do. */
  endWatches(scope?: ApiFaultScope): number;
  resetWatches(scope?: ApiFaultScope): number;
  /** A last event: ERROR with a Status 410. */
  expireWatches(scope?: ApiFaultScope): number;
  /** Of the next event half is sent, then the watch ends: quietly, or with `isBroken` as a connection that breaks. */
  truncateWatches(scope?: ApiFaultScope & { readonly isBroken?: boolean }): number;
  /** Watches, open now or later, say nothing until `remove()`; then they go on where they were. */
  stallWatches(scope?: ApiFaultScope): ApiFault;
  /** Each of the next `times` events comes twice. */
  duplicateEvents(scope?: CountedScope): ApiFault;
  /** Sends this line, whatever it is, on every open watch. A line feed is added. */
  injectLine(line: string, scope?: ApiFaultScope): number;
  /** Removes every fault. Watches that have ended stay so. */
  heal(): void;
}

/** What a rule does when a request meets it. */
export type FaultAction =
  | { readonly type: 'fail'; readonly options: FailRequestOptions }
  | { readonly type: 'expire'; readonly as: 'event' | 'status' | undefined }
  | { readonly type: 'reset'; readonly when: 'before' | 'after' | 'body' }
  | { readonly type: 'delay'; readonly delayMs: number }
  | { readonly type: 'hang' }
  | { readonly type: 'stale'; readonly resourceVersion: string }
  | { readonly type: 'stall' }
  | { readonly type: 'duplicate' };

/** A fault in force, and what it holds back. */
export class FaultRule implements ApiFault {
  readonly scope: ApiFaultScope;
  readonly action: FaultAction;
  /** Resolves when the rule is removed. */
  readonly removed: Promise<void>;
  hits = 0;
  #left: number;
  #open: () => void = () => {};
  readonly #onEnd: (rule: FaultRule, isRemoved: boolean) => void;

  constructor(
    scope: ApiFaultScope,
    action: FaultAction,
    times: number,
    onEnd: (rule: FaultRule, isRemoved: boolean) => void,
  ) {
    this.scope = scope;
    this.action = action;
    this.#left = times;
    this.#onEnd = onEnd;
    this.removed = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  get isActive(): boolean {
    return this.#left > 0;
  }

  /** Counts one; the last one ends it, but what hangs goes on hanging. */
  take(): void {
    this.hits++;
    this.#left--;
    if (this.#left === 0) this.#onEnd(this, false);
  }

  remove(): void {
    this.#left = 0;
    this.#onEnd(this, true);
    this.#open();
  }
}

const SCOPE = ['resource', 'verb', 'namespace', 'name'] as const;
const COUNTED = [...SCOPE, 'times'] as const;
const ACTION = 'set a fault of an API server';

/** The faults in force, and the open watches for the verbs that are about those. */
export class ApiFaultRules implements ApiFaults {
  readonly #rules: FaultRule[] = [];
  /** These hold requests until they are removed, also when they take no more. */
  readonly #hanging = new Set<FaultRule>();
  readonly #newest: () => string;
  readonly watches: Set<ApiWatchBody> = new Set();

  constructor(newest: () => string) {
    this.#newest = newest;
  }

  fail(options: FailRequestOptions): ApiFault {
    checkKitOptions(options, [...COUNTED, 'code', 'reason', 'message', 'retryAfterSeconds', 'token'], ACTION);
    checkInteger('code', options.code, ACTION, 400, 599);
    return this.#add(options, { type: 'fail', options: { reason: reasonOf(options.code), ...options } });
  }

  expire(scope: CountedScope & { readonly as?: 'event' | 'status' } = {}): ApiFault {
    checkKitOptions(scope, [...COUNTED, 'as'], ACTION);
    if (scope.as !== undefined) checkChoice('as', scope.as, ACTION, ['event', 'status']);
    return this.#add(scope, { type: 'expire', as: scope.as });
  }

  reset(options: ResetOptions = {}): ApiFault {
    checkKitOptions(options, [...COUNTED, 'when'], ACTION);
    const { when = 'before' } = options;
    checkChoice('when', when, ACTION, ['before', 'after', 'body']);
    return this.#add(options, { type: 'reset', when });
  }

  delay(options: CountedScope & { readonly delayMs: number }): ApiFault {
    checkKitOptions(options, [...COUNTED, 'delayMs'], ACTION);
    checkInteger('delayMs', options.delayMs, ACTION, 0);
    return this.#add(options, { type: 'delay', delayMs: options.delayMs });
  }

  hang(scope: CountedScope = {}): ApiFault {
    checkKitOptions(scope, COUNTED, ACTION);
    const rule = this.#add({ times: Number.POSITIVE_INFINITY, ...scope }, { type: 'hang' });
    this.#hanging.add(rule);
    return rule;
  }

  stale(options: CountedScope & { readonly resourceVersion?: string } = {}): ApiFault {
    checkKitOptions(options, [...COUNTED, 'resourceVersion'], ACTION);
    const { resourceVersion = this.#newest() } = options;
    return this.#add({ times: Number.POSITIVE_INFINITY, ...options }, { type: 'stale', resourceVersion });
  }

  endWatches(scope: ApiFaultScope = {}): number {
    return this.#each(scope, SCOPE, (watch) => watch.end());
  }

  resetWatches(scope: ApiFaultScope = {}): number {
    return this.#each(scope, SCOPE, (watch) => watch.break());
  }

  expireWatches(scope: ApiFaultScope = {}): number {
    return this.#each(scope, SCOPE, (watch) => watch.expire());
  }

  truncateWatches(scope: ApiFaultScope & { readonly isBroken?: boolean } = {}): number {
    return this.#each(scope, [...SCOPE, 'isBroken'], (watch) => watch.truncate(scope.isBroken === true));
  }

  stallWatches(scope: ApiFaultScope = {}): ApiFault {
    checkKitOptions(scope, SCOPE, ACTION);
    return this.#add({ ...scope, times: Number.POSITIVE_INFINITY }, { type: 'stall' });
  }

  duplicateEvents(scope: CountedScope = {}): ApiFault {
    checkKitOptions(scope, COUNTED, ACTION);
    return this.#add(scope, { type: 'duplicate' });
  }

  injectLine(line: string, scope: ApiFaultScope = {}): number {
    if (typeof line !== 'string') throw new TypeError(`Cannot ${ACTION}: the line is ${shown(line)}, not a string`);
    return this.#each(scope, SCOPE, (watch) => watch.inject(line));
  }

  heal(): void {
    for (const rule of [...this.#rules, ...this.#hanging]) rule.remove();
  }

  /** The rules that a request meets, in the order of their making. They are not counted yet. */
  of(info: RequestInfo, types: readonly FaultAction['type'][]): readonly FaultRule[] {
    return this.#rules.filter(({ scope, action }) => types.includes(action.type) && isInScope(info, scope));
  }

  #add(scope: CountedScope, action: FaultAction): FaultRule {
    const { times = 1 } = scope;
    checkVerbs(scope.verb);
    if (times !== Number.POSITIVE_INFINITY) checkInteger('times', times, ACTION, 1);
    const rule = new FaultRule(scope, action, times, (ended, isRemoved) => this.#end(ended, isRemoved));
    this.#rules.push(rule);
    return rule;
  }

  #end(rule: FaultRule, isRemoved: boolean): void {
    const at = this.#rules.indexOf(rule);
    if (at >= 0) this.#rules.splice(at, 1);
    if (isRemoved) this.#hanging.delete(rule);
  }

  #each(
    scope: ApiFaultScope,
    names: readonly (keyof ApiFaultScope | 'isBroken')[],
    act: (watch: ApiWatchBody) => void,
  ) {
    checkKitOptions<ApiFaultScope & { readonly isBroken?: boolean }>(scope, names, ACTION);
    checkVerbs(scope.verb);
    const found = [...this.watches].filter(({ info }) => isInScope(info, scope));
    for (const watch of found) act(watch);
    return found.length;
  }
}

/** A fault of a verb that there is not would never be met, and its test would pass for the wrong reason. */
function checkVerbs(verb: ApiFaultScope['verb']): void {
  if (verb === undefined) return;
  for (const one of Array.isArray(verb) ? (verb as readonly unknown[]) : [verb])
    checkChoice('verb', one, ACTION, API_VERBS);
}

function isInScope(info: RequestInfo, { resource, verb, namespace, name }: ApiFaultScope): boolean {
  const full = info.group === '' ? info.resource : `${info.resource}.${info.group}`;
  if (resource !== undefined && resource !== full) return false;
  if (verb !== undefined && !(typeof verb === 'string' ? [verb] : verb).includes(info.verb)) return false;
  return (namespace === undefined || namespace === info.namespace) && (name === undefined || name === info.name);
}
