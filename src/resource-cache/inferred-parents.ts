import { groupOf, type ResourceKey } from './resource-key.ts';

/** An owner by its name, in the namespace of what it owns. */
export interface NamedParent {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Parents that an object has without saying so in `metadata.ownerReferences`. */
export interface InferredParents {
  readonly parents?: readonly NamedParent[];
  /** Marks of parents that are known from their side only: an object is a child of what offers a mark that it claims. */
  readonly claims?: readonly string[];
  /** Marks that children in its namespace may claim. */
  readonly offers?: readonly string[];
}

/** Called once for each commit that makes a state. One that throws is reported, and counts for nothing. */
export type InferParents<T = unknown> = (object: T, key: ResourceKey) => InferredParents | undefined;

/**
 * What Kubernetes' own kinds do not write down (RH5):
 *
 * | child | parent |
 * |---|---|
 * | Endpoints without owners | the Service of its name |
 * | Secret with a service account's token | the ServiceAccount that its annotation names |
 * | PersistentVolumeClaim `data-web-0` | the StatefulSet `web` that has a claim template `data` |
 * | ClusterServiceVersion of OLM | the OperatorGroup that its annotation names |
 *
 * The name of a claim does not tell which part of it is the set's, so a set offers `data-web`, and the claim claims it: whichever
 * of both comes first.
 */
export const inferKubernetesParents: InferParents = (object, { group, kind, namespace, name }) => {
  switch (kind) {
    case 'Endpoints':
      return group === '' && !hasOwners(object) ? { parents: [{ group: '', kind: 'Service', name }] } : undefined;
    case 'Secret':
      return group === '' && textAt(object, ['type']) === 'kubernetes.io/service-account-token'
        ? parentNamed('', 'ServiceAccount', annotation(object, 'kubernetes.io/service-account.name'))
        : undefined;
    case 'PersistentVolumeClaim': {
      const claimed = /^(.+)-\d+$/.exec(name)?.[1];
      return group === '' && claimed !== undefined ? { claims: [claimed] } : undefined;
    }
    case 'StatefulSet':
      return group === 'apps' ? { offers: templateNames(object).map((template) => `${template}-${name}`) } : undefined;
    case 'ClusterServiceVersion':
      return group === 'operators.coreos.com' && annotation(object, 'olm.operatorNamespace') === namespace
        ? parentNamed(group, 'OperatorGroup', annotation(object, 'olm.operatorGroup'))
        : undefined;
    default:
      return undefined;
  }
};

/** The parent that a reference without a uid names (RH2). */
export function namedParent({
  apiVersion,
  kind,
  name,
}: {
  apiVersion: string;
  kind: string;
  name: string;
}): NamedParent {
  return { group: groupOf(apiVersion), kind, name };
}

function parentNamed(group: string, kind: string, name: string | undefined): InferredParents | undefined {
  return name === undefined ? undefined : { parents: [{ group, kind, name }] };
}

function hasOwners(object: unknown): boolean {
  const owners = valueAt(object, ['metadata', 'ownerReferences']);
  return Array.isArray(owners) && owners.length > 0;
}

function annotation(object: unknown, name: string): string | undefined {
  return textAt(object, ['metadata', 'annotations', name]);
}

function templateNames(object: unknown): readonly string[] {
  const templates = valueAt(object, ['spec', 'volumeClaimTemplates']);
  if (!Array.isArray(templates)) return [];
  return templates.flatMap((template) => textAt(template, ['metadata', 'name']) ?? []);
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = valueAt(value, path);
  return typeof found === 'string' ? found : undefined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let part = value;
  for (const name of path) {
    if (typeof part !== 'object' || part === null) return undefined;
    part = (part as Record<string, unknown>)[name];
  }
  return part;
}
