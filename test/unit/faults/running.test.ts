import { describe, expect, it } from 'vitest';
import { brief, Consumer, fillTo, openRig, probe } from '../../support/replica-rig.ts';
import { KINDS, type Opened, type StoreOptions, take, withStore } from './both.ts';

describe('faults of a list cache, by number (store:F21-F40): cost, memory and running', () => {
  both('F25: compaction gives everything back that it says', async ({ store, clock }) => {
    const cycle = async () => {
      for (let count = 0; count < 300; count++) await store.put(`k${count % 30}`, 'x'.repeat(50));
      await store.compact(store.revision);
      await clock.advance(1_000);
      return store.stats();
    };
    const first = await cycle();
    expect([first.keys, first.storedVersions, first.logEntries]).toEqual([30, 30, 1]);
    for (let count = 0; count < 5; count++) await cycle();
    expect((await cycle()).memoryBytes).toBe(first.memoryBytes);
  });

  it('F26: history is bounded by events, at each commit, whatever the numbers are', async () => {
    const { store, history, clock } = await openRig({ retention: { events: 10 } });
    for (let count = 0; count < 50; count++) {
      history.skip(1_000);
      history.commit([{ key: 'k', value: `${count}` }]);
    }
    await clock.advance(10);
    expect(store.stats().logEntries).toBeLessThanOrEqual(10);
    const first = 1 + 41 * 1_001;
    expect(store.compactRevision).toBe(first);
    const watch = new Consumer(store.watch({ prefix: '' }, { fromRevision: first }), clock);
    expect((await watch.drain()).length).toBe(10);
  });

  both('F27: reads leave nothing behind', async ({ store }) => {
    await store.put('k', '1');
    const before = store.stats();
    for (let count = 0; count < 500; count++) {
      store.get(`none/${count}/x`);
      store.range({ prefix: `none/${count}/` });
      await store.watch({ prefix: `none/${count}/` }).return();
    }
    expect(store.stats()).toEqual(before);
  });

  it('F28: one key twice in a batch does not hang', async () => {
    const { store, backend, clock } = await openRig();
    const kv = { key: new TextEncoder().encode('k'), lease: '0', createRevision: 2, modRevision: 2 };
    const events = [
      { type: 'put', kv: { ...kv, value: Uint8Array.of(49), version: 1 } },
      { type: 'put', kv: { ...kv, value: Uint8Array.of(50), version: 2 } },
    ] as const;
    backend.inject({ type: 'change', revision: 2, events });
    await clock.settle();
    expect(store.get('k')).toMatchObject({ value: '2', version: 2 });
  });

  it('F29: failures in a row stop nothing; the replica goes on from where it was', async () => {
    const { store, history, backend, clock } = await openRig();
    fillTo(history, 5);
    await clock.settle();
    backend.offline();
    for (let count = 0; count < 50; count++) {
      await clock.advance(2_000);
      expect(store.get('b/fill')?.modRevision).toBe(5);
    }
    expect(backend.calls.watch).toBeLessThan(30);
    fillTo(history, 9);
    const before = backend.calls.range;
    backend.online();
    await clock.advance(20_000);
    // Verified, not listed again.
    expect([store.revision, backend.calls.range, store.stats().replica?.relists]).toEqual([9, before + 1, 0]);
  });

  both(
    'F34: the age of history is not a matter of the wall clock',
    async ({ store, clock }) => {
      await store.put('k', '1');
      await store.put('k', '2');
      clock.jumpWallTime(-3_600_000);
      await clock.advance(1_500);
      await store.put('k', '3');
      expect(store.compactRevision).toBeGreaterThanOrEqual(3);
      clock.jumpWallTime(7_200_000);
      await store.put('k', '4');
      expect(store.get('k', { revision: 4 })?.value).toBe('3');
    },
    { retention: { ageMs: 1_000 } },
  );

  it('F35: a quiet replica asks nothing', async () => {
    const { store, backend, clock, history } = await openRig();
    const before = { ...backend.calls };
    await clock.advance(24 * 3_600_000);
    expect([backend.calls, clock.pending]).toEqual([before, 0]);
    history.commit([{ key: 'k', value: '1' }]);
    await clock.settle();
    expect(store.revision).toBe(2);
  });

  both('F36: closing stops everything', async ({ store, clock }) => {
    const watch = store.watch({ prefix: '' });
    const next = probe(watch.next());
    await store.put('k', '1');
    await store.compact(2);
    // The physical part, also of the data behind a replica, which are not closed with it.
    await clock.advance(10);
    await store.close();
    await clock.settle();
    expect([next.state, clock.pending]).toEqual(['resolved', 0]);
  });

  both('F40: a start in the middle of the log gets everything behind it', async ({ store, clock }) => {
    for (let count = 0; count < 40; count++) await store.put(`k${count % 7}`, `${count}`);
    expect((await take(store.watch({ prefix: '' }, { fromRevision: 21 }), clock)).length).toBe(21);
    expect((await take(store.watch({ key: 'k0' }, { fromRevision: 21 }), clock)).length).toBe(3);
  });
});

describe('faults next door (store:N1-N13), as far as they apply', () => {
  both('N1: the low watermark rises with every compaction', async ({ store }) => {
    for (let count = 0; count < 9; count++) await store.put('k', `${count}`);
    for (const revision of [3, 5, 9]) {
      expect((await store.compact(revision)).compactRevision).toBe(revision);
      expect(store.compactRevision).toBe(revision);
    }
  });

  both('N2: one key with very many dead revisions is compacted', async ({ store, clock }) => {
    for (let count = 0; count < 500; count++) await store.put('hot', `${count}`);
    await store.compact(501);
    await clock.advance(1_000);
    expect([store.stats().storedVersions, store.get('hot')?.version]).toEqual([1, 500]);
  });

  both('N3: a compaction that finds nothing to drop counts', async ({ store }) => {
    await store.put('a', '1');
    await store.put('b', '1');
    expect(await store.compact(3)).toEqual({ requested: 3, compactRevision: 3 });
    expect(store.compactRevision).toBe(3);
  });

  both('N4: a compare on a key that is not there takes the other branch', async ({ store }) => {
    const compare = [{ key: 'none', target: 'value', result: '!=', value: 'x' }] as const;
    const result = await store.txn({ compare, then: [], else: [{ type: 'range', key: 'none' }] });
    expect(result).toMatchObject({ succeeded: false, responses: [{ count: 0, kvs: [] }] });
  });

  both('N5, N6: a quiet watch ends at once when it is told to', async ({ store, clock }) => {
    const abort = new AbortController();
    const watch = store.watch({ prefix: 'quiet/' }, { signal: abort.signal });
    const next = probe(watch.next());
    await clock.settle();
    abort.abort('enough');
    await clock.settle();
    expect([next.error, store.stats().watchers]).toEqual(['enough', { idle: 0, pending: 0 }]);
  });

  both('N8: a read at a revision is the newest state up to it', async ({ store }) => {
    await store.put('k', 'two');
    await store.put('x', '1');
    await store.put('x', '2');
    await store.put('k', 'five');
    expect([2, 3, 4, 5].map((revision) => store.get('k', { revision })?.value)).toEqual(['two', 'two', 'two', 'five']);
  });

  both('N9: deletes need no condition, and ranges can be deleted', async ({ store }) => {
    for (const key of ['a/1', 'a/2', 'b']) await store.put(key, '1');
    expect(await store.delete('b')).toEqual({ revision: 5, deleted: 1 });
    expect(await store.delete({ prefix: 'a/' })).toEqual({ revision: 6, deleted: 2 });
  });

  both('N10: no key is another one in disguise, and prefixes end where their bytes end', async ({ store }) => {
    const keys = ['/a|b', '/a/b', '|a|b', "/a'b", '/a%2fb', '/a\u0000b', 'é', 'é\u{10ffff}', '\u{10ffff}x'];
    for (const key of keys) await store.put(key, key);
    expect(store.range({ prefix: '' }).count).toBe(keys.length);
    for (const key of keys) expect(store.get(key)?.value).toBe(key);
    expect(store.range({ prefix: 'é' }).count).toBe(2);
    expect(store.range({ prefix: '\u{10ffff}' }).count).toBe(1);
    expect(store.range({ prefix: '/a' }).count).toBe(5);
  });

  both('N13: a write that fails uses no revision, and asking for one neither', async ({ store }) => {
    await store.put('k', '1');
    await expect(store.put('k', '2', { expect: { modRevision: 7 } })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect([store.revision, (await store.delete('none')).revision, (await store.put('k', '3')).revision]).toEqual([
      2, 2, 3,
    ]);
  });

  it('watches of one replica share what they are woken for, and no more', async () => {
    const { store, history, clock } = await openRig();
    const consumers = ['a', 'b', 'c'].map((key) => new Consumer(store.watch({ key }), clock));
    for (const consumer of consumers) await consumer.drain();
    history.commit([{ key: 'a', value: '1' }]);
    await clock.settle();
    const batches = await Promise.all(consumers.map((consumer) => consumer.drain()));
    expect(batches.map((got) => got.map(brief))).toEqual([['2 put a=1'], [], []]);
  });
});

/** One test for an embedded store, and the same for a replica. */
function both(name: string, run: (opened: Opened) => Promise<void>, options: StoreOptions = {}): void {
  it.each(KINDS)(`${name} (%s)`, (kind) => withStore(kind, run, options));
}
