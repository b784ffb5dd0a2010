// @ts-check
// What the essence leaves out, on parsed objects: for the peers, which have no such thing, and for the independent
// digest. Written to be fast, because every peer pays for it: shallow copies along the few places that change.

/**
 * The object without what does not count. The object itself is not changed; parts are shared.
 *
 * @param {Record<string, unknown>} object
 * @returns {Record<string, unknown>}
 */
export function omitEssence(object) {
  /** @type {Record<string, unknown>} */
  const kept = {};
  for (const name in object) {
    if (isOmittedAtTop(name)) continue;
    const value = object[name];
    if (name !== 'metadata' || !isObject(value)) {
      kept[name] = value;
      continue;
    }
    const metadata = omitMetadata(value);
    if (metadata !== undefined) kept[name] = metadata;
  }
  return kept;
}

const METADATA = new Set([
  ...['name', 'namespace', 'generateName', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers', 'ownerReferences', 'managedFields', 'selfLink'],
]);

/** @param {Record<string, unknown>} metadata */
function omitMetadata(metadata) {
  /** @type {Record<string, unknown> | undefined} */
  let kept;
  for (const name in metadata) {
    if (METADATA.has(name)) continue;
    const member = metadata[name];
    const value = prune(name === 'annotations' && isObject(member) ? omitAnnotations(member) : member);
    if (value === undefined) continue;
    kept ??= {};
    kept[name] = value;
  }
  return kept;
}

const ANNOTATIONS = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
  'control-plane.alpha.kubernetes.io/leader',
  'endpoints.kubernetes.io/last-change-trigger-time',
]);
const MARKER = '/plimsoll-managed';

/** @param {Record<string, unknown>} annotations */
function omitAnnotations(annotations) {
  /** @type {Set<string> | undefined} */
  let managed;
  for (const name in annotations) {
    if (!name.endsWith(MARKER) || name.indexOf('/') !== name.length - MARKER.length) continue;
    managed ??= new Set();
    managed.add(name.slice(0, -MARKER.length));
  }
  /** @type {Record<string, unknown>} */
  const kept = {};
  for (const name in annotations) {
    if (isOmittedAnnotation(name)) continue;
    if (managed?.has(name.slice(0, Math.max(0, name.indexOf('/')))) === true) continue;
    kept[name] = annotations[name];
  }
  return kept;
}

/** @param {string} name */
function isOmittedAtTop(name) {
  return name === 'apiVersion' || name === 'kind' || name === 'status';
}

/** @param {string} name */
function isOmittedAnnotation(name) {
  if (ANNOTATIONS.has(name)) return true;
  const slash = name.indexOf('/');
  if (slash < 0) return false;
  const prefix = name.slice(0, slash);
  return prefix === 'plimsoll.dev' || prefix === 'cattle.io' || prefix.endsWith('.cattle.io');
}

/**
 * Whether a member counts, judged by its name alone.
 *
 * @param {'top' | 'metadata' | 'annotations'} place
 * @param {string} name
 */
export function isKept(place, name) {
  if (place === 'top') return !isOmittedAtTop(name);
  return place === 'metadata' ? !METADATA.has(name) : !isOmittedAnnotation(name);
}

/**
 * Inside metadata, members with an empty object or array go, from the bottom up; elements of arrays stay.
 *
 * @param {unknown} value
 * @returns {unknown} `undefined` for what is empty
 */
function prune(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(pruneElement);
  const object = /** @type {Record<string, unknown>} */ (value);
  /** @type {Record<string, unknown> | undefined} */
  let kept;
  for (const name in object) {
    const pruned = prune(object[name]);
    if (pruned === undefined) continue;
    kept ??= {};
    kept[name] = pruned;
  }
  return kept;
}

/** @param {unknown} element */
function pruneElement(element) {
  const pruned = prune(element);
  if (pruned !== undefined) return pruned;
  return Array.isArray(element) ? [] : {};
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
