import { shown } from '../types/shown.ts';
import type { GroupKind } from './resource-key.ts';

/** A kind as an API server has it: how it is named, and where it is. */
export interface ApiResource extends GroupKind {
  readonly version: string;
  /** The plural that paths have: `configmaps`. */
  readonly resource: string;
  readonly isNamespaced: boolean;
}

/** What a server was found to have. */
export interface DiscoveredResources {
  readonly resources: readonly ApiResource[];
  /** Groups that could not be asked, as of an API service that is down: nothing is known of their kinds, so none of them is gone. */
  readonly failedGroups?: readonly { readonly group: string; readonly error: unknown }[];
}

/** Finds out which kinds there are; rejects when nothing can be found out. */
export type Discover = (options: { readonly signal: AbortSignal }) => Promise<DiscoveredResources>;

/** Reads the JSON of a path of the API server, `/apis/apps/v1`; rejects for anything but an answer of 200. */
export type ReadPath = (path: string, options: { readonly signal: AbortSignal }) => Promise<unknown>;

/**
 * Discovery over the paths that every version of Kubernetes has: `/api/v1`, `/apis`, and one for each group at its preferred version.
 * Kinds that can be listed and watched, without subresources; a kind that only another version of its group has is left out.
 *
 * @example
 * ```ts
 * import { discoverWith } from 'plimsoll/kubernetes';
 *
 * const answers: Record<string, unknown> = {
 *   '/api/v1': { resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list', 'watch'] }] },
 *   '/apis': { groups: [] },
 * };
 * const { resources } = await discoverWith(async (path) => answers[path])({ signal: new AbortController().signal });
 * console.log(resources[0]?.resource); // pods
 * ```
 */
export function discoverWith(readPath: ReadPath): Discover {
  if (typeof readPath !== 'function') throw new TypeError(`Cannot discover kinds: readPath is ${shown(readPath)}`);
  return async ({ signal }) => {
    const core = { group: '', version: 'v1', path: '/api/v1' };
    const groups = [core, ...readGroups(await readPath('/apis', { signal }))];
    const found = await Promise.allSettled(
      groups.map(async (group) => readResources(await readPath(group.path, { signal }), group)),
    );
    signal.throwIfAborted();
    return {
      resources: found.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])),
      failedGroups: found.flatMap((result, place) =>
        result.status === 'rejected' ? [{ group: groups[place]?.group ?? '', error: result.reason as unknown }] : [],
      ),
    };
  };
}

/** What a `discover` of anybody's has answered. Throws TypeError for what is no answer, which is another thing than no kinds. */
export function checkDiscovered(answer: unknown): DiscoveredResources {
  const resources = listAt(answer, 'resources');
  if (resources === undefined) throw new TypeError('Cannot discover kinds: the answer has no list of resources');
  for (const resource of resources) {
    const isOne =
      ['kind', 'version', 'resource'].every((name) => textAt(resource, name) !== undefined) &&
      typeof memberAt(resource, 'group') === 'string' &&
      typeof memberAt(resource, 'isNamespaced') === 'boolean';
    if (!isOne) throw new TypeError(`Cannot discover kinds: the answer has ${shown(resource)} as a resource`);
  }
  const failedGroups = memberAt(answer, 'failedGroups');
  if (failedGroups !== undefined && !Array.isArray(failedGroups))
    throw new TypeError('Cannot discover kinds: failedGroups of the answer is not a list');
  // One that cannot be read would be a group that nobody protects: all its kinds would be gone.
  for (const failed of (failedGroups ?? []) as readonly unknown[]) {
    if (typeof memberAt(failed, 'group') !== 'string')
      throw new TypeError(`Cannot discover kinds: the answer has ${shown(failed)} as a group that failed`);
  }
  return answer as DiscoveredResources;
}

interface Group {
  readonly group: string;
  readonly version: string;
  readonly path: string;
}

function readGroups(answer: unknown): readonly Group[] {
  const groups = listAt(answer, 'groups');
  if (groups === undefined) throw new TypeError('Cannot discover kinds: the list of groups is none');
  return groups.flatMap((group) => {
    const name = textAt(group, 'name');
    const version = textAt(memberAt(group, 'preferredVersion'), 'version');
    return name === undefined || version === undefined
      ? []
      : [{ group: name, version, path: `/apis/${name}/${version}` }];
  });
}

function readResources(answer: unknown, { group, version }: Group): readonly ApiResource[] {
  const resources = listAt(answer, 'resources');
  if (resources === undefined) throw new TypeError(`Cannot discover kinds: the list of ${group}/${version} is none`);
  return resources.flatMap((entry) => {
    const resource = textAt(entry, 'name');
    const kind = textAt(entry, 'kind');
    const verbs = listAt(entry, 'verbs') ?? [];
    if (resource === undefined || kind === undefined || resource.includes('/')) return [];
    if (!verbs.includes('list') || !verbs.includes('watch')) return [];
    return [{ group, version, kind, resource, isNamespaced: memberAt(entry, 'namespaced') === true }];
  });
}

function memberAt(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textAt(value: unknown, name: string): string | undefined {
  const found = memberAt(value, name);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function listAt(value: unknown, name: string): readonly unknown[] | undefined {
  const found = memberAt(value, name);
  return Array.isArray(found) ? found : undefined;
}
