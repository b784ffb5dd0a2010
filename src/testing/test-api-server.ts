import { openStore } from '../open-store.ts';
import { ApiHandler } from '../server/kubernetes/api-handler.ts';
import { failure, type StatusDetails } from '../server/kubernetes/api-status.ts';
import { KindRegistry } from '../server/kubernetes/kind-registry.ts';
import { type ApiKind, qualifiedName, type ServedKind } from '../server/kubernetes/kinds.ts';
import { type ApiVerb, type RequestInfo, requestInfo } from '../server/kubernetes/request-info.ts';
import { statusResponse } from '../server/kubernetes/responses.ts';
import type { ApiObject, ApiObjectMeta } from '../server/kubernetes/stored-object.ts';
import { createStorage } from '../storage/create-storage.ts';
import type { Storage, StorageOptions } from '../storage/types.ts';
import { abortableSleep } from '../system/abortable.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { checkInteger } from '../types/check-integer.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError } from '../types/errors.ts';
import type { Random } from '../types/random.ts';
import { shown } from '../types/shown.ts';
import type { Store } from '../types/store.ts';
import { untilAborted } from '../types/until-aborted.ts';
import { ApiFaultRules, type ApiFaults, type FailRequestOptions, type FaultRule } from './api-faults.ts';
import { ApiWatchBody, connectionReset } from './api-watch-body.ts';
import { checkKitOptions } from './kit-options.ts';
import { testKinds } from './test-kinds.ts';

export interface TestApiServerOptions {
  /** What is served at first; more with `register`, or as CustomResourceDefinitions. @default testKinds */
  readonly kinds?: readonly ApiKind[];
  /** Where the objects are. It stays the caller's, who may write to it directly. @default one of the server's own */
  readonly store?: Store<ApiObject>;
  /** That of the store, if there is one. @default the platform's */
  readonly clock?: Clock;
  /** Uids, generated names, and when watches end. @default the platform's */
  readonly random?: Random;
  /** Bounds and prefix of the storage. @default prefix '/registry', else those of `createStorage` */
  readonly storage?: Omit<StorageOptions<ApiObject>, 'clock'>;
  /** So many past requests are kept, the newest; an integer from 0. @default 10000 */
  readonly requestsMax?: number;
}

/** A request that the server got. */
export interface ServedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly verb: ApiVerb;
  /** `pods`, `deployments.apps`; '' for discovery. */
  readonly resource: string;
  /** The code of the answer; `undefined` while there is none, and if the connection broke. */
  readonly status: number | undefined;
}

/** What an answer may have: an object, a list of them, a Status. */
export interface ApiAnswer extends ApiObject {
  readonly metadata: ApiObjectMeta & { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items?: readonly ApiObject[];
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
  readonly [member: string]: unknown;
}

/** An API server of Kubernetes in this process. */
export interface TestApiServer {
  /** Takes what the platform's `fetch` takes; of the URL path and query count. Needs no `this`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly faults: ApiFaults;
  readonly storage: Storage<ApiObject>;
  /** The newest last. */
  readonly requests: readonly ServedRequest[];
  /** Watches that clients read now, by resource: `{ pods: 1 }`. */
  readonly openWatches: Readonly<Record<string, number>>;
  /**
   * Asks the server, and reads the answer as JSON; of a text the body is `{ message }`. An object as `body` is sent as JSON; with PATCH as a merge patch, an array as a
   * JSON patch.
   */
  call<T = ApiAnswer>(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: T }>;
  /** Serves another kind from now on. @throws TypeError for what is none, RangeError for names that are taken */
  register(kind: ApiKind): ServedKind;
  /** Serves a kind no longer: its watches end, its objects stay. Returns whether there was one. */
  unregister(kind: Pick<ApiKind, 'group' | 'plural'> & { readonly version?: string }): boolean;
  /** Ends every watch and request. Closes the store if it is the server's own. May be called again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const ACTION = 'open a test API server';
const REQUESTS_MAX = 10_000;
const AT_START = ['fail', 'expire', 'reset', 'delay', 'hang', 'stale'] as const;

/**
 * Opens a {@link TestApiServer}: discovery, CRUD with patches, lists in pages and watches of the kinds that are registered, over a
 * store, without a socket. `listen` of `plimsoll/testing/node` puts it behind one.
 *
 * @example
 * ```ts
 * import { openTestApiServer } from 'plimsoll/testing';
 *
 * const server = await openTestApiServer();
 * await server.call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' } });
 * const response = await server.fetch('http://kubernetes.test/api/v1/pods');
 * console.log((await response.json()).items.length); // 1
 * await server.close();
 * ```
 *
 * @throws as a rejection: TypeError for options that are none, and what `openStore` and `createStorage` throw
 */
export async function openTestApiServer(options: TestApiServerOptions = {}): Promise<TestApiServer> {
  checkKitOptions(options, ['clock', 'kinds', 'random', 'requestsMax', 'storage', 'store'], ACTION);
  const { kinds = testKinds, clock = systemClock, random = systemRandom, requestsMax = REQUESTS_MAX } = options;
  checkInteger('requestsMax', requestsMax, ACTION, 0);
  if (typeof random !== 'function') throw new TypeError(`Cannot ${ACTION}: random is ${shown(random)}, not a function`);
  if (!Array.isArray(kinds)) throw new TypeError(`Cannot ${ACTION}: kinds is ${shown(kinds)}, not an array`);
  const registry = new KindRegistry();
  for (const kind of kinds) registry.add(kind);
  const store = options.store ?? (await openStore<ApiObject>({ clock, random }));
  const ownsStore = options.store === undefined;
  try {
    const storage = createStorage<ApiObject>(store, { prefix: '/registry', ...options.storage, clock });
    const handler = new ApiHandler({ storage, registry, clock, random });
    await handler.load();
    return new Server({ registry, store, storage, handler, clock, requestsMax, ownsStore });
  } catch (error) {
    if (ownsStore) await store.close();
    throw error;
  }
}

interface Parts {
  readonly registry: KindRegistry;
  readonly store: Store<ApiObject>;
  readonly storage: Storage<ApiObject>;
  readonly handler: ApiHandler;
  readonly clock: Clock;
  readonly requestsMax: number;
  readonly ownsStore: boolean;
}

type Answering = { -readonly [K in keyof ServedRequest]: ServedRequest[K] };

class Server implements TestApiServer {
  readonly #parts: Parts;
  readonly #rules: ApiFaultRules;
  readonly #life = new AbortController();
  readonly #requests: Answering[] = [];
  #closed: Promise<void> | undefined;
  readonly fetch: TestApiServer['fetch'];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rules = new ApiFaultRules(() => String(parts.store.revision));
    this.fetch = (input, init) => this.#fetch(input, init);
  }

  get faults(): ApiFaults {
    return this.#rules;
  }

  get storage(): Storage<ApiObject> {
    return this.#parts.storage;
  }

  get requests(): readonly ServedRequest[] {
    return this.#requests;
  }

  get openWatches(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { info } of this.#rules.watches) {
      const resource = resourceOf(info);
      counts[resource] = (counts[resource] ?? 0) + 1;
    }
    return counts;
  }

  async call<T>(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: T }> {
    const patch = Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json';
    const type = method === 'PATCH' ? patch : 'application/json';
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } };
    const response = await this.fetch(path, { method, ...sent });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, body: (isJson ? JSON.parse(text) : { message: text }) as T };
  }

  register(kind: ApiKind): ServedKind {
    return this.#parts.registry.add(kind);
  }

  unregister(kind: Pick<ApiKind, 'group' | 'plural'> & { readonly version?: string }): boolean {
    return this.#parts.registry.remove(kind) > 0;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#life.abort(new ClosedError('ask a test API server'));
    this.#rules.heal();
    await this.#parts.storage.close();
    for (const watch of [...this.#rules.watches]) watch.end();
    if (this.#parts.ownsStore) await this.#parts.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const base = 'http://kubernetes.test';
    const request = new Request(typeof input === 'string' ? new URL(input, base) : input, init);
    // The one given, since a request's own only follows it.
    const signal = init.signal ?? request.signal;
    const { info, url } = infoOf(request);
    const record: Answering = {
      method: request.method,
      url,
      verb: info?.verb ?? 'discovery',
      resource: info === undefined ? '' : resourceOf(info),
      status: undefined,
    };
    this.#requests.push(record);
    if (this.#requests.length > this.#parts.requestsMax) this.#requests.shift();
    const response = await this.#answer(request, info, signal);
    record.status = response.status;
    return response;
  }

  async #answer(request: Request, info: RequestInfo | undefined, signal: AbortSignal): Promise<Response> {
    const { handler, clock } = this.#parts;
    const closing = this.#life.signal;
    if (info === undefined) return handler.handle(request, { signal, closing });
    let lost: 'after' | 'body' | undefined;
    let staleAt: string | undefined;
    for (const rule of this.#rules.of(info, AT_START)) {
      const { action } = rule;
      if (action.type === 'fail' && !hasToken(request, action.options)) continue;
      if (action.type === 'stale' && info.verb !== 'get' && info.verb !== 'list') continue;
      if (!rule.isActive) continue;
      rule.take();
      if (action.type === 'fail') return refusal(action.options);
      if (action.type === 'expire') return expired(info, action.as);
      if (action.type === 'delay') await this.#while((over) => abortableSleep(clock, action.delayMs, over), signal);
      if (action.type === 'hang') await this.#while(() => rule.removed, signal);
      if (action.type === 'stale') staleAt = action.resourceVersion;
      if (action.type === 'reset') {
        if (action.when === 'before') throw connectionReset();
        lost = action.when;
      }
    }
    const response = await handler.handle(request, { signal, staleAt, closing });
    if (lost === 'after') {
      await response.body?.cancel();
      throw connectionReset();
    }
    const isWatch = info.verb === 'watch' && response.status === 200;
    if (isWatch) return this.#watched(info, response, lost === 'body');
    return lost === 'body' ? halfOf(response) : response;
  }

  /** Waits, but not for longer than the client and the server do. */
  async #while(wait: (over: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    await untilAborted(wait, [signal, this.#life.signal]);
  }

  /** The body of a watch has no end, so half of it is half of its next line (`isCut`). */
  #watched(info: RequestInfo, response: Response, isCut: boolean): Response {
    const { body, headers, status } = response;
    if (body === null) return response;
    const rules = this.#rules;
    const watch = new ApiWatchBody({
      info,
      lines: body,
      stalled: () => rules.of(info, ['stall'])[0]?.removed,
      isDoubled: () => takeFirst(rules.of(info, ['duplicate'])),
      onEnd: (ended) => rules.watches.delete(ended),
    });
    rules.watches.add(watch);
    if (isCut) watch.truncate(true);
    return new Response(watch.stream, { headers, status });
  }
}

function infoOf(request: Request): { readonly info: RequestInfo | undefined; readonly url: string } {
  const parsed = new URL(request.url);
  const url = `${parsed.pathname}${parsed.search}`;
  try {
    return { info: requestInfo(request.method, parsed), url };
  } catch {
    // The handler says what is wrong with it.
    return { info: undefined, url };
  }
}

function resourceOf({ group, resource }: RequestInfo): string {
  return resource === '' ? '' : qualifiedName(resource, group);
}

function takeFirst([rule]: readonly FaultRule[]): boolean {
  rule?.take();
  return rule !== undefined;
}

function hasToken(request: Request, { token }: FailRequestOptions): boolean {
  return token === undefined || request.headers.get('authorization') === `Bearer ${token}`;
}

function refusal({ code, reason, message = 'a fault of the test', retryAfterSeconds }: FailRequestOptions): Response {
  const seconds = retryAfterSeconds ?? (code === 429 ? 1 : undefined);
  const details = seconds === undefined ? {} : { details: { retryAfterSeconds: seconds } };
  return statusResponse(failure(code, message, { ...(reason === undefined ? {} : { reason }), ...details }));
}

function expired({ verb }: RequestInfo, as: 'event' | 'status' | undefined): Response {
  const status = failure(410, 'too old resource version: a fault of the test');
  if ((as ?? (verb === 'watch' ? 'event' : 'status')) === 'status') return statusResponse(status);
  const line = `${JSON.stringify({ type: 'ERROR', object: status })}\n`;
  return new Response(line, { headers: { 'content-type': 'application/json' } });
}

/** Its headers, half of its body, and a connection that breaks. */
async function halfOf(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  let isSent = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (isSent) controller.error(connectionReset());
        else controller.enqueue(bytes.slice(0, Math.ceil(bytes.length / 2)));
        isSent = true;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}
