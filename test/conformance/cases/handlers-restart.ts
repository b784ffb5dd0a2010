import {
  type Controller,
  createMemoryProgress,
  type ProgressDocument,
  type ProgressStore,
  TemporaryError,
} from 'plimsoll';
import { equal, test } from '../harness.ts';
import { createWorld, like, start, type Thing } from './handlers-support.ts';

/** Registers one handler that notes its calls. */
function noting(calls: unknown[]): (controller: Controller<Thing>) => void {
  return (controller) =>
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      calls.push([ctx.name, ctx.cause, ctx.old, ctx.new]);
    });
}

test('restart: with the same progress there is no call and no write for what was handled', async () => {
  const world = createWorld();
  for (const name of ['a', 'b', 'c']) world.source.put(name, { spec: name });
  const calls: unknown[] = [];
  for (const expected of [3, 0]) {
    const life = await start(world, noting(calls.splice(0)));
    await life.settle();
    like(life.controller.stats(), { objects: 3, calls: expected, writes: expected * 2 });
    like(life.controller.state('b'), { settled: true, succeeded: true });
    await life.stop();
  }
  equal(world.progress.size, 3);
});

test('restart: what changed meanwhile is an update against the last success', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  for (const name of ['a', 'b', 'c']) world.source.put(name, { spec: 1 });
  const first = await start(world, noting([]));
  await first.settle();
  await first.stop();
  world.source.put('a', { spec: 2 });
  world.source.delete('b');
  world.source.put('d', { spec: 1 });
  const second = await start(world, noting(calls));
  await second.settle();
  equal(calls, [
    ['a', 'update', 1, 2],
    ['d', 'create', undefined, 1],
  ]);
  // The document of what is gone goes with the first list.
  equal((await world.progress.list()).map(({ name }) => name).sort(), ['a', 'c', 'd']);
  await second.stop();
});

test('restart: with progress of its own each controller handles everything once', async () => {
  const world = createWorld();
  world.source.put('a', { spec: 1 });
  for (let process = 0; process < 2; process++) {
    const life = await start(world, noting([]), { progress: createMemoryProgress() });
    await life.settle();
    equal(life.controller.stats().calls, 1);
    await life.stop();
  }
});

test('restart: a call whose outcome was lost is repeated under its key', async () => {
  const world = createWorld();
  const keys: string[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      keys.push(ctx.idempotencyKey);
    });
  const progress: ProgressStore = {
    ...world.progress,
    compareAndSet: async (uid, gen, next) => {
      if (gen > 0) throw new Error('the process is about to crash');
      return world.progress.compareAndSet(uid, gen, next);
    },
  };
  world.source.put('a', { spec: 1 });
  const first = await start(world, register, { progress, drainMs: 0 });
  await first.stop();
  const second = await start(world, register);
  await second.settle();
  equal([keys.length, new Set(keys).size], [2, 1]);
  like(second.controller.stats(), { calls: 1, successes: 1 });
  await second.stop();
});

test('restart: the wait for a retry goes on, and its attempts count', async () => {
  const world = createWorld();
  const at: unknown[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      at.push([world.clock.now(), ctx.attempt]);
      if (ctx.attempt === 0) throw new TemporaryError('later', { delayMs: 60_000 });
    });
  world.source.put('a', { spec: 1 });
  const first = await start(world, register);
  await first.stop();
  equal(world.clock.now(), 10_000);
  const second = await start(world, register);
  await second.settle();
  equal(at, [
    [0, 0],
    [60_000, 1],
  ]);
  await second.stop();
});

test('restart: a document is JSON data with a generation', async () => {
  const texts = new Map<string, string>();
  const parse = (text: string | undefined): ProgressDocument | undefined =>
    text === undefined ? undefined : (JSON.parse(text) as ProgressDocument);
  const progress: ProgressStore = {
    get: async (uid) => parse(texts.get(uid)),
    compareAndSet: async (uid, gen, next) => {
      if ((parse(texts.get(uid))?.gen ?? 0) !== gen) return false;
      texts.set(uid, JSON.stringify(next));
      equal(parse(texts.get(uid)), next);
      return true;
    },
    delete: async (uid) => void texts.delete(uid),
    list: async () => [...texts.values()].map((text) => JSON.parse(text) as ProgressDocument),
  };
  const world = createWorld();
  const calls: unknown[] = [];
  for (const spec of [1, 2]) {
    world.source.put('a', { spec });
    const life = await start(world, noting(calls), { progress });
    await life.settle();
    await life.stop();
  }
  equal(calls, [
    ['a', 'create', undefined, 1],
    ['a', 'update', 1, 2],
  ]);
  const document = await progress.get('uid-1', 'a');
  equal([document?.uid, document?.name, document?.gen, document?.resourceVersion], ['uid-1', 'a', 4, '2']);
  equal(Object.keys(document?.records ?? {}), ['h']);
  equal(Object.values(document?.bases ?? {}), [2]);
});

test('restart: memory progress compares and sets', async () => {
  const progress = createMemoryProgress();
  const document: ProgressDocument = {
    uid: 'u',
    name: 'n',
    gen: 1,
    writeId: 'w',
    tick: 0,
    resourceVersion: '7',
    records: {},
    bases: {},
  };
  equal([progress.size, await progress.get('u'), await progress.list()], [0, undefined, []]);
  equal(await progress.compareAndSet('u', 1, document), false);
  equal(await progress.compareAndSet('u', 0, document), true);
  equal(await progress.compareAndSet('u', 0, document), false);
  equal([progress.size, await progress.list()], [1, [{ uid: 'u', name: 'n', resourceVersion: '7' }]]);
  await progress.delete('u');
  await progress.delete('u');
  equal([progress.size, await progress.get('u')], [0, undefined]);
});
