import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { HandlerOptions } from '../../../src/handlers/options.ts';
import type { HandlerKind } from '../../../src/handlers/registry.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

const A = { spec: { n: 'A' } };
const B = { spec: { n: 'B' } };
const C = { spec: { n: 'C' } };

function recorder(world: World, kind: HandlerKind, fail: (value: unknown) => unknown = () => undefined) {
  const calls: string[] = [];
  const register = (controller: Controller<Thing>, options: Partial<HandlerOptions<Thing>> = {}): void =>
    controller.on(kind, { id: 'h', field: 'spec.n', retries: 0, ...options }, async (ctx) => {
      calls.push(`${ctx.cause} ${ctx.old} -> ${ctx.new}`);
      await sleep(world.clock, 10);
      const error = fail(ctx.new);
      if (error !== undefined) throw error;
    });
  return {
    register: (controller: Controller<Thing>) => register(controller),
    registerWith: register,
    take: () => calls.splice(0),
  };
}

/** The world's source, with another first list and no watch. */
function lists({ source }: World, list: Awaited<ReturnType<World['source']['list']>>) {
  return {
    list: async () => list,
    async *watch() {
      await new Promise(() => {});
      yield { type: 'bookmark' as const, resourceVersion: '0' };
    },
    get: (name: string) => source.get(name, {}),
    compare: (a: string, b: string) => source.compare(a, b),
  };
}

describe('handlers of updates (D14)', () => {
  it('take the first view as done without a call, and write that', async () => {
    const world = createWorld();
    const { register, take } = recorder(world, 'update');
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    expect([take(), world.written.length]).toEqual([[], 1]);
    expect(world.written[0]?.records.h).toMatchObject({ attempt: { state: 'ok' } });
    world.source.put('o', { ...A, status: { n: 1 } });
    await life.settle();
    expect([take(), world.written.length]).toEqual([[], 1]);
    world.source.put('o', B);
    await life.settle();
    expect(take()).toEqual(['update A -> B']);
    await life.stop();
  });

  it('row 27: first view, crash, edit, restart: it is called for the edit', async () => {
    const world = createWorld();
    const { register, take } = recorder(world, 'update');
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    await life.stop();
    world.source.put('o', B);
    const next = await world.start(register);
    await next.settle();
    expect(take()).toEqual(['update A -> B']);
    await next.stop();
  });

  it('row 27: nor does an older list sweep the adoption away', async () => {
    const world = createWorld();
    const { register, take } = recorder(world, 'update');
    world.source.put('x', A);
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    await life.stop();
    const stale = { resourceVersion: '1', items: [] };
    const next = await world.start(register, { source: lists(world, stale) });
    await next.settle();
    await next.stop();
    world.source.put('o', B);
    const last = await world.start(register);
    await last.settle();
    expect(take()).toEqual(['update A -> B']);
    await last.stop();
  });

  it('row 27: the adoption is written with the first intent, before any call', async () => {
    const world = createWorld();
    const { register, take } = recorder(world, 'update');
    world.source.put('o', A);
    const life = await world.start((controller) => {
      register(controller);
      controller.on('change', { id: 'other' }, () => {});
    });
    await life.settle();
    expect(Object.keys(world.written[0]?.records ?? {}).sort()).toEqual(['h', 'other']);
    expect([take(), world.written.length]).toEqual([[], 2]);
    await life.stop();
  });

  it('may have subs, which run for the first change', async () => {
    const world = createWorld();
    const calls: unknown[] = [];
    world.source.put('o', A);
    const life = await world.start((controller) =>
      controller.on('update', { id: 'p', field: 'spec.n' }, (ctx) => {
        ctx.sub('s', {}, (sub) => {
          calls.push([sub.cause, sub.new]);
        });
      }),
    );
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    expect(calls).toEqual([['create', 'B']]);
    await life.stop();
  });
});

describe('handlers of creations (D14)', () => {
  it('are done for good with their first success', async () => {
    const world = createWorld();
    const { register, take } = recorder(world, 'create');
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    expect([take(), world.written.length]).toEqual([['create undefined -> A'], 2]);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    expect((await world.progress.get('uid-1'))?.bases).toEqual({});
    world.source.delete('o');
    world.source.put('o', B);
    await life.settle();
    expect(take()).toEqual(['create undefined -> B']);
    await life.stop();
  });

  it('are called again after a failure, when their view has changed', async () => {
    const world = createWorld();
    const { register, take } = recorder(world, 'create', (value) => (value === 'A' ? new Error('no') : undefined));
    world.source.put('o', A);
    const life = await world.start(register);
    for (const state of [B, C]) {
      await life.settle();
      world.source.put('o', state);
    }
    await life.settle();
    expect(take()).toEqual(['create undefined -> A', 'create undefined -> B']);
    await life.stop();
  });
});

describe('handlers that resume', () => {
  it('are called once for each object by each process, with retries, whatever changes', async () => {
    const world = createWorld();
    let failures = 1;
    const { registerWith, take } = recorder(world, 'resume', () => (failures-- > 0 ? new Error('no') : undefined));
    const register = (controller: Controller<Thing>): void => registerWith(controller, { retries: 3 });
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    expect(take()).toEqual(['resume undefined -> A', 'resume undefined -> A']);
    await life.stop();
    let seed = 7;
    const next = await world.start(register, { random: () => (seed++ % 97) / 97 });
    await next.settle();
    expect(take()).toEqual(['resume undefined -> B']);
    world.source.put('p', C);
    await next.settle();
    expect(take()).toEqual(['resume undefined -> C']);
    await next.stop();
  });
});

describe('kinds that have no subs', () => {
  it.each(['create', 'resume'] as const)('%s', async (kind) => {
    const world = createWorld();
    const errors: string[] = [];
    world.source.put('o', A);
    const life = await world.start((controller) =>
      controller.on(kind, { id: 'h' }, (ctx) => {
        try {
          ctx.sub('s', {}, () => {});
        } catch (error) {
          errors.push(String(error));
        }
      }),
    );
    await life.settle();
    expect(errors).toEqual([expect.stringContaining('a sub-handler below a handler of this kind is not supported')]);
    await life.stop();
  });
});
