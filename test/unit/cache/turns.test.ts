import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Backend, BackendWatchItem } from '../../../src/types/backend.ts';
import type { Clock } from '../../../src/types/clock.ts';

/** A backend that has `count` changes buffered, each there at once. */
function buffered(count: number): Backend {
  const position = { identity: 'buffered', revision: 1 };
  const item = (revision: number): BackendWatchItem => {
    if (revision === 1) return { type: 'open', ...position };
    const key = new TextEncoder().encode(`k${revision % 100}`);
    const numbers = { createRevision: revision, modRevision: revision, version: 1, lease: '0' };
    return { type: 'change', revision, events: [{ type: 'put', kv: { key, value: key, ...numbers } }] };
  };
  return {
    capabilities: { progress: false, writable: false },
    range: async () => ({ ...position, count: 0, kvs: [] }),
    status: async () => position,
    watch: () => ({
      async *[Symbol.asyncIterator]() {
        for (let revision = 1; revision <= count + 1; revision++) yield item(revision);
        await new Promise(() => {});
      },
    }),
    txn: () => Promise.reject(new TypeError('Cannot write')),
    compact: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

const open = (count: number, clock: Clock) =>
  openStore<string>({ backend: buffered(count), clock, codec: textCodec(), waitReady: false });

describe('items that a backend has buffered', () => {
  it('are applied in parts: after 10,000 others get their turn, also on a clock that stands still', async () => {
    const clock = createVirtualClock();
    const store = await open(25_000, clock);
    const seen: number[] = [];
    const other = () => {
      seen.push(store.revision);
      if (store.revision < 25_001) clock.after(0, other);
    };
    clock.after(0, other);
    await clock.advance(0);
    expect(seen).toEqual([10_001, 20_001, 25_001]);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it('are applied for 8 ms at most', async () => {
    const virtual = createVirtualClock();
    let now = 0;
    // Each look at the time costs a millisecond, as an item does.
    const clock: Clock = { ...virtual, now: () => now++ };
    const store = await open(200, clock);
    await virtual.settle();
    expect(store.revision).toBeLessThan(60);
    for (let turn = 0; turn < 10; turn++) await virtual.advance(1);
    expect(store.revision).toBe(201);
    await store.close();
  });

  it('that come one by one do not wait, whatever the time between them', async () => {
    const clock = createVirtualClock();
    const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
    const { createMemoryBackend } = await import('../../../src/backends/memory-backend.ts');
    const store = await openStore<string>({ backend: createMemoryBackend(data), clock, codec: textCodec() });
    for (let index = 0; index < 200; index++) {
      await store.put('k', `${index}`);
      if (index % 20 === 0) await clock.advance(1_000);
    }
    expect(store.get('k')?.value).toBe('199');
    await store.close();
    await data.close();
  });
});
