import { createFetchTransport, type FetchTransportOptions } from '../../kubernetes/create-fetch-transport.ts';
import type { KubernetesTransport } from '../../kubernetes/transport.ts';
import { checkMembers } from '../../store/checks.ts';
import { checkMethods } from '../../types/check-methods.ts';
import { createNodeFetch } from './node-fetch.ts';

/** What is used of the `KubeConfig` of `@kubernetes/client-node`, 1.4 and 2.x alike. Structural: the package is not imported. */
export interface KubeConfigLike {
  getCurrentCluster(): { readonly server: string } | null;
  /** Puts the credentials of the current context into options of `node:https`: agent, headers, certificates. */
  applyToHTTPSOptions(options: object): Promise<void>;
}

/** Options of {@link createClientNodeTransport}. */
export interface ClientNodeTransportOptions
  extends Pick<FetchTransportOptions, 'answerBytesMax' | 'clock' | 'lineBytesMax'> {
  /** Loaded already: `loadFromDefault`, `loadFromCluster`, or whatever brings it. */
  readonly kubeConfig: KubeConfigLike;
}

const ACTION = 'create a transport of client-node';
const NAMES: ReadonlySet<string> = new Set<keyof ClientNodeTransportOptions>([
  'answerBytesMax',
  'clock',
  'kubeConfig',
  'lineBytesMax',
]);

/**
 * A transport with the credentials of a `KubeConfig` of `@kubernetes/client-node`: in-cluster, kubeconfig, client certificates, exec and
 * OIDC, proxies. They are asked for before each request, and once more after a 401. Needs `node:https`: Node, Deno, Bun.
 *
 * The client's own `Watch` is not used: it reads on while a callback is at work, drops lines that it cannot parse, and tells neither the body nor
 * the `Retry-After` of a refusal.
 *
 * @example
 * ```ts
 * import { createClientNodeTransport, createInformer, type KubeConfigLike } from 'plimsoll/kubernetes';
 *
 * // const kubeConfig = new KubeConfig(); kubeConfig.loadFromDefault();
 * function followNodes(kubeConfig: KubeConfigLike) {
 *   const transport = createClientNodeTransport({ kubeConfig });
 *   return createInformer({ transport, resource: { version: 'v1', resource: 'nodes' } });
 * }
 * console.log(typeof followNodes); // function
 * ```
 *
 * @throws TypeError for what is no KubeConfig, or one without a current cluster; as `createFetchTransport`
 */
export function createClientNodeTransport(options: ClientNodeTransportOptions): KubernetesTransport {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const { kubeConfig, ...limits } = options;
  checkMethods('kubeConfig', kubeConfig, ACTION, ['getCurrentCluster', 'applyToHTTPSOptions']);
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new TypeError(`Cannot ${ACTION}: the kubeConfig has no current cluster`);
  const fetch = createNodeFetch({ prepare: (request) => kubeConfig.applyToHTTPSOptions(request), again: true });
  return createFetchTransport({ ...limits, baseUrl: cluster.server, fetch });
}
