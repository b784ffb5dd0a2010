import { describe, expect, it } from 'vitest';
import type { CompactedError } from '../../../src/types/errors.ts';
import type { Watch } from '../../../src/types/watch.ts';
import { openTestStore, Parts, Reader } from '../store/fixture.ts';

/** A watch that compaction has ended is told of it when its consumer asks, maybe much later: M40. */
async function openAt(revision: number) {
  const { store } = await openTestStore<number>();
  while (store.revision < revision) await store.put('a', store.revision);
  return store;
}

/** What the consumer is told, and that a watch from there begins. */
async function told(watch: Watch<number>): Promise<number[]> {
  const error = await watch.next().then(
    () => undefined,
    (reason: CompactedError) => reason,
  );
  expect(error?.name).toBe('CompactedError');
  expect(await watch.next()).toEqual({ value: undefined, done: true });
  return [error?.minRevision ?? 0, error?.compactRevision ?? 0];
}

describe('M40: the smallest legal start is that of the moment when the consumer is told', () => {
  it('of a watch that compaction passed, and then passed what it had been', async () => {
    const store = await openAt(12);
    const watch = store.watch({ prefix: '' }, { fromRevision: 5 });
    await store.compact(7);
    await store.compact(11);
    expect(await told(watch)).toEqual([11, 11]);
    expect((await store.watch({ prefix: '' }, { fromRevision: 11 }).next()).value?.revision).toBe(11);
  });

  it('of one whose start was compacted already when it was opened', async () => {
    const store = await openAt(12);
    await store.compact(7);
    const watch = store.watch({ prefix: '' }, { fromRevision: 5 });
    await store.compact(11);
    expect(await told(watch)).toEqual([11, 11]);
  });

  it('of one that retention passed', async () => {
    const { store } = await openTestStore<number>({ retention: { events: 2 } });
    await store.put('a', 1);
    const watch = store.watch({ prefix: '' }, { fromRevision: 2 });
    for (let index = 0; index < 10; index++) await store.put('a', index);
    expect(await told(watch)).toEqual([store.compactRevision, store.compactRevision]);
  });

  it('of one in a hole, and of one that a repair ended: what is legal may move on to the end of another hole', async () => {
    const parts = new Parts();
    for (const revision of [5, 8, 9]) parts.commit(revision, ['put', 'k']);
    const future = parts.hub.open(parts.mvcc, parts.mvcc.resolve({ prefix: '' }, 'watch'), { fromRevision: 15 }, DATA);
    const lagging = parts.hub.open(parts.mvcc, parts.mvcc.resolve({ prefix: '' }, 'watch'), { fromRevision: 8 }, DATA);
    parts.repair(30, ['put', 'k']);
    parts.commit(31, ['put', 'k']);
    parts.span(50, ['put', 'k']);
    parts.commit(51, ['put', 'k']);
    parts.applier.compact(40, 'compact');
    for (const watch of [future, lagging]) {
      const reader = new Reader(watch);
      expect(await reader.take()).toEqual(['CompactedError']);
      const { minRevision } = reader.error as CompactedError;
      expect(minRevision).toBe(51);
      expect(await parts.watch({ prefix: '' }, { fromRevision: minRevision }).take()).toEqual(['51: put k(5,51,7)']);
    }
  });
});

const DATA = { identity: 'parts', epoch: 1 };
