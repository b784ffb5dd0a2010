import { BackendError, createMemoryProgress, PermanentError, type ProgressStore, TemporaryError } from 'plimsoll';
import { equal, rejects, test } from '../harness.ts';
import { createWorld, like, quiet, sleep, start } from './handlers-support.ts';

test('failures: a TemporaryError is tried again after its delay, on the same input', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  const keys = new Set<string>();
  world.source.put('a', {});
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h' }, (ctx) => {
      calls.push([world.clock.now(), ctx.attempt, ctx.cause]);
      keys.add(ctx.idempotencyKey);
      if (calls.length === 1) throw new TemporaryError('later', { delayMs: 7000 });
    });
  });
  like(life.controller.state('a')?.handlers[0], {
    state: 'open',
    attempts: 1,
    wakeWallMs: world.clock.wallTime() + 7000,
    succeeded: undefined,
  });
  like(life.controller.stats(), { waiting: 1, behind: 1, temporaryFailures: 1 });
  await life.settle();
  equal(calls, [
    [0, 0, 'create'],
    [7000, 1, 'create'],
  ]);
  equal(keys.size, 1);
  like(life.controller.state('a')?.handlers[0], { state: 'ok', attempts: 1, wakeWallMs: undefined, fault: undefined });
  await life.stop();
});

test('failures: a PermanentError is final until the view changes', async () => {
  const world = createWorld();
  const seen: unknown[] = [];
  world.source.put('a', { spec: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      seen.push(ctx.new);
      if (ctx.new === 1) throw new PermanentError('1 is not supported');
    });
  });
  await life.settle();
  like(life.controller.state('a'), { settled: true, succeeded: false });
  like(life.controller.state('a')?.handlers[0], { state: 'failed', attempts: 1 });
  world.source.put('a', { spec: 1, status: {} });
  await life.settle();
  equal(seen, [1]);
  world.source.put('a', { spec: 2 });
  await life.settle();
  equal(seen, [1, 2]);
  like(life.controller.stats(), { permanentFailures: 1, successes: 1, temporaryFailures: 0 });
  await life.stop();
});

test('failures: any other error is tried again by backoff until the retries are used up', async () => {
  const world = createWorld();
  const at: string[] = [];
  world.source.put('a', { spec: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'throws', field: 'spec', retries: 2 }, () => {
      at.push(`throws ${world.clock.now()}`);
      throw new Error('no');
    });
    const backoff = { baseMs: 1000, factor: 3, maxMs: 2000, jitter: 0 };
    controller.on('change', { id: 'rejects', field: 'spec', retries: 2, backoff }, async () => {
      at.push(`rejects ${world.clock.now()}`);
      await Promise.reject('no error at all');
    });
    controller.on('change', { id: 'once', field: 'spec', retries: 0 }, () => {
      at.push(`once ${world.clock.now()}`);
      throw new TypeError('no');
    });
  });
  await life.settle();
  equal(at, ['throws 0', 'rejects 0', 'once 0', 'throws 100', 'throws 300', 'rejects 1000', 'rejects 3000']);
  equal(
    life.controller.state('a')?.handlers.map(({ id, state, attempts }) => `${id} ${state} ${attempts}`),
    ['throws failed 3', 'rejects failed 3', 'once failed 1'],
  );
  like(life.controller.stats(), { temporaryFailures: 4, permanentFailures: 3, waiting: 0 });
  await life.stop();
});

test('failures: a new input has a full budget, at once', async () => {
  const world = createWorld();
  const attempts: string[] = [];
  world.source.put('a', { spec: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec', retries: 1 }, (ctx) => {
      attempts.push(`${String(ctx.new)} ${ctx.attempt} ${world.clock.now()}`);
      throw new Error('no');
    });
  });
  await world.clock.advance(50);
  world.source.put('a', { spec: 2 });
  await life.settle();
  equal(attempts, ['1 0 0', '2 0 50', '2 1 150']);
  await life.stop();
});

test('failures: a call that takes too long has failed; its signal aborts, its late result is refused', async () => {
  const world = createWorld();
  const reasons: unknown[] = [];
  world.source.put('a', {});
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', timeoutMs: 50, retries: 1 }, async (ctx) => {
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
      await sleep(world.clock, 1000);
      if (ctx.attempt === 1) throw new Error('late, and nobody may notice');
    });
  });
  await life.settle();
  await world.clock.advance(5000);
  equal(
    reasons.map((reason) => reason instanceof TemporaryError),
    [true, true],
  );
  like(life.controller.stats(), { calls: 2, successes: 0, temporaryFailures: 1, permanentFailures: 1 });
  await life.stop();
});

test('failures: a progress store that fails repeats no call', async () => {
  const world = createWorld();
  const memory = createMemoryProgress();
  let failures = 0;
  const progress: ProgressStore = {
    ...memory,
    async compareAndSet(uid, gen, next) {
      // The first outcome: twice refused, then written without an answer.
      if (gen === 1 && failures < 3) {
        if (failures++ === 2) await memory.compareAndSet(uid, gen, next);
        throw new BackendError('write progress', 'the disk is full');
      }
      return memory.compareAndSet(uid, gen, next);
    },
  };
  world.source.put('a', {});
  const life = await start(world, (controller) => controller.on('change', { id: 'h' }, () => {}), { progress });
  await life.settle();
  equal(failures, 3);
  like(life.controller.stats(), { calls: 1, successes: 1 });
  like(life.controller.state('a'), { settled: true, succeeded: true });
  const [head] = await progress.list();
  equal([head?.name, (await memory.get('uid-1'))?.gen], ['a', 2]);
  await life.stop();
});

test('failures: run rejects when the source fails for good, and lists again after any other failure', async () => {
  const world = createWorld();
  world.source.put('a', {});
  const life = await start(world, (controller) => controller.on('change', { id: 'h' }, () => {}));
  await life.settle();
  world.source.breakWatches(new Error('the network is down'));
  world.source.delete('a');
  world.source.put('b', {});
  await quiet(world.clock);
  await world.clock.advance(1000);
  await life.settle();
  like(life.controller.stats(), { relists: 1, calls: 2, objects: 1 });
  const permanent = new BackendError('watch objects', 'no credentials', { permanent: true });
  world.source.breakWatches(permanent);
  equal((await rejects(life.done, { class: BackendError, code: 'BACKEND' })) === permanent, true);
});
