import type { KubernetesObject, ListOptions, ResourceVersionMatch, StorageWatchOptions } from '../../storage/types.ts';
import { failure, RequestRefused } from './api-status.ts';
import { type ObjectPredicate, parseFieldSelector } from './field-selector.ts';
import type { ServedKind } from './kinds.ts';
import { parseLabelSelector } from './label-selector.ts';
import { integer, isTrue } from './query-values.ts';

type Options<T> = Omit<T, 'signal'>;

/** More seconds than a timer can hold are none. */
const SECONDS_MAX = 2_000_000;

/** What a list asks for. Throws `RequestRefused` for what it cannot ask. */
export function listOptions(query: URLSearchParams, kind: ServedKind): Options<ListOptions<KubernetesObject>> {
  const token = query.get('continue') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  if (query.has('sendInitialEvents')) throw forbidden('sendInitialEvents', 'is forbidden for list');
  checkMatch(match, query.get('resourceVersion') ?? '', token);
  const limit = integer(query, 'limit');
  return {
    recursive: true,
    ...versionOf(query),
    ...(match === '' ? {} : { resourceVersionMatch: match as ResourceVersionMatch }),
    ...(limit === undefined ? {} : { limit }),
    ...(token === '' ? {} : { continue: token }),
    ...selection(query, kind),
  };
}

/** What a watch asks for. Without `timeoutSeconds` the caller chooses. */
export function watchOptions(
  query: URLSearchParams,
  kind: ServedKind,
): Options<StorageWatchOptions<KubernetesObject>> & { readonly timeoutMs?: number } {
  const match = query.get('resourceVersionMatch') ?? '';
  const hasInitial = query.has('sendInitialEvents');
  if (hasInitial && match !== 'NotOlderThan') {
    throw forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (!hasInitial && match !== '') {
    throw forbidden('resourceVersionMatch', 'is forbidden for watch unless sendInitialEvents is provided');
  }
  if (hasInitial && (query.get('continue') ?? '') !== '') {
    throw forbidden('continue', 'is forbidden when sendInitialEvents is provided');
  }
  const seconds = integer(query, 'timeoutSeconds') ?? 0;
  return {
    recursive: true,
    ...versionOf(query),
    ...(hasInitial ? { sendInitialEvents: isTrue(query, 'sendInitialEvents') } : {}),
    allowWatchBookmarks: isTrue(query, 'allowWatchBookmarks'),
    ...(seconds > 0 && seconds <= SECONDS_MAX ? { timeoutMs: seconds * 1000 } : {}),
    ...selection(query, kind),
  };
}

/** Which objects the selectors leave; nothing for all. */
export function selection(
  query: URLSearchParams,
  kind: ServedKind,
): { readonly predicate?: (object: KubernetesObject) => boolean } {
  const byLabel = parseLabelSelector(query.get('labelSelector') ?? '');
  const byField: ObjectPredicate | undefined = parseFieldSelector(query.get('fieldSelector') ?? '', kind);
  if (byLabel === undefined && byField === undefined) return {};
  return {
    predicate: (object) =>
      (byLabel === undefined || byLabel(object.metadata?.labels ?? {})) && (byField === undefined || byField(object)),
  };
}

function versionOf(query: URLSearchParams): { readonly resourceVersion?: string } {
  const resourceVersion = query.get('resourceVersion') ?? '';
  return resourceVersion === '' ? {} : { resourceVersion };
}

function checkMatch(match: string, resourceVersion: string, token: string): void {
  if (match === '') return;
  const name = 'resourceVersionMatch';
  if (resourceVersion === '') throw forbidden(name, 'is forbidden unless resourceVersion is provided');
  if (token !== '') throw forbidden(name, 'is forbidden when continue is provided');
  if (match !== 'Exact' && match !== 'NotOlderThan') throw forbidden(name, `unsupported value "${match}"`);
  if (match === 'Exact' && resourceVersion === '0') throw forbidden(name, 'Exact is forbidden for resourceVersion "0"');
}

function forbidden(field: string, why: string): RequestRefused {
  const causes = [{ reason: 'FieldValueForbidden', message: why, field }];
  const details = { group: 'meta.k8s.io', kind: 'ListOptions', causes };
  return new RequestRefused(failure(422, `ListOptions.meta.k8s.io "" is invalid: ${field}: ${why}`, { details }));
}
