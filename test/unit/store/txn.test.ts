import { describe, expect, it } from 'vitest';
import { DuplicateKeyError, LimitExceededError } from '../../../src/types/errors.ts';
import type { Compare, Operation } from '../../../src/types/txn.ts';
import { brief, open3kv, openTestStore, Parts, Reader } from './fixture.ts';

/**
 * Transactions: rules R2, R4, R17, R19-R21, cases C12, C34-C38. Of part 2: compares over ranges (R18), nested
 * transactions (the third part of C37).
 */
const put = (key: string, value: unknown = 1): Operation<unknown> => ({ type: 'put', key, value });

describe('compares', () => {
  it('C34: a conjunction of value compares', async () => {
    const { store } = await openTestStore<string>();
    await store.put('key1', 'value1');
    await store.put('key2', 'value2');
    const result = await store.txn({
      compare: [
        { key: 'key1', target: 'value', result: '!=', value: 'value2' },
        { key: 'key2', target: 'value', result: '!=', value: 'value1' },
      ],
      then: [
        { type: 'range', key: 'key1' },
        { type: 'range', key: 'key2' },
      ],
    });
    const values = result.responses.map((response) => (response.type === 'range' ? response.kvs[0]?.value : undefined));
    expect([result.revision, result.succeeded, values]).toEqual([3, true, ['value1', 'value2']]);
  });

  // k was made at 3, written again at 4 and 5; the store is at 5.
  it.each<[Omit<Compare<unknown>, 'key'>, boolean, boolean]>([
    [{ target: 'create', result: '=', value: 3 }, true, false],
    [{ target: 'create', result: '=', value: 0 }, false, true],
    [{ target: 'create', result: '>', value: 2 }, true, false],
    [{ target: 'mod', result: '=', value: 5 }, true, false],
    [{ target: 'mod', result: '<', value: 5 }, false, true],
    [{ target: 'mod', result: '!=', value: 5 }, false, true],
    [{ target: 'version', result: '=', value: 3 }, true, false],
    [{ target: 'version', result: '>', value: 0 }, true, false],
    [{ target: 'version', result: '<', value: 0 }, false, false],
    [{ target: 'version', result: '>', value: -1 }, true, true],
    [{ target: 'lease', result: '=', value: '0' }, true, true],
    [{ target: 'lease', result: '<', value: '9223372036854775807' }, true, true],
    [{ target: 'value', result: '=', value: 'c' }, true, false],
    [{ target: 'value', result: '!=', value: 'c' }, false, false],
    [{ target: 'value', result: '<', value: 'd' }, true, false],
    [{ target: 'value', result: '>', value: 'd' }, false, false],
    [{ target: 'value', result: '>', value: '' }, true, false],
    [{ target: 'value', result: '=', value: new TextEncoder().encode('c') }, true, false],
  ] as never)('C35, R17: %j is %s for a live key and %s for a missing one', async (compare, live, missing) => {
    const { store } = await openTestStore();
    await store.put('other', 1);
    for (const value of ['a', 'b', 'c']) await store.put('k', value);
    for (const [key, expected] of [
      ['k', live],
      ['none', missing],
    ] as const) {
      const { succeeded } = await store.txn({ compare: [{ ...(compare as object), key } as Compare<unknown>] });
      expect(succeeded).toBe(expected);
    }
  });

  it('R17: a deleted key counts as missing', async () => {
    const store = await open3kv();
    await store.delete('foo');
    const holds = async (compare: Compare<string>) => (await store.txn({ compare: [compare] })).succeeded;
    expect(await holds({ key: 'foo', target: 'mod', result: '=', value: 0 })).toBe(true);
    expect(await holds({ key: 'foo', target: 'value', result: '!=', value: 'x' })).toBe(false);
  });

  it('R19: no compare at all is success, and one that fails is failure', async () => {
    const { store } = await openTestStore();
    expect((await store.txn({})).succeeded).toBe(true);
    const compare: Compare<unknown>[] = [
      { key: 'a', target: 'version', result: '=', value: 0 },
      { key: 'a', target: 'version', result: '=', value: 1 },
    ];
    expect((await store.txn({ compare, then: [put('a')], else: [put('b')] })).succeeded).toBe(false);
    expect([store.get('a'), brief(store.get('b'))]).toEqual([undefined, 'b(2,2,1)']);
  });

  it('C36, R4: create if absent, twice; the second uses no revision', async () => {
    const { store } = await openTestStore();
    const request = { compare: [{ key: 'k', target: 'create', result: '=', value: 0 }], then: [put('k')] } as const;
    expect(await store.txn(request)).toEqual({ revision: 2, succeeded: true, responses: [{ type: 'put' }] });
    expect(await store.txn(request)).toEqual({ revision: 2, succeeded: false, responses: [] });
  });
});

describe('operations', () => {
  it('R2, R20: all changes have one revision, and ranges see the earlier ones of the branch', async () => {
    const store = await open3kv();
    const { revision, responses } = await store.txn({
      then: [
        { type: 'put', key: 'foo', value: 'new', prevKv: true },
        { type: 'range', prefix: 'foo' },
        { type: 'delete', start: 'foo1', end: 'foo3', prevKv: true },
        { type: 'range', prefix: '', keysOnly: true },
        { type: 'put', key: 'fo', value: 'x', prevKv: true },
        { type: 'range', prefix: '', limit: 1 },
        { type: 'range', prefix: '', countOnly: true },
        { type: 'delete', prefix: 'foo1', prevKv: true },
      ],
    });
    const answers = responses.map((response) => {
      if (response.type === 'put') return brief(response.prevKv);
      if (response.type === 'delete') return [response.deleted, ...(response.prevKvs ?? []).map(brief)];
      if (response.type === 'txn') return response.responses.length;
      return [response.count, response.more, ...response.kvs.map(brief)];
    });
    expect(revision).toBe(5);
    expect(answers).toEqual([
      'foo(2,2,1)',
      [3, false, 'foo(2,5,2)', 'foo1(3,3,1)', 'foo2(4,4,1)'],
      [2, 'foo1(3,3,1)', 'foo2(4,4,1)'],
      [1, false, 'foo(2,5,2)'],
      'none',
      [2, true, 'fo(5,5,1)'],
      [2, false],
      [0],
    ]);
    expect(store.range({ prefix: '' }).kvs.map(brief)).toEqual(['fo(5,5,1)', 'foo(2,5,2)']);
  });

  it('R2: events keep the order of the operations', async () => {
    const store = await open3kv();
    const reader = new Reader(store.watch({ prefix: '' }));
    await store.txn({
      then: [
        { type: 'put', key: 'z', value: '1' },
        { type: 'delete', prefix: 'foo' },
        { type: 'put', key: 'a', value: '2' },
      ],
    });
    expect(await reader.take()).toEqual(['5: put z(5,5,1), delete foo@5, delete foo1@5, delete foo2@5, put a(5,5,1)']);
  });

  it('R4: a transaction that changes nothing uses no revision', async () => {
    const store = await open3kv();
    const request = {
      then: [
        { type: 'delete', key: 'none' },
        { type: 'range', key: 'foo' },
      ],
    } as const;
    expect((await store.txn(request)).revision).toBe(4);
    expect(store.revision).toBe(4);
  });

  it.each<[string, Operation<unknown>[], string]>([
    ['two puts', [put('k'), put('k')], 'k'],
    ['a put inside a deleted range', [{ type: 'delete', start: 'a', end: 'c' }, put('b')], 'b'],
    ['a deleted range around an earlier put', [put('b'), { type: 'delete', prefix: '' }], 'b'],
    ['a put and a delete of the key', [put('b'), { type: 'delete', key: 'b' }], 'b'],
  ])('C37, R20: %s is refused, in either branch', async (_, operations, key) => {
    const { store } = await openTestStore();
    for (const request of [{ then: operations }, { else: operations }]) {
      const error = await store.txn(request).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(DuplicateKeyError);
      expect(error).toMatchObject({ key, code: 'DUPLICATE_KEY' });
      expect((error as Error).message).toMatch(/^Cannot run a transaction: /);
    }
    expect(store.revision).toBe(1);
  });

  it('C37, R20: a nested put is held against deletes before it, not against those of nested ones behind it', async () => {
    const { store } = await openTestStore();
    const nested = (...then: Operation<unknown>[]): Operation<unknown> => ({ type: 'txn', then });
    const deletes: Operation<unknown> = { type: 'delete', start: 'a', end: 'c' };
    const refused = [
      [nested(put('b')), deletes],
      [nested(deletes), nested(put('b'))],
      [nested(nested(deletes)), put('b')],
    ];
    for (const then of refused) await expect(store.txn({ then })).rejects.toMatchObject({ key: 'b' });
    await expect(store.txn({ then: [nested(put('b')), nested(deletes)] })).resolves.toMatchObject({ succeeded: true });
  });

  it('C37, R20: both branches may put the key, and a key beside a deleted range', async () => {
    const { store } = await openTestStore();
    await store.txn({ then: [put('k')], else: [put('k')] });
    await store.txn({
      then: [{ type: 'delete', start: 'a', end: 'c' }, put('c'), { type: 'delete', start: 'z', end: 'a' }],
    });
    expect(store.revision).toBe(3);
  });

  it('C38, R21: 128 operations and compares are the most', async () => {
    const { store } = await openTestStore();
    const puts = (count: number) => Array.from({ length: count }, (_, index) => put(`k${index}`));
    const compares = (count: number) =>
      Array.from(
        { length: count },
        (_, index) => ({ key: `k${index}`, target: 'version', result: '=', value: 0 }) as const,
      );
    expect((await store.txn({ compare: compares(128), then: puts(128), else: puts(128) })).responses.length).toBe(128);
    for (const request of [{ then: puts(129) }, { else: puts(129) }, { compare: compares(129) }]) {
      const error = await store.txn(request).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LimitExceededError);
      expect(error).toMatchObject({ limit: 'txnOperations', max: 128, actual: 129 });
    }
    expect(store.revision).toBe(2);
  });

  it('R21: what is counted is what is run, also of an array that has another length each time', async () => {
    const { store } = await openTestStore();
    for (const name of ['then', 'else', 'compare'] as const) {
      const one = name === 'compare' ? { key: 'n', target: 'version', result: '>', value: 0 } : put('n');
      let asked = 0;
      const growing = new Proxy<unknown[]>([], {
        get: (list, member) => {
          if (member === 'length') return asked++ === 0 ? 1 : 200;
          if (member === Symbol.iterator) return () => Array(200).fill(one).values();
          return typeof member === 'string' && /^[0-9]+$/.test(member) ? one : Reflect.get(list, member);
        },
      });
      const request = {
        ...(name === 'else' ? { compare: [{ key: 'n', target: 'version', result: '>', value: 0 }] } : {}),
      };
      const result = await store.txn({ ...request, [name]: growing } as never);
      expect(result.responses.length, name).toBe(name === 'compare' ? 0 : 1);
      await store.delete('n');
    }
  });

  it.each([Number.NaN, 1.5, -1, 'x', undefined, { valueOf: () => 1 }, 10n, Symbol('n')])(
    'R21: a list that says that it is %s long is refused',
    async (length) => {
      const { store } = await openTestStore();
      const odd = new Proxy<unknown[]>([], {
        get: (list, member) => (member === 'length' ? length : Reflect.get(list, member)),
      });
      for (const name of ['then', 'else', 'compare']) {
        const message = `Cannot run a transaction: ${name} is of a length that is no whole number`;
        await expect(store.txn({ [name]: odd } as never)).rejects.toThrow(message);
        await expect(store.txn({ then: [{ type: 'txn', [name]: odd } as never] })).rejects.toThrow(message);
      }
      const message = 'Cannot put keys: the entries are of a length that is no whole number';
      await expect(store.putAll(odd as never)).rejects.toThrow(message);
      expect(store.revision).toBe(1);
    },
  );

  it('C12: the engine takes a put and a delete of one key in one commit', async () => {
    const parts = new Parts();
    parts.commit(2, ['put', 'foo'], ['delete', 'foo']);
    expect(parts.at('foo', 2)).toBe('none');
    const reader = parts.watch({ key: 'foo' }, { fromRevision: 1, prevKv: true });
    expect(await reader.take()).toEqual(['2: put foo(2,2,1), delete foo@2']);
    parts.commit(3, ['put', 'foo']);
    expect(parts.at('foo', 3)).toBe('foo(3,3,1)');
  });
});
