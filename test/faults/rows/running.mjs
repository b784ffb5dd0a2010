// @ts-check
// F25, F26, F29 to F36: memory, readiness, priming, failures of the backend, clocks, the end.
import { claim, same } from './replay.mjs';

/** @typedef {import('./table.mjs').Row} Row */

/** @type {readonly Row[]} */
export const RUNNING = [
  {
    id: 'F25',
    title: 'a compaction gives back what the writes of another process took',
    on: ['sqlite', 'etcd'],
    says: 'versions',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const cycle = async () => {
        const last = await other.run(
          async ({ store }, count) => {
            let last = 0;
            for (let n = 0; n < count; n++) last = (await store.put(`k${n % 10}`, 'x'.repeat(50))).revision;
            return last;
          },
          world.sized(40, 400),
        );
        return here.run(async ({ store, until }, last) => {
          await until(() => store.revision >= last, 'the puts');
          await store.compact(last);
          // The physical part comes in slices.
          await until(() => store.stats().storedVersions <= 10, '10 keys in no more than 10 versions');
          return store.stats().memoryBytes;
        }, last);
      };
      const first = await cycle();
      for (let n = 0; n < world.sized(2, 8); n++) same(await cycle(), first, `memory in bytes after cycle ${n + 2}`);
    },
  },
  {
    id: 'F26',
    title: 'history is bounded in events, not in numbers: another process uses up numbers elsewhere',
    on: ['sqlite', 'etcd'],
    says: 'events are left',
    check: async (world) => {
      const here = await world.subject({ store: { retention: { events: 10 } } });
      const other = await world.peer();
      const elsewhere = await world.peer({ prefix: 'elsewhere/' });
      let last = 0;
      for (let n = 0; n < world.sized(15, 60); n++) {
        await elsewhere.run(async ({ store }) => {
          for (let n = 0; n < 12; n++) await store.put('k', `${n}`);
        });
        last = (await other.run(({ store }, value) => store.put('k', value), `${n}`)).revision;
      }
      const left = await here.run(async ({ store, take, until }, last) => {
        await until(() => store.revision >= last, 'the puts');
        // What is dropped goes a slice at a time.
        await until(() => store.stats().logEntries <= 10, 'a log of 10 entries');
        const watch = store.watch({ key: 'k' }, { fromRevision: store.compactRevision });
        return [store.stats().logEntries, (await take(watch, 10).catch(() => [])).length];
      }, last);
      same(left, [10, 10], 'so many events are left, and can be watched');
    },
  },
  {
    id: 'F29',
    title: 'a server that is away stops nothing: reads go on, and the stream goes on from where it was',
    on: ['etcd'],
    says: 'a process has ended',
    check: async (world) => {
      const server = await world.ownServer();
      const [here, other] = [await world.subject(), await world.peer()];
      const { revision } = await other.run(({ store }) => store.put('k', 'before'));
      await here.run(({ store, until }, revision) => until(() => store.revision >= revision, 'the put'), revision);
      await server.stop();
      const read = await here.run(
        async ({ store, until, backend }, failures) => {
          const before = backend.calls.watch;
          await until(() => backend.calls.watch >= before + failures, `${failures} attempts in a row that fail`);
          return store.get('k')?.value;
        },
        world.sized(5, 20),
      );
      same(read, 'before', 'a read while the server is away');
      await server.start();
      await other.run(async (context) => {
        const { store } = context;
        await context.until(
          () =>
            store.put('k', 'after').then(
              () => true,
              () => false,
            ),
          'a put that is taken again',
        );
      });
      const [value, relists] = await here.run(async ({ store, until }) => {
        await until(() => store.get('k')?.value === 'after', 'news');
        return [store.get('k')?.value, store.stats().replica?.relists];
      });
      same([value, relists], ['after', 0], 'after the server was back');
    },
  },
  {
    id: 'F30',
    title: 'what is not there yet is not empty: a process that starts before it reaches the data of another',
    on: ['sqlite', 'etcd'],
    says: 'before the first list',
    check: async (world) => {
      const other = await world.peer();
      const { revision } = await other.run(({ store }) => store.put('k', '1'));
      const here = await world.subject({ isOffline: true });
      const early = await here.run(async ({ store, vars, take }) => {
        vars.told = take(store.watch({ prefix: '' }), 1);
        try {
          return (await store.range({ prefix: '' })).kvs.length;
        } catch (error) {
          return /** @type {any} */ (error).code;
        }
      });
      same(early, 'NOT_READY', 'before the first list');
      await here.run(async ({ store, backend }) => {
        backend.online();
        await store.ready();
      });
      const rows = await here.run(async ({ store }) =>
        (await store.range({ prefix: '' })).kvs.map(({ value }) => value),
      );
      same(rows, ['1'], 'the first list');
      const next = await other.run(({ store }) => store.put('k', '2'));
      claim(next.revision > revision, 'revisions rise');
      same(await here.run(({ vars }) => vars.told), [`put k=2@${next.revision}`], 'the watch that was there before');
    },
  },
  {
    id: 'F31',
    title: 'priming replays nothing: a key that another process had deleted and made again never blinks',
    on: ['sqlite', 'etcd'],
    says: 'was gone',
    check: async (world) => {
      const other = await world.peer();
      await other.run(async ({ store, vars }) => {
        for (const value of ['1', undefined, '2', undefined, '3']) {
          if (value === undefined) await store.delete('k');
          else await store.put('k', value);
        }
        vars.noise = (async () => {
          for (let n = 0; !vars.isOver; n++) await store.put('noise', `${n}`);
        })();
      });
      const here = await world.subject();
      for (let round = 0; round < world.sized(3, 30); round++) {
        const seen = await here.run(async (context) => {
          await context.reopen();
          const { store, until } = context;
          const watch = store.watch({ key: 'k' });
          const event = watch.next().then(({ value }) => value?.revision);
          const first = store.revision;
          const values = new Set();
          // At least the first item of the stream has to be there.
          await until(() => {
            values.add(store.get('k')?.value ?? 'none');
            return store.revision > first;
          }, 'the stream');
          for (let turn = 0; turn < 20; turn++) {
            values.add(store.get('k')?.value ?? 'none');
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          await watch.return();
          return { values: [...values], event: await event };
        });
        claim(!seen.values.includes('none'), `round ${round}: the key was gone: ${seen.values.join(' ')}`);
        same(seen.values, ['3'], `round ${round}: the key`);
        same(seen.event, undefined, `round ${round}: an event from before the list`);
      }
      await other.run(({ vars }) => {
        vars.isOver = true;
        return vars.noise;
      });
    },
  },
  {
    id: 'F32',
    title: 'the first list is one state, while other processes move keys about',
    on: ['sqlite', 'etcd'],
    says: 'half a transaction',
    check: async (world) => {
      const other = await world.peer();
      await other.run(async ({ store, vars }) => {
        await store.txn({
          then: [
            { type: 'put', key: 'a', value: '0' },
            { type: 'put', key: 'z', value: '0' },
          ],
        });
        vars.noise = (async () => {
          for (let n = 1; !vars.isOver; n++) {
            await store.txn({
              then: [
                { type: 'put', key: 'a', value: `${n}` },
                { type: 'put', key: 'z', value: `${n}` },
              ],
            });
          }
        })();
      });
      const here = await world.subject({ store: { waitReady: true } });
      for (let round = 0; round < world.sized(8, 60); round++) {
        const rows = await here.run(async (context) => {
          await context.reopen();
          return (await context.store.range({ prefix: '' })).kvs.map(({ key, value }) => `${key}=${value}`);
        });
        const values = new Set(rows.map((row) => row.split('=')[1]));
        claim(rows.length === 2 && values.size === 1, `round ${round}: half a transaction: ${rows.join(' ')}`);
      }
      await other.run(({ vars }) => {
        vars.isOver = true;
        return vars.noise;
      });
    },
  },
  {
    id: 'F33',
    title: 'a folder that another process makes after the first list is there',
    on: ['sqlite', 'etcd'],
    says: 'keys of a new folder',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      same(await here.run(async ({ store }) => (await store.range({ prefix: 'new/' })).count), 0, 'before');
      const { revision } = await other.run(async ({ store }) => {
        await store.put('new/a', '1');
        return store.put('new/b', '2');
      });
      await here.run(({ store, until }, revision) => until(() => store.revision >= revision, 'the puts'), revision);
      const counts = await here.run(async ({ store }) => {
        const both = [store.range({ prefix: 'new/' }), store.range({ prefix: 'new/' })];
        return (await Promise.all(both)).map(({ count }) => count);
      });
      same(counts, [2, 2], 'keys of a new folder');
    },
  },
  {
    id: 'F34',
    title: 'a wall clock that is set back an hour does not stop compaction by age',
    on: ['sqlite', 'etcd'],
    says: 'the low watermark to rise',
    check: async (world) => {
      const here = await world.subject({ store: { retention: { ageMs: 100 } } });
      const other = await world.peer();
      const { revision } = await other.run(({ store }) => store.put('k', 'first'));
      await here.run(({ store, until, vars }, revision) => {
        vars.now = Date.now;
        return until(() => store.revision >= revision, 'the put');
      }, revision);
      try {
        await here.run(({ vars }) => {
          Date.now = () => vars.now() - 3_600_000;
        });
        await other.run(({ store, vars }) => {
          vars.noise = (async () => {
            for (let n = 0; !vars.isOver; n++) await store.put('k', `${n}`);
          })();
        });
        await here.run(
          ({ store, until }, revision) => until(() => store.compactRevision > revision, 'the low watermark to rise'),
          revision,
        );
      } finally {
        await here.run(({ vars }) => {
          Date.now = vars.now;
        });
      }
      await other.run(({ vars }) => {
        vars.isOver = true;
        return vars.noise;
      });
    },
  },
  {
    id: 'F35',
    title:
      'a quiet replica asks nothing, and hears of what another process writes (a file of SQLite is looked at all the time)',
    on: ['etcd'],
    says: 'questions in a quiet time',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const heard = await other.run(({ store }) => store.put('k', '1'));
      const before = await here.run(async ({ store, until, backend }, revision) => {
        await until(() => store.revision >= revision, 'the first put');
        return Object.values(backend.calls).reduce((sum, count) => sum + count, 0);
      }, heard.revision);
      const next = await other.run(
        async ({ store }, quietMs) => {
          await new Promise((resolve) => setTimeout(resolve, quietMs));
          return store.put('k', '2');
        },
        world.sized(400, 5_000),
      );
      const after = await here.run(async ({ store, until, backend }, revision) => {
        await until(() => store.revision >= revision, 'the second put');
        return Object.values(backend.calls).reduce((sum, count) => sum + count, 0);
      }, next.revision);
      same(after - before, 0, 'questions in a quiet time');
    },
  },
  {
    id: 'F36',
    title: 'a process that closes its store and its backend ends by itself, whatever was going on',
    on: ['sqlite', 'etcd'],
    says: 'has closed everything to end',
    check: async (world) => {
      const [here, other] = [await world.subject({ store: { maxStaleMs: 60_000 } }), await world.peer()];
      await here.run(async ({ store, vars, take }) => {
        vars.told = take(store.watch({ prefix: '' }, {}), 1_000).catch(() => []);
        await store.sync();
      });
      const { revision } = await other.run(({ store }) => store.put('k', '1'));
      await here.run(({ store, until }, revision) => until(() => store.revision >= revision, 'the put'), revision);
      await here.close();
      same(await here.leave(), 0, 'how it ended');
    },
  },
];
