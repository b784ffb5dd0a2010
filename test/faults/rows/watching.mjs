// @ts-check
// F7 to F13, F20, F39, F40: where a watch may start, what it is given, and what compaction does to it.
import { claim, same, stateAt } from './replay.mjs';

/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {import('./peers.mjs').Peer} Peer */

/** @param {Peer} peer @param {number} count */
const write = (peer, count) =>
  peer.run(async ({ store }, count) => {
    const revisions = [];
    for (let n = 0; n < count; n++) revisions.push((await store.put('k', `${n}`)).revision);
    return revisions;
  }, count);

/** What comes of a watch from a revision: the code of its error, or its first event. @param {Peer} peer @param {number} from */
const start = (peer, from) =>
  peer.run(async ({ store, take }, from) => {
    const watch = store.watch({ key: 'k' }, { fromRevision: from });
    const told = await take(watch, 1).catch((error) => ({ code: error.code, minRevision: error.minRevision }));
    await watch.return();
    return told;
  }, from);

/** The same of the backend itself. @param {Peer} peer @param {number} from */
const startBehind = (peer, from) =>
  peer.run(async (context, from) => {
    try {
      const stream = context.backend.watch({ ranges: [context.ownRange()], fromRevision: from });
      for await (const item of stream) if (item.type === 'change') return item.revision;
      return 'nothing';
    } catch (error) {
      return /** @type {any} */ (error).code;
    }
  }, from);

/** @type {readonly Row[]} */
export const WATCHING = [
  {
    id: 'F7',
    title: 'a start in the compacted part is an error, for who compacted, for who came later, and at the backend',
    on: ['sqlite', 'etcd'],
    says: 'in the compacted part',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const revisions = await write(other, 10);
      const [, early = 0, , , , middle = 0] = revisions;
      const last = revisions.at(-1) ?? 0;
      await here.run(
        async ({ store, until }, last, middle) => {
          await until(() => store.revision >= last, 'the puts');
          await store.compact(middle);
        },
        last,
        middle,
      );
      same(await start(here, early), { code: 'COMPACTED', minRevision: middle }, 'a start in the compacted part');
      const late = await world.peer();
      const told = await start(late, early);
      claim(
        'code' in told && told.code === 'COMPACTED',
        `who came later, in the compacted part: ${JSON.stringify(told)}`,
      );
      const { minRevision } = /** @type {{ minRevision: number }} */ (told);
      const next = await late.run(async ({ store, take }, from) => {
        const watch = store.watch({ key: 'k' }, { fromRevision: from });
        const taken = take(watch, 1);
        const { revision } = await store.put('k', 'after');
        return [await taken, revision];
      }, minRevision);
      same(next[0], [`put k=after@${next[1]}`], 'the smallest start that the error names');
      same(await startBehind(other, early), 'COMPACTED', 'the backend, in the compacted part');
    },
  },
  {
    id: 'F8',
    title: 'the compacted revision itself can be read and watched from, here and in another process',
    on: ['sqlite', 'etcd'],
    says: 'a start at the compacted revision',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const [, , third = 0, , fifth = 0] = await write(other, 5);
      await here.run(
        async ({ store, until }, fifth, third) => {
          await until(() => store.revision >= fifth, 'the puts');
          await store.compact(third);
        },
        fifth,
        third,
      );
      same(await start(here, third), [`put k=2@${third}`], 'a start at the compacted revision');
      same(
        await here.run(({ store }, third) => store.get('k', { revision: third })?.value, third),
        '2',
        'a read at it',
      );
      const behind = await other.run(async (context, third) => {
        const { kvs } = await context.backend.range({ ranges: [context.ownRange()], revision: third });
        return kvs.map(({ modRevision }) => modRevision);
      }, third);
      same(behind, [third], 'a read of the backend at it');
      // What etcd cannot promise is in docs/etcd-differences.md (E2).
      if (world.kind === 'sqlite') same(await startBehind(other, third), third, 'a stream of the backend from it');
    },
  },
  {
    id: 'F9',
    title: 'the start is inclusive: a list at R here, a write of another process, a watch from R + 1',
    on: ['sqlite', 'etcd'],
    says: 'the first event',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      for (let round = 0; round < world.sized(3, 30); round++) {
        const listed = await here.run(async ({ store }) => (await store.range({ prefix: '' })).revision);
        const revisions = await write(other, 3);
        await here.run(({ store, until }, last) => until(() => store.revision >= last, 'the puts'), revisions[2] ?? 0);
        same(await start(here, listed + 1), [`put k=0@${revisions[0]}`], `round ${round}: the first event`);
        same(
          await startBehind(other, revisions[1] ?? 0),
          revisions[1],
          `round ${round}: the first event of the backend`,
        );
      }
    },
  },
  {
    id: 'F10',
    title: 'no start is what comes after the call, whatever another process wrote before',
    on: ['sqlite', 'etcd'],
    says: 'what comes after',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const last = (await write(other, 5)).at(-1) ?? 0;
      await here.run(async ({ store, vars, take, until }, last) => {
        await until(() => store.revision >= last, 'the puts');
        vars.told = take(store.watch({ prefix: '' }, { fromRevision: 0 }), 1);
      }, last);
      const { revision } = await other.run(({ store }) => store.put('k', 'after'));
      const told = await here.run(({ vars }) => vars.told);
      same(told, [`put k=after@${revision}`], 'what comes after');
    },
  },
  {
    id: 'F11',
    title: 'a compaction that is ahead of who lags hides nothing: it waits, and every commit is told',
    on: ['sqlite', 'etcd'],
    says: 'for event 1 of 5',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      await write(other, 1);
      await here.run(async ({ store, backend, vars, take }) => {
        await store.sync();
        vars.told = take(store.watch({ prefix: '' }), 5);
        backend.holdItems();
      });
      const revisions = await write(other, 5);
      await here.run(async ({ store, vars }, last) => {
        vars.compacting = store.compact(last).then(({ compactRevision }) => compactRevision);
      }, revisions[4] ?? 0);
      await other.run(async (context, first) => {
        // Nobody can read it any more: the compaction has reached the backend. A replica may ask where that is first.
        const isCompacted = () =>
          context.backend.range({ ranges: [context.ownRange()], revision: first }).then(
            () => false,
            () => true,
          );
        const end = Date.now() + 300;
        while (Date.now() < end && !(await isCompacted())) await new Promise((resolve) => setTimeout(resolve, 5));
      }, revisions[0] ?? 0);
      const told = await here.run(({ backend, vars }) => {
        backend.releaseItems();
        return vars.told;
      });
      const expected = revisions.map((revision, n) => `put k=${n}@${revision}`);
      same(told, expected, 'commits of the other');
      same(await here.run(({ vars }) => vars.compacting), revisions[4], 'the low watermark');
    },
  },
  {
    id: 'F12',
    title: 'the low watermark never falls: two processes compact at random, one against the other',
    on: ['sqlite', 'etcd'],
    says: 'fell',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const revisions = await write(other, world.sized(30, 200));
      const last = revisions.at(-1) ?? 0;
      const targets = () =>
        Array.from({ length: 15 }, () => revisions[Math.floor(world.random() * revisions.length)] ?? 0);
      const compact = (/** @type {Peer} */ peer, /** @type {number[]} */ targets) =>
        peer.run(async ({ store }, targets) => {
          const floors = [];
          for (const target of targets) {
            await store.compact(target).catch((error) => {
              if (error.code !== 'COMPACTED') throw error;
            });
            floors.push(store.compactRevision);
          }
          return floors;
        }, targets);
      await here.run(({ store, until }, last) => until(() => store.revision >= last, 'the puts'), last);
      const [mine, theirs] = [targets(), targets()];
      const all = await Promise.all([compact(here, mine), compact(other, theirs)]);
      for (const floors of all) {
        claim(!floors.some((floor, n) => floor < (floors[n - 1] ?? 0)), `the low watermark fell: ${floors.join(' ')}`);
      }
      const highest = Math.max(...mine, ...theirs);
      const readable = (/** @type {number} */ revision) =>
        here.run(
          (context, revision) =>
            context.backend.range({ ranges: [context.ownRange()], revision }).then(
              () => 'readable',
              (error) => error.code,
            ),
          revision,
        );
      same(await readable(highest), 'readable', `the backend at ${highest}`);
      if (highest > (revisions[0] ?? 0))
        same(await readable(highest - 1), 'COMPACTED', 'the backend below it: it fell');
    },
  },
  {
    id: 'F13',
    title:
      'both watermarks belong together: what the low one says can be read, while this process compacts and another writes',
    on: ['sqlite', 'etcd'],
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      await here.run(({ store, vars }) => {
        vars.looking = (async () => {
          let looks = 0;
          while (!vars.isOver) {
            const { compactRevision, revision } = store;
            if (compactRevision > revision)
              throw new Error(`the low watermark ${compactRevision} is above ${revision}`);
            if (compactRevision > 0) store.range({ prefix: '', revision: compactRevision });
            looks++;
            await new Promise((resolve) => setImmediate(resolve));
          }
          return looks;
        })();
        vars.compacting = (async () => {
          let compactions = 0;
          while (!vars.isOver) {
            if (store.revision > store.compactRevision) {
              await store.compact(store.revision);
              compactions++;
            }
            await new Promise((resolve) => setImmediate(resolve));
          }
          return compactions;
        })();
      });
      const last = (await write(other, world.sized(40, 400))).at(-1) ?? 0;
      const [looks, compactions] = await here.run(async ({ store, vars, until }, last) => {
        await until(() => store.revision >= last, 'the puts');
        vars.isOver = true;
        return Promise.all([vars.looking, vars.compacting]);
      }, last);
      // How many there are is the machine's affair: a busy one writes all before it looks twice.
      claim(looks > 0 && compactions > world.sized(0, 2), `only ${looks} looks and ${compactions} compactions`);
    },
  },
  {
    id: 'F20',
    title: 'the events of a transaction keep its order in another process',
    on: ['sqlite', 'etcd'],
    says: 'the order of the events',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      const keys = ['m', 'z', 'a', 'q', 'b', 'y', 'c', 'x'];
      await here.run(({ store, vars, take }) => {
        vars.told = take(store.watch({ prefix: '' }), 8);
      });
      const { revision } = await other.run(
        ({ store }, keys) => store.txn({ then: keys.map((key) => ({ type: 'put', key, value: '1' })) }),
        keys,
      );
      const told = await here.run(({ vars }) => vars.told);
      same(
        told,
        keys.map((key) => `put ${key}=1@${revision}`),
        'the order of the events',
      );
    },
  },
  {
    id: 'F39',
    title: 'a state and its event are there together: each revision that is seen can be watched from at once',
    on: ['sqlite', 'etcd'],
    says: 'has no event',
    check: async (world) => {
      const [here, other] = [await world.subject(), await world.peer()];
      await here.run(({ store, vars }) => {
        vars.first = store.revision;
        vars.looking = (async () => {
          const seen = new Set();
          while (!vars.isOver) {
            const { modRevision } = store.get('k') ?? { modRevision: 0 };
            if (modRevision > vars.first && !seen.has(modRevision)) {
              seen.add(modRevision);
              vars.seen = seen.size;
              const watch = store.watch({ key: 'k' }, { fromRevision: modRevision });
              const late = new Promise((resolve) => setTimeout(() => resolve(undefined), 20));
              const next = await Promise.race([watch.next(), late]);
              await watch.return();
              if (next?.value?.revision !== modRevision) throw new Error(`revision ${modRevision} has no event`);
            }
            await new Promise((resolve) => setImmediate(resolve));
          }
          return seen.size;
        })();
        // It is awaited later; until then nobody hears of it.
        vars.looking.catch((/** @type {unknown} */ error) => {
          vars.lookingError = error;
        });
      });
      let last = 0;
      // On a busy machine the puts are over before two of them were looked at.
      for (let round = 0, seen = 0; round < 20 && seen < 2; round++) {
        last = (await write(other, world.sized(30, 300))).at(-1) ?? 0;
        seen = await here.run(async ({ store, vars, until }, last) => {
          await Promise.race([vars.looking, until(() => store.revision >= last, 'the puts')]);
          return vars.seen ?? 0;
        }, last);
      }
      const seen = await here.run(async ({ store, vars, until }, last) => {
        await Promise.race([vars.looking, until(() => store.revision >= last, 'the puts')]);
        vars.isOver = true;
        return vars.looking;
      }, last);
      claim(seen > 1, `only ${seen} revisions were seen`);
    },
  },
  {
    id: 'F40',
    title: 'a start anywhere in the log gets everything behind it that other processes wrote',
    on: ['sqlite', 'etcd'],
    says: 'for event',
    check: async (world) => {
      const here = await world.subject();
      const writers = [await world.peer(), await world.peer()];
      const first = await here.run(({ store }) => store.revision);
      const revisions = (await Promise.all(writers.map((writer) => write(writer, world.sized(25, 200))))).flat();
      revisions.sort((a, b) => a - b);
      const last = revisions.at(-1) ?? 0;
      await here.run(({ store, until }, last) => until(() => store.revision >= last, 'the puts'), last);
      const [writer] = /** @type {[Peer]} */ (writers);
      const history = await writer.run((context, from) => context.history(from), first + 1);
      same(stateAt(history, last).length, 1, 'keys');
      for (let round = 0; round < world.sized(10, 60); round++) {
        const from = revisions[Math.floor(world.random() * revisions.length)] ?? 0;
        const behind = history.filter(({ revision }) => revision >= from);
        const told = await here.run(
          ({ store, take }, from, count) => take(store.watch({ key: 'k' }, { fromRevision: from }), count),
          from,
          behind.length,
        );
        same(
          told,
          behind.map(({ revision, events }) => `put k=${events[0]?.value}@${revision}`),
          `from the middle, ${from}`,
        );
      }
    },
  },
];
