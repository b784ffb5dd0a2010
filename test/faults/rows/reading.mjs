// @ts-check
// F14 to F19, F37, F38: what a list and a read answer of what other processes wrote.
import { byBytes, claim, same, stateAt } from './replay.mjs';

/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {import('./peers.mjs').Peer} Peer */

/** @param {Peer} peer @param {readonly string[]} keys */
const putAll = (peer, keys) =>
  peer.run(async ({ store }, keys) => {
    let last = 0;
    for (const key of keys) last = (await store.put(key, `of ${key}`)).revision;
    return last;
  }, keys);

/** @param {Peer} peer @param {number} revision */
const seen = (peer, revision) =>
  peer.run(({ store, until }, revision) => until(() => store.revision >= revision, `revision ${revision}`), revision);

/** @type {readonly Row[]} */
export const READING = [
  {
    id: 'F14',
    title: 'lists and pages ascend by the bytes of the keys that another process wrote',
    on: ['sqlite', 'etcd'],
    says: 'the order of the keys',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const keys = ['c', 'a', 'b', 'a/', 'a0', 'aé', '\u{1f600}', '\ue000', 'a\u0000'];
      await seen(here, await putAll(other, keys));
      const listed = await here.run(async ({ store }) => (await store.range({ prefix: '' })).kvs.map(({ key }) => key));
      same(listed, byBytes(keys), 'the order of the keys');
      const paged = await here.run(async ({ store }) => {
        const rows = [];
        let start = '\u0000';
        for (;;) {
          const { kvs, more } = await store.range({ start, limit: 2 });
          rows.push(...kvs.map(({ key }) => key));
          if (!more) return rows;
          start = `${rows.at(-1)}\u0000`;
        }
      });
      same(paged, byBytes(keys), 'the order of the keys over pages');
    },
  },
  {
    id: 'F15',
    title: 'a list over several folders is one state: a key is moved between them all the time by two processes',
    on: ['sqlite', 'etcd'],
    says: 'half a transaction',
    check: async (world) => {
      const here = await world.subject();
      const writers = [await world.peer(), await world.peer()];
      await here.run(async ({ store, vars }) => {
        await store.txn({ then: ['a/t', 'a/n', 'b/n', 'c/n'].map((key) => ({ type: 'put', key, value: '0' })) });
        vars.looking = (async () => {
          const states = new Set();
          while (!vars.isOver) {
            const { kvs } = await store.range({ prefix: '' });
            const tokens = kvs.filter(({ key }) => key.endsWith('/t'));
            const counts = new Set(kvs.filter(({ key }) => key.endsWith('/n')).map(({ value }) => value));
            states.add([...counts][0]);
            if (tokens.length !== 1 || counts.size !== 1) {
              throw new Error(`half a transaction: ${kvs.map(({ key, value }) => `${key}=${value}`).join(' ')}`);
            }
            await new Promise((resolve) => setImmediate(resolve));
          }
          return states.size;
        })();
        // It is awaited later; until then nobody hears of it.
        vars.looking.catch((/** @type {unknown} */ error) => {
          vars.lookingError = error;
        });
      });
      await Promise.all(
        writers.map((writer, index) =>
          writer.run(
            async ({ store }, name, count) => {
              for (let n = 0; n < count; n++) {
                await store.update(
                  (txn) => {
                    const from = txn.get('a/t') === undefined ? 'b/t' : 'a/t';
                    txn.delete(from);
                    txn.put(from === 'a/t' ? 'b/t' : 'a/t', name);
                    for (const key of ['a/n', 'b/n', 'c/n']) txn.put(key, `${name} ${n}`);
                  },
                  { retries: 1_000 },
                );
              }
            },
            `w${index}`,
            world.sized(20, 300),
          ),
        ),
      );
      const states = await here.run(async ({ store, vars }) => {
        await store.sync();
        vars.isOver = true;
        return vars.looking;
      });
      claim(states > world.sized(0, 2), `only ${states} states were seen`);
    },
  },
  {
    id: 'F16',
    title: 'the revision of an answer is that of the state that is served, also when another process is ahead',
    on: ['sqlite', 'etcd'],
    says: 'the answer at',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const from = await here.run(({ store }) => store.revision + 1);
      /** @type {{ revision: number, rows: string[] }[]} */
      const answers = [];
      for (let round = 0; round < world.sized(4, 30); round++) {
        await here.run(
          ({ backend }, isHeld) => (isHeld ? backend.holdItems() : backend.releaseItems()),
          round % 2 === 0,
        );
        await putAll(other, [`k${round}`, 'same']);
        answers.push(
          await here.run(async ({ store }) => {
            const { revision, kvs } = await store.range({ prefix: '' });
            return { revision, rows: kvs.map(({ key, value }) => `${key}=${value}`) };
          }),
        );
      }
      const history = await other.run((context, from) => context.history(from), from);
      for (const { revision, rows } of answers) same(rows, stateAt(history, revision), `the answer at ${revision}`);
    },
  },
  {
    id: 'F17',
    title: 'revision, limit and end are heeded: the same answers as the backend gives another process',
    on: ['sqlite', 'etcd'],
    says: 'in the place of',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const first = await here.run(({ store }) => store.revision);
      const last = await other.run(async ({ store }) => {
        for (let n = 0; n < 20; n++) await store.put(`k${n % 7}`, `${n}`);
        return (await store.delete('k3')).revision;
      });
      await seen(here, last);
      for (let round = 0; round < world.sized(15, 200); round++) {
        const revision = first + 1 + Math.floor(world.random() * (last - first));
        const [start, end] = [`k${Math.floor(world.random() * 4)}`, `k${4 + Math.floor(world.random() * 4)}`];
        const limit = Math.floor(world.random() * 4);
        const own = await here.run(
          async ({ store }, request) => {
            const { kvs, count } = await store.range(request);
            return { count, rows: kvs.map(({ key, value, modRevision }) => `${key}=${value}@${modRevision}`) };
          },
          { start, end, limit, revision },
        );
        const truth = await other.run(
          async (context, start, end, limit, revision) => {
            const decoder = new TextDecoder();
            const { kvs, count } = await context.backend.range({ ranges: [context.ownRange()], revision });
            const rows = kvs.map(({ key, value, modRevision }) => ({
              key: context.short(key),
              text: `${context.short(key)}=${decoder.decode(value)}@${modRevision}`,
            }));
            const inside = rows.filter(({ key }) => key >= start && key < end);
            const shown = limit > 0 ? inside.slice(0, limit) : inside;
            return { count: inside.length, rows: shown.map(({ text }) => text), all: count };
          },
          start,
          end,
          limit,
          revision,
        );
        same(own, { count: truth.count, rows: truth.rows }, `${start} to ${end}, ${limit} rows at ${revision}`);
      }
    },
  },
  {
    id: 'F18',
    title: 'a prefix is bytes and a single key is a point, for keys that another process writes',
    on: ['sqlite', 'etcd'],
    says: 'below half a name',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const name = '/registry/pods/default/nginx';
      await here.run(({ store, vars, take }, name) => {
        vars.told = take(store.watch({ key: name }), 2);
      }, name);
      const last = await putAll(other, [name, `${name}/`, `${name}-2`]);
      await seen(here, last);
      const keys = await here.run(async ({ store }) =>
        (await store.range({ prefix: '/registry/pods/default/ng' })).kvs.map(({ key }) => key),
      );
      same(keys, byBytes([name, `${name}/`, `${name}-2`]), 'below half a name');
      await other.run(async ({ store }, name) => void (await store.delete(name)), name);
      const told = await here.run(({ vars }) => vars.told);
      same(
        told.map((/** @type {string} */ line) => line.split('@')[0]),
        [`put ${name}=of ${name}`, `delete ${name}`],
        'the watch',
      );
    },
  },
  {
    id: 'F19',
    title: 'keys are not paths: what another process wrote is found by its bytes',
    on: ['sqlite', 'etcd'],
    says: 'by its bytes',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const keys = ['/a/../b', '/a/./b', '/a//b', '/b', 'a\\b', './b', '/a/b/'];
      await seen(here, await putAll(other, keys));
      const found = await here.run(async ({ store }, keys) => {
        const values = [];
        for (const key of keys) values.push((await store.range({ key })).kvs.map(({ value }) => value)[0]);
        return values;
      }, keys);
      same(
        found,
        keys.map((key) => `of ${key}`),
        'by its bytes',
      );
      const below = await here.run(async ({ store }) => (await store.range({ prefix: '/a/' })).count);
      same(below, 4, 'by its bytes, below /a/');
    },
  },
  {
    id: 'F37',
    title: 'version, create revision and lease come with what another process wrote, with the list and with events',
    on: ['sqlite', 'etcd'],
    says: 'in the place of',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      await here.run(({ store, vars }) => {
        const watch = store.watch({ key: 'k' });
        vars.told = (async () => {
          const facts = [];
          for (let n = 0; n < 3; n++) {
            const { value: batch } = await watch.next();
            for (const event of batch?.events ?? []) {
              const { createRevision, modRevision, version, lease } = /** @type {any} */ (event.kv);
              facts.push([createRevision, modRevision, version, lease]);
            }
          }
          return facts;
        })();
      });
      const { facts, lease } = await other.run(async ({ store }) => {
        const { id: lease } = await store.grantLease({ ttlMs: 60_000 });
        const created = (await store.put('k', '1', { lease })).revision;
        const second = (await store.put('k', '2', { lease })).revision;
        const third = (await store.put('k', '3')).revision;
        await store.put('held', '1', { lease });
        const facts = [
          [created, created, 1, lease],
          [created, second, 2, lease],
          [created, third, 3, '0'],
        ];
        return { facts, lease };
      });
      same(await here.run(({ vars }) => vars.told), facts, 'events');
      const late = await world.subject();
      const listed = await late.run(async ({ store }) =>
        (await store.range({ prefix: '' })).kvs.map(({ key, version, lease }) => `${key} ${version} ${lease}`),
      );
      same(listed, [`held 1 ${lease}`, 'k 3 0'], 'the list');
    },
  },
  {
    id: 'F38',
    title: 'after sync() a process sees what any other was told before, and revisions do not go back',
    on: ['sqlite', 'etcd'],
    says: 'was not here after sync()',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      let last = 0;
      for (let round = 0; round < world.sized(10, 200); round++) {
        const { revision } = await other.run(async ({ store }, value) => {
          await store.put('noise', value);
          return store.put('k', value);
        }, `${round}`);
        const [value, own] = await here.run(async ({ store }) => {
          await store.sync();
          return [store.get('k')?.value ?? 'nothing', store.revision];
        });
        claim(value === `${round}`, `round ${round}: what was written at ${revision} was not here after sync()`);
        claim(own >= revision && own >= last, `round ${round}: revision ${own} after ${Math.max(revision, last)}`);
        last = own;
      }
    },
  },
];
