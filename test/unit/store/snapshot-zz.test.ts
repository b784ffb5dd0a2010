import { it } from 'vitest';
import { openStore } from '../../../src/open-store.ts';
it('times', async () => {
  for (const compacted of [true, false]) {
    const store = await openStore<unknown>({ retention: { events: Infinity } });
    const n = 1_000_000;
    for (let i = 0; i < n; i++) store.put(`registry/pods/${i % 977}/${i}`, i % 2 ? `value ${i}` : { n: i, name: 'some name' });
    await null;
    if (compacted) { await store.compact(store.revision); await new Promise((r) => setTimeout(r, 3000)); }
    const measure = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      let longest = 0, last = performance.now(), on = true;
      const gaps: number[] = [];
      const tick = () => { const now = performance.now(); gaps.push(now - last); longest = Math.max(longest, now - last); last = now; if (on) setImmediate(tick); };
      setImmediate(tick);
      const start = performance.now();
      const r = await work();
      on = false;
      gaps.sort((a, b) => b - a);
      console.log(compacted ? 'rows' : 'commits', name, `${((performance.now() - start) / 10).toFixed(1)} ms per 100k; longest gaps ${gaps.slice(0, 4).map((g) => g.toFixed(1))}, p99 ${gaps[Math.floor(gaps.length / 100)]?.toFixed(1)}`);
      return r;
    };
    const snap = await measure('create', () => store.createSnapshot());
    console.log(snap.length);
    await store.close();
    const re = await measure('restore', () => openStore({ snapshot: snap, retention: { events: Infinity } }));
    console.log(re.stats());
    await re.close();
  }
}, 300000);
