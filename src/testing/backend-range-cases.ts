import { byteRangeHas, byteText, compareBytes } from '../core/key-order.ts';
import type { BackendRangeRequest, ByteRange } from '../types/backend.ts';
import { CompactedError, FutureRevisionError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { ALL, bytes, del, keyTexts, point, put, rowText, span } from './backend-terms.ts';

/** In the order of their bytes. */
const KEYS = ['\x00', 'a', 'a\x00', 'a/', 'a/b', 'aa', 'b', 'c', '\x7f', '\x80', '\xc3\xa9', '\xff', '\xff\xff'];

const RANGES: readonly ByteRange[] = [
  point('a'),
  point('none'),
  span('a', 'b'),
  span('a/', 'a0'),
  span('b', ''),
  span('', 'a'),
  span('\xff', ''),
  span('b', 'b'),
  span('c', 'a'),
  // Below a zero byte is no key; etcd takes such an end for none.
  span('', '\x00'),
  span('\x00', '\x00'),
  span('b', '\x00'),
];

/** `range`: which rows, and at which revision. */
export const RANGE_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'keys are bytes, in unsigned order',
    rule: 'B8',
    async run(session) {
      for (const key of [...KEYS].reverse()) await session.write({ [key]: `of ${key}` });
      const rows = await session.rows();
      session.equal('all keys', keyTexts(rows), KEYS);
      session.equal(
        'their values',
        rows.map(({ value }) => byteText(value)),
        KEYS.map((key) => `of ${key}`),
      );
    },
  },
  {
    name: 'rows carry create revision, mod revision and version',
    rule: 'store:R3',
    async run(session) {
      const first = await session.write({ k: '1' });
      const second = await session.write({ k: '2' });
      const same = await session.write({ k: '2' });
      session.equal('a key written three times', (await session.rows()).map(rowText), [`k=2 (${first},${same},3)`]);
      session.equal('the same at the second', (await session.rows({ revision: second })).map(rowText), [
        `k=2 (${first},${second},2)`,
      ]);
      await session.write({ k: undefined });
      const again = await session.write({ k: '' });
      session.equal('made again', (await session.rows()).map(rowText), [`k= (${again},${again},1)`]);
    },
  },
  {
    name: 'a range is half open, a point, or without end',
    rule: 'store:R7',
    async run(session) {
      for (const key of KEYS) await session.write({ [key]: '1' });
      for (const range of RANGES) {
        const { kvs, count } = await session.range([range]);
        const expected = KEYS.filter((key) => byteRangeHas(range, bytes(key)));
        session.equal(`the keys of ${rangeText(range)}`, keyTexts(kvs), expected);
        session.equal(`the count of ${rangeText(range)}`, count, expected.length);
      }
    },
  },
  {
    name: 'a delete takes what its range holds, and nothing else',
    rule: 'store:R7',
    needs: ['writable'],
    async run(session) {
      for (const range of [...RANGES, ALL]) {
        await session.txn(KEYS.map((key) => put(key, '1')));
        const [response] = (await session.txn([del(range)])).responses;
        const left = KEYS.filter((key) => !byteRangeHas(range, bytes(key)));
        session.equal(`the keys behind a delete of ${rangeText(range)}`, keyTexts(await session.rows()), left);
        const deleted = response?.type === 'delete' ? response.deleted : response?.type;
        session.equal(`the number of deleted keys of ${rangeText(range)}`, deleted, KEYS.length - left.length);
      }
    },
  },
  {
    name: 'several ranges are one list at one revision',
    rule: 'B2',
    async run(session) {
      const ranges = [span('a', 'b'), point('c'), span('m', '')];
      let isWriting = true;
      const write = async (): Promise<void> => {
        for (let count = 0; isWriting && count < 200; count++) {
          await session.write({ a1: `${count}`, b: `${count}`, c: `${count}`, z: `${count}` });
        }
      };
      const writing = write();
      try {
        for (let count = 0; count < 30; count++) {
          const { kvs, revision } = await session.range(ranges);
          if (kvs.length === 0) continue;
          session.equal('the keys of three ranges', keyTexts(kvs), ['a1', 'c', 'z']);
          const states = new Set(kvs.map((row) => `${byteText(row.value)} at ${row.modRevision}`));
          session.check('keys that are always written together', states.size === 1, 'one state', [...states]);
          const [row] = kvs;
          session.check('a mod revision', (row?.modRevision ?? 0) <= revision, `at most ${revision}`, row?.modRevision);
        }
      } finally {
        isWriting = false;
        await writing;
      }
    },
  },
  {
    name: 'a list at a revision is the state of then',
    rule: 'store:R13',
    async run(session) {
      const states = await history(session);
      for (const [revision, rows] of states) {
        const list = await session.range([ALL], { revision });
        session.equal(`the rows at ${revision}`, list.kvs.map(rowText), rows);
        session.equal('the revision that was read', list.revision, revision);
        session.equal(`the count at ${revision}`, list.count, rows.length);
      }
    },
  },
  {
    name: 'a revision that cannot be read is refused',
    rule: 'store:R13',
    async run(session) {
      const states = await history(session);
      const [oldest = 0, middle = 0] = [...states.keys()].slice(2);
      const ahead = (await session.status()).revision + 1_000_000;
      const read = (revision: Revision) => session.backend.range({ ranges: [ALL], revision });
      await session.refused('a list in the future', read(ahead), FutureRevisionError);
      await session.within('compact', session.backend.compact({ revision: middle }));
      await session.refused('a list before the compaction', read(oldest), CompactedError);
      const rows = await session.rows({ revision: middle });
      session.equal('the rows at the compacted revision', rows.map(rowText), states.get(middle));
    },
  },
  {
    name: 'count is taken before limit and minModRevision',
    rule: 'store:R9',
    async run(session) {
      const revisions: Revision[] = [];
      for (const key of ['a', 'b', 'c', 'd']) revisions.push(await session.write({ [key]: key }));
      const changed = await session.write({ a: 'again' });
      const [, second = 0, third = 0] = revisions;
      const cases: readonly (readonly [Omit<BackendRangeRequest, 'ranges'>, readonly string[]])[] = [
        [{ limit: 0 }, ['a', 'b', 'c', 'd']],
        [{ limit: 1 }, ['a']],
        [{ limit: 3 }, ['a', 'b', 'c']],
        [{ limit: 9 }, ['a', 'b', 'c', 'd']],
        [{ minModRevision: third }, ['a', 'c', 'd']],
        [{ minModRevision: third, limit: 2 }, ['a', 'c']],
        [{ minModRevision: changed }, ['a']],
        [{ minModRevision: changed + 1 }, []],
        [{ minModRevision: second, revision: third }, ['b', 'c']],
      ];
      for (const [options, expected] of cases) {
        const { kvs, count } = await session.range([span('a', 'b'), span('b', 'z')], options);
        session.equal(`the rows with ${JSON.stringify(options)}`, keyTexts(kvs), expected);
        session.equal(`the count with ${JSON.stringify(options)}`, count, options.revision === third ? 3 : 4);
      }
    },
  },
  {
    name: 'keysOnly leaves values out, countOnly rows',
    rule: 'store:R12',
    async run(session) {
      const revision = await session.write({ a: '1', b: '2', c: '3' });
      const keys = await session.range([span('a', 'c')], { keysOnly: true });
      session.equal('rows without values', keys.kvs.map(rowText), [
        `a= (${revision},${revision},1)`,
        `b= (${revision},${revision},1)`,
      ]);
      const { kvs, count } = await session.range([span('a', 'c')], { countOnly: true });
      session.equal('rows and count of countOnly', [kvs.length, count], [0, 2]);
    },
  },
  {
    name: 'keys and values of any length up to the limits come back whole',
    rule: 'store:R21',
    needs: ['writable'],
    async run(session) {
      const long = 'k'.repeat(1024);
      const value = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
      await session.txn([{ type: 'put', key: bytes(long), value }, put('empty', '')]);
      const [empty, row] = await session.rows();
      session.equal(
        'an empty value',
        [empty?.value.length, keyTexts(empty === undefined ? [] : [empty])],
        [0, ['empty']],
      );
      const isSame = row !== undefined && compareBytes(row.value, value) === 0;
      session.check('a value of 100,000 bytes', isSame, 'the same bytes', row?.value.length);
    },
  },
];

/** Writes, deletes and makes again; what the rows were at each revision. */
export async function history(session: BackendSession): Promise<Map<Revision, readonly string[]>> {
  const states = new Map<Revision, readonly string[]>();
  const write = async (changes: Record<string, string | undefined>): Promise<void> => {
    const revision = await session.write(changes);
    states.set(revision, (await session.rows()).map(rowText));
  };
  await write({ a: '1' });
  await write({ b: '1', c: '1' });
  await write({ a: '2' });
  await write({ b: undefined });
  await write({ b: '2' });
  await write({ a: undefined, c: '2' });
  await write({ d: '1' });
  return states;
}

function rangeText({ start, end }: ByteRange): string {
  return end === undefined ? byteText(start) : `[${byteText(start)}, ${byteText(end)})`;
}
