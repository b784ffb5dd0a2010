import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import { PermanentError } from '../../../src/types/errors.ts';
import type { ObjectSource, SourcePatch } from '../../../src/types/source.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';
import { meddled } from './own-write-rig.ts';

const OURS = 'plimsoll.dev/handlers';
const isLabelled = (object: Thing): boolean => object.metadata?.on === true;

/** A parent with subs and a hook, a leaf, and a handler for deletions, and what they did. */
function recorder(world: World, fail: (what: string, call: number) => unknown = () => undefined) {
  const calls: string[] = [];
  const act = async (what: string): Promise<void> => {
    const count = calls.push(what);
    await sleep(world.clock, 10);
    const error = fail(what, count);
    if (error !== undefined) throw error;
  };
  const parent = (controller: Controller<Thing>): void =>
    controller.on('change', { id: 'p', field: 'spec.subs', retire: (ctx) => act(`retire ${ctx.id}`) }, (ctx) => {
      for (const id of (ctx.new ?? []) as string[]) ctx.sub(id, {}, () => act(`sub ${id}`));
    });
  const leaf = (controller: Controller<Thing>): void =>
    controller.on('change', { id: 'leaf', field: 'spec.n' }, (ctx) => act(`leaf ${ctx.new}`));
  const deletion = (controller: Controller<Thing>, when: (object: Thing) => boolean = () => true): void =>
    controller.on('delete', { id: 'd', field: 'spec.n', when, retries: 2 }, (ctx) => act(`${ctx.cause} ${ctx.new}`));
  return { calls, take: () => calls.splice(0), parent, leaf, deletion };
}

const held = (world: World) => world.source.objects.map(({ finalizers }) => finalizers);

describe("the finalizer (A11'a)", () => {
  it('is there before the first call, and is put on by the first state that needs it', async () => {
    const world = createWorld();
    const log: unknown[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'leaf' }, () => {
        log.push(held(world));
      });
      controller.on('delete', { id: 'd', when: isLabelled }, () => {});
    });
    await life.settle();
    expect(log).toEqual([[[]]]);
    world.source.put('o', { spec: { n: 2 }, metadata: { on: true } });
    await life.settle();
    expect(log).toEqual([[[]], [[OURS]]]);
    await life.stop();
  });

  it('is put on once, also if nothing else is to be done; others are left alone', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    world.source.setFinalizers('o', ['theirs']);
    const { deletion } = recorder(world);
    const life = await world.start((controller) => deletion(controller), { finalizer: 'example.com/mine' });
    await life.settle();
    expect([held(world), world.source.resourceVersion, life.stats().calls]).toEqual([
      [['theirs', 'example.com/mine']],
      '3',
      0,
    ]);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect([world.source.resourceVersion, life.stats().calls, world.written.length]).toEqual(['4', 0, 0]);
    world.source.startDeletion('o');
    await life.settle();
    expect([held(world), life.stats().calls]).toEqual([[['theirs']], 1]);
    await life.stop();
  });

  it('is not put on without a handler that the deletion concerns', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const { leaf, deletion } = recorder(world);
    const life = await world.start((controller) => {
      leaf(controller);
      deletion(controller, isLabelled);
    });
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    expect([held(world), life.stats().calls, life.stats().patches]).toEqual([[[]], 1, 0]);
    await life.stop();
  });

  it('deletion seen without our finalizer: no call, no write', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    world.source.startDeletion('o');
    const { leaf, deletion } = recorder(world);
    const life = await world.start((controller) => {
      leaf(controller);
      deletion(controller);
    });
    await life.settle();
    expect([life.stats().calls, life.stats().patches, world.written.length]).toEqual([0, 0, 0]);
    await life.stop();
  });

  it.each([1, 2, 3, 4])('lost and late answers do no harm (seed %i)', async (seed) => {
    const world = createWorld(seed);
    world.source.put('o', { spec: { n: 1, subs: ['a'] } });
    world.source.setFaults({ patchErrorRate: 0.6, patchDelayMsMax: 20 });
    const { calls, parent, deletion } = recorder(world);
    const life = await world.start((controller) => {
      parent(controller);
      deletion(controller);
    });
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    expect([calls, world.source.objects]).toEqual([['sub a', 'retire a', 'delete 1'], []]);
    await life.stop();
  });
});

describe("the deletion (A11')", () => {
  it('row 25: subs of the live plan are retired, then the delete handlers are called, then the object goes', async () => {
    const world = createWorld();
    const { parent, leaf, deletion, take } = recorder(world);
    world.source.put('o', { spec: { n: 1, subs: ['a', 'b'] } });
    const life = await world.start((controller) => {
      deletion(controller);
      parent(controller);
      leaf(controller);
    });
    await life.settle();
    expect(take()).toEqual(['leaf 1', 'sub a', 'sub b']);
    world.source.startDeletion('o');
    await life.settle();
    expect(take()).toEqual(['retire a', 'retire b', 'delete 1']);
    expect([world.source.objects, world.progress.size, world.clock.pending]).toEqual([[], 0, 0]);
    await life.stop();
  });

  it('drops the patch of a call that was running, and keeps its record', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on(
        'change',
        { id: 'p', field: 'spec.n', retire: (ctx) => void calls.push(`retire ${ctx.id}`) },
        (ctx) => {
          ctx.sub('s', {}, async (sub) => {
            calls.push('sub');
            sub.patch({ spec: { late: true } });
            await sleep(world.clock, 10);
            calls.push(String(sub.signal.reason));
          });
        },
      );
    });
    await world.clock.advance(5);
    world.source.startDeletion('o');
    const version = world.source.resourceVersion;
    await life.settle();
    expect(calls).toEqual(['sub', 'AbortError: The object is deleted', 'retire s']);
    expect([world.source.objects, Number(world.source.resourceVersion)]).toEqual([[], Number(version) + 1]);
    await life.stop();
  });

  it('waits for hooks and delete handlers that fail, and for no limit but theirs', async () => {
    const world = createWorld();
    const { parent, deletion, take } = recorder(world, (what, call) => {
      if (what === 'retire a' && call < 4) return new PermanentError('not yet');
      return what.startsWith('delete') ? new Error('no') : undefined;
    });
    world.source.put('o', { spec: { n: 1, subs: ['a'] } });
    const life = await world.start((controller) => {
      parent(controller);
      deletion(controller);
    });
    await life.settle();
    world.source.startDeletion('o');
    await world.clock.advance(15);
    expect(life.controller.state('o')).toMatchObject({ deleting: true, settled: false });
    await life.settle();
    expect(take()).toEqual(['sub a', 'retire a', 'retire a', 'retire a', 'delete 1', 'delete 1', 'delete 1']);
    expect(world.source.objects).toEqual([]);
    await life.stop();
  });

  it('calls a delete handler once, whatever changes while the object waits for somebody else', async () => {
    const world = createWorld();
    const { deletion, take } = recorder(world);
    world.source.put('o', { spec: { n: 1 } });
    world.source.setFinalizers('o', ['theirs']);
    const life = await world.start((controller) => deletion(controller));
    await life.settle();
    world.source.startDeletion('o');
    await world.clock.advance(5);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    world.source.put('o', { spec: { n: 3 } });
    await life.settle();
    expect([take(), held(world)]).toEqual([['delete 1'], [['theirs']]]);
    await life.stop();
  });

  it('takes patches of delete handlers', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    world.source.setFinalizers('o', ['theirs']);
    const life = await world.start((controller) =>
      controller.on('delete', { id: 'd' }, (ctx) => ctx.patch({ status: { cleaned: true } })),
    );
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    expect(world.source.objects).toMatchObject([{ finalizers: ['theirs'], object: { status: { cleaned: true } } }]);
    await life.stop();
  });

  it('row 24: a label edit during the removal of the finalizer: the delete handler is called', async () => {
    const world = createWorld();
    const { deletion, take } = recorder(world);
    world.source.put('o', { spec: { n: 1 }, metadata: { on: true } });
    const source: ObjectSource<Thing> = meddled(world, ({ removeFinalizer }: SourcePatch) => {
      const { object } = world.source.objects[0] ?? {};
      if (removeFinalizer !== undefined && object?.metadata?.on === false) {
        world.source.put('o', { spec: { n: 2 }, metadata: { on: true } });
      }
    });
    const life = await world.start((controller) => deletion(controller, isLabelled), { source });
    await life.settle();
    world.source.put('o', { spec: { n: 1 }, metadata: { on: false } });
    world.source.startDeletion('o');
    await life.settle();
    expect([take(), world.source.objects]).toEqual([['delete 2'], []]);
    await life.stop();
  });

  it('does not call delete handlers that are out of scope then', async () => {
    const world = createWorld();
    const { deletion, take } = recorder(world);
    world.source.put('o', { spec: { n: 1 }, metadata: { on: true } });
    const life = await world.start((controller) => deletion(controller, isLabelled));
    await life.settle();
    world.source.put('o', { spec: { n: 1 }, metadata: { on: false } });
    world.source.startDeletion('o');
    await life.settle();
    expect([take(), world.source.objects]).toEqual([[], []]);
    await life.stop();
  });

  it('somebody else removes the finalizer: everything is forgotten', async () => {
    const world = createWorld();
    const { parent, take } = recorder(world, (what) => (what.startsWith('retire') ? new Error('no') : undefined));
    world.source.put('o', { spec: { subs: ['a'] } });
    const life = await world.start(parent);
    await life.settle();
    world.source.startDeletion('o');
    await world.clock.advance(15);
    expect(take()).toEqual(['sub a', 'retire a']);
    world.source.setFinalizers('o', []);
    await life.settle();
    expect([take(), world.source.objects, world.progress.size]).toEqual([[], [], 0]);
    await life.stop();
  });

  it('goes on after a restart, also of one that began while nobody was there', async () => {
    const world = createWorld();
    const { parent, deletion, take } = recorder(world);
    const both = (controller: Controller<Thing>): void => {
      parent(controller);
      deletion(controller);
    };
    world.source.put('o', { spec: { n: 1, subs: ['a', 'b'] } });
    const life = await world.start(both);
    await life.settle();
    await life.stop();
    world.source.startDeletion('o');
    const next = await world.start(both);
    await next.settle();
    expect([take(), world.source.objects]).toEqual([['sub a', 'sub b', 'retire a', 'retire b', 'delete 1'], []]);
    await next.stop();
  });

  it('a re-created object waits for the clean-up of the one before it', async () => {
    const world = createWorld();
    const { leaf, deletion, take } = recorder(world);
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      leaf(controller);
      deletion(controller);
    });
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(take()).toEqual(['leaf 1', 'delete 1', 'leaf 2']);
    await life.stop();
  });

  it('has no sub-handlers', async () => {
    const world = createWorld();
    const errors: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('delete', { id: 'd' }, (ctx) => {
        try {
          ctx.sub('s', {}, () => {});
        } catch (error) {
          errors.push(String(error));
        }
      }),
    );
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    expect(errors).toEqual([expect.stringContaining('is not supported')]);
    await life.stop();
  });
});
