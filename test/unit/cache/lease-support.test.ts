import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import type { Backend, BackendCapabilities } from '../../../src/types/backend.ts';
import { UnsupportedError } from '../../../src/types/errors.ts';
import { probe } from '../../support/replica-rig.ts';
import { openLeaseRig } from './lease-rig.ts';

describe('a backend without leases', () => {
  it.each<[string, BackendCapabilities]>([
    ['says so', { progress: true, writable: true, leases: false }],
    ['says nothing', { progress: true, writable: true }],
  ])('that %s is never sent a put that names one', async (_, capabilities) => {
    const { store, data, backend, clock } = await openLeaseRig({ capabilities });
    await data.grantLease({ ttlMs: 1000, id: '7' });
    const put = { type: 'put', key: 'k', value: '1', lease: '7' } as const;
    for (const write of [
      () => store.put('k', '1', { lease: '7' }),
      () => store.put('k', '1', { ttlMs: 100 }),
      () => store.putAll([{ key: 'k', value: '1', lease: '7' }]),
      () => store.txn({ then: [put] }),
      () => store.txn({ compare: [{ key: 'k', target: 'mod', result: '=', value: 0 }], else: [put] }),
      () => store.txn({ then: [{ type: 'txn', else: [put] }] }),
    ]) {
      await expect(write()).rejects.toMatchObject({ code: 'UNSUPPORTED', capability: 'leases' });
    }
    expect([backend.calls.txn, backend.calls.leases]).toEqual([0, 0]);
    const none = probe(store.put('k', '1', { lease: '0' }));
    const kept = probe(store.put('k', '2', { ignoreLease: true }));
    await clock.settle();
    expect([none.value, kept.value]).toEqual([{ revision: 2 }, { revision: 3 }]);
  });

  it('is asked nothing about leases either, whatever it has under that name', async () => {
    const { store, backend } = await openLeaseRig({ capabilities: { progress: true, writable: true } });
    for (const call of [
      () => store.grantLease({ ttlMs: 1000 }),
      () => store.keepAliveLease('7'),
      () => store.revokeLease('7'),
      () => store.leaseTimeToLive('7'),
      () => store.leases(),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(UnsupportedError);
    }
    expect(backend.calls.leases).toBe(0);
  });

  it('may come after one with them: a lease that cannot be revoked any more does not spoil a write', async () => {
    const { store, backend, clock } = await openLeaseRig();
    const put = { type: 'put', key: 'k', value: '1', ttlMs: 1000 } as const;
    const sent = backend.hang('txn');
    const written = probe(store.txn({ compare: [{ key: 'k', target: 'mod', result: '=', value: 9 }], then: [put] }));
    await clock.settle();
    Object.defineProperty(backend, 'capabilities', { value: { progress: true, writable: true } });
    Object.defineProperty(backend, 'leases', { value: undefined });
    sent();
    await clock.settle();
    expect(written.value).toMatchObject({ succeeded: false });
  });
});

describe('what a backend with leases must have (openStore)', () => {
  const backendWith = (leases: unknown) => {
    const call = async () => {};
    const calls = { range: call, status: call, watch: call, txn: call, compact: call };
    return { capabilities: { progress: true, writable: true, leases: true }, ...calls, leases } as unknown as Backend;
  };
  const call = async () => {};
  const all = { grant: call, keepAlive: call, revoke: call, timeToLive: call, list: call };

  it.each<[string, unknown, string]>([
    ['none at all', undefined, 'backend.leases is not an object'],
    ['null', null, 'backend.leases is not an object'],
    ...Object.keys(all).map((name): [string, unknown, string] => [
      `no ${name}`,
      { ...all, [name]: undefined },
      `backend.leases has no method ${name}`,
    ]),
  ])('%s is a TypeError', async (_, leases, reason) => {
    const opened = openStore({ backend: backendWith(leases), waitReady: false });
    await expect(opened).rejects.toThrow(new TypeError(`Cannot open a store: ${reason}`));
  });

  it('a limit of what is the backend’s is refused, not ignored', async () => {
    const opened = openStore({ backend: backendWith(all), waitReady: false, limits: { leases: 5 } });
    const message = 'Cannot open a store: limits.leases is for embedded stores only';
    await expect(opened).rejects.toThrow(new TypeError(message));
    const store = await openStore({ backend: backendWith(all), waitReady: false, limits: { pins: 5, storeBytes: 5 } });
    await store.close();
  });
});
