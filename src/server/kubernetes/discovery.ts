import type { KindRegistry, ServedGroup } from './kind-registry.ts';
import type { ServedKind } from './kinds.ts';
import { type Answer, negotiate } from './negotiation.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const STATUS_VERBS = ['get', 'patch', 'update'];
const FORMS = ['APIGroupDiscoveryList.apidiscovery.k8s.io/v2', 'APIGroupDiscoveryList.apidiscovery.k8s.io/v2beta1'];

/** What this says to be: clients choose their ways by it. */
const VERSION = { major: '1', minor: '32', gitVersion: 'v1.32.0', platform: 'plimsoll/test' };

/** A document of discovery, and its media type. */
export interface Document {
  readonly body: object;
  readonly type: string;
}

/**
 * The documents by which a client learns what is served; `undefined` for a path without one.
 *
 * ```text
 *   /version                 what server this is
 *   /api, /apis              versions of the core group; all other groups; or both aggregated, with all kinds, if asked for
 *   /apis/GROUP              its versions
 *   /api/v1, /apis/G/V       its kinds
 * ```
 */
export function discovery(
  registry: KindRegistry,
  path: readonly string[],
  accept: string | null,
): Document | undefined {
  const [root, ...rest] = path;
  if (root === 'version' && rest.length === 0) return plain(VERSION);
  if (root !== 'api' && root !== 'apis') return undefined;
  const isCore = root === 'api';
  const groups = registry.groups().filter(({ group }) => (group === '') === isCore);
  if (rest.length === 0) {
    const form = negotiate(accept, FORMS);
    if (form.as !== '') return aggregated(groups, form);
    return plain(
      isCore ? coreVersions(groups) : { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) },
    );
  }
  const [name, version, ...tooMuch] = isCore ? ['', ...rest] : rest;
  const group = groups.find((one) => one.group === name);
  if (group === undefined || tooMuch.length > 0) return undefined;
  if (version === undefined) return plain({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) });
  const served = group.versions.find((one) => one.version === version);
  if (served === undefined) return undefined;
  const groupVersion = nameOf(group.group, version);
  return plain({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: served.kinds.flatMap(resourcesOf),
  });
}

function coreVersions(groups: readonly ServedGroup[]): object {
  const versions = groups.flatMap((group) => group.versions.map(({ version }) => version));
  return {
    kind: 'APIVersions',
    versions: versions.length === 0 ? ['v1'] : versions,
    serverAddressByClientCIDRs: [],
  };
}

function groupOf({ group, versions }: ServedGroup): object {
  const all = versions.map(({ version }) => ({ groupVersion: nameOf(group, version), version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

function resourcesOf(kind: ServedKind): readonly object[] {
  const common = { singularName: kind.singular, namespaced: kind.namespaced, kind: kind.kind };
  const { shortNames, categories } = kind;
  return [
    { name: kind.plural, ...common, verbs: VERBS, ...listed({ shortNames, categories }) },
    ...(kind.status ? [{ name: `${kind.plural}/status`, ...common, singularName: '', verbs: STATUS_VERBS }] : []),
  ];
}

function aggregated(groups: readonly ServedGroup[], { as, group, version }: Answer): Document {
  const items = groups.map(({ group: name, versions }) => ({
    metadata: { name, creationTimestamp: null },
    versions: versions.map((served) => ({
      version: served.version,
      freshness: 'Current',
      resources: served.kinds.map(aggregatedResource),
    })),
  }));
  const body = { kind: as, apiVersion: `${group}/${version}`, metadata: {}, items };
  return { body, type: `application/json;g=${group};v=${version};as=${as}` };
}

function aggregatedResource(kind: ServedKind): object {
  const responseKind = { group: kind.group, version: kind.version, kind: kind.kind };
  const { plural, singular, shortNames, categories } = kind;
  return {
    resource: plural,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: VERBS,
    ...listed({ shortNames, categories }),
    ...(kind.status ? { subresources: [{ subresource: 'status', responseKind, verbs: STATUS_VERBS }] } : {}),
  };
}

/** Lists that are empty are left out. */
function listed(lists: Readonly<Record<string, readonly string[]>>): object {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function nameOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

function plain(body: object): Document {
  return { body, type: 'application/json' };
}
