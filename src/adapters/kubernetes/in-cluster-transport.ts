import type { BearerToken } from '../../kubernetes/bearer-tokens.ts';
import { createFetchTransport, type FetchTransportOptions } from '../../kubernetes/create-fetch-transport.ts';
import { TransportError } from '../../kubernetes/errors.ts';
import type { KubernetesTransport } from '../../kubernetes/transport.ts';
import { checkMembers } from '../../store/checks.ts';
import { systemClock } from '../../system/system-clock.ts';
import { loadModule } from '../load-module.ts';
import { createNodeFetch } from './node-fetch.ts';

/** Options of {@link openInClusterTransport}. */
export interface InClusterTransportOptions
  extends Pick<FetchTransportOptions, 'answerBytesMax' | 'clock' | 'lineBytesMax' | 'logger'> {
  /** With `token` and `ca.crt`. @default '/var/run/secrets/kubernetes.io/serviceaccount' */
  readonly folder?: string;
  /** Of the API server. @default https, with KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of the environment */
  readonly baseUrl?: string;
}

const ACTION = 'open an in-cluster transport';
const NAMES: ReadonlySet<string> = new Set<keyof InClusterTransportOptions>([
  'answerBytesMax',
  'baseUrl',
  'clock',
  'folder',
  'lineBytesMax',
  'logger',
]);
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet replaces the file long before the token expires; nobody says when. */
const TOKEN_MS = 60_000;

interface NodeFiles {
  readFile(path: string, encoding: 'utf8'): Promise<string>;
}

interface NodeHttps {
  readonly Agent: new (options: { readonly ca?: string; readonly keepAlive: boolean }) => object;
}

/**
 * A transport with the service account of the pod that this runs in, without any package: its token, read again every minute and after a 401, and its certificate
 * authority. On Node, Deno and Bun.
 *
 * @throws as a rejection: TypeError for options that cannot be; TransportError `credentials` where there is no service account
 */
export async function openInClusterTransport(options: InClusterTransportOptions = {}): Promise<KubernetesTransport> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { folder = FOLDER, baseUrl = await addressOfCluster(), clock = systemClock, ...limits } = options;
  const { readFile } = (await load('node:fs/promises')) as NodeFiles;
  const readToken = async (): Promise<BearerToken> => {
    const token = await readFile(`${folder}/token`, 'utf8');
    return { token: token.trim(), expiresAtMs: clock.wallTime() + TOKEN_MS };
  };
  const ca = await readToken()
    .then(() => readFile(`${folder}/ca.crt`, 'utf8'))
    .catch((cause: unknown) => {
      throw new TransportError(ACTION, 'credentials', `${folder} cannot be read`, cause);
    });
  const isTls = baseUrl.startsWith('https:');
  const { Agent } = (await load(isTls ? 'node:https' : 'node:http')) as NodeHttps;
  const agent = new Agent(isTls ? { ca, keepAlive: true } : { keepAlive: true });
  const prepare = async (request: object) => {
    Object.assign(request, { agent });
  };
  const fetch = createNodeFetch({ prepare, again: false });
  return createFetchTransport({ ...limits, clock, baseUrl, fetch, token: readToken });
}

async function load(name: string): Promise<unknown> {
  const loaded = await loadModule(name);
  if ('module' in loaded) return loaded.module;
  throw new TransportError(
    ACTION,
    'credentials',
    `${name} cannot be loaded: this is not Node, Deno or Bun`,
    loaded.error,
  );
}

async function addressOfCluster(): Promise<string> {
  const { env } = (await load('node:process')) as { readonly env?: Readonly<Record<string, string | undefined>> };
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env ?? {};
  if (host === undefined || host === '') {
    throw new TransportError(ACTION, 'credentials', 'KUBERNETES_SERVICE_HOST is not set: this is no pod');
  }
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
