// @ts-check
// The objects of a watch stream, and where they are.

/**
 * @typedef {object} Metadata
 * @property {string} name
 * @property {string} [namespace]
 * @property {string} [uid]
 * @property {string} [resourceVersion]
 * @property {string} [deletionTimestamp]
 * @property {readonly string[]} [finalizers]
 * @property {Readonly<Record<string, string>>} [labels]
 * @property {readonly Readonly<Record<string, unknown>>[]} [ownerReferences]
 *
 * @typedef {{ readonly apiVersion?: string, readonly kind?: string, readonly metadata: Metadata, readonly status?: unknown }} KubernetesObject
 *
 * @typedef {{ readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', readonly object: KubernetesObject }} StreamEvent
 */

/**
 * @param {KubernetesObject} object
 * @returns {{ group: string, version: string, kind: string }}
 */
export function groupVersionKind({ apiVersion = '', kind = '' }) {
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}

/**
 * Where an object is, whatever its version: those of a kind are one set of objects.
 *
 * @param {{ group: string, kind: string, namespace?: string, name: string }} place
 */
export function keyText({ group, kind, namespace = '', name }) {
  return `${group}/${kind}/${namespace}/${name}`;
}

/** What the server sets, whatever a client sends. */
const SERVER_SETS = ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink'];
/** Whether it is there is the client's doing, by its DELETE; what it says is the server's. */
const SERVER_TIMES = ['deletionTimestamp', 'deletionGracePeriodSeconds'];

/**
 * An object without what the server sets, as text with sorted members, to be compared.
 *
 * @param {KubernetesObject} object
 */
export function contentText({ apiVersion: _, kind: _kind, ...object }) {
  const metadata = Object.fromEntries(
    Object.entries(object.metadata)
      .filter(([name]) => !SERVER_SETS.includes(name))
      .map(([name, value]) => [name, SERVER_TIMES.includes(name) ? 'set' : value])
      // As nothing: the metadata of Kubernetes have types.
      .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );
  return sortedText({ ...object, metadata });
}

/** @param {unknown} value */
export function sortedText(value) {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
