import { equal, test, throws } from '../harness.ts';
import { createWorld, like, sleep, start } from './handlers-support.ts';

test('handlers: create, then update, with old, new and diff of the own field; nothing outside it makes a call', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  world.source.put('a', { spec: { n: 1, deep: { x: 1, 'y/z': [1] } } });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      calls.push([ctx.cause, ctx.old, ctx.new, ctx.diff, ctx.attempt, ctx.name, ctx.uid, ctx.resourceVersion]);
    });
  });
  await life.settle();
  const first = { n: 1, deep: { x: 1, 'y/z': [1] } };
  equal(calls.splice(0), [
    ['create', undefined, first, [{ path: '', old: undefined, new: first }], 0, 'a', 'uid-1', '1'],
  ]);
  world.source.put('a', { spec: first, status: { seen: true } });
  await life.settle();
  equal(calls, []);
  like(life.controller.stats(), { calls: 1, writes: 2 });
  const second = { n: 1, deep: { x: 2, 'y/z': [1, 2] } };
  world.source.put('a', { spec: second, status: { seen: true } });
  await life.settle();
  const diff = [
    { path: '/deep/x', old: 1, new: 2 },
    { path: '/deep/y~1z', old: [1], new: [1, 2] },
  ];
  equal(calls, [['update', first, second, diff, 0, 'a', 'uid-1', '3']]);
  like(life.controller.stats(), { objects: 1, calls: 2, successes: 2, writes: 4, behind: 0 });
  await life.stop();
});

test('handlers: a field may be a pointer, and may be absent', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  world.source.put('a', { metadata: { annotations: { 'x.y/z': 'on' } } });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: '/metadata/annotations/x.y~1z' }, (ctx) => {
      calls.push([ctx.cause, ctx.old, ctx.new]);
    });
  });
  await life.settle();
  world.source.put('a', {});
  await life.settle();
  equal(calls, [
    ['create', undefined, 'on'],
    ['update', 'on', undefined],
  ]);
  await life.stop();
});

test('handlers: a field with a status of its own is looked at as a whole', async () => {
  const world = createWorld();
  const seen: unknown[] = [];
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      seen.push(ctx.new);
    });
  });
  const specs = [{ kind: 'A' }, { kind: 'B' }, { kind: 'B', status: 'on' }, { kind: 'B', status: 'on', metadata: {} }];
  for (const spec of specs) {
    world.source.put('a', { spec });
    await life.settle();
  }
  equal(seen, specs);
  await life.stop();
});

test('handlers: select says what a handler depends on', async () => {
  const world = createWorld();
  const seen: unknown[] = [];
  const life = await start(world, (controller) => {
    const select = (object: { spec?: unknown }) => ({ isSet: object.spec !== undefined });
    controller.on('change', { id: 'h', select }, (ctx) => {
      seen.push([ctx.new, ctx.object]);
    });
  });
  for (const object of [{}, { spec: 1 }, { spec: 2 }, {}]) {
    world.source.put('a', object);
    await life.settle();
  }
  equal(seen, [
    [{ isSet: false }, {}],
    [{ isSet: true }, { spec: 1 }],
    [{ isSet: false }, {}],
  ]);
  await life.stop();
});

test('handlers: when limits the scope; coming back with the same view is no call', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  const put = (on: boolean, n: number) => world.source.put('a', { spec: n, status: { on } });
  put(false, 1);
  const life = await start(world, (controller) => {
    const when = (object: { status?: unknown }) => (object.status as { on: boolean }).on;
    controller.on('change', { id: 'h', field: 'spec', when }, (ctx) => {
      calls.push(ctx.new);
    });
  });
  await life.settle();
  like(life.controller.state('a')?.handlers[0], { id: 'h', inScope: false, digest: undefined, state: 'new' });
  like(life.controller.stats(), { calls: 0, writes: 0 });
  for (const [on, n] of [
    [true, 1],
    [false, 1],
    [false, 2],
    [true, 1],
    [true, 2],
  ] as const) {
    put(on, n);
    await life.settle();
  }
  equal(calls, [1, 2]);
  await life.stop();
});

test('handlers: all calls of a pass see one frozen state, in the order of registration', async () => {
  const world = createWorld();
  const seen: unknown[] = [];
  world.source.put('a', { spec: { deep: { n: 1 } } });
  const life = await start(world, (controller) => {
    for (const id of ['z', 'a']) {
      // A view that the source has not frozen already.
      const select = (object: { spec?: unknown }) => ({ copy: { of: object.spec } });
      controller.on('change', { id, select }, (ctx) => {
        seen.push(id, ctx.object);
        const parts = [ctx, ctx.object, ctx.new, (ctx.new as { copy: object }).copy, ctx.diff];
        for (const part of parts) equal(Object.isFrozen(part), true);
        throws(() => Object.assign(ctx, { name: 'b' }), { class: TypeError });
      });
    }
  });
  await life.settle();
  equal([seen[0], seen[2], seen[1] === seen[3]], ['z', 'a', true]);
  like(life.controller.stats(), { calls: 2, successes: 2 });
  await life.stop();
});

test('handlers: A, B, A is three calls under three keys', async () => {
  const world = createWorld();
  const keys = new Set<string>();
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      keys.add(ctx.idempotencyKey);
    });
  });
  for (const spec of ['A', 'B', 'A']) {
    world.source.put('a', { spec });
    await life.settle();
  }
  equal([keys.size, life.controller.stats().calls], [3, 3]);
  await life.stop();
});

test('handlers: another object under the name begins anew, one that is deleting gets no call', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  world.source.put('a', { spec: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      calls.push([ctx.uid, ctx.cause, ctx.old]);
    });
  });
  await life.settle();
  world.source.startDeletion('a');
  world.source.put('a', { spec: 2 });
  await life.settle();
  like(life.controller.state('a'), { deleting: true, uid: 'uid-1' });
  world.source.delete('a');
  await life.settle();
  equal([life.controller.state('a'), world.progress.size, life.controller.stats().objects], [undefined, 0, 0]);
  world.source.put('a', { spec: 1 });
  await life.settle();
  equal(calls, [
    ['uid-1', 'create', undefined],
    ['uid-2', 'create', undefined],
  ]);
  await life.stop();
});

test('handlers: one call at a time for an object, concurrency objects at a time', async () => {
  const world = createWorld();
  const running = new Set<string>();
  let most = 0;
  for (let n = 0; n < 10; n++) world.source.put(`o${n}`, {});
  const register: Parameters<typeof start>[1] = (controller) => {
    for (const id of ['x', 'y']) {
      controller.on('change', { id }, async ({ name }) => {
        equal(running.has(name), false);
        most = Math.max(most, running.add(name).size);
        await sleep(world.clock, 10);
        running.delete(name);
      });
    }
  };
  const life = await start(world, register, { concurrency: 4 });
  like(life.controller.stats(), { objects: 10, running: 4, queued: 6, waiting: 0, behind: 10 });
  await life.settle();
  equal(most, 4);
  like(life.controller.stats(), { running: 0, queued: 0, behind: 0, calls: 20, successes: 20, faults: 0 });
  await life.stop();
});

test('handlers: a when that throws is shown, counted and logged; nobody is called with a guess', async () => {
  const world = createWorld();
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const fault = new RangeError('a number was expected');
  world.source.put('a', { spec: 'x' });
  const register: Parameters<typeof start>[1] = (controller) => {
    const when = ({ spec }: { spec?: unknown }) => {
      if (typeof spec !== 'number') throw fault;
      return true;
    };
    controller.on('change', { id: 'h', field: 'spec', when }, () => {});
  };
  const life = await start(world, register, { logger: { debug: log, info: log, warn: log, error: log } });
  await life.settle();
  like(life.controller.state('a'), { settled: false, succeeded: false });
  equal(life.controller.state('a')?.handlers[0]?.fault === fault, true);
  like(life.controller.stats(), { faults: 1, calls: 0, behind: 0 });
  equal(logged, ['Cannot look at the object for "h"']);
  world.source.put('a', { spec: 1 });
  await life.settle();
  like(life.controller.state('a'), { settled: true, succeeded: true });
  await life.stop();
});
