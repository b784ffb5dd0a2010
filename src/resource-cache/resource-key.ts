/** A kind without its version: the API server converts between versions, so a cache has each object once. */
export interface GroupKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
}

/** Where an object is. `namespace` is empty for what is in none. */
export interface ResourceKey extends GroupKind {
  readonly namespace: string;
  readonly name: string;
}

/**
 * A key as text, unique: none of its parts can have a slash in it.
 *
 * @example
 * ```ts
 * import { resourceKeyText } from 'plimsoll/kubernetes';
 *
 * console.log(resourceKeyText({ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' })); // apps/Deployment/shop/web
 * ```
 */
export function resourceKeyText({ group, kind, namespace, name }: ResourceKey): string {
  return `${group}/${kind}/${namespace}/${name}`;
}

export function groupKindText({ group, kind }: GroupKind): string {
  return `${group}/${kind}`;
}

/** The key among the objects of one kind: client-go's, and that of an informer's deltas. */
export function localKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The group of `apps/v1`; that of `v1` is empty. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
