import { describe, expect, it } from 'vitest';
import { ClosedError, LeaseLostError, LeaseNotFoundError, type Operation, type Store } from '../../../src/mod.ts';
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { openTestStore, Reader, settle } from './fixture.ts';

/** A clock whose timers never fire: what is due is found by whoever asks. */
function withoutTimers(clock: VirtualClock) {
  let late = 0;
  return {
    now: () => clock.now() + late,
    wallTime: () => clock.wallTime(),
    after: () => () => {},
    skip: (ms: number) => (late += ms),
  };
}

type Look = [string, (store: Store<string>) => unknown];

/** Everything that may not see a key of a lease that is due, though no timer ran (M31). */
const LOOKS: readonly Look[] = [
  ['get', (store) => store.get('k')],
  ['range', (store) => store.range({ prefix: '' }).kvs[0]],
  ['count', (store) => store.range({ prefix: '', countOnly: true }).count || undefined],
  ['revision', (store) => (store.revision === 3 ? undefined : store.revision)],
  ['compactRevision', (store) => void store.compactRevision],
  ['stats', (store) => store.stats().keys || undefined],
  ['put, prevKv', async (store) => (await store.put('k', 'new', { prevKv: true })).prevKv],
  ['put, expect', async (store) => void (await store.put('k', 'new', { expect: { modRevision: 0 } }))],
  ['putAll', async (store) => void (await store.putAll([{ key: 'k', value: 'x' }]))],
  ['delete', async (store) => (await store.delete('k')).deleted || undefined],
  [
    'txn',
    async (store) =>
      (await store.txn({ then: [{ type: 'range', key: 'k' }] })).responses.find(
        (one) => one.type === 'range' && one.count > 0,
      ),
  ],
  ['compact', async (store) => void (await store.compact(2))],
  ['leases', async (store) => (await store.leases())[0]],
  ['leaseTimeToLive', (store) => store.leaseTimeToLive('7')],
  ['update', async (store) => (await store.update((txn) => txn.get('k'))).value],
  [
    'progressRevision',
    (store) => (store.watch({ key: 'k' }, { fromRevision: 9 }).progressRevision === 3 ? undefined : 'old'),
  ],
  [
    'requestProgress',
    async (store) => {
      const watch = store.watch({ key: 'x' }, { fromRevision: 3 });
      watch.requestProgress();
      return (await watch.next()).value?.progress === true ? undefined : 'forgotten';
    },
  ],
  ['watch', async (store) => void (await store.watch({ key: 'k' }, { initial: true }).next()).value?.events[0]],
];

describe('the lease of a key alone', () => {
  it('goes with a key that its own transaction deletes', async () => {
    const { store, clock } = await openTestStore<string>();
    const put = (key: string): Operation<string> => ({ type: 'put', key, value: 'x', ttlMs: 100 });
    await store.txn({
      then: [
        { type: 'txn', then: [put('a'), put('c')] },
        { type: 'txn', then: [{ type: 'delete', start: 'a', end: 'c' }] },
      ],
    });
    expect([store.get('a'), (await store.leases()).length]).toEqual([undefined, 1]);
    await clock.advance(100);
    expect([store.get('c'), store.stats().leases]).toEqual([undefined, 0]);
  });
});

describe('M31: what is due comes first', () => {
  it.each(LOOKS)('%s sees nothing of a key whose lease is due', async (_name, look) => {
    const { clock: timers } = await openTestStore();
    const clock = withoutTimers(timers);
    const { store } = await openTestStore<string>({ clock });
    await store.grantLease({ ttlMs: 10, id: '7' });
    await store.put('k', 'old', { lease: '7' });
    clock.skip(10);
    expect(await look(store)).toBeUndefined();
    expect(store.get('k', { revision: 2 })?.value).toBe('old');
    const { value } = await store.watch({ key: 'k' }, { fromRevision: 3 }).next();
    expect(value).toMatchObject({ revision: 3, events: [{ type: 'delete' }] });
  });

  it('a waiting watch hears of it by the timer; before the deadline the key is there', async () => {
    const { store, clock } = await openTestStore<string>();
    await store.put('k', 'v', { ttlMs: 1000 });
    const reader = new Reader(store.watch({ key: 'k' }));
    await clock.advance(999);
    expect([store.get('k')?.value, await reader.take()]).toEqual(['v', []]);
    await clock.advance(1);
    expect(await reader.take()).toEqual(['3: delete k@3']);
  });

  it('in the order of deadline, then of the id as a number, one revision each; none without keys', async () => {
    const { store, clock } = await openTestStore<string>();
    for (const id of ['10', '9', '2']) await store.grantLease({ ttlMs: 50, id });
    await store.grantLease({ ttlMs: 40, id: '99' });
    for (const [key, lease] of [
      ['c', '10'],
      ['b', '9'],
      ['a', '99'],
      ['z', '10'],
    ] as const) {
      await store.put(key, lease, { lease });
    }
    const reader = new Reader(store.watch({ prefix: '' }));
    await clock.advance(100);
    expect(await reader.take()).toEqual(['6: delete a@6', '7: delete b@7', '8: delete c@8, delete z@8']);
    expect([store.revision, store.stats().leases]).toEqual([8, 0]);
  });
});

describe('keys and leases', () => {
  it('a commit that takes the last key from a lease of its own and gives it another one', async () => {
    const { store, clock } = await openTestStore<string>();
    const { lease = '' } = await store.put('a', '1', { ttlMs: 10 });
    await store.txn({
      then: [
        { type: 'delete', key: 'a' },
        { type: 'put', key: 'b', value: '2', lease },
      ],
    });
    expect(await store.leaseTimeToLive(lease, { keys: true })).toMatchObject({ keys: ['b'] });
    await clock.advance(10);
    expect(store.get('b')).toBeUndefined();
  });

  it('a lease made for a key goes when the key leaves it, however it does', async () => {
    const { store } = await openTestStore<string>();
    await store.grantLease({ ttlMs: 1000, id: '5' });
    const leave = [
      () => store.put('k', '2'),
      () => store.put('k', '2', { ttlMs: 20 }),
      () => store.put('k', '2', { lease: '5' }),
      () => store.delete('k'),
      () =>
        store.txn({
          then: [
            { type: 'txn', then: [{ type: 'put', key: 'x', value: '1' }] },
            { type: 'delete', prefix: 'k' },
          ],
        }),
    ];
    for (const step of leave) {
      const { lease = '' } = await store.put('k', '1', { ttlMs: 10 });
      await step();
      expect(await store.leaseTimeToLive(lease)).toBeUndefined();
    }
    await store.put('k', '1', { ttlMs: 10 });
    await store.put('k', '2', { ignoreLease: true });
    expect(store.get('k')).toMatchObject({ value: '2', version: 2 });
    expect(store.get('k')?.lease).not.toBe('0');
  });

  it('putAll tells the leases that it made, one for each entry', async () => {
    const { store } = await openTestStore<string>();
    await store.grantLease({ ttlMs: 100, id: '7' });
    const { revision, leases } = await store.putAll([
      { key: 'a', value: 'x', ttlMs: 5 },
      { key: 'b', value: 'x' },
      { key: 'c', value: 'x', lease: '7' },
      { key: 'd', value: 'x', ttlMs: 9 },
    ]);
    const [a, d] = ['a', 'd'].map((key) => store.get(key)?.lease);
    expect([revision, leases]).toEqual([2, [a, undefined, undefined, d]]);
    expect([a, d].map((id) => id !== undefined && id !== '0' && id !== '7')).toEqual([true, true]);
    expect(await store.putAll([{ key: 'a', value: 'y', lease: '7' }])).toEqual({ revision: 3 });
  });

  it('nothing is left of a write that failed: no lease, no key, no revision', async () => {
    const { store } = await openTestStore<string>({ limits: { leases: 1 } });
    const tooMany = store.putAll([
      { key: 'a', value: '1', ttlMs: 10 },
      { key: 'b', value: '1', ttlMs: 10 },
    ]);
    await expect(tooMany).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'leases', max: 1, actual: 2 });
    expect([store.revision, store.stats().leases, store.stats().keys]).toEqual([1, 0, 0]);
  });

  it('U42: expiry and revoke are ordinary deletes for a watch, and a write that loses its lease is LeaseNotFoundError', async () => {
    const { store, clock } = await openTestStore<string>();
    const lease = await store.grantLease({ ttlMs: 10 });
    await store.put('a', '1', { lease: lease.id });
    const reader = new Reader(store.watch({ prefix: '' }, { prevKv: true }));
    await clock.advance(10);
    expect(await reader.take()).toEqual(['3: delete a@3 <a(2,2,1)']);
    await expect(store.put('a', '2', { lease: lease.id })).rejects.toThrow(LeaseNotFoundError);
    await expect(lease.keepAlive()).rejects.toThrow(LeaseNotFoundError);
    await expect(lease.revoke()).rejects.toThrow(LeaseNotFoundError);
    expect([await lease.timeToLive(), store.revision]).toEqual([undefined, 3]);
  });
});

describe('the handle of a lease', () => {
  it('its signal aborts when it expires, is revoked, or the store closes; whenever it is asked for', async () => {
    const { store, clock } = await openTestStore<string>();
    const [expiring, revoked, closed, unread] = await Promise.all(
      [10, 1000, 1000, 10].map((ttlMs) => store.grantLease({ ttlMs })),
    );
    const seen: unknown[] = [];
    for (const lease of [expiring, revoked]) {
      lease?.signal.addEventListener('abort', () => seen.push([lease.signal.reason, store.revision]));
    }
    await store.put('k', 'v', { lease: expiring?.id ?? '' });
    await clock.advance(10);
    expect(seen).toEqual([[expect.any(LeaseLostError), 3]]);
    expect(seen[0]).toMatchObject([{ code: 'LEASE_LOST', end: 'expired', leaseId: expiring?.id, revision: 3 }, 3]);
    expect(unread?.signal.reason).toMatchObject({ end: 'expired', revision: 3 });
    await revoked?.revoke();
    expect(revoked?.signal.reason).toMatchObject({ end: 'revoked', revision: 3 });
    seen.length = 0;
    const signal = closed?.signal;
    const ending = store.close();
    expect(signal?.aborted).toBe(false);
    await ending;
    await settle();
    expect(signal?.reason).toBeInstanceOf(ClosedError);
    await expect(closed?.keepAlive()).rejects.toThrow(ClosedError);
  });

  const ENDS: readonly [
    string,
    'expired' | 'revoked',
    (store: Store<string>, clock: VirtualClock, id: string) => unknown,
  ][] = [
    ['its key is deleted', 'revoked', (store) => store.delete('k')],
    ['its key is put without a lease', 'revoked', (store) => store.put('k', 'b')],
    ['its key is put again with a time of its own', 'revoked', (store) => store.put('k', 'b', { ttlMs: 9000 })],
    [
      'its key moves to another lease',
      'revoked',
      async (store) => store.put('k', 'b', { lease: (await store.grantLease({ ttlMs: 9000 })).id }),
    ],
    [
      'a transaction deletes its key, and has a lease for another one',
      'revoked',
      (store) =>
        store.txn({
          then: [
            { type: 'delete', prefix: 'k' },
            { type: 'put', key: 'x', value: 'c', ttlMs: 9000 },
          ],
        }),
    ],
    ['it is revoked', 'revoked', (store, _, id) => store.revokeLease(id)],
  ];
  it.each(ENDS.flatMap(([how, end, act]) => [true, false].map((keepAlive) => [how, keepAlive, end, act] as const)))(
    'of a lease for one key hears of its end: %s, keepAlive %s',
    async (_, keepAlive, end, act) => {
      const { store, clock } = await openTestStore<string>();
      const { lease: id = '' } = await store.put('k', 'a', { ttlMs: 3000 });
      const handle = await store.resumeLease(id, { keepAlive });
      await act(store, clock, id);
      await settle();
      expect([handle.signal.aborted, handle.signal.reason]).toEqual([true, expect.any(LeaseLostError)]);
      expect(handle.signal.reason).toMatchObject({ leaseId: id, end, revision: store.revision });
      await clock.advance(60_000);
      expect([await store.leases(), clock.pending]).toEqual([[], 0]);
      // Another lease of the id is none of its business.
      await store.grantLease({ id, ttlMs: 3000 });
      await expect(handle.keepAlive()).rejects.toThrow(LeaseNotFoundError);
      await expect(handle.revoke()).rejects.toThrow(LeaseNotFoundError);
      expect(await store.leases()).toEqual([id]);
    },
  );

  it('of a lease for one key hears that it expired', async () => {
    const { store, clock } = await openTestStore<string>();
    const { lease: id = '' } = await store.put('k', 'a', { ttlMs: 3000 });
    const handle = await store.resumeLease(id);
    await clock.advance(3000);
    expect(handle.signal.reason).toMatchObject({ leaseId: id, end: 'expired', revision: store.revision });
  });

  it('R40: a handle that lost its lease does nothing to another one of its id', async () => {
    const { store, clock } = await openTestStore<string>();
    const first = await store.grantLease({ ttlMs: 5, id: '9' });
    const revoked = await store.grantLease({ ttlMs: 5, id: '8' });
    await revoked.revoke();
    await clock.advance(5);
    for (const id of ['8', '9']) await store.grantLease({ ttlMs: 50, id });
    await store.put('k', 'v', { lease: '9' });
    for (const lost of [first, revoked]) {
      await expect(lost.revoke()).rejects.toThrow(LeaseNotFoundError);
      await expect(lost.keepAlive()).rejects.toThrow(LeaseNotFoundError);
      expect(await lost.timeToLive()).toBeUndefined();
    }
    expect([store.get('k')?.value, await store.leases()]).toEqual(['v', ['8', '9']]);
  });

  it('a signal that has aborted, and options of another name, are refused as in the calls of the store', async () => {
    const { store } = await openTestStore<string>();
    const lease = await store.grantLease({ ttlMs: 100 });
    const reason = new Error('Cannot wait');
    const signal = AbortSignal.abort(reason);
    const bad = (value: unknown) => value as never;
    const calls = [lease.keepAlive, lease.timeToLive, lease.revoke].map((call) => call.bind(lease));
    for (const call of calls) {
      await expect(call({ signal })).rejects.toBe(reason);
      await expect(call(bad({ sign: 1 }))).rejects.toThrow('unknown option sign');
      await expect(call({ signal: bad(1) })).rejects.toThrow('the signal is not an AbortSignal');
    }
    await expect(lease.timeToLive({ keys: bad('yes') })).rejects.toThrow('keys is yes, allowed are true and false');
    expect(await store.leases()).toEqual([lease.id]);
    const open = new AbortController();
    await lease.revoke({ signal: open.signal });
    expect(await store.leases()).toEqual([]);
  });

  it('keepAlive gives the whole time again, and no more than that', async () => {
    const { store, clock } = await openTestStore<string>();
    const lease = await store.grantLease({ ttlMs: 100 });
    await clock.advance(60);
    expect(await lease.timeToLive()).toEqual({ id: lease.id, grantedTtlMs: 100, remainingMs: 40 });
    expect(await store.keepAliveLease(lease.id)).toEqual({ ttlMs: 100 });
    await clock.advance(99);
    expect(await lease.timeToLive({ keys: true })).toEqual({
      id: lease.id,
      grantedTtlMs: 100,
      remainingMs: 1,
      keys: [],
    });
    await clock.advance(1);
    expect(await store.leases()).toEqual([]);
  });
});
