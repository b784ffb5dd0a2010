// @ts-check
// A stream of the shape of the one in the shared data, for machines without it: about four events of five change a status, some
// names die and come back with another uid, some objects linger behind finalizers, one kind has two versions.

/** @typedef {import('./objects.mjs').StreamEvent} StreamEvent */
/** @typedef {import('./objects.mjs').KubernetesObject} KubernetesObject */

/** @type {readonly (readonly [apiVersion: string, kind: string])[]} */
const KINDS = [
  ['v1', 'Pod'],
  ['v1', 'ConfigMap'],
  ['v1', 'Endpoints'],
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'ReplicaSet'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['autoscaling/v1', 'HorizontalPodAutoscaler'],
  ['rbac.authorization.k8s.io/v1', 'Role'],
  ['policy/v1', 'PodDisruptionBudget'],
  ['policy/v1beta1', 'PodSecurityPolicy'],
  ['example.com/v1', 'Gateway'],
];
const NAMESPACES = ['shop', 'pay', 'web'];
/** Names of a kind in a namespace: few, so that they come back. */
const NAMES = 12;
/** Some that are legal for roles alone; others have to be written otherwise. */
const ODD_NAMES = ['system:node', 'ipv4Interfaces', 'a~b~*'];

/**
 * @param {() => number} random
 * @param {number} count
 * @returns {readonly StreamEvent[]}
 */
export function makeStream(random, count) {
  const maker = new StreamMaker(random);
  return Array.from({ length: count }, () => maker.next());
}

class StreamMaker {
  /** @type {Map<string, KubernetesObject>} */
  #there = new Map();
  #version = 1000;
  #uids = 0;
  #random;

  /** @param {() => number} random */
  constructor(random) {
    this.#random = random;
  }

  /** @returns {StreamEvent} */
  next() {
    this.#version += 1 + this.#below(4);
    if (this.#random() < 0.01) return { type: 'BOOKMARK', object: { metadata: { name: '', ...this.#versioned() } } };
    const isNew = this.#there.size < 40 || this.#random() < 0.12;
    const place = this.#place();
    const old = this.#there.get(place.key);
    if (isNew && old === undefined) return this.#add(place);
    return this.#change(old ?? this.#any());
  }

  /** @param {{ key: string, apiVersion: string, kind: string, namespace: string, name: string }} place */
  #add({ key, apiVersion, kind, namespace, name }) {
    const owner = this.#random() < 0.2 && this.#there.size > 0 ? this.#any() : undefined;
    const owners = owner && [
      { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid },
    ];
    const object = {
      apiVersion,
      kind,
      metadata: {
        name,
        namespace,
        uid: `uid-${++this.#uids}`,
        labels: this.#labels(),
        ...(this.#random() < 0.2 ? { finalizers: ['example.com/a', 'example.com/b'] } : {}),
        ...(owners ? { ownerReferences: owners } : {}),
        ...this.#versioned(),
      },
      ...(kind === 'ConfigMap' ? { data: { note: 'ü€😀' } } : { spec: { size: this.#below(9) } }),
    };
    return this.#keep('ADDED', key, object);
  }

  /** @param {KubernetesObject} old */
  #change(old) {
    const { metadata } = old;
    const key = keyOf(old);
    const next = { ...old, metadata: { ...metadata, ...this.#versioned() } };
    const luck = this.#random();
    if (luck < 0.05 || (metadata.deletionTimestamp !== undefined && luck < 0.3)) {
      this.#there.delete(key);
      return { type: /** @type {const} */ ('DELETED'), object: next };
    }
    if (luck < 0.08) return this.#keep('MODIFIED', key, leaving(next));
    if (luck < 0.12) return this.#keep('MODIFIED', key, next);
    if (luck < 0.2) {
      const labelled = { ...next, metadata: { ...next.metadata, labels: this.#labels() } };
      return this.#keep('MODIFIED', key, labelled);
    }
    const member = old.kind === 'ConfigMap' ? 'data' : luck < 0.3 ? 'spec' : 'status';
    return this.#keep('MODIFIED', key, { ...next, [member]: { value: `${this.#below(1000)}`, nested: [{ a: null }] } });
  }

  /**
   * @param {'ADDED' | 'MODIFIED'} type
   * @param {string} key
   * @param {KubernetesObject} object
   */
  #keep(type, key, object) {
    this.#there.set(key, object);
    return { type, object };
  }

  #place() {
    const [apiVersion, kind] = this.#of(KINDS);
    const namespace = this.#of(NAMESPACES);
    const name = this.#random() < 0.05 ? this.#of(ODD_NAMES) : `${kind.toLowerCase()}-${this.#below(NAMES)}`;
    return { key: `${apiVersion}/${kind}/${namespace}/${name}`, apiVersion, kind, namespace, name };
  }

  #labels() {
    return { app: `app-${this.#below(5)}`, tier: `tier-${this.#below(3)}` };
  }

  #versioned() {
    return { resourceVersion: String(this.#version) };
  }

  #any() {
    return this.#of([...this.#there.values()]);
  }

  /** @param {number} max */
  #below(max) {
    return Math.floor(this.#random() * max);
  }

  /**
   * @template T
   * @param {readonly T[]} list
   * @returns {T}
   */
  #of(list) {
    return /** @type {T} */ (list[this.#below(list.length)]);
  }
}

/** @param {KubernetesObject} object */
function keyOf({ apiVersion, kind, metadata }) {
  return `${apiVersion}/${kind}/${metadata.namespace}/${metadata.name}`;
}

/** @param {KubernetesObject} object */
function leaving(object) {
  const { deletionTimestamp = '2026-01-05T08:00:00Z' } = object.metadata;
  return { ...object, metadata: { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 } };
}
