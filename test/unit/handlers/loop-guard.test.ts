import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import { createMemoryProgress } from '../../../src/handlers/progress.ts';
import { createStoreSource } from '../../../src/handlers/store-source.ts';
import { openStore } from '../../../src/open-store.ts';
import type { ObjectSource } from '../../../src/types/source.ts';
import { createWorld, sleep, type Thing } from './harness.ts';
import { meddled } from './own-write-rig.ts';

/** Two handlers that push each other for ever. */
function push(controller: Controller<Thing>): void {
  for (const [id, other] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    controller.on('change', { id, field: `spec.${id}`, retries: 0 }, (ctx) => {
      if (controller.stats().calls > 300) throw new Error('nobody slows it down');
      ctx.patch({ spec: { [other]: Number(ctx.new ?? 0) + 1 } });
    });
  }
}

describe("the guard against loops (A8', I11')", () => {
  it.each<[string, number, number]>([
    ['with the watch', 0, 0],
    ['a step after the watch', 0, 1],
    ['some steps after the watch', 0, 10],
    ['long after the watch', 5, 0],
  ])('knows its own write where the answer comes %s', async (_name, delayMs, steps) => {
    const world = createWorld();
    world.source.put('o', { spec: { a: 1 } });
    const source: ObjectSource<Thing> = {
      ...meddled(world, () => {}),
      async patch(patch, options) {
        const result = await world.source.patch(patch, options);
        if (delayMs > 0) await sleep(world.clock, delayMs);
        for (let step = 0; step < steps; step++) await undefined;
        return result;
      },
    };
    const life = await world.start(push, { source });
    await world.clock.advance(60_000);
    expect(life.stats().calls).toBeLessThan(60);
    expect(life.stats().loops).toBeGreaterThan(5);
    await life.stop();
  });

  it("a timer and a handler that push each other are slowed down (A22')", async () => {
    const world = createWorld();
    world.source.put('o', { spec: { a: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'a', field: 'spec.a' }, (ctx) => ctx.patch({ spec: { b: ctx.new } }));
      controller.on('timer', { id: 't', field: 'spec.b', idleMs: 10 }, (ctx) => {
        ctx.patch({ spec: { a: Number(ctx.object.spec?.a) + 1 } });
      });
    });
    await world.clock.advance(60_000);
    expect(life.stats().calls).toBeGreaterThan(20);
    expect(life.stats().calls).toBeLessThan(80);
    expect(life.stats().loops).toBeGreaterThan(5);
    await life.stop();
  });

  it.each([
    ['with the answer', 0],
    ['before the answer', 5],
  ])(
    "what a timer writes, and a finalizer, cuts no wait of a breaker, also where the watch brings it %s (A33')",
    async (_when, delayMs) => {
      const world = createWorld();
      world.source.put('o', { spec: { n: 1 } });
      const source: ObjectSource<Thing> = {
        ...meddled(world, () => {}),
        async patch(patch, options) {
          const result = await world.source.patch(patch, options);
          if (delayMs > 0) await sleep(world.clock, delayMs);
          return result;
        },
      };
      for (const kind of ['timer', 'daemon'] as const) {
        const calls: number[] = [];
        const beginMs = world.clock.now();
        const life = await world.start(
          (controller) => {
            controller.on('change', { id: 'h', field: 'spec.n' }, () => {
              calls.push(world.clock.now() - beginMs);
              throw new Error('no');
            });
            if (kind === 'daemon') controller.on('daemon', { id: 'd', initialDelayMs: 4500 }, () => {});
            else {
              controller.on('timer', { id: 't', initialDelayMs: 4500, intervalMs: 1000 }, (ctx) => {
                ctx.patch({ status: { at: world.clock.now() } });
              });
            }
          },
          {
            source,
            progress: createMemoryProgress(),
            backoff: { baseMs: 1, factor: 1, jitter: 0 },
            breaker: { failuresMax: 1, backoff: { baseMs: 1000, factor: 3, maxMs: 100_000, jitter: 0 } },
          },
        );
        await world.clock.advance(14_000);
        expect([kind, ...calls]).toEqual([kind, 0, 1000, 4000, 13_000]);
        await life.stop();
      }
    },
  );

  it('works on a store', async () => {
    const world = createWorld();
    const store = await openStore<Thing>({ clock: world.clock });
    await store.put('o', { spec: { a: 1 } });
    const life = await world.start(push, { source: createStoreSource(store, { prefix: '' }) });
    await world.clock.advance(60_000);
    expect(life.stats().calls).toBeLessThan(60);
    await life.stop();
    await store.close();
  });

  it.each([
    ['with the own one', 0],
    ['without the own one', 1],
  ])('begins anew for a change that is heard of before the answer to a patch, %s', async (_name, dropRate) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 0 } });
    const source: ObjectSource<Thing> = {
      ...meddled(world, () => {}),
      async patch(patch, options) {
        world.source.setFaults({ dropRate });
        const result = await world.source.patch(patch, options);
        world.source.setFaults({});
        const before = world.source.objects[0]?.object;
        world.source.put('o', { ...before, spec: { n: Number(before?.spec?.n) + 1 } });
        await sleep(world.clock, 1);
        return result;
      },
    };
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => {
          if (Number(ctx.new) < 30) ctx.patch({ status: { seen: ctx.new } });
        }),
      { source },
    );
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 31, loops: 0 });
    await life.stop();
  });
});
