import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
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
