import { describe, expect, it } from 'vitest';
import type { HandlerOptions } from '../../../src/handlers/options.ts';
import { createWorld, type Thing } from './harness.ts';
import { meddled } from './own-write-rig.ts';

/** The last state of an object is one that a handler for deletions cannot look at. */
describe("a fault of a handler for deletions (A11'c)", () => {
  const fault = (object: Thing): boolean => {
    if (object.spec?.bad === true) throw new Error('cannot look');
    return true;
  };
  const setUp = async (options: Partial<HandlerOptions<Thing>>) => {
    const world = createWorld();
    const deleted: string[] = [];
    const version = (extra: Partial<HandlerOptions<Thing>>) =>
      world.start((controller) => {
        controller.on('delete', { id: 'other', field: 'spec.n' }, () => void deleted.push('other'));
        controller.on('delete', { id: 'd', ...extra }, () => void deleted.push('d'));
      });
    world.source.put('o', { spec: { n: 1 } });
    const life = await version(options);
    await life.settle();
    world.source.put('o', { spec: { bad: true } });
    world.source.startDeletion('o');
    await life.settle();
    return { world, deleted, version, life };
  };

  it.each<[string, Partial<HandlerOptions<Thing>>]>([
    ['filter', { when: fault }],
    ['view', { select: fault }],
  ])('in its %s keeps the object, at rest, until another version can look', async (_name, options) => {
    const { world, deleted, version, life } = await setUp(options);
    expect([deleted, world.source.objects.length, world.clock.pending]).toEqual([['other'], 1, 0]);
    expect(life.controller.state('o')).toMatchObject({ deleting: true, settled: false });
    await life.stop();
    const next = await version({});
    await next.settle();
    expect([deleted, world.source.objects]).toEqual([['other', 'd'], []]);
    await next.stop();
  });

  it('keeps it until another state can be looked at', async () => {
    const { world, deleted, life } = await setUp({ when: fault });
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect([deleted, world.source.objects]).toEqual([['other', 'd'], []]);
    await life.stop();
  });
});

describe("a source that leaves finalizers as they are (A11'a)", () => {
  it.each(['add', 'remove'])('%s: the object waits by backoff, and nothing is called', async (which) => {
    const world = createWorld();
    let patches = 0;
    const calls: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    if (which === 'remove') {
      world.source.setFinalizers('o', ['plimsoll.dev/handlers']);
      world.source.startDeletion('o');
    }
    const source = {
      ...meddled(world, () => {}),
      async patch() {
        const object = world.source.objects[0];
        if (object === undefined || ++patches > 100) throw new Error('asked without end');
        return { type: 'patched', object } as const;
      },
    };
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'h' }, () => void calls.push('h'));
        controller.on('delete', { id: 'd', when: () => which === 'add' }, () => void calls.push('d'));
      },
      { source },
    );
    await world.clock.advance(10_000);
    expect([calls, patches > 1 && patches < 20, life.stats().waiting]).toEqual([[], true, 1]);
    await life.stop();
  });
});
