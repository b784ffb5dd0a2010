import type { KeyRange, RangeRequest } from 'plimsoll';
import { equal, test } from '../harness.ts';
import { F, keysOf, openKvSet } from './spec-support.ts';
import { storeOf } from './store-support.ts';

/** Prefixes, sort orders, bounds on revisions. */
const EVERYTHING = { prefix: '' } as const;

/** Request, keys of the rows, count, more. C32 asks all of these again. */
type Row = readonly [request: RangeRequest, keys: string, count: number, more: boolean];

const C25: readonly Row[] = [[{ ...EVERYTHING, revision: F + 3 }, 'a b c', 3, false]];

const C26: readonly Row[] = [
  [{ prefix: 'foo' }, 'foo foo/abc', 2, false],
  [{ start: 'foo' }, 'foo foo/abc fop', 3, false],
  [{ start: 'a', end: 'c' }, 'a b', 2, false],
  [{ key: 'a', countOnly: true }, '', 1, false],
];

const C27: readonly Row[] = [[{ ...EVERYTHING, limit: 2 }, 'a b', 6, true]];

const C28: readonly Row[] = [
  [{ start: 'b', end: 'z', sortTarget: 'key', sortOrder: 'descend', limit: 2 }, 'fop foo/abc', 5, true],
];

const C29: readonly Row[] = [
  [{ ...EVERYTHING, sortTarget: 'version', sortOrder: 'ascend' }, 'a b foo foo/abc fop c', 6, false],
];

const C30: readonly Row[] = [
  [{ ...EVERYTHING, sortTarget: 'value', sortOrder: 'ascend' }, 'foo/abc b a c foo fop', 6, false],
  [{ ...EVERYTHING, sortTarget: 'value', sortOrder: 'descend' }, 'fop foo c a b foo/abc', 6, false],
  [{ ...EVERYTHING, sortTarget: 'value' }, 'foo/abc b a c foo fop', 6, false],
];

const C31: readonly Row[] = [
  [{ ...EVERYTHING, minModRevision: F + 3, sortTarget: 'mod' }, 'c foo foo/abc fop', 6, false],
  [{ ...EVERYTHING, maxModRevision: F + 4, sortTarget: 'key', sortOrder: 'descend' }, 'b a', 6, false],
  [
    { ...EVERYTHING, minCreateRevision: F + 3, sortTarget: 'version', sortOrder: 'descend' },
    'c foo foo/abc fop',
    6,
    false,
  ],
  [{ ...EVERYTHING, maxCreateRevision: F + 6, sortTarget: 'value', sortOrder: 'descend' }, 'foo c a b', 6, false],
  // The bounds themselves are within.
  [{ ...EVERYTHING, minModRevision: F + 5, maxModRevision: F + 6 }, 'c foo', 6, false],
  [{ ...EVERYTHING, minCreateRevision: F + 2, maxCreateRevision: F + 3 }, 'b c', 6, false],
];

async function check(rows: readonly Row[]): Promise<void> {
  const store = await openKvSet();
  for (const [request, keys, count, more] of rows) {
    const answer = store.range(request);
    equal([request, keysOf(answer), answer.count, answer.more], [request, keys, count, more]);
    equal(answer.revision, F + 8);
  }
}

test('C25 a prefix at an old revision', async () => {
  await check(C25);
  const { kvs } = (await openKvSet()).range({ prefix: '', revision: F + 3 });
  equal(kvs[2]?.value, 'ac1');
});

test('C26 a prefix, from a key on, an interval, and a count alone', () => check(C26));

test('C27 limit leaves the count and says that there is more', () => check(C27));

test('C28 descending keys with a limit', () => check(C28));

test('C29 by version, ties by key', () => check(C29));

test('C30 by value, in both orders and in the default one', () => check(C30));

test('C31 min/max revision filters, with sort orders', () => check(C31));

test('C32 keysOnly: the same rows without values', async () => {
  const store = await openKvSet();
  const all = [C25, C26, C27, C28, C29, C30, C31].flat();
  for (const [request] of all) {
    const { kvs, ...rest } = store.range(request);
    const { kvs: bare, ...same } = store.range({ ...request, keysOnly: true });
    equal([same.count, same.more, same.revision], [rest.count, rest.more, rest.revision]);
    equal(
      bare,
      kvs.map(({ value: _, ...numbers }) => numbers),
    );
  }
});

test('C33 deletes of prefixes and ranges', async () => {
  const table: readonly (readonly [range: KeyRange | string, deleted: number, left: string])[] = [
    [{ prefix: '' }, 5, ''],
    [{ start: '' }, 5, ''],
    [{ start: 'a', end: 'c' }, 2, 'c c/abc d'],
    ['c', 1, 'a b c/abc d'],
    [{ prefix: 'c' }, 2, 'a b d'],
    [{ start: 'c' }, 3, 'a b'],
    ['e', 0, 'a b c c/abc d'],
    [{ start: 'd', end: 'a' }, 0, 'a b c c/abc d'],
  ];
  for (const [range, deleted, left] of table) {
    const store = await storeOf('a', 'b', 'c', 'c/abc', 'd');
    const revision = deleted === 0 ? 6 : 7;
    equal(await store.delete(range), { revision, deleted });
    equal([range, keysOf(store.range({ prefix: '' }))], [range, left]);
  }
});
