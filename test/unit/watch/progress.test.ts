import { describe, expect, it } from 'vitest';
import type { WatchBatch } from '../../../src/types/event.ts';
import type { Store } from '../../../src/types/store.ts';
import type { Watch } from '../../../src/types/watch.ts';
import { openTestStore, Parts, settle } from '../store/fixture.ts';

/** What `progressMs` and `requestProgress()` promise (store:R34): when a progress batch comes, and when none does. */

/** Reads all the time, and notes when what came: `100: progress 2`. */
function follow(watch: Watch<unknown>, now: () => number): string[] {
  const seen: string[] = [];
  const read = async () => {
    for await (const batch of watch) seen.push(`${now()}: ${word(batch)} ${batch.revision}`);
  };
  read().catch((error: unknown) => seen.push(String(error)));
  return seen;
}

function word(batch: WatchBatch<unknown>): string {
  if (batch.progress === true) return 'progress';
  return batch.initial === true ? 'initial' : 'events';
}

/** One read; `nothing` when it waits. */
async function read(watch: Watch<unknown>): Promise<string> {
  let answer = 'nothing';
  void watch.next().then(({ value }) => {
    answer = value === undefined ? 'end' : `${word(value)} ${value.revision}`;
  });
  await settle();
  return answer;
}

async function putAll(store: Store<unknown>, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await store.put('other', index);
}

describe('progressMs', () => {
  it.each([0, 99, 100.5, Number.NaN, '100'])('is an integer from 100 on: %s is refused', async (progressMs) => {
    const { store } = await openTestStore();
    const watch = () => store.watch({ key: 'a' }, { progressMs: progressMs as number });
    expect(watch).toThrow(typeof progressMs === 'number' ? RangeError : TypeError);
    const said = typeof progressMs === 'number' ? progressMs : 'of type string';
    expect(watch).toThrow(`progressMs is ${said}, allowed is a safe integer from 100 on`);
    expect(store.stats().watchers).toEqual({ idle: 0, pending: 0 });
  });

  // Put and deleted between two reads: a coalescing watch has nothing to deliver, and nothing was delivered.
  it.each(['waits already', 'asks then'])(
    'is not put off by what comes to nothing, when the consumer %s',
    async (when) => {
      const parts = new Parts();
      const reader = parts.watch({ prefix: '' }, { progressMs: 100, onSlow: 'coalesce', lagEventsMax: 1 });
      if (when === 'waits already') expect(await reader.take()).toEqual([]);
      await parts.clock.advance(50);
      parts.commit(5, ['put', 'x']);
      parts.commit(6, ['delete', 'x']);
      expect(await reader.take()).toEqual([]);
      expect(parts.clock.pending).toBe(1);
      await parts.clock.advance(49);
      expect(reader.batches).toEqual([]);
      await parts.clock.advance(1);
      await reader.drain();
      expect(reader.batches).toEqual([{ revision: 6, progress: true, events: [] }]);
    },
  );

  it('a watch that ends for being slow says so, and nothing of progress before', async () => {
    const parts = new Parts();
    const reader = parts.watch({ prefix: '' }, { onSlow: 'close', lagEventsMax: 1 });
    for (let revision = 5; revision < 9; revision++) parts.commit(revision, ['put', 'x']);
    reader.watch.requestProgress();
    expect(await reader.take()).toEqual(['SlowWatcherError']);
    expect(reader.batches).toEqual([]);
  });

  it('counts from when the watch was opened', async () => {
    const { store, clock } = await openTestStore();
    await clock.advance(1000);
    const seen = follow(store.watch({ key: 'a' }, { progressMs: 100 }), () => clock.now());
    await clock.advance(99);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen.length).toBe(1);
  });

  it('R34: a batch without events each time nothing else came for so long, with the newest revision', async () => {
    const { store, clock } = await openTestStore();
    const seen = follow(store.watch({ key: 'a' }, { progressMs: 100 }), () => clock.now());
    await clock.advance(99);
    expect(seen).toEqual([]);
    await putAll(store, 3);
    await clock.advance(1);
    expect(seen).toEqual(['100: progress 4']);
    await clock.advance(250);
    expect(seen).toEqual(['100: progress 4', '200: progress 4', '300: progress 4']);
  });

  it('counts from what was delivered last: events, the initial batch, progress on request', async () => {
    const { store, clock } = await openTestStore();
    const watch = store.watch({ key: 'a' }, { progressMs: 100, initial: true });
    await clock.advance(30);
    const seen = follow(watch, () => clock.now());
    await clock.advance(50);
    await store.put('a', 1);
    await clock.advance(60);
    watch.requestProgress();
    await clock.advance(99);
    expect(seen).toEqual(['30: initial 1', '80: events 2', '140: progress 2']);
    await clock.advance(1);
    expect(seen.slice(3)).toEqual(['240: progress 2']);
  });

  it('a consumer that reads late is told at once, and a timer is there only while it waits', async () => {
    const { store, clock } = await openTestStore();
    const watch = store.watch({ key: 'a' }, { progressMs: 100 });
    expect(clock.pending).toBe(0);
    await clock.advance(150);
    const first = watch.next();
    await settle();
    expect(clock.pending).toBe(1);
    await clock.advance(0);
    expect(await first).toMatchObject({ value: { progress: true, revision: 1 } });
    expect(clock.pending).toBe(0);
    expect(await read(watch)).toBe('nothing');
    expect(clock.pending).toBe(1);
    await store.put('other', 1);
    await settle();
    expect(clock.pending).toBe(1);
    await watch.return();
    expect(clock.pending).toBe(0);
  });

  it('an event while the timer runs is no reason for a second timer', async () => {
    const { store, clock } = await openTestStore();
    const watch = store.watch({ key: 'a' }, { progressMs: 100 });
    const seen = follow(watch, () => clock.now());
    await clock.advance(60);
    watch.requestProgress();
    await settle();
    expect([seen, clock.pending]).toEqual([['60: progress 1'], 1]);
    await clock.advance(99);
    expect(seen).toHaveLength(1);
  });

  it('R34: never before a future start is reached', async () => {
    const { store, clock } = await openTestStore();
    const seen = follow(store.watch({ key: 'a' }, { progressMs: 100, fromRevision: 4 }), () => clock.now());
    await putAll(store, 1);
    await clock.advance(350);
    expect(seen).toEqual([]);
    await putAll(store, 2);
    await clock.advance(50);
    expect(seen).toEqual(['400: progress 4']);
  });

  it('without it there is no timer and no progress', async () => {
    const { store, clock } = await openTestStore();
    const seen = follow(store.watch({ key: 'a' }), () => clock.now());
    await settle();
    expect(clock.pending).toBe(0);
    await clock.advance(10_000);
    expect(seen).toEqual([]);
  });

  it('ends with the store', async () => {
    const { store, clock } = await openTestStore();
    const seen = follow(store.watch({ key: 'a' }, { progressMs: 100 }), () => clock.now());
    await settle();
    await store.close();
    await settle();
    expect([seen, clock.pending]).toEqual([['ClosedError: Cannot watch: closed'], 0]);
  });

  it('a commit that the filter drops is progress, not an event', async () => {
    const { store, clock } = await openTestStore();
    const seen = follow(store.watch({ key: 'a' }, { progressMs: 100, filter: 'noput' }), () => clock.now());
    await clock.advance(50);
    await store.put('a', 1);
    await clock.advance(50);
    expect(seen).toEqual(['100: progress 2']);
  });
});

describe('requestProgress()', () => {
  it('R34: comes once, after the events there are', async () => {
    const { store } = await openTestStore();
    const watch = store.watch({ key: 'a' });
    await store.put('a', 1);
    watch.requestProgress();
    watch.requestProgress();
    await store.put('a', 2);
    await store.put('other', 3);
    expect([await read(watch), await read(watch), await read(watch)]).toEqual(['events 2', 'events 3', 'progress 4']);
    expect(await read(watch)).toBe('nothing');
  });

  it('wakes a consumer that waits', async () => {
    const { store } = await openTestStore();
    const watch = store.watch({ key: 'a' });
    const waiting = watch.next();
    await settle();
    watch.requestProgress();
    expect(await waiting).toMatchObject({ value: { progress: true, revision: 1, events: [] } });
  });

  it('is forgotten before a future start, and after the end', async () => {
    const { store } = await openTestStore();
    const watch = store.watch({ key: 'a' }, { fromRevision: 3 });
    watch.requestProgress();
    await putAll(store, 2);
    expect(await read(watch)).toBe('nothing');
    await watch.return();
    watch.requestProgress();
    expect(await read(watch)).toBe('end');
  });
});
