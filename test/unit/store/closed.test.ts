import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { ClosedError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';

const CALLS: readonly (readonly [string, (store: Store<number, string>) => unknown])[] = [
  ['acquire a lock', (store) => store.acquireLock('x', { ttlMs: 1000 })],
  ['acquire a lock', (store) => store.tryLock('x', { ttlMs: 1000 })],
  ['campaign', (store) => store.campaign('x', 1, { ttlMs: 1000 })],
  ['read the leader', (store) => store.leader('x')],
  ['observe an election', (store) => store.observe('x')[Symbol.asyncIterator]().next()],
  ['resume a lock', (store) => store.resumeLock({} as never)],
  ['pin a revision', (store) => store.pin(1, {} as never)],
  ['resume a leadership', (store) => store.resumeLeadership({} as never)],
  ['watch', (store) => store.watch({} as never)],
  ['put a key', (store) => store.put({} as never, 1)],
  ['put keys', (store) => store.putAll({} as never)],
  ['delete keys', (store) => store.delete({} as never)],
];

describe('calls of what was closed', () => {
  it.each(CALLS)('are refused by the name of what was asked: %s (%#)', async (action, call) => {
    const store = await openStore<number>();
    const view = store.prefix('a/');
    await view.close();
    expect(await errorOf(() => call(view))).toEqual(new ClosedError(action));
    await store.close();
    expect(await errorOf(() => call(store))).toEqual(new ClosedError(action));
  });
});
