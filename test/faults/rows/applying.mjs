// @ts-check
// F1 to F6, F28: what changes the state, and in which order.
import { claim, same, stateAt } from './replay.mjs';

/** @typedef {import('./table.mjs').Row} Row */

/** @type {readonly Row[]} */
export const APPLYING = [
  {
    id: 'F1',
    title: 'a late delete removes no live key: deleted there, made again here while the stream is late',
    on: ['sqlite', 'etcd'],
    says: 'was gone after its own put',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      for (let round = 0; round < world.sized(3, 40); round++) {
        await here.run(({ store }) => store.put('k', 'old'));
        await other.run(async ({ store }) => void (await store.sync()));
        await here.run(({ backend }) => backend.holdItems());
        await other.run(async ({ store }) => void (await store.delete('k')));
        await here.run(({ store, vars }) => {
          vars.seen = [];
          vars.own = store.put('k', 'new').then(async ({ revision }) => {
            // Looked at from the first moment on, while what was held comes in.
            for (let turn = 0; turn < 40; turn++) {
              vars.seen.push(store.get('k')?.value ?? 'none');
              await new Promise((resolve) => setTimeout(resolve, turn < 30 ? 1 : 0));
            }
            return revision;
          });
        });
        await other.run(({ store, until }) =>
          until(() => store.get('k')?.value === 'new', 'the key that was made again'),
        );
        const { seen, kv, revision } = await here.run(async ({ store, backend, vars }) => {
          backend.releaseItems();
          const revision = await vars.own;
          return { seen: vars.seen, kv: store.get('k'), revision };
        });
        claim(!seen.includes('none'), `round ${round}: the key was gone after its own put`);
        same([kv?.value, kv?.modRevision], ['new', revision], `round ${round}`);
      }
    },
  },
  {
    id: 'F2',
    title: 'a late insert revives no dead key: the answer to a put comes after another process has deleted the key',
    on: ['sqlite', 'etcd'],
    says: 'is back',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      for (let round = 0; round < world.sized(3, 40); round++) {
        const key = `k${round}`;
        await here.run((context, key) => {
          context.holdAnswers();
          context.vars.own = context.store.put(key, 'x');
        }, key);
        const { revision } = await other.run(async ({ store, until }, key) => {
          await until(() => store.get(key) !== undefined, 'the put');
          return store.delete(key);
        }, key);
        const left = await here.run(
          async (context, key, revision) => {
            await context.until(() => context.store.revision >= revision, 'the delete');
            context.releaseAnswers();
            await context.vars.own;
            return context.store.get(key);
          },
          key,
          revision,
        );
        claim(
          left === undefined,
          `round ${round}: the key that was deleted at ${revision} is back: ${JSON.stringify(left)}`,
        );
      }
    },
  },
  {
    id: 'F3',
    title:
      'a write that finds nothing deletes nothing: another process makes the key again before the refusal is heard',
    on: ['sqlite', 'etcd'],
    says: 'the refusal has taken it away',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      for (let round = 0; round < world.sized(3, 40); round++) {
        const key = `k${round}`;
        await here.run(async ({ store }, key) => void (await store.put(key, 'mine')), key);
        await other.run(async ({ store }, key) => void (await store.delete(key)), key);
        await here.run(async (context, key) => {
          const { store, vars } = context;
          const { modRevision } = store.get(key) ?? { modRevision: 1 };
          context.holdAnswers();
          vars.own = store.put(key, 'mine again', { expect: { modRevision } }).then(
            () => 'written',
            (error) => error.code,
          );
          await context.until(() => context.heldAnswers > 0, 'the refusal');
        }, key);
        await other.run(async ({ store }, key) => void (await store.put(key, 'theirs')), key);
        const found = await here.run(async (context, key) => {
          await context.until(() => context.store.get(key)?.value === 'theirs', 'the key that was made again');
          context.releaseAnswers();
          return [await context.vars.own, context.store.get(key)?.value ?? 'nothing'];
        }, key);
        same(found, ['CONFLICT', 'theirs'], `round ${round}: the refusal has taken it away`);
      }
    },
  },
  {
    id: 'F5',
    title: 'no number is skipped: three processes commit at the same time, a fourth sees each revision once',
    on: ['sqlite', 'etcd'],
    says: 'seen',
    check: async (world) => {
      const here = await world.subject();
      const writers = [await world.peer(), await world.peer(), await world.peer()];
      const count = world.sized(20, 300);
      await here.run(({ store, vars, take }) => {
        const watch = store.watch({ prefix: '' }, { fromRevision: store.revision + 1 });
        vars.told = (async () => {
          const lines = [];
          while (!lines.at(-1)?.startsWith('put end/')) lines.push(...(await take(watch, 1)));
          return lines.slice(0, -1);
        })();
      });
      const told = await Promise.all(
        writers.map((writer, index) =>
          writer.run(
            async ({ store }, name, count) => {
              const lines = [];
              for (let n = 0; n < count; n++) {
                const { revision } = await store.put(`${name}/${n % 5}`, `${n}`);
                lines.push(`put ${name}/${n % 5}=${n}@${revision}`);
              }
              return lines;
            },
            `w${index}`,
            count,
          ),
        ),
      );
      // Two, so that one of them is seen in any case.
      await writers[0]?.run(async ({ store }) => {
        for (const key of ['end/1', 'end/2']) await store.put(key, '');
      });
      const revisionOf = (/** @type {string} */ line) => Number(line.slice(line.lastIndexOf('@') + 1));
      const expected = told.flat().sort((a, b) => revisionOf(a) - revisionOf(b));
      const seen = await here.run(({ vars }) => vars.told);
      same(seen, expected, 'seen');
    },
  },
  {
    id: 'F6',
    title: 'whoever sees a revision sees its state: looked at all the time while two processes write',
    on: ['sqlite', 'etcd'],
    says: 'the state at',
    check: async (world) => {
      const here = await world.subject();
      const writers = [await world.peer(), await world.peer()];
      const from = await here.run(({ store, vars }) => {
        vars.seen = {};
        vars.looking = (async () => {
          while (!vars.isOver) {
            const { revision, kvs } = await store.range({ prefix: '' });
            const rows = kvs.map(({ key, value }) => `${key}=${value}`);
            vars.seen[`${revision} ${rows.join(' ')}`] ??= { revision, rows };
            await new Promise((resolve) => setImmediate(resolve));
          }
        })();
        return store.revision + 1;
      });
      await Promise.all(
        writers.map((writer, index) =>
          writer.run(
            async ({ store }, name, count) => {
              for (let n = 0; n < count; n++) await store.put(`${name}/${n % 3}`, `${n}`);
            },
            `w${index}`,
            world.sized(25, 400),
          ),
        ),
      );
      const history = await /** @type {import('./peers.mjs').Peer} */ (writers[0]).run(
        (context, from) => context.history(from),
        from,
      );
      const last = history.at(-1)?.revision ?? 0;
      /** @type {{ revision: number, rows: string[] }[]} */
      const seen = await here.run(async ({ store, vars, until }, last) => {
        await until(() => store.revision >= last, 'the last commit');
        vars.isOver = true;
        await vars.looking;
        return Object.values(vars.seen);
      }, last);
      claim(seen.length > world.sized(0, 3), `only ${seen.length} states were seen`);
      for (const { revision, rows } of seen.filter(({ revision }) => revision <= last)) {
        same(rows, stateAt(history, revision), `the state at ${revision}`);
      }
    },
  },
  {
    id: 'F28',
    title: 'nobody waits for the other for ever: two processes write the same keys in opposite order',
    on: ['sqlite', 'etcd'],
    check: async (world) => {
      const peers = [await world.peer(), await world.peer()];
      const count = world.sized(20, 300);
      await Promise.all(
        peers.map((peer, index) =>
          peer.run(
            async ({ store }, keys, count) => {
              for (let n = 0; n < count; n++) {
                await store.update(
                  (txn) => {
                    for (const key of keys) txn.put(key, `${Number(txn.get(key) ?? 0) + 1}`);
                  },
                  { retries: 1_000 },
                );
              }
            },
            index === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a'],
            count,
          ),
        ),
      );
      for (const peer of peers) {
        const values = await peer.run(async ({ store }) => {
          await store.sync();
          return store.range({ prefix: '' }).kvs.map(({ value }) => Number(value));
        });
        same(values, [2 * count, 2 * count, 2 * count], 'counts');
      }
    },
  },
];
