import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
import { KEPT_ROWS_MAX, KeptRows } from '../../../src/store/kept-rows.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { createMemoryBackend } from '../../../src/testing/mod.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

describe('kept rows', () => {
  it('give what was kept for a slot last, or nothing, and never that of another one or of one that was dropped', () => {
    const random = createSeededRandom(7);
    const below = (max: number) => Math.floor(random() * max);
    const rows = new KeptRows<string>();
    const truth = new Map<number, string>();
    let hits = 0;
    for (let step = 0; step < 200_000; step++) {
      const slot = below(3) === 0 ? below(2 ** 31 - 1) : below(5_000);
      const kept = rows.get(slot);
      if (kept !== undefined) {
        expect(kept).toBe(truth.get(slot));
        hits++;
      }
      const action = below(20);
      if (action < 4) {
        rows.drop(slot);
        truth.delete(slot);
        expect(rows.get(slot)).toBeUndefined();
      } else if (action < 14) {
        rows.keep(slot, `${slot} ${step}`);
        truth.set(slot, `${slot} ${step}`);
        expect(rows.get(slot)).toBe(`${slot} ${step}`);
      }
    }
    expect(hits).toBeGreaterThan(20_000);
    expect(rows.size).toBe([...truth.keys()].filter((slot) => rows.get(slot) !== undefined).length);
    rows.clear();
    expect([rows.size, rows.capacity]).toEqual([0, 0]);
    for (const slot of truth.keys()) expect(rows.get(slot)).toBeUndefined();
  });

  it('take little room where little is read: it doubles at three quarters', () => {
    const rows = new KeptRows<number>();
    expect([rows.size, rows.capacity]).toEqual([0, 0]);
    const sizes: [number, number][] = [];
    for (let slot = 0; slot < 1_600; slot++) {
      rows.keep(slot, slot);
      rows.keep(slot, slot);
      if (sizes.at(-1)?.[1] !== rows.capacity) sizes.push([rows.size, rows.capacity]);
    }
    expect(sizes).toEqual([
      [1, 1024],
      [768, 2048],
      [1536, 4096],
    ]);
    for (let slot = 0; slot < 1_600; slot += 2) rows.drop(slot);
    for (let slot = 0; slot < 1_600; slot += 4) rows.drop(slot);
    expect([rows.size, rows.capacity]).toEqual([800, 4096]);
    expect(rows.get(1)).toBe(1);
  });

  it('are all there for neighbours, up to the bound, and no more than that', () => {
    const rows = new KeptRows<number>();
    const kept = (end: number) => {
      let count = 0;
      for (let slot = 0; slot < end; slot++) if (rows.get(slot) === slot) count++;
      return count;
    };
    for (let slot = 0; slot < 100_000; slot++) rows.keep(slot, slot);
    expect(kept(100_000)).toBe(100_000);
    for (let slot = 100_000; slot < 3 * KEPT_ROWS_MAX; slot++) rows.keep(slot, slot);
    expect(kept(3 * KEPT_ROWS_MAX)).toBe(KEPT_ROWS_MAX);
  });
});

describe('a store gives a row again', () => {
  it('the very same, while its version is the one that is read', async () => {
    const store = await openStore();
    await store.put('a', { n: 1 });
    const first = store.get('a');
    expect(store.get('a')).toBe(first);
    expect(store.range({ prefix: '' }).kvs[0]).toBe(first);
    await store.put('a', { n: 2 });
    expect(store.get('a')).toMatchObject({ value: { n: 2 }, version: 2 });
    expect(store.get('a', { revision: first?.modRevision ?? 0 })).toBe(first);
    expect(store.range({ prefix: '', keysOnly: true }).kvs[0]).not.toHaveProperty('value');
    await store.close();
  });

  it('never that of a version whose slot another one has taken', async () => {
    const store = await openStore<number>({ retention: { events: 4 } });
    const random = createSeededRandom(11);
    const truth = new Map<string, number>();
    for (let step = 0; step < 3_000; step++) {
      const key = `k${Math.floor(random() * 12)}`;
      if (random() < 0.2) {
        await store.delete(key);
        truth.delete(key);
      } else {
        await store.put(key, step);
        truth.set(key, step);
      }
      const { kvs } = store.range({ prefix: '' });
      expect(new Map(kvs.map((kv) => [kv.key, kv.value]))).toEqual(truth);
      for (const kv of kvs) expect(store.get(kv.key)).toEqual(kv);
    }
    await store.close();
  });

  it('not where the value or the key is each reader’s own', async () => {
    const bytes = await openStore<Uint8Array>();
    await bytes.put('a', new Uint8Array([1]));
    const read = bytes.get('a');
    (read?.value as Uint8Array)[0] = 9;
    expect(bytes.get('a')?.value).toEqual(new Uint8Array([1]));
    await bytes.close();

    const keys = await openStore<number, Uint8Array>({ keys: 'bytes' });
    await keys.put(new Uint8Array([1]), 1);
    const row = keys.get(new Uint8Array([1]));
    (row?.key as Uint8Array)[0] = 9;
    expect(keys.get(new Uint8Array([1]))?.key).toEqual(new Uint8Array([1]));
    await keys.close();

    const made = await openStore<Map<string, number>>({
      codec: { encode: (map) => new TextEncoder().encode(JSON.stringify([...map])), decode: () => new Map([['a', 1]]) },
    });
    await made.put('a', new Map());
    made.get('a')?.value.set('a', 2);
    expect(made.get('a')?.value.get('a')).toBe(1);
    await made.close();
  });

  it('never that of data that were replaced', async () => {
    const clock = createVirtualClock();
    const inner = () => openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
    const [one, other] = [await inner(), await inner()];
    const text = (value: string) => new TextEncoder().encode(value);
    await one.put(text('a'), text('"one"'));
    await other.put(text('b'), text('"other"'));
    const backend = createFaultyBackend(createMemoryBackend(one), { clock });
    const store = await openStore<string>({ backend, clock, random: () => 0 });
    expect(store.get('a')?.value).toBe('one');
    backend.replace(createMemoryBackend(other));
    backend.disconnect();
    await clock.advance(60_000);
    expect(store.range({ prefix: '' }).kvs.map(({ key, value }) => [key, value])).toEqual([['b', 'other']]);
    await store.close();
  });
});
