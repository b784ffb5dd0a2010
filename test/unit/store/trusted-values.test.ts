import { describe, expect, it } from 'vitest';
import { ValueError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';
import { openTestStore } from './fixture.ts';

/** `values: 'trusted'` takes what JSON text does not have: what compares, sorts and measures it says so with a name (M42). */
const ring: { self?: unknown } = {};
ring.self = ring;
const throwing = {
  toJSON() {
    throw new Error('not today');
  },
};
const WITHOUT_TEXT: readonly [string, unknown][] = [
  ['a bigint', 1n],
  ['a ring', ring],
  ['a toJSON that throws', throwing],
  ['a bigint inside', { n: [1n] }],
];

async function open(value: unknown): Promise<Store<unknown>> {
  const { store } = await openTestStore<unknown>({ values: 'trusted' });
  await store.putAll([
    { key: 'p/a', value: 'x' },
    { key: 'p/bad', value },
    { key: 'p/c', value: { n: 1 } },
  ]);
  return store;
}

describe('M42: a shared value without JSON text', () => {
  it.each(WITHOUT_TEXT)('%s: a sort and a compare name it, the action, and what was thrown', async (_, value) => {
    const store = await open(value);
    const sort = { sortTarget: 'value' } as const;
    const compare = { target: 'value', result: '=', value: 'x' } as const;
    const calls: [string, string, () => unknown][] = [
      ['range over keys', 'p/bad', () => store.range({ prefix: '', ...sort })],
      ['range over keys', 'bad', () => store.prefix('p/').range({ prefix: '', limit: 1, ...sort })],
      ['run a transaction', 'p/bad', () => store.txn({ then: [{ type: 'range', prefix: '', ...sort }] })],
      ['run a transaction', 'p/bad', () => store.txn({ compare: [{ key: 'p/bad', ...compare }] })],
      ['run a transaction', 'p/bad', () => store.txn({ compare: [{ start: 'p/b', ...compare, result: '!=' }] })],
      [
        'run a transaction',
        'bad',
        () => store.prefix('p/').txn({ then: [{ type: 'txn', compare: [{ key: 'bad', ...compare }] }] }),
      ],
    ];
    for (const [action, key, call] of calls) {
      const error = await errorOf(call);
      expect(error).toBeInstanceOf(ValueError);
      expect(error).toMatchObject({ key, path: '', cause: expect.any(Error) });
      expect(String(error)).toBe(`ValueError: Cannot ${action}: the value of key "${key}" has no JSON text`);
    }
    expect(store.revision).toBe(2);
  });

  it.each(WITHOUT_TEXT)('%s: what is given to compare with is named too', async (_, value) => {
    const store = await open('y');
    const compare = [{ key: 'p/a', target: 'value', result: '=', value }] as const;
    const error = await errorOf(() => store.txn({ compare, then: [{ type: 'put', key: 'k', value: 1 }] }));
    expect(error).toMatchObject({ code: 'VALUE', key: undefined, cause: expect.any(Error) });
    expect(String(error)).toBe('ValueError: Cannot run a transaction: the value of a compare has no JSON text');
    expect(store.revision).toBe(2);
  });

  it.each(WITHOUT_TEXT)('%s: retention by bytes refuses the put, and nothing is written', async (_, value) => {
    const { store } = await openTestStore<unknown>({ values: 'trusted', retention: { bytes: 100 } });
    for (const [action, call] of [
      ['put a key', () => store.put('k', value)],
      [
        'put keys',
        () =>
          store.putAll([
            { key: 'a', value: 1 },
            { key: 'k', value },
          ]),
      ],
      ['run a transaction', () => store.txn({ then: [{ type: 'put', key: 'k', value }] })],
    ] as const) {
      const error = await errorOf(call);
      expect(error).toMatchObject({ code: 'VALUE', key: 'k' });
      expect(String(error)).toBe(`ValueError: Cannot ${action}: the value of key "k" has no JSON text`);
    }
    expect([store.revision, store.range({ prefix: '' }).count]).toEqual([1, 0]);
  });

  it.each(WITHOUT_TEXT)('%s: everything else goes on', async (_, value) => {
    const store = await open(value);
    expect(store.get('p/bad')?.value).toBe(value);
    expect(store.range({ prefix: '', sortTarget: 'mod' }).count).toBe(3);
    expect((await store.txn({ compare: [{ key: 'p/a', target: 'value', result: '=', value: 'x' }] })).succeeded).toBe(
      true,
    );
    await store.delete('p/bad');
    expect(store.range({ prefix: '', sortTarget: 'value' }).kvs.map(({ key }) => key)).toEqual(['p/a', 'p/c']);
  });

  it('a function and a symbol count as no bytes, as does empty text', async () => {
    const holds = async (store: Store<unknown>, value: unknown) =>
      (await store.txn({ compare: [{ key: 'p/bad', target: 'value', result: '=', value }] })).succeeded;
    for (const value of [() => 1, Symbol('x'), { toJSON: () => undefined }, '']) {
      const store = await open(value);
      expect([await holds(store, ''), await holds(store, Symbol('y')), await holds(store, () => 2)]).toEqual([
        true,
        true,
        true,
      ]);
      expect([await holds(store, null), await holds(store, 'x')]).toEqual([false, false]);
      expect(store.range({ prefix: '', sortTarget: 'value' }).kvs[0]?.key).toBe('p/bad');
    }
  });
});
