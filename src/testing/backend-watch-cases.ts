import { byteText } from '../core/key-order.ts';
import type { BackendEvent } from '../types/backend.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { ALL, del, itemText, nested, point, put, span } from './backend-terms.ts';

/** What the changes of a stream hold. */
export const WATCH_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'events carry what rows carry, deletes key and mod revision',
    rule: 'B8',
    async run(session) {
      const r1 = await session.write({ 'k\xff': '1' });
      const r2 = await session.write({ 'k\xff': '2' });
      const r3 = await session.write({ 'k\xff': undefined });
      const r4 = await session.write({ 'k\xff': '' });
      const reader = session.watch(r1);
      await session.seen(reader, r4);
      session.equal('the changes of one key', reader.items.slice(1).map(itemText), [
        `change ${r1} put k\xff=1 (${r1},${r1},1)`,
        `change ${r2} put k\xff=2 (${r1},${r2},2)`,
        `change ${r3} delete k\xff (${r3})`,
        `change ${r4} put k\xff= (${r4},${r4},1)`,
      ]);
    },
  },
  {
    name: 'a transaction is one item, its events in the order of its operations',
    rule: 'B9',
    needs: ['writable'],
    async run(session) {
      const old = await session.write({ b: '1', c: '1', d: '1' });
      const live = session.watch(old + 1);
      await session.opened(live);
      const { revision } = await session.txn([
        put('z', '1'),
        put('a', '1'),
        del(span('b', 'd')),
        nested([], [put('m', '1')]),
      ]);
      const replay = session.watch(old + 1);
      for (const reader of [live, replay]) {
        await session.seen(reader, revision);
        session.equal('the items', reader.items.slice(1).map(itemText), [
          `change ${revision} put z=1 (${revision},${revision},1), put a=1 (${revision},${revision},1), ` +
            `delete b (${revision}), delete c (${revision}), put m=1 (${revision},${revision},1)`,
        ]);
      }
    },
  },
  {
    name: 'several ranges are one stream, with nothing from outside',
    rule: 'B9',
    async run(session) {
      const { revision: from } = await session.status();
      const ranges = [span('a', 'b'), point('c'), span('m', 'n'), span('x', '')];
      const live = session.watch(from + 1, { ranges });
      await session.opened(live);
      const first = await session.write({ a1: '1', b: '1', c: '1', cc: '1', m: '1', x: '1', z: '1' });
      await session.write({ b: '2', cc: '2' });
      const second = await session.write({ z: '2', b: '3' });
      const third = await session.write({ a1: undefined, b: undefined, c: undefined });
      const replay = session.watch(from + 1, { ranges });
      for (const reader of [live, replay]) {
        await session.seen(reader, third);
        const told = reader.changes.map(({ revision, events }) => [revision, events.map(keyOf).sort()]);
        session.equal('the keys of the items', told, [
          [first, ['a1', 'c', 'm', 'x', 'z']],
          [second, ['z']],
          [third, ['a1', 'c']],
        ]);
      }
    },
  },
  {
    name: 'a range that holds no key is a stream without changes, alone and beside others',
    rule: 'store:R7',
    async run(session) {
      const { revision: from } = await session.status();
      for (const range of [span('b', 'b'), span('c', 'a'), span('', '\x00'), span('b', '\x00')]) {
        const alone = session.watch(from + 1, { ranges: [range] });
        const beside = session.watch(from + 1, { ranges: [range, point('z')] });
        await session.opened(alone);
        await session.opened(beside);
        await session.write({ '\x00': '1', a: '1', b: '1', c: '1' });
        const revision = await session.write({ z: '1' });
        await session.seen(beside, revision);
        const keys = beside.changes.flatMap(({ events }) => events.map(keyOf));
        session.equal('the keys beside it', [...new Set(keys)], ['z']);
        session.equal('the changes in it', alone.changes.length, 0);
      }
    },
  },
  {
    name: 'a range is one of bytes, not of a path or a text',
    rule: 'store:R7',
    async run(session) {
      const { revision: from } = await session.status();
      const cases = [
        [point('a'), ['a']],
        [span('a', 'b'), ['a', 'a/b', 'ab', 'a\xff']],
        [span('a/', 'a0'), ['a/b']],
        [span('\xff', ''), ['\xff', '\xff\xff']],
      ] as const;
      const readers = cases.map(([range, expected]) => ({
        expected,
        reader: session.watch(from + 1, { ranges: [range] }),
      }));
      for (const key of ['a', 'a/b', 'ab', 'a\xff', 'b', '\xff', '\xff\xff']) await session.write({ [key]: '1' });
      const all = session.watch(from + 1);
      await session.seen(all, (await session.status()).revision);
      for (const { expected, reader } of readers) {
        const keys = () => reader.changes.flatMap(({ events }) => events.map(keyOf));
        await session.until('the keys of a stream', () => keys().length >= expected.length, expected, keys);
        await session.quiet();
        session.equal('the keys of a stream', keys(), expected);
      }
    },
  },
  {
    name: 'a list and the changes behind it make the newest list',
    rule: 'B6',
    run: listAndWatch,
  },
];

/** Whatever is written while list and watch are made. */
async function listAndWatch(session: BackendSession): Promise<void> {
  let isWriting = true;
  const write = async (): Promise<void> => {
    for (let count = 0; isWriting && count < 300; count++) {
      const key = `k${(count * 7) % 11}`;
      await session.write({ [key]: count % 3 === 2 ? undefined : `${count}`, last: `${count}` });
    }
  };
  const writing = write();
  const pairs: { readonly state: Map<string, string>; readonly reader: ReturnType<BackendSession['watch']> }[] = [];
  try {
    for (let count = 0; count < 8; count++) {
      const { kvs, revision } = await session.range([ALL]);
      const state = new Map(kvs.map((row) => [byteText(row.key), `${byteText(row.value)} at ${row.modRevision}`]));
      pairs.push({ state, reader: session.watch(revision + 1) });
    }
  } finally {
    isWriting = false;
    await writing;
  }
  const end = await session.write({ end: '1' });
  const rows = (await session.rows()).map((row) => [byteText(row.key), `${byteText(row.value)} at ${row.modRevision}`]);
  for (const { state, reader } of pairs) {
    await session.seen(reader, end);
    for (const event of reader.changes.flatMap(({ events }) => events)) {
      if (event.type === 'delete') state.delete(byteText(event.key));
      else state.set(byteText(event.kv.key), `${byteText(event.kv.value)} at ${event.kv.modRevision}`);
    }
    session.equal('a list with all changes behind it', [...state].sort(), rows.sort());
  }
}

function keyOf(event: BackendEvent): string {
  return byteText(event.type === 'put' ? event.kv.key : event.key);
}
