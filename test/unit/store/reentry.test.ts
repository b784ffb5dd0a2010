import { describe, expect, it } from 'vitest';
import { openStore, textCodec } from '../../../src/mod.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { WatchBatch } from '../../../src/types/event.ts';
import type { KeyValue } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import type { OperationResult } from '../../../src/types/txn.ts';
import { openTestStore, Reader } from './fixture.ts';

/** User code that runs in the middle of a write: getters, codecs, `toJSON`. It must not pull the state away (M8). */

const REFUSED = 'Cannot put a key: called from inside another write';

async function txnRange(store: Store<string>): Promise<Extract<OperationResult<string>, { type: 'range' }>> {
  const { responses } = await store.txn({ then: [{ type: 'range', prefix: 'k' }] });
  const [answer] = responses;
  if (answer?.type !== 'range') throw new Error('no range');
  return answer;
}

describe('a write from inside a write', () => {
  it.each(['signal', 'expect', 'prevKv'])('by a getter on the option %s is refused', async (name) => {
    const { store } = await openTestStore<string>();
    await store.put('k', '1');
    let inner: unknown;
    const options = {
      get [name]() {
        void store.put('k', 'inner').catch((error: Error) => {
          inner = error.message;
        });
        return undefined;
      },
    };
    expect(await store.put('k', 'outer', options)).toEqual({ revision: 3 });
    expect([inner, store.revision, store.get('k')?.value]).toEqual([REFUSED, 3, 'outer']);
    const reader = new Reader(store.watch({ prefix: '' }, { fromRevision: 2 }));
    expect(await reader.take()).toEqual(['2: put k(2,2,1)', '3: put k(2,3,2)']);
  });

  it('by a getter in the value is refused; the value is what the getter gives', async () => {
    const { store } = await openTestStore<unknown>();
    const errors: string[] = [];
    const value = {
      get a() {
        store.put('k', 'inner').catch((error: Error) => errors.push(error.message));
        return 1;
      },
    };
    expect(await store.put('k', value)).toEqual({ revision: 2 });
    expect([errors, store.get('k')?.value]).toEqual([[REFUSED], { a: 1 }]);
  });

  it.each(['put', 'txn', 'compare'])('by toJSON of a trusted value is refused, in a %s', async (kind) => {
    const errors: string[] = [];
    const { store } = await openTestStore<unknown>({ values: 'trusted', retention: { bytes: 1_000 } });
    const trusted = {
      toJSON: () => {
        for (const call of [store.put('k', 'inner'), store.delete('k'), store.txn({}), store.compact(1)]) {
          void call.catch((error: Error) => errors.push(error.message));
        }
        return 'x';
      },
    };
    const put = { type: 'put', key: 'k', value: trusted } as const;
    const compare = [{ key: 'k', target: 'value', result: '!=', value: trusted }] as const;
    if (kind === 'put') await store.put('k', trusted);
    else await store.txn(kind === 'txn' ? { then: [put] } : { compare, then: [put], else: [put] });
    await Promise.resolve();
    expect(new Set(errors)).toEqual(
      new Set([
        'Cannot put a key: called from inside a codec or toJSON',
        'Cannot delete keys: called from inside a codec or toJSON',
        'Cannot run a transaction: called from inside a codec or toJSON',
        'Cannot compact: called from inside a codec or toJSON',
      ]),
    );
    expect([store.revision, store.get('k')?.value]).toEqual([2, trusted]);
    // The guard goes with the write, also with one that fails.
    await expect(store.put('', 1)).rejects.toThrow('the key is empty');
    expect(await store.put('k', 'next')).toEqual({ revision: 3 });
  });
});

describe('closing the store from inside a write', () => {
  it.each(['put', 'txn', 'delete'])('a %s commits nothing', async (kind) => {
    const { store } = await openTestStore<string>({
      codec: {
        encode: (value) => {
          if (value === 'close') void store.close();
          return new TextEncoder().encode(value);
        },
        decode: (bytes) => {
          if (bytes.length === 1) void store.close();
          return 'x';
        },
      },
    });
    await store.put('k', '1');
    const reader = new Reader(store.watch({ prefix: '' }));
    await reader.drain();
    const call =
      kind === 'put'
        ? store.put('k', 'close')
        : kind === 'txn'
          ? store.txn({ then: [{ type: 'put', key: 'k', value: 'close' }] })
          : store.delete('k', { prevKv: true });
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' });
    expect(await reader.take()).toEqual(['ClosedError']);
  });
});

describe('reads of user code inside a read', () => {
  const rows = (batch: WatchBatch<string> | undefined) => batch?.events.map((event) => event.kv as KeyValue<string>);

  it.each<[string, (store: Store<string>) => Promise<readonly KeyValue<string>[] | undefined>]>([
    ['a range', async (store) => store.range({ prefix: 'k' }).kvs],
    ['a page', async (store) => store.range({ prefix: 'k', limit: 5 }).kvs],
    ['a sorted range', async (store) => store.range({ prefix: 'k', sortTarget: 'create' }).kvs],
    ['a transaction', async (store) => (await txnRange(store)).kvs],
    ['a delete', async (store) => (await store.delete({ prefix: 'k' }, { prevKv: true })).prevKvs],
    ['a list and watch', async (store) => rows((await store.watch({ prefix: 'k' }, { initial: true }).next()).value)],
    ['a batch', async (store) => rows((await store.watch({ prefix: 'k' }, { fromRevision: 3 }).next()).value)],
  ])('%s has its own rows, whatever the codec lists between two of them', async (_, read) => {
    const text = textCodec();
    let store: Store<string> | undefined;
    const codec = {
      encode: text.encode,
      decode: (bytes: Uint8Array) => {
        expect(store?.range({ prefix: 'other/', keysOnly: true }).kvs.length).toBe(5);
        return text.decode(bytes);
      },
    };
    ({ store } = await openTestStore<string>({ codec }));
    await store.putAll(['a', 'b', 'c', 'd', 'e'].map((name) => ({ key: `other/${name}`, value: 'other' })));
    await store.putAll(['1', '2', '3', '4', '5'].map((name) => ({ key: `k${name}`, value: name })));
    const kvs = await read(store);
    expect(kvs?.map(({ key, value }) => `${key}=${value}`)).toEqual(['k1=1', 'k2=2', 'k3=3', 'k4=4', 'k5=5']);
  });

  it('M31: nothing expires between the rows of a range, whatever the codec asks the store in the meantime', async () => {
    const clock = createVirtualClock();
    let late = 0;
    const now = { now: () => clock.now() + late, wallTime: () => clock.wallTime(), after: () => () => {} };
    const text = textCodec();
    let decoded = 0;
    const store = await openStore<string>({
      clock: now,
      retention: { events: 1 },
      codec: {
        encode: text.encode,
        decode: (bytes) => {
          if (++decoded === 3) late = 200;
          void store.revision;
          return text.decode(bytes);
        },
      },
    });
    await store.grantLease({ ttlMs: 100, id: '1' });
    for (let index = 0; index < 20; index++) await store.put(`k${index + 10}`, `${index}`, { lease: '1' });
    const { kvs } = store.range({ prefix: 'k' });
    expect(kvs.map(({ value }) => value)).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`));
    expect(store.range({ prefix: 'k' }).count).toBe(0);
  });
});
