// @ts-check

/**
 * @typedef {import('./objects.mjs').Pod} Pod
 * @typedef {typeof import('../../src/adapters/kubernetes/mod.ts')} Kit
 *
 * @typedef {object} Cache What a contestant can do: nothing of it waits.
 * @property {(objects: Pod[], resourceVersion: string) => void} relist A complete list.
 * @property {(objects: Pod[]) => void} events MODIFIED, one for each.
 * @property {(namespace: string) => readonly unknown[]} list
 * @property {(namespace: string, name: string) => string | undefined} versionOf
 * @property {() => void} close
 *
 * @typedef {{ name: string, lacks?: string, open: () => Cache | Promise<Cache> }} Entry
 */

export const POD = { group: '', kind: 'Pod' };

/** @param {Kit} kit @returns {Entry} */
export function plimsoll(kit) {
  return {
    name: 'plimsoll',
    open: () => {
      const store = kit.createResourceStore({
        indexes: { node: ({ object }) => [/** @type {Pod} */ (object).spec.nodeName] },
      });
      const feed = store.feed(POD);
      const core = kit.createInformerCore();
      return {
        relist: (objects, resourceVersion) => {
          const list = core.beginList();
          for (let start = 0; start < objects.length; start += 500)
            feed.apply(list.add(objects.slice(start, start + 500)).deltas);
          feed.apply(list.end(resourceVersion).deltas);
          store.flush();
        },
        events: (objects) => {
          for (const object of objects) feed.apply(core.apply({ type: 'MODIFIED', object }).deltas);
          store.flush();
        },
        list: (namespace) => store.list({ ...POD, namespace }),
        versionOf: (namespace, name) => store.get({ ...POD, namespace, name })?.resourceVersion,
        close: () => store.close(),
      };
    },
  };
}

/** Without the informer in front: from deltas that are there. @param {Kit} kit @returns {Entry} */
export function plimsollStore(kit) {
  return {
    name: 'plimsoll, deltas in hand',
    open: () => {
      const store = kit.createResourceStore({
        indexes: { node: ({ object }) => [/** @type {Pod} */ (object).spec.nodeName] },
      });
      const feed = store.feed(POD);
      /** @type {Map<string, { key: string, object: Pod }>} */
      const known = new Map();
      return {
        relist: (objects) => {
          feed.replace(objects);
          store.flush();
          for (const object of objects) {
            const { namespace, name, uid } = object.metadata;
            known.set(uid, { key: `${namespace}/${name}`, object });
          }
        },
        events: (objects) => {
          for (const object of objects) {
            const last = /** @type {{ key: string, object: Pod }} */ (known.get(object.metadata.uid));
            feed.apply({ type: 'updated', key: last.key, object, old: last.object });
            last.object = object;
          }
          store.flush();
        },
        list: (namespace) => store.list({ ...POD, namespace }),
        versionOf: (namespace, name) => store.get({ ...POD, namespace, name })?.resourceVersion,
        close: () => store.close(),
      };
    },
  };
}

/** @returns {Entry} */
export function bareMap() {
  return {
    name: 'two Maps',
    lacks: 'no order, no freezing, no seq, no index, no owners, no handlers',
    open: () => {
      /** @type {Map<string, Map<string, Pod>>} */
      let namespaces = new Map();
      const put = (/** @type {Pod} */ object) => {
        const { namespace, name } = object.metadata;
        const found = namespaces.get(namespace);
        if (found === undefined) namespaces.set(namespace, new Map([[name, object]]));
        else found.set(name, object);
      };
      return {
        relist: (objects) => {
          namespaces = new Map();
          objects.forEach(put);
        },
        events: (objects) => objects.forEach(put),
        list: (namespace) => Array.from(namespaces.get(namespace)?.values() ?? []),
        versionOf: (namespace, name) => namespaces.get(namespace)?.get(name)?.metadata.resourceVersion,
        close: () => {},
      };
    },
  };
}

/**
 * The cache of an informer of client-node, with a connection that is a function: what it does with lists and events, without what it
 * takes to get them.
 *
 * @param {string} name
 * @param {new (path: string, watch: object, list: () => Promise<object>, start: boolean) => ListWatch} ListWatch
 * @param {(objects: ListWatch['objects'], items: Pod[], callbacks: unknown[]) => ListWatch['objects']} deleteItems
 * @returns {Entry}
 *
 * @typedef {object} ListWatch
 * @property {(namespace: string) => unknown[]} list
 * @property {(name: string, namespace: string) => Pod | undefined} get
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop
 * @property {Map<string, Map<string, Pod>>} objects
 * @property {(phase: string, object: Pod) => Promise<void>} watchHandler
 */
export function clientNode(name, ListWatch, deleteItems) {
  return {
    name,
    lacks: 'no order, no freezing, no seq, no index, no owners, one callback without the old state',
    open: () => {
      const cache = new ListWatch('/api/v1/pods', {}, async () => ({ items: [] }), false);
      return {
        // What its `doneHandler` does with a list.
        relist: (objects) => {
          cache.objects = deleteItems(cache.objects, objects, []);
          /** @type {any} */ (cache).addOrUpdateItems(objects);
        },
        events: (objects) => {
          for (const object of objects) void cache.watchHandler('MODIFIED', object);
        },
        list: (namespace) => cache.list(namespace),
        versionOf: (namespace, podName) => cache.get(podName, namespace)?.metadata.resourceVersion,
        close: () => {},
      };
    },
  };
}

/** Those majors that are installed. */
export async function clientNodes() {
  /** @type {Entry[]} */
  const found = [];
  /** @type {string[]} */
  const absent = [];
  for (const [major, address] of [
    ['1.4', 'client-node-1'],
    ['2.0', 'client-node-2'],
  ]) {
    try {
      const { ListWatch, deleteItems } = await import(/** @type {string} */ (address));
      found.push(clientNode(`@kubernetes/client-node ${major}`, ListWatch, deleteItems));
    } catch (error) {
      absent.push(`${address}: ${error}`);
    }
  }
  return { found, absent };
}
