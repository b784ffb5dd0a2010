import { refuse } from './api-status.ts';
import type { KindRegistry, Registration } from './kind-registry.ts';
import { isTrue } from './query-values.ts';

/** What a request does, in the words of Kubernetes' own authorization. `discovery` is everything that is no resource. */
export type ApiVerb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'discovery'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch';

export const API_VERBS: readonly ApiVerb[] = [
  'create',
  'delete',
  'deletecollection',
  'discovery',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** What a request is about. */
export interface RequestInfo {
  readonly verb: ApiVerb;
  /** Decoded segments of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** '' for the core group and for discovery. */
  readonly group: string;
  readonly version: string;
  /** The plural; '' for discovery. */
  readonly resource: string;
  /** '' for all of them, and where there is none. */
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  /** '', or `status`. */
  readonly subresource: string;
}

/**
 * Takes a path apart.
 *
 * ```text
 *   /api/v1/pods                                  collection, all namespaces
 *   /api/v1/namespaces/ns1/pods/web/status        object in a namespace, subresource
 *   /apis/apps/v1/deployments                     the same of a group with a name
 *   /api/v1/namespaces/ns1                        the namespace itself, an object without one
 * ```
 *
 * Throws `RequestRefused` for a path that is no text.
 */
export function requestInfo(method: string, url: URL): RequestInfo {
  const query = url.searchParams;
  const path = segmentsOf(url.pathname);
  const [root, ...rest] = path;
  const [group, version, ...below] = root === 'api' ? ['', ...rest] : root === 'apis' ? rest : [];
  const none = { path, query, namespace: '', name: '', subresource: '', resource: '' };
  if (group === undefined || version === undefined || below.length === 0) {
    return { ...none, verb: 'discovery', group: group ?? '', version: version ?? '' };
  }
  // Below a namespace there are its own subresources, too: three segments, the last one none of a kind.
  const isBelowNamespace = below[0] === 'namespaces' && below.length > 2 && !NAMESPACE_PARTS.has(below[2] ?? '');
  const namespace = isBelowNamespace ? (below[1] ?? '') : '';
  const [resource = '', name = '', ...sub] = isBelowNamespace ? below.slice(2) : below;
  const verb = verbOf(method, name, query);
  return { path, query, group, version, resource, namespace, name, subresource: sub.join('/'), verb };
}

const NAMESPACE_PARTS: ReadonlySet<string> = new Set(['status', 'finalize']);

/** The kind of a resource request; `undefined` where nothing is served at that path. */
export function registrationOf(registry: KindRegistry, info: RequestInfo): Registration | undefined {
  const { group, version, resource, namespace, name, subresource } = info;
  const found = registry.find(group, version, resource);
  if (found === undefined) return undefined;
  const { kind } = found;
  if (subresource !== '' && !(subresource === 'status' && kind.status)) return undefined;
  if (namespace !== '' && !kind.namespaced) return undefined;
  // Across namespaces there are collections only.
  if (kind.namespaced && namespace === '' && name !== '') return undefined;
  return found;
}

function verbOf(method: string, name: string, query: URLSearchParams): ApiVerb {
  switch (method) {
    case 'GET':
      if (name !== '') return 'get';
      return isTrue(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      throw refuse(405, `the server does not allow the method ${method}`);
  }
}

function segmentsOf(pathname: string): readonly string[] {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map((segment) => decodeURIComponent(segment));
  } catch {
    throw refuse(400, 'the path is no text');
  }
}
