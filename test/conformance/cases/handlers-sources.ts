import {
  type Controller,
  createMemoryProgress,
  createStoreSource,
  type ObjectSource,
  openStore,
  type SourceWatchItem,
  type Store,
} from 'plimsoll';
import { createSeededRandom, createVirtualClock } from 'plimsoll/testing';
import { equal, test } from '../harness.ts';
import { createWorld, like, quiet, start, startOn, type Thing } from './handlers-support.ts';

interface Job {
  readonly image: string;
}

async function openJobs() {
  const clock = createVirtualClock();
  const store = await openStore<Job>({ clock, random: createSeededRandom(3) });
  const calls: string[] = [];
  const register = (controller: Controller<Job>): void =>
    controller.on('change', { id: 'h' }, (ctx) => {
      const old = (ctx.old as Job | undefined)?.image;
      calls.push(`${ctx.name}@${ctx.resourceVersion} ${ctx.cause} ${old} -> ${ctx.object.image}`);
    });
  return { clock, store, calls, source: createStoreSource(store, { prefix: 'jobs/' }), register };
}

test('store source: a key is an object, its first revision and the store are its life', async () => {
  const { store, source } = await openJobs();
  await store.put('other/x', { image: 'a' });
  await store.put('jobs/x', { image: 'a' });
  await store.put('jobs/x', { image: 'b' });
  const list = await source.list({});
  const object = {
    name: 'jobs/x',
    uid: `jobs/x@3@${store.identity}`,
    resourceVersion: '4',
    deleting: false,
    object: { image: 'b' },
  };
  equal(list, { resourceVersion: '4', items: [object] });
  equal(await source.get('jobs/x', {}), object);
  equal(await source.get('jobs/none', {}), undefined);
  equal([source.compare('9', '10') < 0, source.compare('10', '9') > 0, source.compare('9', '9')], [true, true, 0]);
  await store.close();
});

test('store source: a watch brings what came after a list', async () => {
  const { store, source } = await openJobs();
  await store.put('jobs/x', { image: 'a' });
  const { resourceVersion } = await source.list({});
  await store.put('jobs/x', { image: 'b' });
  await store.put('other/x', { image: 'b' });
  await store.txn({
    then: [
      { type: 'put', key: 'jobs/y', value: { image: 'a' } },
      { type: 'delete', key: 'jobs/x' },
    ],
  });
  const describe = (item: SourceWatchItem<Job>): string => {
    if (item.type === 'bookmark') return `bookmark ${item.resourceVersion}`;
    if (item.type === 'deleted') return `deleted ${item.name} ${item.uid} ${item.resourceVersion}`;
    return `${item.type} ${item.object.name} ${item.object.resourceVersion}`;
  };
  const items: string[] = [];
  for await (const item of source.watch({ after: resourceVersion })) {
    if (items.push(describe(item)) === 5) break;
  }
  equal(items, ['modified jobs/x 3', 'bookmark 3', 'added jobs/y 5', 'deleted jobs/x undefined 5', 'bookmark 5']);
  await store.close();
});

test('store source: a controller follows puts, deletes and new lives', async () => {
  const { clock, store, calls, source, register } = await openJobs();
  await store.put('jobs/x', { image: 'a' });
  const life = await startOn<Job>(clock, { source }, register);
  await life.settle();
  await store.put('jobs/x', { image: 'a' });
  await store.put('jobs/x', { image: 'b' });
  await store.put('other/x', { image: 'a' });
  await life.settle();
  await store.delete('jobs/x');
  await life.settle();
  equal(life.controller.state('jobs/x'), undefined);
  await store.put('jobs/x', { image: 'b' });
  await life.settle();
  equal(calls, ['jobs/x@2 create undefined -> a', 'jobs/x@4 update a -> b', 'jobs/x@7 create undefined -> b']);
  like(life.controller.stats(), { objects: 1, relists: 0, faults: 0 });
  await life.stop();
  await store.close();
});

test('store source: what a handler writes to the store is a change like any other', async () => {
  const clock = createVirtualClock();
  const store: Store<number> = await openStore<number>({ clock });
  await store.put('n/start', 5);
  const life = await startOn<number>(clock, { source: createStoreSource(store, { prefix: 'n/' }) }, (controller) => {
    controller.on('change', { id: 'countdown' }, async (ctx) => {
      if (ctx.object > 0)
        await store.put(ctx.name, ctx.object - 1, { expect: { modRevision: Number(ctx.resourceVersion) } });
    });
  });
  await life.settle();
  equal(store.get('n/start')?.value, 0);
  equal(life.controller.state('n/start')?.succeeded, true);
  await life.stop();
  await store.close();
});

test('store source: a compaction past the watch costs a list, not a state', async () => {
  const { clock, store, calls, source, register } = await openJobs();
  await store.put('jobs/x', { image: 'a' });
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const late: ObjectSource<Job> = {
    list: (options) => source.list(options),
    get: (name, options) => source.get(name, options),
    compare: (a, b) => source.compare(a, b),
    async *watch(options) {
      await opened;
      yield* source.watch(options);
    },
  };
  const life = await startOn<Job>(clock, { source: late }, register);
  await store.put('jobs/x', { image: 'b' });
  await store.put('jobs/x', { image: 'c' });
  await store.compact(store.revision);
  open();
  await quiet(clock);
  await clock.advance(1000);
  await life.settle();
  equal(calls, ['jobs/x@2 create undefined -> a', 'jobs/x@4 update a -> c']);
  equal(life.controller.stats().relists, 1);
  await life.stop();
  await store.close();
});

for (let seed = 1; seed <= 5; seed++) {
  test(`object source: the last state is handled whatever is lost, late or doubled, seed ${seed}`, async () => {
    const world = createWorld();
    const random = createSeededRandom(seed);
    const handled = new Map<string, unknown>();
    const life = await start(world, (controller: Controller<Thing>) => {
      controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
        handled.set(ctx.name, ctx.new);
      });
    });
    world.source.setFaults({
      dropRate: 0.2,
      duplicateRate: 0.2,
      delayMsMax: 100,
      staleListRate: 0.3,
      readErrorRate: 0.1,
      readDelayMsMax: 20,
    });
    for (let step = 0; step < 100; step++) {
      const name = `o${Math.floor(random() * 5)}`;
      const roll = random();
      if (roll < 0.1) world.source.delete(name);
      else world.source.put(name, { spec: step });
      if (roll > 0.9) world.source.breakWatches();
      if (roll > 0.97) world.source.compact();
      await world.clock.advance(random() * 50);
    }
    world.source.setFaults({});
    await world.clock.advance(60_000);
    world.source.breakWatches();
    await quiet(world.clock);
    await world.clock.advance(60_000);
    await life.settle();
    for (const { name, object } of world.source.objects) {
      equal([name, handled.get(name)], [name, object.spec]);
      like(life.controller.state(name), { settled: true, succeeded: true });
    }
    equal(
      [life.controller.stats().objects, world.progress.size],
      [world.source.objects.length, world.source.objects.length],
    );
    await life.stop();
  });
}

test('store source: records of earlier processes go, though their revisions were higher', async () => {
  const progress = createMemoryProgress();
  for (let process = 0; process < 6; process++) {
    const clock = createVirtualClock();
    const store = await openStore<Job>({ clock, random: createSeededRandom(process + 1) });
    for (let n = 0; n < 70 - 10 * process; n++) await store.put(`jobs/${n % 10}`, { image: `${n}` });
    const source = createStoreSource(store, { prefix: 'jobs/' });
    let calls = 0;
    const life = await startOn<Job>(clock, { source, progress }, (controller) =>
      controller.on('change', { id: 'h' }, () => {
        calls++;
      }),
    );
    await life.settle();
    equal([calls, progress.size], [10, 10]);
    await life.stop();
    await store.close();
  }
});

test('store source: every call has bytes of its own', async () => {
  const clock = createVirtualClock();
  const store = await openStore({ clock, random: createSeededRandom(3) });
  await store.put('a', Uint8Array.of(1, 2));
  const seen: unknown[] = [];
  const source = createStoreSource(store, { prefix: '' });
  const life = await startOn(clock, { source }, (controller) => {
    for (const id of ['x', 'y']) {
      controller.on('change', { id, select: (bytes) => [...(bytes as Uint8Array)] }, (ctx) => {
        const bytes = ctx.object as Uint8Array;
        seen.push([...bytes], ctx.new);
        bytes[0] = 99;
      });
    }
    controller.on('change', { id: 'text' }, () => {
      seen.push('called on bytes that are no JSON text');
    });
  });
  await life.settle();
  equal(seen, [
    [1, 2],
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
  equal([...((store.get('a')?.value ?? []) as Uint8Array)], [1, 2]);
  like(life.controller.stats(), { calls: 2, faults: 1 });
  await life.stop();
  await store.close();
});
