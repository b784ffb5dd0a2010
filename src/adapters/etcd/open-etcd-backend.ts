import { EtcdBackend } from '../../backends/etcd/backend.ts';
import { EtcdClient } from '../../backends/etcd/client.ts';
import { Endpoints } from '../../backends/etcd/endpoints.ts';
import { EtcdRefusal } from '../../backends/etcd/errors.ts';
import { type Fetch, Gateway } from '../../backends/etcd/gateway.ts';
import type { Transport } from '../../backends/etcd/transport.ts';
import { hasSoundProgress } from '../../backends/etcd/version.ts';
import { checkMembers } from '../../store/checks.ts';
import { systemClock } from '../../system/system-clock.ts';
import type { Backend } from '../../types/backend.ts';
import { checkInteger } from '../../types/check-integer.ts';
import { CLOCK_METHODS, checkMethods } from '../../types/check-methods.ts';
import { checkSignal } from '../../types/check-signal.ts';
import type { Clock } from '../../types/clock.ts';
import type { SignalOptions } from '../../types/signal.ts';
import { loadGrpcLibraries } from './grpc-libraries.ts';
import { type EtcdTlsOptions, GrpcTransport } from './grpc-transport.ts';

/** Options of {@link openEtcdBackend}. */
export interface EtcdBackendOptions extends SignalOptions {
  /** Client addresses of the members, `https://10.0.0.1:2379`; asked in this order, the one that answered last first. */
  readonly endpoints: readonly string[];
  /** For a cluster with authentication; a token is got with them, and got anew when etcd does not take it any more. */
  readonly username?: string;
  readonly password?: string;
  /** How long a call may take, all its tries together, and a stream until its first message; in ms from 1. @default 5000 */
  readonly timeoutMs?: number;
  /**
   * `'gateway'` is JSON over `fetch`: nothing to install, every runtime. `'grpc'` is the fast path, on Node, Deno and Bun:
   * `npm install @grpc/grpc-js protobufjs`, which are loaded only then. @default 'gateway'
   */
  readonly transport?: 'gateway' | 'grpc';
  /** With gRPC, for `https:` addresses. What is no PEM is told when the backend is opened. */
  readonly tls?: EtcdTlsOptions;
  /**
   * With gRPC: how long a connection with calls on it may be silent until it is asked whether it lives; 5 s later it is given up.
   * In ms from 1000; members end connections that ask more often than every 5 s, if they are not told otherwise. @default 10000
   */
  readonly keepaliveMs?: number;
  /** Bytes of an answer, and of one message of a stream, from 1 to 2^31 - 1: above, a permanent `BackendError`. @default 256 MiB */
  readonly answerBytesMax?: number;
  /**
   * With the gateway, in the place of `fetch`: with the certificate of a client, of a private authority, through a proxy. How that is said
   * differs by runtime ([docs/etcd.md](../../../docs/etcd.md)). @default the platform's
   */
  readonly fetch?: Fetch;
  /** @default the platform's clock */
  readonly clock?: Clock;
}

const ACTION = 'open an etcd backend';

const NAMES: ReadonlySet<string> = new Set<keyof EtcdBackendOptions>([
  'answerBytesMax',
  'clock',
  'endpoints',
  'fetch',
  'keepaliveMs',
  'password',
  'signal',
  'timeoutMs',
  'tls',
  'transport',
  'username',
]);
const TLS_NAMES: ReadonlySet<string> = new Set<keyof EtcdTlsOptions>(['ca', 'cert', 'key']);
const INT32_MAX = 0x7fffffff;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
const KEEPALIVE_MS = { default: 10_000, min: 1_000 } as const;

/**
 * Opens a cluster of etcd as the backend of stores: many machines, one state. It speaks the JSON gateway over `fetch`, which
 * works in every runtime, with nothing to install; or gRPC, if asked.
 *
 * Asks the cluster once, so that a wrong address or password is told here; a missing permission where it is needed.
 *
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { openEtcdBackend } from 'plimsoll/etcd';
 *
 * async function openShared(endpoints: string[]) {
 *   const backend = await openEtcdBackend({ endpoints });
 *   return openStore<{ image: string }>({ backend, prefixes: ['apps/'] });
 * }
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be, `BackendError` that names the member and the reason, the
 *   signal's reason
 */
export async function openEtcdBackend(options: EtcdBackendOptions): Promise<Backend> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { endpoints: given, username, password, timeoutMs = 5000, clock = systemClock, signal } = options;
  checkInteger('timeoutMs', timeoutMs, ACTION, 1, INT32_MAX);
  checkMethods('clock', clock, ACTION, CLOCK_METHODS);
  checkSignal(signal, ACTION);
  for (const [name, value] of Object.entries({ username, password })) {
    if (value !== undefined && typeof value !== 'string') throw new TypeError(`Cannot ${ACTION}: ${name} is no string`);
  }
  if ((username === undefined) !== (password === undefined)) {
    throw new TypeError(`Cannot ${ACTION}: username and password belong together`);
  }
  const endpoints = checkedEndpoints(given);
  const client = new EtcdClient({
    endpoints: new Endpoints(endpoints, clock),
    transport: await transportOf(options, endpoints),
    clock,
    timeoutMs,
    user: username === undefined ? undefined : { name: username, password: password as string },
  });
  try {
    const offersProgress = client.duplex && hasSoundProgress(await clusterVersionOf(client, signal));
    const backend = new EtcdBackend(client, { clock, offersProgress });
    await backend.status(signal === undefined ? {} : { signal });
    return backend;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** What belongs to the other transport is refused: whoever hands it over believes that it is used. */
async function transportOf(options: EtcdBackendOptions, endpoints: readonly string[]): Promise<Transport> {
  const { transport = 'gateway', tls, keepaliveMs, fetch, answerBytesMax = ANSWER_BYTES_MAX } = options;
  checkInteger('answerBytesMax', answerBytesMax, ACTION, 1, INT32_MAX);
  if (transport === 'gateway') {
    if (tls !== undefined || keepaliveMs !== undefined) {
      const name = tls === undefined ? 'keepaliveMs' : 'tls';
      throw new TypeError(`Cannot ${ACTION}: ${name} is for transport 'grpc'; the gateway has all that from fetch`);
    }
    const ask = fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init));
    if (typeof ask !== 'function') throw new TypeError(`Cannot ${ACTION}: fetch is not a function`);
    return new Gateway({ fetch: ask, answerBytesMax });
  }
  if (transport !== 'grpc') throw new TypeError(`Cannot ${ACTION}: transport is neither 'gateway' nor 'grpc'`);
  if (fetch !== undefined) throw new TypeError(`Cannot ${ACTION}: fetch is for transport 'gateway'`);
  checkInteger('keepaliveMs', keepaliveMs ?? KEEPALIVE_MS.default, ACTION, KEEPALIVE_MS.min, INT32_MAX);
  if (tls !== undefined) checkTls(tls, endpoints);
  return new GrpcTransport({
    libraries: await loadGrpcLibraries(ACTION),
    action: ACTION,
    tls,
    keepaliveMs: keepaliveMs ?? KEEPALIVE_MS.default,
    answerBytesMax,
  });
}

function checkTls(tls: EtcdTlsOptions, endpoints: readonly string[]): void {
  checkMembers(tls, TLS_NAMES, ACTION, 'tls is not an object', 'member of tls');
  for (const [name, pem] of Object.entries(tls)) {
    if (typeof pem !== 'string' && !(pem instanceof Uint8Array)) {
      throw new TypeError(`Cannot ${ACTION}: tls.${name} is neither text nor bytes`);
    }
  }
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw new TypeError(`Cannot ${ACTION}: tls.cert and tls.key belong together`);
  }
  if (!endpoints.some((one) => one.startsWith('https:'))) {
    throw new TypeError(`Cannot ${ACTION}: tls is given, but no endpoint begins with https:`);
  }
}

/**
 * Of the member that answers first; that of the others is asked where a watch is opened. Whoever stands in between may not pass
 * the question on: then it is nobody's.
 */
async function clusterVersionOf(client: EtcdClient, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await client.call('maintenance/status', {}, { action: ACTION, signal }, ({ version }) => version);
  } catch (error) {
    if (error instanceof EtcdRefusal) return undefined;
    throw error;
  }
}

/** Without a path, and each once. */
function checkedEndpoints(endpoints: unknown): readonly string[] {
  if (!Array.isArray(endpoints) || endpoints.length === 0) {
    throw new TypeError(`Cannot ${ACTION}: endpoints is not an array with an address in it`);
  }
  const checked = endpoints.map((one: unknown) => {
    const url = typeof one === 'string' && URL.canParse(one) ? new URL(one) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new TypeError(`Cannot ${ACTION}: ${JSON.stringify(one)} is no address like http://127.0.0.1:2379`);
    }
    return url.origin;
  });
  return [...new Set(checked)];
}
