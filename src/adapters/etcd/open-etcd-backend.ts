import { EtcdBackend } from '../../backends/etcd/backend.ts';
import { Endpoints } from '../../backends/etcd/endpoints.ts';
import { type Fetch, Gateway } from '../../backends/etcd/gateway.ts';
import { checkMembers } from '../../store/checks.ts';
import { systemClock } from '../../system/system-clock.ts';
import type { Backend } from '../../types/backend.ts';
import { checkInteger } from '../../types/check-integer.ts';
import { checkSignal } from '../../types/check-signal.ts';
import type { Clock } from '../../types/clock.ts';
import type { SignalOptions } from '../../types/signal.ts';

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
   * In the place of `fetch`: with the certificate of a client, of a private authority, through a proxy. How that is said
   * differs by runtime ([docs/etcd.md](../../../docs/etcd.md)). @default the platform's
   */
  readonly fetch?: Fetch;
  /** @default the platform's clock */
  readonly clock?: Clock;
}

const ACTION = 'open an etcd backend';

const NAMES: ReadonlySet<string> = new Set<keyof EtcdBackendOptions>([
  'clock',
  'endpoints',
  'fetch',
  'password',
  'signal',
  'timeoutMs',
  'username',
]);

/**
 * Opens a cluster of etcd as the backend of stores: many machines, one state. It speaks the JSON gateway over `fetch`, which
 * works in every runtime; nothing has to be installed.
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
  const { endpoints, username, password, timeoutMs = 5000, clock = systemClock, signal } = options;
  checkInteger('timeoutMs', timeoutMs, ACTION, 1, 0x7fffffff);
  checkSignal(signal, ACTION);
  if ((username === undefined) !== (password === undefined)) {
    throw new TypeError(`Cannot ${ACTION}: username and password belong together`);
  }
  const { fetch = (url: string, init: RequestInit) => globalThis.fetch(url, init) } = options;
  if (typeof fetch !== 'function') throw new TypeError(`Cannot ${ACTION}: fetch is not a function`);
  const gateway = new Gateway({
    endpoints: new Endpoints(checkedEndpoints(endpoints), clock),
    fetch,
    clock,
    timeoutMs,
    user: username === undefined ? undefined : { name: username, password: password as string },
  });
  const backend = new EtcdBackend(gateway);
  try {
    await backend.status(signal === undefined ? {} : { signal });
  } catch (error) {
    await backend[Symbol.asyncDispose]();
    throw error;
  }
  return backend;
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
