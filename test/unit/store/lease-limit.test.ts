import { describe, expect, it } from 'vitest';
import { LimitExceededError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { openTestStore } from './fixture.ts';

/** M41: `limits.leases` judges what a commit comes to, since a lease made for a key goes when its key leaves it. */
type Write = (store: Store<number>) => Promise<unknown>;

const WRITES: readonly [string, Write][] = [
  ['put', (s) => s.put('a', 2, { ttlMs: 500 })],
  ['putAll', (s) => s.putAll([{ key: 'a', value: 2, ttlMs: 500 }])],
  ['txn', (s) => s.txn({ then: [{ type: 'put', key: 'a', value: 2, ttlMs: 500 }] })],
  ['nested', (s) => s.txn({ then: [{ type: 'txn', then: [{ type: 'put', key: 'a', value: 2, ttlMs: 500 }] }] })],
  ['update', (s) => s.update((txn) => txn.put('a', 2, { ttlMs: 500 }))],
  [
    'another key, as the first one leaves its lease',
    (s) =>
      s.putAll([
        { key: 'b', value: 2, ttlMs: 500 },
        { key: 'a', value: 2 },
      ]),
  ],
  [
    'another key, as the first one is deleted',
    (s) =>
      s.txn({
        then: [
          { type: 'put', key: 'b', value: 2, ttlMs: 500 },
          { type: 'delete', key: 'a' },
        ],
      }),
  ],
];

describe('M41: at the limit of leases', () => {
  it.each(WRITES)('%s: no lease too many, none is missing', async (_, write) => {
    const { store } = await openTestStore<number>({ limits: { leases: 1 } });
    await store.put('a', 1, { ttlMs: 1000 });
    const [before] = await store.leases();
    await write(store);
    const [id = '', ...more] = await store.leases();
    expect([more, id === before, store.revision]).toEqual([[], false, 3]);
    const status = await store.leaseTimeToLive(id, { keys: true });
    expect([status?.grantedTtlMs, status?.keys?.length]).toEqual([500, 1]);
  });

  it.each<[string, number, Write]>([
    ['another key', 2, (s) => s.put('b', 1, { ttlMs: 500 })],
    ['the key and another one', 2, (s) => s.putAll(['a', 'b'].map((key) => ({ key, value: 2, ttlMs: 500 })))],
    ['three keys', 4, (s) => s.putAll(['b', 'c', 'd'].map((key) => ({ key, value: 2, ttlMs: 500 })))],
    ['a lease of its own', 2, (s) => s.grantLease({ ttlMs: 500 })],
  ])('%s: is refused with what it comes to, and nothing is written', async (_, actual, write) => {
    const { store } = await openTestStore<number>({ limits: { leases: 1 } });
    await store.put('a', 1, { ttlMs: 1000 });
    const before = [await store.leases(), store.range({ prefix: '' }), store.stats()];
    const error = await write(store).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error).toMatchObject({ limit: 'leases', max: 1, actual });
    expect([await store.leases(), store.range({ prefix: '' }), store.stats()]).toEqual(before);
  });

  it('a lease for one key that has got a second one stays, and counts', async () => {
    const { store } = await openTestStore<number>({ limits: { leases: 1 } });
    const { lease = '' } = await store.put('a', 1, { ttlMs: 1000 });
    await store.put('b', 1, { lease });
    await expect(store.put('a', 2, { ttlMs: 500 })).rejects.toMatchObject({ limit: 'leases', actual: 2 });
    await store.put('b', 2);
    await store.put('a', 2, { ttlMs: 500 });
    expect((await store.leases()).length).toBe(1);
  });

  it('a lease that was granted does not go with its key', async () => {
    const { store } = await openTestStore<number>({ limits: { leases: 1 } });
    await store.grantLease({ ttlMs: 1000, id: '7' });
    await store.put('a', 1, { lease: '7' });
    await expect(store.put('a', 2, { ttlMs: 500 })).rejects.toMatchObject({ limit: 'leases', actual: 2 });
    expect(await store.leases()).toEqual(['7']);
  });

  it('a snapshot may bring more: a put that adds none is taken, one that adds is not', async () => {
    const { store, clock } = await openTestStore<number>();
    for (const key of ['a', 'b', 'c']) await store.put(key, 1, { ttlMs: 1000 });
    const { store: small } = await openTestStore<number>({
      clock,
      limits: { leases: 1 },
      snapshot: await store.createSnapshot(),
    });
    await small.put('a', 2, { ttlMs: 1000 });
    expect((await small.leases()).length).toBe(3);
    await expect(small.put('d', 1, { ttlMs: 1000 })).rejects.toMatchObject({ limit: 'leases', max: 1, actual: 4 });
    expect((await small.leases()).length).toBe(3);
  });

  it('a lease that its own transaction leaves without a key counts for nothing', async () => {
    const { store } = await openTestStore<number>({ limits: { leases: 1 } });
    await store.grantLease({ ttlMs: 1000, id: '7' });
    const put = { type: 'put', key: 'b', value: 1, ttlMs: 500 } as const;
    const drop = { type: 'delete', prefix: 'b' } as const;
    // A nested put is held against deletes before it, not behind it.
    await store.txn({
      then: [
        { type: 'txn', then: [put] },
        { type: 'txn', then: [drop] },
      ],
    });
    expect([store.revision, store.range({ prefix: '' }).count]).toEqual([2, 0]);
    expect(await store.leases()).toEqual(['7']);
  });
});
