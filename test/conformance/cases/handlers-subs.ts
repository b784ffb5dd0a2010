import type { Controller } from 'plimsoll';
import { equal, test, throws } from '../harness.ts';
import { createWorld, like, quiet, sleep, start, type Thing } from './handlers-support.ts';

test('subs: run after the parent has returned, each when its own input changes', async () => {
  const world = createWorld();
  const log: unknown[] = [];
  world.source.put('o', { spec: { zone: 'x', n: 1 }, status: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'p', field: 'spec' }, async (ctx) => {
      ctx.sub('plain', { args: { z: 1 } }, (sub) => {
        log.push([sub.parentId, sub.id, sub.args, sub.new, sub.old, sub.cause]);
      });
      ctx.sub('field', { field: 'status' }, (sub) => {
        log.push([sub.id, sub.args, sub.new, sub.old, sub.diff]);
      });
      ctx.sub('select', { select: (view) => (view as { n: number }).n }, (sub) => {
        log.push([sub.id, sub.new, sub.cause]);
      });
      await sleep(world.clock, 10);
      log.push('the parent returns');
    });
  });
  await life.settle();
  equal(log.splice(0), [
    'the parent returns',
    ['p', 'plain', { z: 1 }, { zone: 'x', n: 1 }, undefined, 'create'],
    ['field', undefined, 1, undefined, [{ path: '', old: undefined, new: 1 }]],
    ['select', 1, 'create'],
  ]);
  world.source.put('o', { spec: { zone: 'x', n: 1 }, status: 2 });
  await life.settle();
  equal(log.splice(0), [['field', undefined, 2, 1, [{ path: '', old: 1, new: 2 }]]]);
  world.source.put('o', { spec: { zone: 'y', n: 1 }, status: 2 });
  await life.settle();
  equal(log, ['the parent returns', ['p', 'plain', { z: 1 }, { zone: 'y', n: 1 }, { zone: 'x', n: 1 }, 'update']]);
  equal(
    life.controller.state('o')?.handlers.map(({ id, state }) => `${id} ${state}`),
    ['p ok', 'p/plain ok', 'p/field ok', 'p/select ok'],
  );
  await life.stop();
});

test('subs: a retry is for one sub only, and old of the parent waits for all of them', async () => {
  const world = createWorld();
  const log: string[] = [];
  let isBroken = true;
  world.source.put('o', { spec: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
      log.push(`parent ${String(ctx.old)} -> ${String(ctx.new)}`);
      ctx.sub('good', {}, () => void log.push('good'));
      ctx.sub('bad', { retries: 3 }, (sub) => {
        log.push(`bad ${sub.attempt}`);
        if (isBroken) throw new Error('not yet');
      });
    });
  });
  await world.clock.advance(150);
  await quiet(world.clock);
  equal(log.splice(0), ['parent undefined -> 1', 'good', 'bad 0', 'bad 1']);
  world.source.put('o', { spec: 2 });
  await quiet(world.clock);
  equal(log.splice(0), ['parent undefined -> 2', 'good', 'bad 0']);
  isBroken = false;
  await life.settle();
  world.source.put('o', { spec: 3 });
  await life.settle();
  equal(log, ['bad 1', 'parent 2 -> 3', 'good', 'bad 0']);
  await life.stop();
});

test('subs: new args are a new input; one that has left the plan begins anew when it is back', async () => {
  const world = createWorld();
  const calls: string[] = [];
  const plans: Record<string, Record<string, number>> = { A: { s: 1, t: 1 }, B: { s: 2 }, C: { s: 2, t: 1 } };
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
      for (const [id, args] of Object.entries(plans[String(ctx.new)] ?? {})) {
        ctx.sub(id, { args, select: () => 'always the same' }, (sub) => {
          calls.push(`${id} ${String(sub.args)} ${sub.cause}`);
        });
      }
    });
  });
  for (const spec of ['A', 'B', 'C']) {
    world.source.put('o', { spec });
    await life.settle();
  }
  equal(calls, ['s 1 create', 't 1 create', 's 2 update', 't 1 create']);
  await life.stop();
});

test('subs: a sub has a timeout of its own, and a failure that is final holds up nobody', async () => {
  const world = createWorld();
  world.source.put('o', {});
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'p' }, (ctx) => {
      ctx.sub('slow', { timeoutMs: 50, retries: 0 }, () => sleep(world.clock, 1000));
      ctx.sub('next', {}, () => {});
    });
  });
  await life.settle();
  like(life.controller.state('o'), { settled: true, succeeded: false });
  equal(
    life.controller.state('o')?.handlers.map(({ id, state }) => `${id} ${state}`),
    ['p ok', 'p/slow failed', 'p/next ok'],
  );
  await life.stop();
});

test('subs: what cannot be told apart or written down is refused where it is registered', async () => {
  const world = createWorld();
  const late: (() => void)[] = [];
  let refused = 0;
  world.source.put('o', {});
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'p' }, (ctx) => {
      ctx.sub('s', {}, () => {});
      for (const [id, options, expected] of [
        ['s', {}, TypeError],
        ['a/b', {}, TypeError],
        ['', {}, TypeError],
        ['t', { field: 'x', select: () => 1 }, TypeError],
        ['t', { field: 'a..b' }, TypeError],
        ['t', { args: () => 1 }, Error],
        ['t', { retries: -1 }, RangeError],
        ['t', { timeoutMs: 0 }, RangeError],
      ] as const) {
        throws(() => ctx.sub(id, options, () => {}), { class: expected });
        refused++;
      }
      late.push(() => ctx.sub('late', {}, () => {}));
    });
  });
  await life.settle();
  equal([refused, life.controller.stats().successes], [8, 2]);
  for (const sub of late) throws(sub, { class: TypeError });
  await life.stop();
});

test('subs: after a restart with one due, the parent is called once, only to rebuild', async () => {
  const world = createWorld();
  const log: string[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
      log.push(`p rebuild=${ctx.rebuild}`);
      ctx.sub('s', { field: 'status' }, (sub) => void log.push(`s ${String(sub.new)} ${sub.cause}`));
      ctx.sub('t', {}, () => void log.push('t'));
    });
  world.source.put('o', { spec: 1, status: 1 });
  for (const status of [1, 1, 2]) {
    world.source.put('o', { spec: 1, status });
    const life = await start(world, register);
    await life.settle();
    await life.stop();
  }
  equal(log, ['p rebuild=false', 's 1 create', 't', 'p rebuild=true', 's 2 update']);
});
