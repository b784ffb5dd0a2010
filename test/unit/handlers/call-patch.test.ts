import { describe, expect, it } from 'vitest';
import { createWorld, sleep } from './harness.ts';
import { meddled, run, spec } from './own-write-rig.ts';

describe('the patch of a call', () => {
  const list = async (ifUnchanged: boolean) => {
    const world = createWorld();
    world.source.put('o', { spec: { list: ['a'] } });
    const life = await run(world, async (ctx) => {
      const { list } = ctx.new as { list: string[] };
      await sleep(world.clock, 10);
      if (!list.includes('mine')) ctx.patch({ spec: { list: [...list, 'mine'] } }, { ifUnchanged });
    });
    await world.clock.advance(5);
    world.source.put('o', { spec: { list: ['a', 'b'] } });
    await life.settle();
    await life.stop();
    return { list: spec(world).list, stats: life.stats() };
  };

  it('without ifUnchanged it is laid on the newest state, and a list that was read before loses what came in between', async () => {
    expect((await list(false)).list).toEqual(['a', 'mine']);
  });

  it('with ifUnchanged the call counts for nothing, and is made again on the newest', async () => {
    expect(await list(true)).toMatchObject({
      list: ['a', 'b', 'mine'],
      stats: { superseded: 1, successes: 1, calls: 2 },
    });
  });

  it('with ifUnchanged, a change outside the view does not matter', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, async (ctx) => {
      await sleep(world.clock, 10);
      ctx.patch({ status: { n: 1 } }, { ifUnchanged: true });
    });
    await world.clock.advance(5);
    world.source.put('o', { spec: { n: 1 }, metadata: { beat: 1 } });
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 1, successes: 1, superseded: 0, patches: 1 });
    expect(world.source.objects[0]?.object).toEqual({ spec: { n: 1 }, metadata: { beat: 1 }, status: { n: 1 } });
    await life.stop();
  });

  it('a JSON patch that fits the state of the call, but not the newest one, has the call made again', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 }, status: { count: 1 } });
    const life = await run(world, async (ctx) => {
      const count = Number(ctx.object.status?.count);
      await sleep(world.clock, 10);
      ctx.patch([
        { op: 'test', path: '/status/count', value: count },
        { op: 'replace', path: '/status/count', value: count + 1 },
      ]);
    });
    await world.clock.advance(5);
    world.source.put('o', { spec: { n: 1 }, status: { count: 7 } });
    await life.settle();
    expect(world.source.objects[0]?.object.status).toEqual({ count: 8 });
    expect(life.stats()).toMatchObject({ calls: 2, superseded: 1, successes: 1 });
    await life.stop();
  });

  it('one that does not fit the state of the call fails it', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => ctx.patch([{ op: 'remove', path: '/nothing' }]), { retries: 1 });
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 2, temporaryFailures: 1, permanentFailures: 1, patches: 0 });
    await life.stop();
  });

  it('conflicts are read and redone, the call is not', async () => {
    const world = createWorld();
    let left = 3;
    world.source.put('o', { spec: { n: 1 } });
    const source = meddled(world, () => {
      if (left-- > 0) world.source.put('o', { spec: { n: 1 }, metadata: { left } });
    });
    const life = await run(world, (ctx) => ctx.patch({ status: { seen: 1 } }), { source });
    await life.settle();
    expect(world.source.objects[0]?.object).toEqual({ spec: { n: 1 }, metadata: { left: 0 }, status: { seen: 1 } });
    expect(life.stats()).toMatchObject({ calls: 1, patches: 1 });
    await life.stop();
  });

  it('without an end of conflicts the object waits, and nothing is called again', async () => {
    const world = createWorld();
    let beat = 0;
    world.source.put('o', { spec: { n: 1 } });
    const source = meddled(world, () => {
      if (beat < 40) world.source.put('o', { spec: { n: 1 }, metadata: { beat: ++beat } });
    });
    const life = await run(world, (ctx) => ctx.patch({ status: { seen: 1 } }), { source });
    await world.clock.advance(0);
    expect([beat, life.stats().waiting]).toEqual([16, 1]);
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 1, successes: 1, patches: 1 });
    await life.stop();
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('lost answers repeat no call and no element of a list (seed %i)', async (seed) => {
    const world = createWorld(seed + 1);
    world.source.put('o', { spec: { n: 1 }, status: { list: [] } });
    const life = await run(world, (ctx) => {
      world.source.setFaults({ patchErrorRate: 0.7, patchDelayMsMax: 10 });
      ctx.patch([{ op: 'add', path: '/status/list/-', value: 'x' }]);
    });
    await life.settle();
    expect(world.source.objects[0]?.object.status).toEqual({ list: ['x'] });
    expect(life.stats()).toMatchObject({ calls: 1, successes: 1 });
    await life.stop();
  });

  it('that changes nothing writes nothing', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => ctx.patch({ spec: { n: 1 } }));
    await life.settle();
    expect([world.source.resourceVersion, life.stats().patches, life.stats().calls]).toEqual(['1', 0, 1]);
    await life.stop();
  });

  it('is dropped for an object that is on its way out or gone', async () => {
    const world = createWorld();
    for (const name of ['a', 'b']) world.source.put(name, { spec: { n: 1 } });
    const life = await run(world, async (ctx) => {
      await sleep(world.clock, 10);
      ctx.patch({ status: { n: 1 } });
    });
    await world.clock.advance(5);
    world.source.startDeletion('a');
    world.source.delete('b');
    await life.settle();
    expect(world.source.objects.map(({ object }) => object.status)).toEqual([undefined]);
    expect(life.stats()).toMatchObject({ calls: 2, successes: 2, patches: 0 });
    await life.stop();
  });

  it('of a call that timed out is refused, before and after', async () => {
    const world = createWorld();
    let late: unknown;
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(
      world,
      async (ctx) => {
        ctx.patch({ status: { early: 1 } });
        await sleep(world.clock, 2000);
        try {
          ctx.patch({ status: { late: 1 } });
        } catch (error) {
          late = error;
        }
      },
      { retries: 0 },
    );
    await life.settle();
    await world.clock.advance(2000);
    expect(late).toMatchObject({ name: 'TypeError', message: 'Cannot patch the object of "h": the call is over' });
    expect(world.source.objects[0]?.object.status).toBeUndefined();
    expect(life.controller.state('o')?.handlers).toMatchObject([{ state: 'failed', attempts: 1 }]);
    await life.stop();
  });

  it('is checked where it is given', async () => {
    const world = createWorld();
    const errors: string[] = [];
    const patches: [never, never?][] = [
      ['text' as never],
      [[{ op: 'set' }] as never],
      [{ a: () => 1 } as never],
      [{} as never, { ifunchanged: true } as never],
      [{} as never, { ifUnchanged: 1 } as never],
    ];
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => {
      for (const given of patches) {
        try {
          ctx.patch(...given);
        } catch (error) {
          errors.push(String(error));
        }
      }
      for (let count = 0; count < 1000; count++) ctx.patch({});
      try {
        ctx.patch({});
      } catch (error) {
        errors.push(String(error));
      }
    });
    await life.settle();
    const subject = 'Cannot patch the object of "h": ';
    expect(errors.map((text) => text.slice(text.indexOf(subject) + subject.length))).toEqual([
      'the patch is string, not an object',
      expect.stringContaining('operation 0 has the op set'),
      expect.stringContaining('is not JSON data'),
      'unknown option ifunchanged',
      'ifUnchanged is of type number, not a boolean',
      'patches is at most 1000, got 1001',
    ]);
    await life.stop();
  });

  it('is not supported where the source takes none', async () => {
    const world = createWorld();
    let error: unknown;
    world.source.put('o', { spec: { n: 1 } });
    const { patch: _none, ...source } = meddled(world, () => {});
    const life = await run(
      world,
      (ctx) => {
        try {
          ctx.patch({});
        } catch (thrown) {
          error = thrown;
        }
      },
      { source },
    );
    await life.settle();
    expect(error).toMatchObject({ code: 'UNSUPPORTED' });
    await life.stop();
  });
});
