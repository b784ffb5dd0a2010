import { describe, expect, it } from 'vitest';
import { generateKeys } from '../../../bench/data/keys.mjs';
import { refuseWrong, storeFindings, watchFindings } from '../../../bench/memory/checks.mjs';
import { growth, settledFootprint } from '../../../bench/memory/footprint.mjs';
import { memoryTable, reportRow } from '../../../bench/memory/report.mjs';
import { rows } from '../../../bench/memory/rows.mjs';
import { MvccBaseline } from '../../../bench/store/mvcc-baseline.mjs';

const SWEEPS = 3;
const keys = generateKeys(300);

type Store = Parameters<typeof storeFindings>[0];
type Break = (store: Store) => Partial<Store>;

async function filled(): Promise<Store> {
  const store = new MvccBaseline();
  for (let sweep = 0; sweep < SWEEPS; sweep++) for (const key of keys) await store.put(key, 'v');
  return store as unknown as Store;
}

/** The store with some of its calls answered otherwise. */
function broken(store: Store, changed: Partial<Store>): Store {
  const calls: Store = {
    put: (key, value) => store.put(key, value),
    get: (key, options) => store.get(key, options),
    range: (request) => store.range(request),
    watch: (range) => store.watch(range),
    stats: () => store.stats(),
    close: () => store.close(),
  };
  return { ...calls, ...changed };
}

describe('storeFindings', () => {
  it('passes a store that answers rightly', async () => {
    const store = await filled();
    expect(() => refuseWrong('row', 'it', storeFindings(store, keys, SWEEPS))).not.toThrow();
  });

  it.each<[string, Break, string]>([
    ['forgets versions', (store) => ({ stats: () => ({ ...store.stats(), storedVersions: 1 }) }), 'versions stored'],
    ['loses a key', (store) => ({ get: (key, at) => (key === keys[3] ? undefined : store.get(key, at)) }), 'keys'],
    ['ignores the revision', (store) => ({ get: (key) => store.get(key) }), 'keys as of sweep 2'],
    [
      'finds what is not there',
      (store) => ({ get: (key, at) => store.get(key, at) ?? { key, modRevision: 1, version: 1 } }),
      'a key that is not there',
    ],
    [
      'lists in no order',
      (store) => ({ range: (request) => ({ kvs: [...store.range(request).kvs].reverse() }) }),
      'a page',
    ],
  ])('catches one that %s', async (_, breakIt, what) => {
    const store = await filled();
    const findings = storeFindings(broken(store, breakIt(store)), keys, SWEEPS);
    expect(() => refuseWrong('row', 'it', findings)).toThrow(`gives a wrong answer to "${what}"`);
  });
});

describe('watchFindings', () => {
  it.each(['keys', 'prefix'] as const)('passes watchers of %s, asked before or after', async (watched) => {
    const store = await filled();
    const watches = keys.map((key) => store.watch(watched === 'keys' ? { key } : { prefix: '/registry/' }));
    const answers = watches.map((watch, place) => (place % 2 === 0 ? watch.next() : undefined));
    const findings = await watchFindings(store, { watches, answers }, keys, watched);
    expect(() => refuseWrong('row', 'it', findings)).not.toThrow();
    expect(findings[0]?.actual).toHaveLength(keys.length);
  });

  it('catches a watcher that gets the event of another key', async () => {
    const store = await filled();
    const watches = keys.map((_, place) => store.watch({ key: keys[place ^ 1] as string }));
    const findings = await watchFindings(store, { watches, answers: [] }, keys, 'keys');
    expect(() => refuseWrong('row', 'it', findings)).toThrow('the event of each watcher');
  });

  it('refuses a row in which nothing was checked', () => {
    expect(() => refuseWrong('row', 'it', [])).toThrow('has no answer that can be checked');
  });
});

describe('footprint', () => {
  it('takes the linear memory out of what is external, and asks for it when the heap is at rest', async () => {
    let collections = 0;
    const footprint = await settledFootprint(
      () => void collections++,
      () => 1000,
    );
    expect(collections).toBeGreaterThanOrEqual(2);
    expect(footprint.wasm).toBe(1000);
    expect(footprint.heap).toBeGreaterThan(0);
    const larger = await settledFootprint(
      () => undefined,
      () => 500_000_000,
    );
    expect(larger.offHeap).toBeLessThan(footprint.offHeap - 400_000_000);
  });

  it('is a difference, and refuses a runtime that counts the linear memory nowhere', () => {
    const before = { heap: 10, wasm: 0, offHeap: 5, rss: 50 };
    expect(growth(before, { heap: 30, wasm: 64, offHeap: 6, rss: 80 })).toEqual({
      heap: 20,
      wasm: 64,
      offHeap: 1,
      rss: 30,
    });
    expect(() => growth(before, { ...before, wasm: 4 << 20, offHeap: -(4 << 20) })).toThrow('does not count');
  });
});

describe('reportRow', () => {
  const measured = (wasm: number, heap: number) => ({
    growth: { wasm, heap, offHeap: 100, rss: 9000 },
    keyBytes: 1000,
    keyTextBytes: 2000,
    meanKeyBytes: 10,
  });
  const row = { name: 'keys 100', unit: 'key' as const, n: 100, keys: 100 };
  const runs = {
    plimsoll: [measured(5000, 4000), measured(5000, 4200), measured(5000, 9000)],
    baseline: [measured(0, 20_000)],
  };

  it('has medians over processes, with and without keys; only the core has a copy of the key bytes', () => {
    const { subject, peers, etcd } = reportRow(row, runs);
    expect(subject).toEqual({
      excludingKeys: 83,
      includingKeys: 113,
      wasm: 50,
      heap: 42,
      offHeap: 1,
      keyText: 20,
      rss: 90,
      range: [81, 131],
    });
    const [peer] = Object.values(peers);
    expect([peer?.excludingKeys, peer?.includingKeys, peer?.ratio]).toEqual([201, 221, 0.41]);
    expect([etcd.bytes, etcd.ratio, etcd.isMet]).toEqual([150, 0.55, true]);
  });

  it('says in words when the published figure is missed', () => {
    const reported = reportRow({ ...row, unit: 'revision' }, runs);
    expect(reported.etcd.isMet).toBe(false);
    const text = memoryTable({ runtime: 'Node.js 20', cases: [reported] });
    expect(text).toContain("= 2.77x of etcd's 30 B a version (30 B a revision): missed");
  });
});

describe('rows', () => {
  it.each([true, false])('divide evenly, names unlike (quick: %s)', (quick) => {
    const all = rows(quick);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { n, keys: count, unit } of all) {
      expect([n, count].every(Number.isInteger)).toBe(true);
      if (unit === 'revision') expect(n % count).toBe(0);
    }
  });
});
