import type { Clock } from '../types/clock.ts';
import { onAbort } from '../types/on-abort.ts';
import { shown } from '../types/shown.ts';
import type { SignalOptions } from '../types/signal.ts';
import { raceAborted } from '../types/until-aborted.ts';
import { member, statusError } from './api-status.ts';
import type { BearerTokens } from './bearer-tokens.ts';
import { TransportError } from './errors.ts';
import { LineStream } from './line-stream.ts';
import { listQuery, resourcePath, watchAction, watchQuery } from './resource-path.ts';
import { ResponseBody } from './response-body.ts';
import type { KubernetesTransport, ListPage, ListPageRequest, WatchRequest, WatchStream } from './transport.ts';

/** `fetch`, or something like it: with the certificate of a client, for instance. */
export type KubernetesFetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ResolvedFetchTransportOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly fetch: KubernetesFetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly tokens: BearerTokens | undefined;
  readonly lineBytesMax: number;
  readonly answerBytesMax: number;
  readonly clock: Pick<Clock, 'wallTime'>;
}

/** Of an error's body: enough for a Status, whatever page of a proxy it is. */
const STATUS_BYTES_MAX = 1024 * 1024;
const UNAUTHORIZED = 401;

/** Lists as JSON and watches as JSON by lines, over `fetch`. Connections are the platform's; each request may have one of its own. */
export class FetchTransport implements KubernetesTransport {
  readonly #options: ResolvedFetchTransportOptions;

  /** Of options that were checked; `createFetchTransport` is for everybody else. */
  constructor(options: ResolvedFetchTransportOptions) {
    this.#options = options;
  }

  async list(request: ListPageRequest, { signal }: Required<SignalOptions>): Promise<ListPage> {
    const action = `list ${request.resource.resource}`;
    const response = await this.#send(action, `${resourcePath(request.resource)}?${listQuery(request)}`, signal);
    const body = new ResponseBody(response, { action, signal });
    try {
      return pageOf(action, await body.rest(this.#options.answerBytesMax));
    } finally {
      await body.cancel();
    }
  }

  async watch(request: WatchRequest, { signal }: Required<SignalOptions>): Promise<WatchStream> {
    const action = watchAction(request);
    const connection = new AbortController();
    const unlisten = onAbort(signal, (reason) => connection.abort(reason));
    const end = () => {
      unlisten();
      connection.abort();
    };
    try {
      const path = `${resourcePath(request.resource)}?${watchQuery(request)}`;
      const response = await this.#send(action, path, connection.signal);
      const body = new ResponseBody(response, { action, signal: connection.signal });
      return new LineStream(body, { action, signal, lineBytesMax: this.#options.lineBytesMax, end });
    } catch (error) {
      end();
      throw error;
    }
  }

  /** An answer that is no refusal. After a 401 it is tried once more, if there is another token (IN22). */
  async #send(action: string, path: string, signal: AbortSignal): Promise<Response> {
    const { tokens } = this.#options;
    const token = await tokens?.get(signal);
    const response = await this.#fetch(action, path, token, signal);
    if (response.ok) return response;
    if (response.status !== UNAUTHORIZED || tokens === undefined || token === undefined) {
      throw await this.#refusal(action, response, signal);
    }
    const refusal = await this.#refusal(action, response, signal);
    tokens.reject(token);
    const fresh = await tokens.get(signal);
    if (fresh === token) {
      tokens.reject(fresh);
      throw refusal;
    }
    const again = await this.#fetch(action, path, fresh, signal);
    if (again.ok) return again;
    if (again.status === UNAUTHORIZED) tokens.reject(fresh);
    throw await this.#refusal(action, again, signal);
  }

  async #fetch(action: string, path: string, token: string | undefined, signal: AbortSignal): Promise<Response> {
    const { baseUrl, headers } = this.#options;
    signal.throwIfAborted();
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const init = { headers: { accept: 'application/json', ...headers, ...authorization }, signal };
    const sent = this.#call(`${baseUrl}${path}`, init);
    try {
      return await raceAborted(sent, [signal]);
    } catch (cause) {
      // A `fetch` that does not listen to its signal may still bring a body, which nobody would read.
      void Promise.allSettled([sent.then(({ body }) => body?.cancel())]);
      signal.throwIfAborted();
      const why = cause instanceof Error ? `: ${shown(cause.message)}` : '';
      throw new TransportError(action, 'unreachable', `${baseUrl} gave no answer${why}`, cause);
    }
  }

  /** One that throws instead of rejecting is no different. */
  async #call(url: string, init: RequestInit): Promise<Response> {
    return this.#options.fetch(url, init);
  }

  async #refusal(action: string, response: Response, signal: AbortSignal): Promise<Error> {
    const body = new ResponseBody(response, { action, signal });
    try {
      const answered = {
        httpStatus: response.status,
        retryAfter: response.headers.get('retry-after'),
        wallTimeMs: this.#options.clock.wallTime(),
      };
      const text = await body.rest(STATUS_BYTES_MAX).catch(() => '');
      signal.throwIfAborted();
      return statusError(action, parsed(text), answered);
    } finally {
      await body.cancel();
    }
  }
}

function pageOf(action: string, text: string): ListPage {
  const list = parsed(text);
  const metadata = member(list, 'metadata');
  const resourceVersion = member(metadata, 'resourceVersion');
  const token = member(metadata, 'continue');
  // Go writes an empty list as null. Without the member it is another thing, however well it was answered: a Table, one object.
  const listed = member(list, 'items');
  const items = listed === null ? [] : listed;
  if (!Array.isArray(items) || typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new TransportError(action, 'malformed', 'the answer is no list with a resourceVersion');
  }
  const kind = member(list, 'kind');
  const apiVersion = member(list, 'apiVersion');
  const isTyped = typeof kind === 'string' && kind.length > LIST.length && kind.endsWith(LIST);
  return {
    resourceVersion,
    items,
    ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
    ...(isTyped && typeof apiVersion === 'string'
      ? { itemType: { apiVersion, kind: kind.slice(0, -LIST.length) } }
      : {}),
  };
}

const LIST = 'List';

/** `undefined` for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
