import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { createController } from '../../../src/handlers/controller.ts';
import { createStoreProgress } from '../../../src/handlers/store-progress.ts';
import { createStoreSource } from '../../../src/handlers/store-source.ts';
import { UidKeys } from '../../../src/handlers/uid-key.ts';
import { openStore } from '../../../src/open-store.ts';
import { createFaultyBackend } from '../../../src/testing/faulty-backend.ts';
import { documentOf } from '../../../src/testing/progress-session.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { LimitExceededError, ValueError } from '../../../src/types/errors.ts';
import { createWorld, sleep } from './harness.ts';

const TARGET = { uid: 'u', name: 'o' };

describe("progress under a prefix of a store (A41')", () => {
  it('keys are ASCII without "/", one for each uid', () => {
    const keys = new UidKeys();
    const uids = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('%', '2', 'F', '/', 'é', 'u', 'D', '\ud83d') }),
    );
    fc.assert(
      fc.property(uids, uids, (a, b) => {
        expect(keys.keyOf(a)).toMatch(/^[\x21-\x2e\x30-\x7e]+$/);
        expect(keys.keyOf(a) === keys.keyOf(b)).toBe(a === b);
      }),
    );
    const long = 'é'.repeat(40_000);
    expect(keys.keyOf(long)).toMatch(/^%sha256:[0-9a-f]{64}$/);
    expect(keys.keyOf(`${long}x`)).not.toBe(keys.keyOf(long));
    expect(keys.keyOf('')).toBe('%');
  });

  it('refuses prefixes that overlap with those of the source, in either direction', async () => {
    const store = await openStore<number>();
    const create = (objects: string, documents: string) => () =>
      createController({
        source: createStoreSource(store, { prefix: objects }),
        progress: createStoreProgress(store, { prefix: documents }),
      });
    expect(create('jobs/', 'jobs/.progress/')).toThrow(/the prefix of its progress is below that of its objects/);
    expect(create('', 'progress/')).toThrow(TypeError);
    expect(create('a/b/', 'a/')).toThrow(/the prefix of its objects is below that of its progress/);
    expect(create('a/', 'a/')).toThrow(TypeError);
    expect(create('jobs/', 'jobs')).toThrow(TypeError);
    create('jobs/', 'progress/')();
    createController({
      source: createStoreSource(store, { prefix: 'a/' }),
      progress: createStoreProgress(await openStore(), { prefix: 'a/' }),
    });
  });

  it('checks what it is given', async () => {
    const store = await openStore<number>();
    expect(() => createStoreProgress(store, { prefix: '' })).toThrow(/Cannot create a store progress: prefix is not/);
    const misspelt: object = { prefix: 'a/', perfix: 'b' };
    expect(() => createStoreProgress(store, misspelt as { prefix: string })).toThrow(/unknown option perfix/);
    const nothing: object = {};
    expect(() => createStoreProgress(nothing as typeof store, { prefix: 'a/' })).toThrow(/store has no method prefix/);
  });

  it('keeps apart from a store progress below its own prefix, and leaves alone what it does not know', async () => {
    const store = await openStore<unknown>();
    const [outer, inner] = ['p/', 'p/x/'].map((prefix) => createStoreProgress(store, { prefix }));
    await inner?.compareAndSet('u', 0, documentOf(TARGET, 1));
    await store.put('p/notes', { uid: 1 });
    expect(await outer?.list()).toEqual([]);
    expect((await inner?.list())?.map(({ uid }) => uid)).toEqual(['u']);
    await expect(outer?.get('notes', 'o')).rejects.toThrow(ValueError);
    await expect(outer?.compareAndSet('notes', 0, documentOf({ uid: 'notes', name: 'o' }, 1))).rejects.toThrow(
      ValueError,
    );
    expect(store.get('p/notes')?.value).toEqual({ uid: 1 });
  });

  it('goes on with documents that were copied from another store, where versions are not generations', async () => {
    const store = await openStore<unknown>();
    const progress = createStoreProgress(store, { prefix: 'p/' });
    await store.put('p/u', documentOf(TARGET, 7));
    expect(await progress.compareAndSet('u', 6, documentOf(TARGET, 7))).toBe(false);
    for (const gen of [8, 9, 10])
      expect(await progress.compareAndSet('u', gen - 1, documentOf(TARGET, gen))).toBe(true);
    expect((await progress.get('u', 'o'))?.gen).toBe(10);
  });

  it("a read on a replica that lags behind answers what its backend has, not what it has applied (A40'a)", async () => {
    const clock = createVirtualClock();
    const data = await openStore<Uint8Array, Uint8Array>({ keys: 'bytes', clock });
    const backend = createFaultyBackend(createMemoryBackend(data), { clock });
    const opening = openStore<number>({ backend, clock, random: () => 0 });
    await clock.settle();
    const replica = await opening;
    const other = openStore<number>({ backend: createMemoryBackend(data), clock, random: () => 0 });
    await clock.settle();
    const fresh = createStoreProgress(await other, { prefix: 'p/' });
    await fresh.compareAndSet('u', 0, documentOf(TARGET, 1));
    await clock.settle();
    backend.holdItems();
    await fresh.compareAndSet('u', 1, documentOf(TARGET, 2));
    await clock.settle();
    expect(replica.get('p/u')?.version).toBe(1);
    let found: number | undefined;
    const reading = createStoreProgress(replica, { prefix: 'p/' })
      .get('u', 'o')
      .then((document) => {
        found = document?.gen;
      });
    await clock.settle();
    expect(found).toBeUndefined();
    backend.releaseItems();
    await clock.settle();
    await reading;
    expect(found).toBe(2);
  });

  it('a document above the limit of a value: a typed error, nothing is called, the object waits and is seen to', async () => {
    const world = createWorld();
    const store = await openStore<unknown>({ clock: world.clock, limits: { valueBytes: 2000 } });
    const errors: unknown[] = [];
    const silent = () => {};
    let calls = 0;
    world.source.put('o', { spec: { text: 'x'.repeat(5000) } });
    world.source.put('p', { spec: { text: 'x' } });
    const start = () =>
      world.start(
        (controller) => {
          for (const id of ['h', 'later']) {
            controller.on('change', { id }, () => {
              calls++;
            });
          }
        },
        {
          progress: createStoreProgress(store, { prefix: 'p/' }),
          logger: { debug: silent, info: silent, warn: silent, error: (_text, facts) => errors.push(facts) },
        },
      );
    const life = await start();
    await world.clock.advance(60_000);
    // The first intent fits; what does not is the base of its success, so that the second handler is not called.
    expect(calls).toBe(3);
    expect(life.stats()).toMatchObject({ waiting: 1, objects: 2, behind: 1 });
    expect(life.controller.state('p')).toMatchObject({ settled: true });
    const [first] = errors as { name: string; error: LimitExceededError }[];
    expect(first?.name).toBe('o');
    expect(first?.error).toBeInstanceOf(LimitExceededError);
    expect(first?.error).toMatchObject({ limit: 'valueBytes', max: 2000 });
    expect(first?.error.message).toMatch(/^Cannot write the progress of "uid-1"/);
    // The outcome that cannot be written is not given up, but by the end of the process.
    world.source.put('o', { spec: { text: 'short' } });
    await life.stop();
    const next = await start();
    await next.settle();
    expect(next.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    expect(calls).toBe(5);
    await next.stop();
  });

  it("two controllers on the same objects and the same prefix: the documents stay right (A12')", async () => {
    const world = createWorld();
    const store = await openStore<unknown>({ clock: world.clock });
    const seen = new Map<string, unknown>();
    const start = () =>
      world.start(
        (controller) => {
          for (const id of ['a', 'b', 'c']) {
            controller.on('change', { id }, async (ctx) => {
              await sleep(world.clock, 5);
              seen.set(id, ctx.new);
            });
          }
        },
        { progress: createStoreProgress(store, { prefix: 'p/' }), random: seeds() },
      );
    const seeds = counter();
    const lives = [await start(), await start()];
    for (let n = 0; n < 20; n++) {
      world.source.put('o', { spec: { n } });
      await world.clock.advance(7);
    }
    for (const life of lives) await life.settle();
    expect([...seen.values()]).toEqual(Array.from({ length: 3 }, () => ({ spec: { n: 19 } })));
    const progress = createStoreProgress(store, { prefix: 'p/' });
    const document = await progress.get('uid-1', 'o');
    const digests = Object.values(document?.records ?? {}).map(({ attempt, done }) => [
      attempt?.state,
      attempt?.digest === done,
    ]);
    expect(digests).toEqual([
      ['ok', true],
      ['ok', true],
      ['ok', true],
    ]);
    expect(Object.keys(document?.bases ?? {})).toHaveLength(1);
    for (const life of lives) await life.stop();
  });
});

/** Random numbers that differ between two processes. */
function counter(): () => () => number {
  let process = 0;
  return () => {
    let n = ++process * 1000;
    return () => (n++ % 9973) / 9973;
  };
}
