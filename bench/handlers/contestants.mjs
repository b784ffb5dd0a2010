// @ts-check
// Controllers behind one face, all on the same kind of store, through the same source.
import { ObjectWide } from './object-wide.mjs';
import { PARENT, ReconcileLoop } from './reconcile-loop.mjs';

/**
 * @typedef {import('./reconcile-loop.mjs').Work} Work
 * @typedef {import('../../src/types/source.ts').ObjectSource} ObjectSource
 * @typedef {import('../../src/types/store.ts').Store} Store
 *
 * @typedef {object} Kit What is used of the package.
 * @property {typeof import('../../src/open-store.ts').openStore} openStore
 * @property {typeof import('../../src/handlers/store-source.ts').createStoreSource} createStoreSource
 * @property {typeof import('../../src/handlers/controller.ts').createController} createController
 *
 * @typedef {object} Running
 * @property {(name: string, version: string) => boolean} knows Whether it has heard of this version of an object.
 * @property {() => Promise<void>} idle Resolves when it has nothing to do for what it knows.
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} [lacks]
 * @property {boolean} mayMiss
 * @property {(kit: Kit, source: ObjectSource, work: Work) => Running} open
 */

/** @type {Entry} */
export const PLIMSOLL = {
  name: 'plimsoll',
  mayMiss: false,
  open: ({ createController }, source, { plan, call }) => {
    const controller = createController({ source });
    controller.on('change', { id: PARENT, field: 'spec.field' }, (ctx) => {
      for (const id of plan(ctx.object)) ctx.sub(id, {}, (sub) => call(id, sub.name, sub.object));
      return call(PARENT, ctx.name, ctx.object);
    });
    const stop = new AbortController();
    const done = controller.run({ signal: stop.signal });
    return {
      knows: (name, version) => controller.state(name)?.resourceVersion === version,
      idle: () => controller.idle(),
      close: () => {
        stop.abort();
        return done;
      },
    };
  },
};

/** @type {readonly Entry[]} */
export const PEERS = [
  {
    name: 'informer and work queue',
    lacks: 'no records: everybody is called for every change, and all again after a restart; nothing is frozen',
    mayMiss: false,
    open: (_kit, source, work) => follow(source, new ReconcileLoop(work)),
  },
  {
    name: 'progress by object',
    lacks: 'misses last states; its records stay in memory',
    mayMiss: true,
    open: (_kit, source, work) => follow(source, new ObjectWide(work)),
  },
];

/**
 * The informer of those who have none: list, watch from there, and list again when the watch ends.
 *
 * @param {ObjectSource} source
 * @param {ReconcileLoop | ObjectWide} loop
 * @returns {Running}
 */
function follow(source, loop) {
  /** @type {Map<string, string>} */
  const versions = new Map();
  const stop = new AbortController();
  const { signal } = stop;
  /** @param {import('../../src/types/source.ts').SourceObject} state */
  const observe = ({ name, resourceVersion, object }) => {
    versions.set(name, resourceVersion);
    loop.observe(name, object);
  };
  const forget = (/** @type {string} */ name) => {
    versions.delete(name);
    loop.forget(name);
  };
  const listAndWatch = async () => {
    const list = await source.list({ signal });
    const listed = new Set(list.items.map(({ name }) => name));
    for (const item of list.items) observe(item);
    for (const name of [...versions.keys()]) if (!listed.has(name)) forget(name);
    for await (const item of source.watch({ after: list.resourceVersion, signal })) {
      if (item.type === 'deleted') forget(item.name);
      else if (item.type !== 'bookmark') observe(item.object);
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      try {
        await listAndWatch();
      } catch (error) {
        // Left behind by the history of the store: the next list has what was missed.
        if (!signal.aborted && !isCompacted(error)) throw error;
      }
    }
  };
  const done = run();
  return {
    knows: (name, version) => versions.get(name) === version,
    idle: () => loop.idle(),
    close: async () => {
      stop.abort();
      loop.close();
      await done;
    },
  };
}

/** @param {unknown} error */
function isCompacted(error) {
  return error instanceof Error && error.name === 'CompactedError';
}
