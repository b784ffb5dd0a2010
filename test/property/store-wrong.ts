import { openStore } from '../../src/open-store.ts';
import type { Key } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';

/**
 * Calls that are refused whatever the state is, in the store's own words for the refusal. The model has no part in them:
 * what it shows afterwards is that nothing came of them.
 */
export interface WrongCall {
  readonly error: string;
  readonly code: string | undefined;
  run(store: Store<unknown, Key>, key: Key): unknown;
}

const call = (error: string, code: string | undefined, run: WrongCall['run']): WrongCall => ({ error, code, run });

export const WRONG_CALLS: readonly WrongCall[] = [
  call('ValueError', 'VALUE', (store, key) => store.put(key, { list: [1, () => 1] })),
  call('TypeError', undefined, (store, key) => store.put(key, 1, { leese: '1' } as never)),
  call('TypeError', undefined, (store, key) => store.range({ key, sortBy: 'mod' } as never)),
  call('TypeError', undefined, (store, key) => store.txn({ then: [{ type: 'move', key } as never] })),
  call('TypeError', undefined, (store, key) => store.put(key, 1, { ignoreLease: true, ttlMs: 5 })),
  call('TypeError', undefined, (store, key) => store.watch({ key }, { initial: true, fromRevision: 1 })),
  call('RangeError', undefined, (store, key) => store.put(key, 1, { ttlMs: 0 })),
  call('RangeError', undefined, (store, key) => store.watch({ key }, { fromRevision: -1 })),
  call('RangeError', undefined, (store) => store.grantLease({ ttlMs: 0.5 })),
  call('RangeError', undefined, (store) => store.revokeLease('01')),
  call('RangeError', undefined, (store) => store.leaseTimeToLive('0')),
  call('TypeError', undefined, (store, key) => store.put(key, 1, { ignoreLease: 'yes' } as never)),
  call('TypeError', undefined, (store, key) => store.txn({ then: [{ type: 'put', key } as never] })),
  call('IdentityChangedError', 'IDENTITY_CHANGED', async (store, key) => {
    await store.watch({ key }, { fromRevision: store.revision, identity: 'of others' }).next();
  }),
  call('SnapshotError', 'SNAPSHOT', () => openStore({ snapshot: Uint8Array.of(1, 2, 3) } as never)),
  call('StoreFullError', 'STORE_FULL', async () => {
    const store = await openStore<string>({ limits: { storeBytes: 10 } } as never);
    await store.put('a', 'x'.repeat(11));
  }),
];
