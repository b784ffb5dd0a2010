import type { Storage } from '../../storage/types.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import { type ApiStatus, detailsOf, refuse } from './api-status.ts';
import { Definitions, isDefinition } from './definitions.ts';
import { deleteRequest, isDryRun } from './delete-request.ts';
import { discovery } from './discovery.ts';
import { type Subject, statusOf } from './failures.ts';
import type { KindRegistry, Registration } from './kind-registry.ts';
import { listOptions, selection, watchOptions } from './list-query.ts';
import { objectPatch } from './object-patch.ts';
import type { Target } from './object-strategy.ts';
import { checkVersioned, ObjectWrites } from './object-writes.ts';
import { openApi } from './openapi.ts';
import { Presentation } from './presentation.ts';
import { contentType, readJson } from './request-body.ts';
import { type RequestInfo, registrationOf, requestInfo } from './request-info.ts';
import { type ApiObject, checkedObject, keyOf } from './stored-object.ts';
import { watchBody } from './watch-body.ts';

export interface ApiHandlerOptions {
  readonly storage: Storage<ApiObject>;
  readonly registry: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
}

/** Of one request. */
export interface HandleOptions {
  /** Ends it: what waits rejects with the reason, and so does the body of a watch. @default the request's own */
  readonly signal?: AbortSignal | undefined;
  /** Answer gets and lists of this state, whatever there is since. @default the newest */
  readonly staleAt?: string | undefined;
}

/** A request on its way. */
interface Call {
  readonly request: Request;
  readonly info: RequestInfo;
  readonly signal: AbortSignal;
  readonly staleAt: string | undefined;
}

interface ResourceCall extends Call, Registration {
  readonly target: Target;
  readonly presentation: Presentation;
}

/** A watch without `timeoutSeconds` ends after this or up to twice as much, by chance. */
const WATCH_SECONDS = 1800;

/**
 * The protocol of a Kubernetes API server over a storage: a function from a request to its response, of web types alone. It holds
 * nothing but its registry; watches end with the storage.
 */
export class ApiHandler {
  readonly #options: ApiHandlerOptions;
  readonly #writes: ObjectWrites;
  readonly #definitions: Definitions;

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
    this.#writes = new ObjectWrites(options);
    this.#definitions = new Definitions(options.registry, options.storage);
  }

  /** Serves the kinds that are defined in the store already. To be called once, before the first request. */
  async load(): Promise<void> {
    await this.#definitions.load();
  }

  /** Never rejects but with the reason of its signal; what goes wrong is a Status. */
  async handle(request: Request, options: HandleOptions = {}): Promise<Response> {
    const { signal = request.signal, staleAt } = options;
    let subject: Subject | undefined;
    try {
      signal.throwIfAborted();
      const info = requestInfo(request.method, new URL(request.url));
      const found = info.verb === 'discovery' ? undefined : registrationOf(this.#options.registry, info);
      if (found === undefined) return this.#outside({ request, info, signal, staleAt });
      const { kind } = found;
      const target: Target = { kind, namespace: info.namespace, name: info.name };
      subject = { kind, name: info.name === '' ? undefined : info.name };
      const presentation = new Presentation(kind, request.headers.get('accept'));
      return await this.#resource({ request, info, signal, staleAt, ...found, target, presentation });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return statusResponse(statusOf(error, subject));
    }
  }

  #outside({ request, info }: Call): Response {
    const { path, verb } = info;
    const isHealth = path.length === 1 && ['healthz', 'livez', 'readyz'].includes(path[0] ?? '');
    if (isHealth) return new Response('ok', { headers: { 'content-type': 'text/plain' } });
    const isRead = verb === 'discovery' && request.method === 'GET';
    const document = isRead ? discovery(this.#options.registry, path, request.headers.get('accept')) : undefined;
    if (document !== undefined) return json(document.body, 200, { 'content-type': document.type });
    const schemas = isRead ? openApi(this.#options.registry, path) : undefined;
    if (schemas !== undefined) return json(schemas, 200);
    return new Response('404 page not found\n', { status: 404, headers: { 'content-type': 'text/plain' } });
  }

  async #resource(call: ResourceCall): Promise<Response> {
    const { verb } = call.info;
    switch (verb) {
      case 'get':
        return json(call.presentation.object(await this.#get(call)), 200);
      case 'list':
        return this.#list(call);
      case 'watch':
        return this.#watch(call);
      case 'create':
        return this.#create(call);
      case 'update':
      case 'patch':
        return this.#update(call);
      case 'delete':
        return this.#delete(call);
      case 'deletecollection':
        return this.#deleteCollection(call);
      default:
        throw refuse(405, `the server does not allow ${verb} of a resource`);
    }
  }

  async #get({ target, info, signal, staleAt }: ResourceCall): Promise<ApiObject> {
    const { storage } = this.#options;
    const key = keyOf(target.kind, target.namespace, target.name);
    if (staleAt !== undefined) {
      const stale = { resourceVersion: staleAt, resourceVersionMatch: 'Exact', signal } as const;
      const [object] = (await storage.list(key, stale)).items;
      if (object !== undefined) return object;
      throw refuse(404, `${target.kind.resource} "${target.name}" not found`, detailsOf(target.kind, target.name));
    }
    return storage.get(key, { resourceVersion: info.query.get('resourceVersion') ?? '', signal });
  }

  async #list({ kind, target, info, signal, staleAt, presentation }: ResourceCall): Promise<Response> {
    const options = listOptions(info.query, kind);
    const { resourceVersion: version = '', resourceVersionMatch: match, ...others } = options;
    const isStale = staleAt !== undefined && others.continue === undefined && match !== 'Exact';
    const at = isStale && isAtMost(version, staleAt);
    const asked = at ? { ...others, resourceVersion: staleAt, resourceVersionMatch: 'Exact' as const } : options;
    const list = await this.#options.storage.list(keyOf(kind, target.namespace, ''), { ...asked, signal });
    return json(presentation.list(list), 200);
  }

  #watch({ kind, gone, target, info, signal, presentation }: ResourceCall): Response {
    const { storage, random } = this.#options;
    const options = watchOptions(info.query, kind);
    const timeoutMs = options.timeoutMs ?? Math.floor(WATCH_SECONDS * 1000 * (1 + random()));
    const watch = storage.watch(keyOf(kind, target.namespace, ''), { ...options, timeoutMs, signal });
    const body = watchBody(watch, { kind, gone, show: (object) => presentation.object(object) });
    return new Response(body, {
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    });
  }

  async #create({ kind, target, info, request, signal, presentation }: ResourceCall): Promise<Response> {
    if (info.name !== '') throw refuse(405, 'an object is created in its collection');
    if (kind.namespaced && target.namespace === '') throw refuse(405, 'an object in a namespace is created there');
    checkJsonBody(request);
    const body = await readJson(request);
    const object = checkedObject(body, kind);
    if (isDefinition(kind)) this.#definitions.check(kind, object);
    const options = { isDryRun: isDryRun(info.query.getAll('dryRun')), signal };
    const made = await this.#writes.create(target, body, options);
    return json(presentation.object(await this.#written(kind, made, options.isDryRun)), 201);
  }

  async #update({ kind, target, info, request, signal, presentation }: ResourceCall): Promise<Response> {
    if (info.name === '') throw refuse(405, 'a collection cannot be updated');
    const isStatus = info.subresource === 'status';
    const options = { isDryRun: isDryRun(info.query.getAll('dryRun')), signal, isStatus };
    const change = await changeOf(request, info, target);
    const checked = (current: object) => {
      const wanted = change(current);
      if (isDefinition(kind)) this.#definitions.check(kind, checkedObject(wanted, kind));
      return wanted;
    };
    const { object, isGone } = await this.#writes.update(target, checked, options);
    if (isGone) await this.#removed(kind, object, options.isDryRun);
    const isChanged = !isGone && !isStatus;
    const written = isChanged ? await this.#written(kind, object, options.isDryRun) : object;
    return json(presentation.object(written), 200);
  }

  async #delete({ kind, target, info, request, signal, presentation }: ResourceCall): Promise<Response> {
    if (info.subresource !== '') throw refuse(405, `${info.subresource} cannot be deleted`);
    const wanted = deleteRequest(await readJson(request), info.query);
    const { object, isGone } = await this.#writes.delete(target, wanted, { isDryRun: wanted.isDryRun, signal });
    if (!isGone) return json(presentation.object(object), 200);
    await this.#removed(kind, object, wanted.isDryRun);
    const uid = object.metadata?.uid;
    const details = { ...detailsOf(kind, target.name), ...(uid === undefined ? {} : { uid }) };
    return json({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }, 200);
  }

  async #deleteCollection({ kind, target, info, request, signal, presentation }: ResourceCall): Promise<Response> {
    if (kind.namespaced && target.namespace === '') throw refuse(405, 'objects are deleted within one namespace');
    const wanted = deleteRequest(await readJson(request), info.query);
    const where = { recursive: true, ...selection(info.query, kind), signal };
    const list = await this.#options.storage.list(keyOf(kind, target.namespace, ''), where);
    const deleted = await this.#writes.deleteAll(list.items, kind, wanted, { isDryRun: wanted.isDryRun, signal });
    for (const { object, isGone } of deleted) if (isGone) await this.#removed(kind, object, wanted.isDryRun);
    return json(presentation.list(list), 200);
  }

  /** A definition that was written is served before its writer hears of it. */
  async #written(kind: Target['kind'], object: ApiObject, isDry: boolean): Promise<ApiObject> {
    return isDefinition(kind) && !isDry ? this.#definitions.apply(kind, object) : object;
  }

  async #removed(kind: Target['kind'], object: ApiObject, isDry: boolean): Promise<void> {
    if (isDefinition(kind) && !isDry) await this.#definitions.remove(object);
  }
}

/** What a PUT or a PATCH makes of the object that is there. */
async function changeOf(
  request: Request,
  { verb }: RequestInfo,
  target: Target,
): Promise<(current: object) => unknown> {
  if (verb === 'patch') {
    const type = contentType(request);
    const body = await readJson(request);
    return objectPatch(type, body, target.kind);
  }
  checkJsonBody(request);
  const body = await readJson(request);
  checkVersioned(target, body);
  return () => body;
}

function checkJsonBody(request: Request): void {
  const type = contentType(request);
  if (type === '' || type === 'application/json') return;
  throw refuse(
    415,
    `the body of the request was in an unknown format - accepted media types include: application/json, not ${type}`,
  );
}

/** Of a list that would be answered from the stale state: one that does not ask for a newer one. */
function isAtMost(version: string, bound: string): boolean {
  return version === '' || (/^\d+$/.test(version) && BigInt(version) <= BigInt(bound));
}

function json(body: object, code: number, headers: Readonly<Record<string, string>> = {}): Response {
  const all = { 'content-type': 'application/json', 'cache-control': 'no-cache, private', ...headers };
  return new Response(JSON.stringify(body), { status: code, headers: all });
}

/** A status as an answer, with what HTTP says of it. */
export function statusResponse(status: ApiStatus): Response {
  const seconds = status.details?.retryAfterSeconds;
  return json(status, status.code, seconds === undefined ? {} : { 'retry-after': String(seconds) });
}
