// @ts-check
// Objects as a transport hands them out: each from its own JSON, so that nobody shares strings with anybody.

/**
 * @typedef {object} Pod
 * @property {{ name: string, namespace: string, uid: string, resourceVersion: string, ownerReferences?: readonly object[] }} metadata
 * @property {{ nodeName: string }} spec
 */

export const NAMESPACES = 100;

/** @param {number} index @param {number} version @returns {Pod} */
export function pod(index, version) {
  return JSON.parse(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `pod-${index}`,
        namespace: `ns-${index % NAMESPACES}`,
        uid: `uid-${index}`,
        resourceVersion: String(version),
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { app: `app-${index % 7}`, tier: 'front' },
        ownerReferences: [ownerReference(`uid-of-set-${Math.floor(index / 10)}`, `set-${Math.floor(index / 10)}`)],
      },
      spec: { nodeName: `node-${index % 50}`, containers: [{ name: 'main', image: 'registry/app:1' }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  );
}

/** A tree in one namespace: each owns ten. @param {number} index @param {number} [version] @returns {Pod} */
export function treePod(index, version = 1) {
  const parent = Math.floor((index - 1) / 10);
  const owners = index === 0 ? {} : { ownerReferences: [ownerReference(`uid-${parent}`, `pod-${parent}`)] };
  const metadata = {
    name: `pod-${index}`,
    namespace: 'one',
    uid: `uid-${index}`,
    resourceVersion: String(version),
    ...owners,
  };
  return JSON.parse(JSON.stringify({ metadata, spec: { nodeName: 'node' } }));
}

/** @param {string} uid @param {string} name */
function ownerReference(uid, name) {
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true };
}
