import { describe, expect, it, vi } from 'vitest';
import { range } from '../../../src/store/read.ts';
import { VersionedState } from '../../../src/store/state.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { CompactedError, FutureRevisionError, IdentityChangedError } from '../../../src/types/errors.ts';
import type { RangeRequest } from '../../../src/types/requests.ts';
import type { Store } from '../../../src/types/store.ts';
import { brief, open3kv, openTestStore, Parts } from './fixture.ts';

/**
 * Reads, by the numbers of the specification: rules R1-R7, R9, R12-R14. The cases themselves are in
 * `test/conformance/cases/spec-range.ts`, where they run on every runtime.
 */
const KEYSPACE = { prefix: '' };

async function openKvSet() {
  const { store } = await openTestStore<string>();
  for (const [key, value] of [
    ['a', 'aa1'],
    ['b', 'a'],
    ['c', 'ac1'],
    ['c', 'ac2'],
    ['c', 'aac'],
    ['foo', 'bar'],
    ['foo/abc', '0'],
    ['fop', 's'],
  ] as const) {
    await store.put(key, value);
  }
  return store;
}

describe('revisions', () => {
  it('C01, R1: an empty store is at revision 1', async () => {
    const { store } = await openTestStore();
    expect([store.get('x'), store.range(KEYSPACE)]).toEqual([
      undefined,
      { revision: 1, kvs: [], count: 0, more: false },
    ]);
    expect([store.revision, store.compactRevision, store.epoch]).toEqual([1, 0, 1]);
  });

  it('C02, R1: each write is one revision', async () => {
    const store = await open3kv();
    expect(store.range(KEYSPACE).kvs.map(brief)).toEqual(['foo(2,2,1)', 'foo1(3,3,1)', 'foo2(4,4,1)']);
  });

  it('C08, C13, R3: a put on a live key keeps its create revision, also with the same value', async () => {
    const { store } = await openTestStore();
    for (let index = 1; index <= 10; index++) {
      expect(await store.put('foo', 'bar')).toEqual({ revision: index + 1 });
      expect(brief(store.get('foo'))).toBe(`foo(2,${index + 1},${index})`);
    }
  });

  it('C10, R4: a delete that hits nothing uses no revision', async () => {
    const { store } = await openTestStore();
    await store.put('foo', 'bar');
    expect(await store.delete('foo')).toEqual({ revision: 3, deleted: 1 });
    for (let index = 0; index < 10; index++) expect(await store.delete('foo')).toEqual({ revision: 3, deleted: 0 });
  });

  it('C11, R3: a put after a delete begins a new generation', async () => {
    const { store } = await openTestStore();
    for (let index = 1; index <= 10; index++) {
      const put = 2 * index;
      expect(await store.put('foo', 'bar')).toEqual({ revision: put });
      expect(brief(store.get('foo'))).toBe(`foo(${put},${put},1)`);
      expect(await store.delete('foo')).toEqual({ revision: put + 1, deleted: 1 });
      expect(store.get('foo', { revision: put + 1 })).toBeUndefined();
    }
  });

  it('R6: the revision of an answer is that of the store, not that of the key or of the read', async () => {
    const store = await open3kv();
    expect(store.range({ key: 'foo' }).revision).toBe(4);
    expect(store.range({ ...KEYSPACE, revision: 2 }).revision).toBe(4);
  });
});

describe('ranges', () => {
  it.each<[string, RangeRequest, string[]]>([
    ['C03 before the first key', { start: 'doo', end: 'foo' }, []],
    ['C03, R7 start = end', { start: 'foo', end: 'foo' }, []],
    ['R7 start > end', { start: 'foo2', end: 'foo' }, []],
    ['C03 an absent key', { key: 'doo' }, []],
    ['C04 half open', { start: 'foo', end: 'foo3' }, ['foo', 'foo1', 'foo2']],
    ['C04 the end is not included', { start: 'foo', end: 'foo1' }, ['foo']],
    ['C04 a point', { key: 'foo' }, ['foo']],
    ['C04 everything', { prefix: '' }, ['foo', 'foo1', 'foo2']],
    ['R7 no end: from the start on', { start: 'foo1' }, ['foo1', 'foo2']],
    ['R7 an empty start', { start: '' }, ['foo', 'foo1', 'foo2']],
    ['R7 an empty end selects nothing', { start: '', end: '' }, []],
    ['R7 a prefix is one of bytes', { prefix: 'foo' }, ['foo', 'foo1', 'foo2']],
    ['R7 a prefix that is a whole key', { prefix: 'foo1' }, ['foo1']],
  ])('%s', async (_, request, expected) => {
    const { kvs, count, revision } = (await open3kv()).range(request);
    expect([kvs.map(({ key }) => key), count, revision]).toEqual([expected, expected.length, 4]);
  });

  it.each([
    [-1, 3],
    [0, 3],
    [2, 1],
    [3, 2],
    [4, 3],
  ])('C05, R13: foo..foo3 at revision %i has %i keys', async (revision, rows) => {
    const answer = (await open3kv()).range({ start: 'foo', end: 'foo3', revision });
    expect([answer.kvs.length, answer.count, answer.revision]).toEqual([rows, rows, 4]);
  });

  it.each([
    [-1, 'ok'],
    [0, 'ok'],
    [1, 'compacted'],
    [2, 'compacted'],
    [3, 'compacted'],
    [4, 'ok'],
    [5, 'future'],
    [100, 'future'],
  ])('C06, R13: after compact(4) a read at %i is %s', async (revision, expected) => {
    const store = await open3kv();
    await store.compact(4);
    for (const read of [() => store.range({ ...KEYSPACE, revision }).count, () => store.get('foo', { revision })]) {
      if (expected === 'ok') read();
      else expect(read).toThrow(expected === 'future' ? FutureRevisionError : CompactedError);
    }
  });

  it('C06: the errors carry the smallest legal revision', async () => {
    const store = await open3kv();
    await store.compact(4);
    expect(() => store.get('foo', { revision: 3 })).toThrow(
      expect.objectContaining({ minRevision: 4, compactRevision: 4 }),
    );
    expect(() => store.get('foo', { revision: 5 })).toThrow(
      expect.objectContaining({ revision: 5, currentRevision: 4 }),
    );
  });

  it.each([
    [-1, 3, false],
    [0, 3, false],
    [1, 1, true],
    [2, 2, true],
    [3, 3, false],
    [100, 3, false],
  ])('C07, R9: limit %i gives %i rows, more %s, and a count that ignores it', async (limit, rows, more) => {
    const answer = (await open3kv()).range({ ...KEYSPACE, limit });
    expect([answer.kvs.length, answer.count, answer.more, 'continue' in answer]).toEqual([rows, 3, more, more]);
  });

  it.each([
    [undefined, 0],
    [4, 0],
    [3, 1],
    [2, 1],
  ])('with the limit %s, three rows are counted by %i walks: a page that is not full is all', async (limit, walks) => {
    const store = await open3kv();
    const count = vi.spyOn(VersionedState.prototype, 'count');
    try {
      expect(store.range({ ...KEYSPACE, ...(limit === undefined ? {} : { limit }) }).count).toBe(3);
      expect(count).toHaveBeenCalledTimes(walks);
    } finally {
      count.mockRestore();
    }
  });

  it('C25: a prefix at an old revision', async () => {
    const store = await openKvSet();
    const { kvs, count } = store.range({ ...KEYSPACE, revision: 4 });
    expect([kvs.map(({ key, value }) => `${key}=${value}`), count]).toEqual([['a=aa1', 'b=a', 'c=ac1'], 3]);
  });

  it.each<[RangeRequest, string[]]>([
    [{ prefix: 'foo' }, ['foo', 'foo/abc']],
    [{ start: 'foo' }, ['foo', 'foo/abc', 'fop']],
    [{ start: 'a', end: 'c' }, ['a', 'b']],
    [{ prefix: '', limit: 2 }, ['a', 'b']],
  ])('C26, C27: %j', async (request, keys) => {
    const answer = (await openKvSet()).range(request);
    expect(answer.kvs.map(({ key }) => key)).toEqual(keys);
    expect(answer.count).toBe(request.limit === undefined ? keys.length : 6);
  });

  it('C26, R12: countOnly has no rows, and its count is that of the range', async () => {
    const store = await openKvSet();
    expect(store.range({ key: 'a', countOnly: true })).toEqual({ revision: 9, kvs: [], count: 1, more: false });
    expect(store.range({ prefix: '', countOnly: true, limit: 2 })).toEqual({
      revision: 9,
      kvs: [],
      count: 6,
      more: false,
    });
  });

  it('C32, R12: keysOnly has the same rows without values', async () => {
    const store = await openKvSet();
    const full = store.range({ prefix: 'foo', limit: 1 });
    const { kvs, ...rest } = store.range({ prefix: 'foo', limit: 1, keysOnly: true });
    expect({ ...rest, kvs: kvs.map((kv) => ({ ...kv, value: 'bar' })) }).toEqual(full);
    expect('value' in (kvs[0] ?? {})).toBe(false);
  });
});

describe('deletes of ranges', () => {
  it.each([
    [{ key: 'foo' }, 1, 5],
    [{ start: 'foo', end: 'foo1' }, 1, 5],
    [{ start: 'foo', end: 'foo2' }, 2, 5],
    [{ start: 'foo', end: 'foo3' }, 3, 5],
    [{ start: 'foo3', end: 'foo8' }, 0, 4],
    [{ start: 'foo2', end: 'foo' }, 0, 4],
    [{ key: 'foo3' }, 0, 4],
  ])('C09: %j deletes %i at revision %i', async (range, deleted, revision) => {
    const store = await open3kv();
    expect(await store.delete(range)).toEqual({ revision, deleted });
    expect(store.range(KEYSPACE).count).toBe(3 - deleted);
  });

  it.each([
    [{ prefix: '' }, []],
    [{ start: '' }, []],
    [{ start: 'a', end: 'c' }, ['c', 'c/abc', 'd']],
    [{ key: 'c' }, ['a', 'b', 'c/abc', 'd']],
    [{ prefix: 'c' }, ['a', 'b', 'd']],
    [{ start: 'c' }, ['a', 'b']],
    [{ key: 'e' }, ['a', 'b', 'c', 'c/abc', 'd']],
  ])('C33: after the delete of %j there is %j', async (range, left) => {
    const { store } = await openTestStore();
    for (const key of ['a', 'b', 'c', 'c/abc', 'd']) await store.put(key, 1);
    const { deleted } = await store.delete(range);
    expect([store.range(KEYSPACE).kvs.map(({ key }) => key), deleted]).toEqual([left, 5 - left.length]);
  });

  it('returns the states before in key order with prevKv, also when there are none', async () => {
    const store = await open3kv();
    const { prevKvs } = await store.delete({ prefix: 'foo' }, { prevKv: true });
    expect(prevKvs?.map(brief)).toEqual(['foo(2,2,1)', 'foo1(3,3,1)', 'foo2(4,4,1)']);
    expect(await store.delete('foo', { prevKv: true })).toEqual({ revision: 5, deleted: 0, prevKvs: [] });
  });
});

describe('pages', () => {
  it('go through a range at the revision of the first page, whatever is written meanwhile', async () => {
    const { store } = await openTestStore<number>();
    for (let index = 0; index < 7; index++) await store.put(`k${index}`, index);
    const seen: string[] = [];
    let page = store.range({ prefix: 'k', limit: 3 });
    for (;;) {
      seen.push(...page.kvs.map(brief));
      await store.put(`k${seen.length}x`, 0);
      await store.delete(`k${seen.length}`);
      if (page.continue === undefined) break;
      page = store.range({ prefix: 'k', limit: 3, continue: page.continue });
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `k${index}(${index + 2},${index + 2},1)`));
  });

  it('count is that of the rest', async () => {
    const store = await open3kv();
    const first = store.range({ prefix: '', limit: 1 });
    const second = store.range({ prefix: '', limit: 1, continue: first.continue ?? '' });
    expect([first.count, second.count, second.more]).toEqual([3, 2, true]);
  });

  it('end with CompactedError when their revision is compacted, and go on at the low watermark', async () => {
    const store = await open3kv();
    const page = store.range({ prefix: '', limit: 1 });
    await store.compact(4);
    expect(store.range({ prefix: '', limit: 9, continue: page.continue ?? '' }).kvs.length).toBe(2);
    await store.put('foo', 'new');
    await store.compact(5);
    expect(() => store.range({ prefix: '', limit: 9, continue: page.continue ?? '' })).toThrow(CompactedError);
  });

  it('work for keys of any text and for byte keys', async () => {
    const keys = ['%', ':', '\0', '\n', '\ue000', '\u{1f600}', 'a%20b'];
    const { store } = await openTestStore();
    for (const key of keys) await store.put(key, 1);
    const seen: string[] = [];
    for (let next: string | undefined; ; ) {
      const page = store.range({ prefix: '', limit: 1, ...(next === undefined ? {} : { continue: next }) });
      seen.push(...page.kvs.map(({ key }) => key));
      next = page.continue;
      if (next === undefined) break;
    }
    expect(seen).toEqual(['\0', '\n', '%', ':', 'a%20b', '\ue000', '\u{1f600}']);
    const { store: bytes } = await openTestStore<number, Uint8Array>({ keys: 'bytes' });
    for (const key of [0, 127, 128, 255]) await bytes.put(Uint8Array.of(key), key);
    const page = bytes.range({ prefix: Uint8Array.of(), limit: 3 });
    const rest = bytes.range({ prefix: Uint8Array.of(), continue: page.continue ?? '' });
    expect([...page.kvs, ...rest.kvs].map(({ value }) => value)).toEqual([0, 127, 128, 255]);
  });

  it('go on at revision 1 too, where a replica may have its first list', () => {
    const parts = new Parts({ revision: 0 });
    parts.commit(1, ['put', 'a'], ['put', 'b'], ['put', 'c']);
    const data = { identity: 'other', epoch: 1, checkCovers: () => {}, checkCoversKey: () => {} };
    const first = range(parts.mvcc, { prefix: '', limit: 2 }, data);
    parts.commit(2, ['delete', 'c']);
    const rest = range(parts.mvcc, { prefix: '', continue: first.continue ?? '' }, data);
    expect([...first.kvs, ...rest.kvs].map(brief)).toEqual(['a(1,1,1)', 'b(1,1,1)', 'c(1,1,1)']);
  });

  it('may be asked for by the revision that they have, or by "newest"', async () => {
    const store = await open3kv();
    const token = store.range({ prefix: '', limit: 1 }).continue ?? '';
    await store.put('foo3', 'later');
    for (const revision of [undefined, -1, 0, 4]) {
      const request = { prefix: '', continue: token, ...(revision === undefined ? {} : { revision }) };
      expect(store.range(request).kvs.map(({ key }) => key)).toEqual(['foo1', 'foo2']);
    }
  });

  it('a continue token is one of its own data: another store refuses it', async () => {
    const stores = [createSeededRandom(1), createSeededRandom(2)].map((random) => openTestStore<number>({ random }));
    const [one, two] = (await Promise.all(stores)).map(({ store }) => store) as [Store<number>, Store<number>];
    for (const store of [one, two]) for (const key of ['a', 'b', 'c']) await store.put(key, 1);
    const token = one.range({ prefix: '', limit: 1 }).continue ?? '';
    expect(one.range({ prefix: '', continue: token }).kvs.map(({ key }) => key)).toEqual(['b', 'c']);
    expect(() => two.range({ prefix: '', continue: token })).toThrow(IdentityChangedError);
  });
});
