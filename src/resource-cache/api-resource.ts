import { shown } from '../types/shown.ts';
import { type LimitedReads, limitReads, type ReadPath } from './limit-reads.ts';
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

/**
 * Discovery over the paths that every version of Kubernetes has: `/api/v1`, `/apis`, and one for each version of each group. Kinds that
 * can be listed and watched, without subresources, each once: at the version that its group prefers, else at the first one that has it.
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
    const reads = limitReads(readPath, signal);
    try {
      const groups = [{ group: '', versions: ['v1'] }, ...readGroups(await reads.read('/apis'))];
      const found = await Promise.all(groups.map((group) => readKinds(reads, group)));
      signal.throwIfAborted();
      return {
        resources: found.flatMap(({ resources }) => resources),
        failedGroups: found.flatMap(({ failed }) => failed.slice(0, 1)),
      };
    } finally {
      reads.end();
    }
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
  return answer as DiscoveredResources;
}

interface Group {
  readonly group: string;
  /** The preferred one first. */
  readonly versions: readonly string[];
}

function readGroups(answer: unknown): readonly Group[] {
  const groups = listAt(answer, 'groups');
  if (groups === undefined) throw new TypeError('Cannot discover kinds: the list of groups is none');
  return groups.flatMap((entry) => {
    const group = textAt(entry, 'name');
    const preferred = textAt(memberAt(entry, 'preferredVersion'), 'version');
    if (group === undefined || preferred === undefined) return [];
    const others = (listAt(entry, 'versions') ?? []).flatMap((one) => textAt(one, 'version') ?? []);
    return [{ group, versions: [...new Set([preferred, ...others])] }];
  });
}

interface Kinds {
  readonly resources: readonly ApiResource[];
  readonly failed: readonly { readonly group: string; readonly error: unknown }[];
}

/**
 * All kinds of a group. Versions of a kind are one set of objects, so each is taken once. Where a version cannot be asked, the group
 * counts as failed beside what the others have: a kind that only this version has would pass for gone.
 */
async function readKinds(reads: LimitedReads, { group, versions }: Group): Promise<Kinds> {
  const root = group === '' ? '/api' : `/apis/${group}`;
  const answers = await Promise.allSettled(
    versions.map(async (version) => readResources(await reads.read(`${root}/${version}`), group, version)),
  );
  const kinds = new Map<string, ApiResource>();
  for (const answer of answers) {
    if (answer.status === 'rejected') continue;
    for (const resource of answer.value) if (!kinds.has(resource.kind)) kinds.set(resource.kind, resource);
  }
  const failed = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [{ group, error: answer.reason as unknown }] : [],
  );
  return { resources: [...kinds.values()], failed };
}

function readResources(answer: unknown, group: string, version: string): readonly ApiResource[] {
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
