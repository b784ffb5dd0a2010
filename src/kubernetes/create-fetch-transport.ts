import { checkMembers } from '../store/checks.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkLogger } from '../types/check-logger.ts';
import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import { shown } from '../types/shown.ts';
import { BearerTokens, type TokenProvider } from './bearer-tokens.ts';
import { FetchTransport, type KubernetesFetch } from './fetch-transport.ts';
import type { KubernetesTransport } from './transport.ts';

/** Options of {@link createFetchTransport}. */
export interface FetchTransportOptions {
  /** Of the API server, `https://10.0.0.1:6443`; a path in front of `/api` is kept. */
  readonly baseUrl: string;
  /** With the certificates that the server needs, if the platform has them not: how that is said differs by runtime. @default the platform's */
  readonly fetch?: KubernetesFetch;
  /** What to log in with. @default nothing: the `fetch` or a header does it */
  readonly token?: TokenProvider;
  /** Of every request, above those of the transport. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of one line of a watch, from 1 to 2^31 - 1. @default 16 MiB */
  readonly lineBytesMax?: number;
  /** Bytes of one page of a list, from 1 to 2^31 - 1. @default 256 MiB */
  readonly answerBytesMax?: number;
  /** @default the platform's clock */
  readonly clock?: Clock;
  /** Hears of a token that could not be renewed. @default silence */
  readonly logger?: Logger;
}

const ACTION = 'create a fetch transport';
const NAMES: ReadonlySet<string> = new Set<keyof FetchTransportOptions>([
  'answerBytesMax',
  'baseUrl',
  'clock',
  'fetch',
  'headers',
  'lineBytesMax',
  'logger',
  'token',
]);
const BYTES_MAX = 0x7fffffff;

/**
 * A transport over `fetch`, for every runtime: Node, Deno, Bun, workers, edge functions. Makes no request by itself.
 *
 * @example
 * ```ts
 * import { createFetchTransport, createInformer } from 'plimsoll/kubernetes';
 *
 * function followPods(baseUrl: string, readToken: () => Promise<string>) {
 *   const transport = createFetchTransport({ baseUrl, token: readToken });
 *   return createInformer({
 *     transport,
 *     resource: { version: 'v1', resource: 'pods' },
 *     onDeltas: (deltas) => console.log(deltas.length),
 *   });
 * }
 * console.log(typeof followPods); // function
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be
 */
export function createFetchTransport(options: FetchTransportOptions): KubernetesTransport {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { baseUrl, token, headers = {}, clock = systemClock, logger } = options;
  const { fetch = platformFetch, lineBytesMax = 16 * 1024 * 1024, answerBytesMax = 256 * 1024 * 1024 } = options;
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new TypeError(`Cannot ${ACTION}: baseUrl is ${shown(baseUrl)}, no address like https://10.0.0.1:6443`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`Cannot ${ACTION}: baseUrl has a password in it, which belongs into a header`);
  }
  for (const [name, value] of Object.entries({ fetch, token })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`Cannot ${ACTION}: ${name} is not a function`);
    }
  }
  checkLogger(logger, ACTION);
  checkInteger('lineBytesMax', lineBytesMax, ACTION, 1, BYTES_MAX);
  checkInteger('answerBytesMax', answerBytesMax, ACTION, 1, BYTES_MAX);
  return new FetchTransport({
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    fetch,
    headers: { ...headers },
    tokens:
      token === undefined ? undefined : new BearerTokens({ provider: token, clock, logger: new GuardedLogger(logger) }),
    lineBytesMax,
    answerBytesMax,
    clock,
  });
}

/** Looked up at each call: hosts and tests may put another one in its place. */
function platformFetch(url: string, init: RequestInit): Promise<Response> {
  return globalThis.fetch(url, init);
}
