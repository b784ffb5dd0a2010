// @ts-check
// What is measured in every runtime: one thing of each part, by public names, with no API of any host. Nobody is compared with
// anybody else here; `npm run bench -- SUITE` does that, where its peers run.

/**
 * @typedef {object} OpenCase
 * @property {(count: number) => unknown} run that many operations, or a promise of them; never fewer
 * @property {() => string | undefined} check what is wrong with what was done so far
 *
 * @typedef {object} EverywhereCase
 * @property {string} name
 * @property {number} batch Operations of one call of `run` where that cannot be chosen freely.
 * @property {(plimsoll: typeof import('plimsoll')) => Promise<OpenCase>} open
 */

const KEYS = 1000;
const keys = Array.from({ length: KEYS }, (_, index) => `apps/${String(index).padStart(4, '0')}/spec`);
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: '4f1c',
    resourceVersion: '81',
    labels: { app: 'web', tier: 'front' },
  },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: Array.from({ length: 4 }, (_, index) => ({
          name: `c${index}`,
          image: `registry.example/web:${index}`,
          env: Array.from({ length: 6 }, (_unused, place) => ({ name: `E${place}`, value: `value ${place}` })),
        })),
      },
    },
  },
  status: { readyReplicas: 3 },
};

/**
 * @param {number} index
 * @returns {string}
 */
const keyAt = (index) => /** @type {string} */ (keys[index % KEYS]);

/** @type {readonly EverywhereCase[]} */
export const CASES = [
  {
    name: 'store: put',
    batch: 200,
    open: async ({ openStore }) => {
      const store = await openStore();
      let puts = 0;
      return {
        run: async (count) => {
          for (let turn = 0; turn < count; turn++) await store.put(keyAt(puts++), 'value');
        },
        check: () => differs('the revision', store.revision, puts + 1),
      };
    },
  },
  {
    name: 'store: get',
    batch: 1000,
    open: async ({ openStore }) => {
      const store = await openStore();
      for (const key of keys) await store.put(key, 'value');
      let found = 0;
      let reads = 0;
      return {
        run: (count) => {
          for (let turn = 0; turn < count; turn++) if (store.get(keyAt(reads++))?.value === 'value') found++;
        },
        check: () => differs('keys found', found, reads),
      };
    },
  },
  {
    name: 'store: page of 100 keys',
    batch: 10,
    open: async ({ openStore }) => {
      const store = await openStore();
      for (const key of keys) await store.put(key, 'value');
      let rows = 0;
      let pages = 0;
      return {
        run: (count) => {
          for (let turn = 0; turn < count; turn++) {
            rows += store.range({ start: keyAt((pages++ * 7) % 900), limit: 100 }).kvs.length;
          }
        },
        check: () => differs('rows', rows, pages * 100),
      };
    },
  },
  {
    name: 'watch: put seen by 10 watchers',
    batch: 50,
    open: async ({ openStore }) => {
      const store = await openStore();
      const watches = Array.from({ length: 10 }, () => store.watch({ prefix: 'apps/' })[Symbol.asyncIterator]());
      let puts = 0;
      let seen = 0;
      return {
        run: async (count) => {
          for (let turn = 0; turn < count; turn++) {
            const next = watches.map((watch) => watch.next());
            await store.put(keyAt(puts++), 'value');
            for (const { value } of await Promise.all(next)) seen += value.events.length;
          }
        },
        check: () => differs('events', seen, puts * 10),
      };
    },
  },
  {
    name: 'lock: acquire and release a key',
    batch: 200,
    open: async ({ createKeyedLock }) => {
      const lock = createKeyedLock();
      let turns = 0;
      let held = 0;
      return {
        run: async (count) => {
          for (let turn = 0; turn < count; turn++) {
            const one = await lock.acquire(keyAt(turns++), 'write');
            held++;
            one.release();
          }
        },
        check: () => differs('locks held', held, turns),
      };
    },
  },
  {
    name: 'essence: digest of an object',
    batch: 100,
    open: async ({ createEssenceHasher }) => {
      const hasher = createEssenceHasher();
      const first = hasher.digest(DEPLOYMENT);
      let same = 0;
      let digests = 0;
      return {
        run: (count) => {
          for (let turn = 0; turn < count; turn++) {
            digests++;
            // Another version of the same: the digest must not know.
            const metadata = { ...DEPLOYMENT.metadata, resourceVersion: String(digests) };
            if (hasher.digest({ ...DEPLOYMENT, metadata }) === first) same++;
          }
        },
        check: () => differs('equal digests', same, digests),
      };
    },
  },
  {
    name: 'handlers: change handled, with a sub',
    batch: 50,
    open: async ({ createController, createEssenceHasher, createStoreSource, openStore }) => {
      const store = await openStore();
      const source = createStoreSource(store, { prefix: 'apps/' });
      const controller = createController({ source, essence: createEssenceHasher({ defaults: false }) });
      let puts = 0;
      let calls = 0;
      /** @type {unknown} */
      let last;
      /** @type {() => void} */
      let handled = () => {};
      controller.on('change', { id: 'deploy' }, (ctx) => {
        calls++;
        ctx.sub('rollout', {}, () => {
          calls++;
          last = ctx.new;
          handled();
        });
      });
      const stop = new AbortController();
      const running = controller.run({ signal: stop.signal });
      await controller.idle();
      return {
        run: async (count) => {
          for (let turn = 0; turn < count; turn++) {
            const isHandled = new Promise((resolve) => {
              handled = () => resolve(undefined);
            });
            await store.put(keyAt(puts), { n: puts++ });
            await Promise.race([isHandled, running]);
          }
        },
        check: () => {
          const expected = JSON.stringify({ n: puts - 1 });
          return differs('calls', calls, puts * 2) ?? differs('the last state', JSON.stringify(last), expected);
        },
      };
    },
  },
];

/**
 * @param {string} what
 * @param {unknown} actual
 * @param {unknown} expected
 * @returns {string | undefined}
 */
function differs(what, actual, expected) {
  return Object.is(actual, expected) ? undefined : `${what}: got ${String(actual)}, expected ${String(expected)}`;
}
