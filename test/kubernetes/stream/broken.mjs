// @ts-check
// Readers with a fault, each of which the proof has to notice: a proof that passes them proves nothing.

/** @typedef {'ignores-deleted' | 'stale-index' | 'goes-back'} Broken */

/** @type {readonly Broken[]} */
export const BROKEN = ['ignores-deleted', 'stale-index', 'goes-back'];

/**
 * A transport on which ends are not heard (`ignores-deleted`), or on which what has not changed since the first event says again what it was
 * then (`goes-back`).
 *
 * @param {import('../../../src/kubernetes/transport.ts').KubernetesTransport} transport
 * @param {Broken | undefined} broken
 * @returns {import('../../../src/kubernetes/transport.ts').KubernetesTransport}
 */
export function breakTransport(transport, broken) {
  if (broken !== 'ignores-deleted' && broken !== 'goes-back') return transport;
  return {
    list: (request, options) => transport.list(request, options),
    watch: async (request, options) => {
      const stream = await transport.watch(request, options);
      return broken === 'goes-back' ? goingBack(stream) : withoutEnds(stream);
    },
  };
}

/** @param {import('../../../src/kubernetes/transport.ts').WatchStream} stream */
async function* withoutEnds(stream) {
  for await (const lines of stream) yield lines.filter(({ type }) => type !== 'DELETED');
}

/** The first state of each watch, with the version of the newest. @param {import('../../../src/kubernetes/transport.ts').WatchStream} stream */
async function* goingBack(stream) {
  /** @type {Map<string, any>} */
  const first = new Map();
  for await (const lines of stream) {
    yield lines.map((line) => {
      const object = /** @type {any} */ (line.object);
      if (line.type !== 'MODIFIED') return line;
      const { uid, resourceVersion } = object.metadata;
      const old = first.get(uid) ?? object;
      first.set(uid, old);
      return { ...line, object: { ...old, metadata: { ...old.metadata, resourceVersion } } };
    });
  }
}

/**
 * An index function; with `stale-index` one that keeps each object where it was at first, as an index does without upkeep.
 *
 * @param {Broken | undefined} broken
 * @param {import('../../../src/resource-cache/resource-tables.ts').IndexFunction<any, any>} values
 * @returns {import('../../../src/resource-cache/resource-tables.ts').IndexFunction<any, any>}
 */
export function breakCache(broken, values) {
  if (broken !== 'stale-index') return values;
  /** @type {Map<string, readonly string[]>} */
  const first = new Map();
  return (resource) => {
    const kept = first.get(resource.uid) ?? values(resource);
    first.set(resource.uid, kept);
    return kept;
  };
}
