import { describe, expect, it } from 'vitest';
import { createController } from '../../../src/handlers/controller.ts';
import { createMemoryProgress } from '../../../src/handlers/progress.ts';
import { createStoreSource } from '../../../src/handlers/store-source.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { CompactedError, IdentityChangedError } from '../../../src/types/errors.ts';
import type { WatchBatch, WatchEvent } from '../../../src/types/event.ts';
import type { KeyValue } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import type { WatchOptions } from '../../../src/types/watch.ts';

/** As much of a store as a source uses: one map, one log, watches that can be broken. */
class FakeStore {
  revision = 1;
  identity = 'one';
  readonly kvs = new Map<string, KeyValue<unknown>>();
  readonly log: { readonly revision: number; readonly event: WatchEvent<unknown> }[] = [];
  #wake: (() => void)[] = [];
  #failure: unknown;
  #spans: WatchBatch<unknown>[] = [];

  async ready(): Promise<void> {}

  get(key: string): KeyValue<unknown> | undefined {
    return this.kvs.get(key);
  }

  range({ prefix }: { prefix: string }) {
    const kvs = [...this.kvs.values()].filter(({ key }) => key.startsWith(prefix));
    return { revision: this.revision, kvs, count: kvs.length, more: false };
  }

  set(key: string, value: unknown): void {
    const before = this.kvs.get(key);
    const modRevision = ++this.revision;
    const kv = {
      key,
      value,
      modRevision,
      createRevision: before?.createRevision ?? modRevision,
      version: (before?.version ?? 0) + 1,
      lease: '0',
    };
    this.kvs.set(key, kv);
    this.#append({ type: 'put', kv });
  }

  remove(key: string): void {
    this.kvs.delete(key);
    this.revision++;
    this.#append({ type: 'delete', kv: { key, modRevision: this.revision } });
  }

  /** What a relist of a replica brings. */
  span(batch: WatchBatch<unknown>): void {
    this.revision = batch.revision;
    this.#spans.push(batch);
    this.#wakeAll();
  }

  fail(error: unknown): void {
    this.#failure = error;
    this.#wakeAll();
  }

  async *watch(
    { prefix }: { prefix: string },
    { fromRevision = 0, identity, signal }: WatchOptions,
  ): AsyncGenerator<WatchBatch<unknown>> {
    if (identity !== this.identity) throw new IdentityChangedError('watch', 2);
    this.#failure = undefined;
    for (let next = fromRevision; ; ) {
      if (this.#failure !== undefined) throw this.#failure;
      signal?.throwIfAborted();
      const entry = this.log.find(({ revision }) => revision >= next);
      const span = this.#spans.shift();
      if (span !== undefined) {
        next = span.revision + 1;
        yield span;
      } else if (entry === undefined) {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      } else {
        next = entry.revision + 1;
        if (entry.event.kv.key.startsWith(prefix)) yield { revision: entry.revision, events: [entry.event] };
      }
    }
  }

  #append(event: WatchEvent<unknown>): void {
    this.log.push({ revision: this.revision, event });
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

async function start(store: FakeStore, progress = createMemoryProgress()) {
  const clock = createVirtualClock();
  const calls: string[] = [];
  const source = createStoreSource(store as unknown as Store<unknown, string>, { prefix: 'a/' });
  const controller = createController({ source, progress, clock, random: createSeededRandom(1) });
  controller.on('change', { id: 'h', field: 'n' }, (ctx) => {
    calls.push(`${ctx.name} ${ctx.cause} ${String(ctx.new)}`);
  });
  const stop = new AbortController();
  const done = controller.run({ signal: stop.signal });
  await clock.advance(500);
  return {
    source,
    controller,
    progress,
    calls,
    advance: () => clock.advance(1000),
    async stop(): Promise<void> {
      stop.abort();
      await clock.advance(10_000);
      await done;
    },
  };
}

describe('a store prefix as a source', () => {
  it('calls handlers for the keys under the prefix; deleted and put again is another object', async () => {
    const store = new FakeStore();
    store.set('a/1', { n: 1 });
    store.set('b/1', { n: 1 });
    const life = await start(store);
    store.set('a/1', { n: 2 });
    store.set('a/2', { n: 1 });
    await life.advance();
    store.remove('a/1');
    store.set('a/1', { n: 2 });
    await life.advance();
    expect(life.calls).toEqual(['a/1 create 1', 'a/1 update 2', 'a/2 create 1', 'a/1 create 2']);
    expect(life.progress.size).toBe(2);
    store.remove('a/1');
    await life.advance();
    expect(life.progress.size).toBe(1);
    expect(life.controller.stats()).toMatchObject({ objects: 1, relists: 0 });
    await life.stop();
  });

  it('maps key, revisions and identity', async () => {
    const store = new FakeStore();
    store.set('a/1', 'text');
    store.set('a/1', 'more');
    const source = createStoreSource(store as unknown as Store<unknown, string>, { prefix: '' });
    const expected = { name: 'a/1', uid: 'a/1@2@one', resourceVersion: '3', deleting: false, object: 'more' };
    expect(await source.list({})).toEqual({ resourceVersion: '3', items: [expected] });
    expect(await source.get('a/1', {})).toEqual(expected);
    expect(await source.get('nothing', {})).toBe(undefined);
    store.identity = '';
    expect((await source.get('a/1', {}))?.uid).toBe('a/1@2');
    expect(source.compare('9', '10')).toBeLessThan(0);
  });

  it('takes a span as the difference it is, deletes at its revision included', async () => {
    const store = new FakeStore();
    store.set('a/1', { n: 1 });
    store.set('a/2', { n: 1 });
    const life = await start(store);
    const kv = { key: 'a/3', value: { n: 7 }, createRevision: 20, modRevision: 20, version: 1, lease: '0' };
    store.kvs.delete('a/1');
    store.kvs.set('a/3', kv);
    store.span({
      after: 3,
      revision: 30,
      span: true,
      events: [
        { type: 'delete', kv: { key: 'a/1', modRevision: 30 } },
        { type: 'put', kv },
      ],
    });
    await life.advance();
    expect(life.calls).toEqual(['a/1 create 1', 'a/2 create 1', 'a/3 create 7']);
    expect(life.controller.stats().objects).toBe(2);
    await life.stop();
  });

  it('lists again after CompactedError', async () => {
    const store = new FakeStore();
    store.set('a/1', { n: 1 });
    const life = await start(store);
    store.fail(new CompactedError('watch', { minRevision: 9, compactRevision: 8 }));
    store.kvs.delete('a/1');
    store.revision++;
    await life.advance();
    expect(life.controller.stats()).toMatchObject({ objects: 0, relists: 1 });
    await life.stop();
  });

  it('after IdentityChangedError knows nothing of what was: lower revisions and equal keys are new objects', async () => {
    const store = new FakeStore();
    for (let n = 0; n < 50; n++) store.set('a/1', { n: 1 });
    const life = await start(store);
    store.identity = 'two';
    store.revision = 1;
    store.log.length = 0;
    store.kvs.clear();
    store.set('a/1', { n: 1 });
    store.fail(new IdentityChangedError('watch', 2));
    await life.advance();
    expect(life.calls).toEqual(['a/1 create 1', 'a/1 create 1']);
    expect(life.controller.state('a/1')).toMatchObject({ uid: 'a/1@2@two', settled: true });
    expect(life.progress.size).toBe(1);
    await life.stop();
  });

  it('has the records of earlier processes deleted, though their numbers were higher', async () => {
    const progress = createMemoryProgress();
    for (let process = 0; process < 6; process++) {
      const store = new FakeStore();
      store.identity = `process ${process}`;
      for (let n = 0; n < 100 - 15 * process; n++) store.set(`a/${n % 10}`, { n });
      const life = await start(store, progress);
      expect(life.calls).toHaveLength(10);
      expect(progress.size).toBe(10);
      expect((await progress.list()).every(({ uid }) => uid.endsWith(store.identity))).toBe(true);
      await life.stop();
    }
  });

  it('says of which data a uid is', async () => {
    const store = new FakeStore();
    const source = createStoreSource(store as unknown as Store<unknown, string>, { prefix: '' });
    expect(source.owns?.('a@1@two')).toBe(true);
    await source.list({});
    expect(['a@1@one', 'a@1@two', 'a@1'].map((uid) => source.owns?.(uid))).toEqual([true, false, false]);
    store.identity = '';
    await source.list({});
    expect(source.owns?.('a@1')).toBe(true);
  });
});
