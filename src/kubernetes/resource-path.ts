import type { KubernetesResource, ListPageRequest, Selectors, WatchRequest } from './transport.ts';

/**
 * The path of a resource, of all of its objects or of those in one namespace.
 *
 * ```text
 *   /api/v1/namespaces/shop/pods            the core group
 *   /apis/apps/v1/deployments               any other one
 * ```
 */
export function resourcePath({ group = '', version, resource, namespace }: KubernetesResource): string {
  const root = group === '' ? '/api' : `/apis/${encodeURIComponent(group)}`;
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}/${encodeURIComponent(version)}${within}/${encodeURIComponent(resource)}`;
}

export function listQuery(request: ListPageRequest): URLSearchParams {
  const { limit, continue: token, resourceVersion, resourceVersionMatch } = request;
  return query(request, { limit, continue: token, resourceVersion, resourceVersionMatch });
}

/** What errors of a watch say could not be done: with a list in front it is both, in one request. */
export function watchAction({ resource: { resource }, sendInitialEvents }: WatchRequest): string {
  return sendInitialEvents === true ? `list and watch ${resource}` : `watch ${resource}`;
}

export function watchQuery(request: WatchRequest): URLSearchParams {
  const { resourceVersion, allowWatchBookmarks, timeoutSeconds, sendInitialEvents, resourceVersionMatch } = request;
  return query(request, {
    watch: true,
    resourceVersion,
    allowWatchBookmarks,
    timeoutSeconds,
    sendInitialEvents,
    resourceVersionMatch,
  });
}

function query(
  { labelSelector, fieldSelector }: Selectors,
  more: Readonly<Record<string, string | number | boolean | undefined>>,
): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ labelSelector, fieldSelector, ...more })) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters;
}
