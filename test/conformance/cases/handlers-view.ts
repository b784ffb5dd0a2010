import { type ControllerOptions, createEssenceHasher, createStoreSource, openStore, ValueError } from 'plimsoll';
import { createVirtualClock } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';
import { createWorld, like, start, startOn, type Thing } from './handlers-support.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type ViewOptions = Pick<ControllerOptions<Thing>, 'essence' | 'view'>;

/** What a handler without `field` and `select` is told of each of these states, as far as it is called. */
async function views(states: readonly object[], options: ViewOptions = {}): Promise<unknown[]> {
  const world = createWorld();
  const seen: unknown[] = [];
  const register: Parameters<typeof start>[1] = (controller) =>
    controller.on('change', { id: 'h' }, (ctx) => {
      equal(Object.isFrozen(ctx.new), true);
      seen.push(ctx.new);
    });
  const life = await start(world, register, options);
  for (const state of states) {
    world.source.put('a', state);
    await life.settle();
  }
  like(life.controller.state('a'), { settled: true, succeeded: true });
  await life.stop();
  return seen;
}

const VIEWS: [string, object, object][] = [
  ['status, apiVersion and kind go', { apiVersion: 'v1', kind: 'Pod', spec: {}, status: {} }, { spec: {} }],
  [
    'of metadata what somebody wants stays',
    { metadata: { name: 'a', uid: '1', generation: 3, labels: { l: '1' }, annotations: { a: '1' } } },
    { metadata: { labels: { l: '1' }, annotations: { a: '1' } } },
  ],
  [
    'own annotations and copies of the object go',
    { metadata: { annotations: { 'plimsoll.dev/x': '1', [LAST_APPLIED]: '{}', 'x.plimsoll.dev/y': '2' } } },
    { metadata: { annotations: { 'x.plimsoll.dev/y': '2' } } },
  ],
  ['empty metadata goes', { metadata: { labels: {}, annotations: { 'plimsoll.dev/x': '1' } }, data: 1 }, { data: 1 }],
];

for (const [name, object, view] of VIEWS) {
  test(`view: ${name}`, async () => {
    equal(await views([object]), [view]);
  });
}

const STATES = [{ spec: 1 }, { spec: 1, status: { n: 1 } }, { spec: 2, status: { n: 1 } }];

test('view: by default a change of status calls nobody', async () => {
  equal(await views(STATES), [{ spec: 1 }, { spec: 2 }]);
});

test('view: the essence hasher says what of an object counts', async () => {
  equal(await views(STATES, { essence: createEssenceHasher({ defaults: false }) }), STATES);
  equal(await views(STATES, { essence: createEssenceHasher({ ignore: ['/spec'] }) }), [{}]);
});

test('view: of what view makes of an object everything counts', async () => {
  equal(await views(STATES, { view: (object) => object }), STATES);
  equal(await views(STATES, { view: ({ status }) => ({ kind: typeof status }) }), [
    { kind: 'undefined' },
    { kind: 'object' },
  ]);
});

test('view: one that is not JSON data is a fault', async () => {
  const world = createWorld();
  world.source.put('a', { spec: 1 });
  const register: Parameters<typeof start>[1] = (controller) => {
    controller.on('change', { id: 'bytes', select: () => Uint8Array.of(1) }, () => {});
    controller.on('change', { id: 'bigint', select: () => ({ n: 1n }) }, () => {});
    controller.on('change', { id: 'good', select: () => null }, () => {});
  };
  const life = await start(world, register);
  await life.settle();
  equal(
    life.controller.state('a')?.handlers.map(({ id, state, fault }) => [id, state, fault instanceof ValueError]),
    [
      ['bytes', 'new', true],
      ['bigint', 'new', true],
      ['good', 'ok', false],
    ],
  );
  like(life.controller.stats(), { calls: 1, faults: 2 });
  await life.stop();
});

for (const [name, before, after] of [
  ['kind', { kind: 'Deployment' }, { kind: 'StatefulSet' }],
  ['apiVersion', { apiVersion: 'v1' }, { apiVersion: 'v2' }],
  ['status', { status: 'on' }, { status: 'off' }],
  ['metadata', { metadata: { uid: '1' } }, { metadata: { uid: '2' } }],
] as const) {
  test(`view: the ${name} of a part is no bookkeeping, with field, select, subs and args`, async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const life = await start(world, (controller) => {
      controller.on('change', { id: 'select', select: ({ spec }) => spec }, (ctx) => {
        seen.push(ctx.new);
      });
      controller.on('change', { id: 'field', field: 'spec' }, (ctx) => {
        ctx.sub('view', {}, (sub) => void seen.push(sub.new));
        ctx.sub('field', { field: 'spec' }, (sub) => void seen.push(sub.new));
        ctx.sub('args', { select: () => 1, args: ctx.new }, (sub) => void seen.push(sub.args));
      });
    });
    for (const spec of [before, after]) {
      world.source.put('a', { spec });
      await life.settle();
      equal(seen.splice(0), [spec, spec, spec, spec]);
    }
    await life.stop();
  });
}

test('view: text, numbers, nothing and lists are their own view; bytes are the JSON text in them', async () => {
  const clock = createVirtualClock();
  const store = await openStore<unknown>({ clock });
  const seen: unknown[] = [];
  const source = createStoreSource(store, { prefix: 'v/' });
  const life = await startOn<unknown>(clock, { source }, (controller) =>
    controller.on('change', { id: 'h' }, (ctx) => void seen.push(ctx.new)),
  );
  for (const value of ['status', 7, null, [{ status: 1 }], new TextEncoder().encode('{"n":1}')]) {
    await store.put('v/a', value);
    await life.settle();
  }
  equal(seen, ['status', 7, null, [{ status: 1 }], { n: 1 }]);
  await life.stop();
  await store.close();
});
