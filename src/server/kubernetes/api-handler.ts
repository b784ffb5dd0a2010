import type { Storage } from '../../storage/types.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import { detailsOf, notFound, refuse } from './api-status.ts';
import { Definitions, isDefinition } from './definitions.ts';
import { deleteRequest } from './delete-request.ts';
import { discovery } from './discovery.ts';
import { type Subject, statusOf } from './failures.ts';
import type { KindRegistry, Registration } from './kind-registry.ts';
import { listOptions, watchOptions } from './list-query.ts';
import { objectPatch, patchTypes } from './object-patch.ts';
import type { Target } from './object-strategy.ts';
import { checkWhole, ObjectWrites } from './object-writes.ts';
import { openApi } from './openapi.ts';
import { Presentation } from './presentation.ts';
import { isDryRun } from './query-values.ts';
import { type BodySignals, checkContentType, contentType, JSON_TYPES, readJson, readOptions } from './request-body.ts';
import { type RequestInfo, registrationOf, requestInfo } from './request-info.ts';
import { json, statusResponse } from './responses.ts';
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
  /** The server closes: a body that is still to come is not waited for. @default never */
  readonly closing?: AbortSignal | undefined;
}

/** A request on its way. */
interface Call extends BodySignals {
  readonly request: Request;
  readonly info: RequestInfo;
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
    await this.#definitions.reconcile();
  }

  /** Never rejects but with the reason of its signal; what goes wrong is a Status. */
  async handle(request: Request, options: HandleOptions = {}): Promise<Response> {
    const { signal = request.signal, staleAt, closing } = options;
    let subject: Subject | undefined;
    try {
      signal.throwIfAborted();
      const info = requestInfo(request.method, new URL(request.url));
      const found = info.verb === 'discovery' ? undefined : registrationOf(this.#options.registry, info);
      if (found === undefined) return this.#outside({ request, info, signal, staleAt, closing });
      const { kind } = found;
      const target: Target = { kind, namespace: info.namespace, name: info.name };
      subject = { kind, name: info.name === '' ? undefined : info.name };
      const presentation = new Presentation(kind, request.headers.get('accept'));
      return await this.#resource({ request, info, signal, staleAt, closing, ...found, target, presentation });
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
    const resourceVersion = info.query.get('resourceVersion') ?? '';
    if (staleAt !== undefined && isAtMost(resourceVersion, staleAt)) {
      const stale = { resourceVersion: staleAt, resourceVersionMatch: 'Exact', signal } as const;
      const [object] = (await storage.list(key, stale)).items;
      if (object !== undefined) return object;
      throw notFound(target.kind, target.name);
    }
    return storage.get(key, { resourceVersion, signal });
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
    const { storage, random, clock } = this.#options;
    const options = watchOptions(info.query, kind);
    const timeoutMs = options.timeoutMs ?? Math.floor(WATCH_SECONDS * 1000 * (1 + random()));
    const watch = storage.watch(keyOf(kind, target.namespace, ''), { ...options, timeoutMs, signal });
    const show = (object: ApiObject) => presentation.object(object);
    const body = watchBody(watch, { kind, gone, signal, clock, timeoutMs, show });
    return new Response(body, {
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    });
  }

  async #create(call: ResourceCall): Promise<Response> {
    const { kind, gone, target, info, request, signal, presentation } = call;
    if (info.name !== '') throw refuse(405, 'an object is created in its collection');
    if (kind.namespaced && target.namespace === '') throw refuse(405, 'an object in a namespace is created there');
    checkContentType(request, JSON_TYPES);
    const object = checkedObject(await readJson(request, call), kind);
    if (isDefinition(kind)) this.#definitions.check(kind, object);
    const options = { isDryRun: isDryRun(info.query.getAll('dryRun')), signal };
    const write = async () => this.#writes.create(target, object, options);
    const made = await this.#written(call, options.isDryRun, write).finally(async () => {
      // Its definition went meanwhile, and with it all that there was.
      if (gone.aborted && this.#definitions.has(kind)) await this.#definitions.reconcile(kind.resource);
    });
    return json(presentation.object(await this.#served(kind, made, options.isDryRun)), 201);
  }

  async #update(call: ResourceCall): Promise<Response> {
    const { kind, target, info, signal, presentation } = call;
    if (info.name === '') throw refuse(405, 'a collection cannot be updated');
    const isStatus = info.subresource === 'status';
    const options = { isDryRun: isDryRun(info.query.getAll('dryRun')), signal, isStatus };
    const change = await changeOf(call);
    const checked = (current: object) => {
      const wanted = change(current);
      if (isDefinition(kind)) this.#definitions.check(kind, checkedObject(wanted, kind));
      return wanted;
    };
    const write = () => this.#writes.update(target, checked, options);
    const { object, isGone } = await this.#written(call, options.isDryRun, write);
    const served = isGone ? object : await this.#served(kind, object, options.isDryRun);
    return json(presentation.object(served), 200);
  }

  async #delete(call: ResourceCall): Promise<Response> {
    const { kind, target, info, request, signal, presentation } = call;
    if (info.subresource !== '') throw refuse(405, `${info.subresource} cannot be deleted`);
    const wanted = deleteRequest(await readOptions(request, call), info.query);
    const { isDryRun } = wanted;
    const { object, isGone } = await this.#written(call, isDryRun, () =>
      this.#writes.delete(target, wanted, { isDryRun, signal }),
    );
    if (!isGone) return json(presentation.object(object), 200);
    const uid = object.metadata?.uid;
    const details = { ...detailsOf(kind, target.name), ...(uid === undefined ? {} : { uid }) };
    return json({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }, 200);
  }

  async #deleteCollection(call: ResourceCall): Promise<Response> {
    const { kind, target, info, request, signal, presentation } = call;
    if (kind.namespaced && target.namespace === '') throw refuse(405, 'objects are deleted within one namespace');
    const wanted = deleteRequest(await readOptions(request, call), info.query);
    const { isDryRun } = wanted;
    const where = { ...listOptions(info.query, kind), signal };
    const list = await this.#options.storage.list(keyOf(kind, target.namespace, ''), where);
    await this.#written(call, isDryRun, () => this.#writes.deleteAll(list.items, kind, wanted, { isDryRun, signal }));
    return json(presentation.list(list), 200);
  }

  /** What a write does to definitions is served before anybody hears of it, also if it failed half-way or its client has gone. */
  async #written<T>({ kind }: ResourceCall, isDry: boolean, write: () => Promise<T>): Promise<T> {
    if (!isDefinition(kind) || isDry) return write();
    try {
      return await write();
    } finally {
      await this.#definitions.reconcile();
    }
  }

  /** A definition with the status that it got by being served. */
  async #served(kind: Target['kind'], object: ApiObject, isDry: boolean): Promise<ApiObject> {
    if (!isDefinition(kind) || isDry) return object;
    const { items } = await this.#options.storage.list(keyOf(kind, '', object.metadata?.name ?? ''));
    return items[0] ?? object;
  }
}

/** What a PUT or a PATCH makes of the object that is there. */
async function changeOf(call: ResourceCall): Promise<(current: object) => unknown> {
  const { request, info, target, kind } = call;
  if (info.verb === 'patch') {
    checkContentType(request, patchTypes(kind));
    return objectPatch(contentType(request), await readJson(request, call));
  }
  checkContentType(request, JSON_TYPES);
  const body = await readJson(request, call);
  checkWhole(target, body);
  return () => body;
}

/** Of a read that would be answered from the stale state: one that does not ask for a newer one. */
function isAtMost(version: string, bound: string): boolean {
  return version === '' || (/^\d+$/.test(version) && BigInt(version) <= BigInt(bound));
}
