import {
  createController,
  createStoreSource,
  type HandlerContext,
  openStore,
  PlimsollError,
  UnsupportedError,
} from 'plimsoll';
import { assertPlanOfView } from 'plimsoll/testing';
import { equal, rejects, test, throws } from '../harness.ts';
import { createWorld, like, start, type Thing } from './handlers-support.ts';

test('patch: is written after the call, and the handler is not called for it', async () => {
  const world = createWorld();
  world.source.put('a', { spec: { n: 1 } });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      ctx.patch({ spec: { seen: true } });
      ctx.patch([{ op: 'add', path: '/status', value: 'ok' }], { ifUnchanged: true });
    });
  });
  await life.settle();
  equal(world.source.objects[0]?.object, { spec: { n: 1, seen: true }, status: 'ok' });
  like(life.controller.stats(), { calls: 1, patches: 1, loops: 0 });
  await life.stop();
});

test('patch: of a store source is a put', async () => {
  const store = await openStore<{ n: number; seen?: number }>();
  await store.put('a/o', { n: 1 });
  const controller = createController({ source: createStoreSource(store, { prefix: 'a/' }) });
  controller.on('change', { id: 'h' }, (ctx) => ctx.patch({ seen: ctx.object.n }));
  throws(() => controller.on('delete', { id: 'd' }, () => {}), { class: UnsupportedError });
  const stop = new AbortController();
  const done = controller.run({ signal: stop.signal });
  await controller.idle();
  equal(store.get('a/o')?.value, { n: 1, seen: 1 });
  stop.abort();
  await done;
  await store.close();
});

test('deletion: subs are retired with what was tried, then delete handlers are called, then the object goes', async () => {
  const world = createWorld();
  const calls: unknown[] = [];
  world.source.put('a', { spec: ['x', 'y'] });
  const life = await start(world, (controller) => {
    const retire = ({ id, tried }: { readonly id: string; readonly tried: readonly unknown[] }): void => {
      calls.push(['retire', id, tried]);
    };
    controller.on('change', { id: 'p', field: 'spec', retire }, (ctx) => {
      for (const id of ctx.new as string[]) ctx.sub(id, { args: id }, () => {});
    });
    controller.on('delete', { id: 'd' }, ({ cause }) => {
      calls.push(cause);
    });
  });
  await life.settle();
  world.source.put('a', { spec: ['y'] });
  await life.settle();
  world.source.startDeletion('a');
  await life.settle();
  equal(calls, [['retire', 'x', ['x']], ['retire', 'y', ['y']], 'delete']);
  equal([world.source.objects.length, world.progress.size], [0, 0]);
  await life.stop();
});

test('kinds: create and update share the states of an object', async () => {
  const world = createWorld();
  const calls: string[] = [];
  const note = ({ cause, new: view }: HandlerContext<Thing>): void => {
    calls.push(`${cause} ${String(view)}`);
  };
  world.source.put('a', { spec: 1 });
  const life = await start(world, (controller) => {
    for (const kind of ['create', 'update', 'resume'] as const) controller.on(kind, { id: kind, field: 'spec' }, note);
  });
  await life.settle();
  world.source.put('a', { spec: 2 });
  await life.settle();
  equal(calls, ['create 1', 'resume 1', 'update 2']);
  await life.stop();
});

test('plans: one that depends on more than the view is found by the test kit', async () => {
  const objects: Thing[] = [{ spec: 1 }, { spec: 1, status: 2 }];
  const by = (fn: (ctx: HandlerContext<Thing>) => void): Promise<number> =>
    assertPlanOfView<Thing>({ handler: { id: 'p', field: 'spec' }, fn, objects });
  equal(await by((ctx) => ctx.sub('s', { args: ctx.new }, () => {})), 2);
  await rejects(
    by((ctx) => ctx.sub('s', { args: ctx.object.status ?? 0 }, () => {})),
    { class: PlimsollError },
  );
});
