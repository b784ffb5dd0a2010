import type { KindRegistry, ServedGroup } from './kind-registry.ts';
import type { ServedKind } from './kinds.ts';

/**
 * As much of OpenAPI v3 as makes `kubectl` leave validation to the server: that a PATCH takes `fieldValidation` and `dryRun`.
 * There are no schemas, so every field is taken.
 *
 * ```text
 *   /openapi/v3                     { paths: { 'api/v1': ..., 'apis/apps/v1': ... } }
 *   /openapi/v3/apis/apps/v1        the document of that group and version
 * ```
 */
export function openApi(registry: KindRegistry, path: readonly string[]): object | undefined {
  const [root, format, ...rest] = path;
  if (root !== 'openapi' || format !== 'v3') return undefined;
  const served = registry.groups().flatMap(({ group, versions }) =>
    versions.map(({ version, kinds }) => {
      const at = group === '' ? `api/${version}` : `apis/${group}/${version}`;
      return { at, kinds };
    }),
  );
  if (rest.length === 0) {
    const paths = served.map(({ at }) => [at, { serverRelativeURL: `/openapi/v3/${at}` }] as const);
    return { paths: Object.fromEntries(paths) };
  }
  const found = served.find(({ at }) => at === rest.join('/'));
  return found === undefined ? undefined : documentOf(found.at, found.kinds);
}

type Kinds = ServedGroup['versions'][number]['kinds'];

function documentOf(at: string, kinds: Kinds): object {
  const paths = kinds.map((kind) => [`/${at}/${placeOf(kind)}`, { patch: patchOf(kind) }] as const);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'test' },
    paths: Object.fromEntries(paths),
    components: {},
  };
}

function placeOf({ namespaced, plural }: ServedKind): string {
  return `${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`;
}

function patchOf({ group, version, kind }: ServedKind): object {
  return {
    parameters: ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
      name,
      in: 'query',
      schema: { type: name === 'force' ? 'boolean' : 'string', uniqueItems: true },
    })),
    responses: { 200: { description: 'OK' } },
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}
