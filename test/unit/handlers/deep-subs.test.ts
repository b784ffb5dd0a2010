import { describe, expect, it } from 'vitest';
import type { ParentContext, SubContext } from '../../../src/handlers/context.ts';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { HandlerOptions } from '../../../src/handlers/options.ts';
import { SUB_DEPTH_MAX, SUBS_MAX } from '../../../src/handlers/plan-builder.ts';
import { LimitExceededError } from '../../../src/types/errors.ts';
import { createWorld, type Thing } from './harness.ts';

/** Ids with what is below them, as `spec` says; a leaf is a number, its args. */
interface Tree {
  readonly [id: string]: Tree | number;
}

/** A handler whose subs are the tree in `spec`. Logs each call by its path. */
function forest() {
  const log: string[] = [];
  const plant = (ctx: ParentContext<Thing>, tree: Tree): void => {
    for (const [id, below] of Object.entries(tree)) {
      ctx.sub(id, { args: below, select: () => null }, (sub) => {
        if (typeof below !== 'number') plant(sub, below);
        log.push(`${sub.parentId}/${sub.id}`);
      });
    }
  };
  const register = (controller: Controller<Thing>, options: Partial<HandlerOptions<Thing>> = {}): void =>
    controller.on('change', { id: 'p', field: 'spec', ...options }, (ctx) => {
      plant(ctx, ctx.new as Tree);
      log.push('p');
    });
  return { log, register, take: () => log.splice(0) };
}

describe("subs of subs (A9'f)", () => {
  it('are called after the sub that has registered them, with its view unless they say otherwise', async () => {
    const world = createWorld();
    const log: unknown[] = [];
    const note = (sub: SubContext<Thing>): void => {
      log.push([sub.parentId, sub.id, sub.args, sub.new, sub.old, sub.cause]);
    };
    world.source.put('o', { spec: { a: 1, b: 2 }, status: { m: 3 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
        ctx.sub('s', { field: 'spec.a', args: 'x' }, (sub) => {
          sub.sub('view', {}, note);
          sub.sub('field', { field: 'status.m', args: [0] }, note);
          sub.sub('select', { select: (view) => [view] }, (selected) => {
            note(selected);
            selected.sub('same', {}, note);
          });
        });
      }),
    );
    await life.settle();
    expect(log.splice(0)).toEqual([
      ['p/s', 'view', undefined, 1, undefined, 'create'],
      ['p/s', 'field', [0], 3, undefined, 'create'],
      ['p/s', 'select', undefined, [1], undefined, 'create'],
      ['p/s/select', 'same', undefined, [1], undefined, 'create'],
    ]);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    world.source.put('o', { spec: { a: 1, b: 9 }, status: { m: 4 } });
    await life.settle();
    expect(log.splice(0)).toEqual([['p/s', 'field', [0], 4, 3, 'update']]);
    world.source.put('o', { spec: { a: 5, b: 9 }, status: { m: 4 } });
    await life.settle();
    expect(log.splice(0)).toEqual([
      ['p/s', 'view', undefined, 5, 1, 'update'],
      ['p/s', 'select', undefined, [5], [1], 'update'],
      ['p/s/select', 'same', undefined, [5], [1], 'update'],
    ]);
    await life.stop();
  });

  it("`old` moves bottom up: of the sub with its subs, of the handler with the sub (A9'a)", async () => {
    const world = createWorld();
    const olds: unknown[] = [];
    let isBroken = true;
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        olds.push(['p', ctx.old]);
        ctx.sub('s', {}, (sub) => {
          olds.push(['s', sub.old]);
          sub.sub('t', {}, () => {
            if (isBroken) throw new Error('not yet');
          });
        });
      }),
    );
    await world.clock.advance(50);
    expect(life.controller.state('o')).toMatchObject({
      settled: false,
      handlers: [{ id: 'p', succeeded: undefined }, { id: 'p/s', succeeded: undefined }, { id: 'p/s/t' }],
    });
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.advance(50);
    isBroken = false;
    await life.settle();
    world.source.put('o', { spec: { n: 3 } });
    await life.settle();
    expect(olds).toEqual([
      ['p', undefined],
      ['s', undefined],
      ['p', undefined],
      ['s', undefined],
      ['p', 2],
      ['s', 2],
    ]);
    await life.stop();
  });

  it('a sub that is planned with select instead of a field plans anew, and what is below it sees the same as before', async () => {
    const world = createWorld();
    const log: unknown[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
        const { selects } = ctx.new as { selects: boolean };
        const select = (view: unknown): unknown => (view as { v: number }).v;
        ctx.sub('s', selects ? { select } : { field: 'spec.v' }, (sub) => {
          log.push(`s ${String(sub.new)}`);
          sub.sub('t', {}, (deep) => {
            log.push(`t ${String(deep.new)}`);
          });
        });
      }),
    );
    for (const selects of [false, true, false]) {
      world.source.put('o', { spec: { v: 1, selects } });
      await life.settle();
    }
    expect(log).toEqual(['s 1', 't 1', 's 1', 's 1']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it("rest below a sub that has failed, and its parent is complete without them (A9'c)", async () => {
    const world = createWorld();
    let isBroken = false;
    const log: string[] = [];
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        ctx.sub('s', { retries: 0 }, (sub) => {
          if (isBroken) throw new Error('no');
          sub.sub('t', { field: 'status.m' }, (deep) => {
            log.push(`t ${String(deep.new)}`);
          });
        });
      }),
    );
    await life.settle();
    isBroken = true;
    world.source.put('o', { spec: { n: 2 }, status: { m: 2 } });
    await life.settle();
    expect(log).toEqual(['t 1']);
    expect(life.controller.state('o')).toMatchObject({
      settled: true,
      succeeded: false,
      handlers: [{ state: 'ok' }, { id: 'p/s', state: 'failed' }, { id: 'p/s/t', inScope: false, state: 'ok' }],
    });
    await life.stop();
  });

  it("are registered again from the handler down, and only where one of them is due (A9'd)", async () => {
    const world = createWorld();
    const log: string[] = [];
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        log.push(`p ${ctx.rebuild}`);
        for (const id of ['s', 'u'])
          ctx.sub(id, {}, (sub) => {
            log.push(`${id} ${sub.rebuild}`);
            sub.sub('t', { field: `status.${id}` }, (deep) => {
              log.push(`${id}/t ${String(deep.new)} ${deep.cause}`);
            });
          });
      });
    world.source.put('o', { spec: { n: 1 }, status: { s: 1, u: 1 } });
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    log.length = 0;
    const second = await world.start(register);
    await second.settle();
    expect(second.stats()).toMatchObject({ calls: 0, writes: 0 });
    world.source.put('o', { spec: { n: 1 }, status: { s: 2, u: 1 } });
    await second.settle();
    expect(log).toEqual(['p true', 's true', 's/t 2 update']);
    await second.stop();
  });

  it('rest by backoff where the sub above them cannot register them again, and nobody else does', async () => {
    const world = createWorld();
    const log: string[] = [];
    let fails = 0;
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        ctx.sub('s', {}, (sub) => {
          if (sub.rebuild && fails-- > 0) throw new Error('not ready');
          sub.sub('t', { field: 'status.m' }, (deep) => {
            log.push(`t ${String(deep.new)} at ${world.clock.now()}`);
          });
        });
        ctx.sub('v', { field: 'status.m' }, (sub) => {
          log.push(`v ${String(sub.new)} at ${world.clock.now()}`);
        });
      });
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    log.length = 0;
    fails = 2;
    const start = world.clock.now();
    world.source.put('o', { spec: { n: 1 }, status: { m: 2 } });
    const second = await world.start(register);
    await second.settle();
    expect(log).toEqual([`v 2 at ${start}`, `t 2 at ${start + 300}`]);
    expect(second.stats()).toMatchObject({ temporaryFailures: 0, permanentFailures: 0 });
    await second.stop();
  });
});

describe("subs of subs that leave the plan (A9'f)", () => {
  /** A hook that says whom it was called for. */
  const hooked = (log: string[], fail: (path: string) => boolean = () => false): Partial<HandlerOptions<Thing>> => ({
    retire: (ctx) => {
      log.push(`retire ${ctx.parentId}/${ctx.id}`);
      if (fail(`${ctx.parentId}/${ctx.id}`)) throw new Error('busy');
    },
  });

  it('are retired children first, each with everything below it', async () => {
    const world = createWorld();
    const { log, register, take } = forest();
    world.source.put('o', { spec: { a: { b: { c: 1 }, d: 2 }, e: 3 } });
    const busy = new Set(['p/a/b/c']);
    const options = hooked(log, (path) => busy.delete(path));
    const life = await world.start((controller) => register(controller, options));
    await life.settle();
    take();
    world.source.put('o', { spec: { e: 3 } });
    await life.settle();
    const retired = take().filter((line) => line.startsWith('retire'));
    expect(retired).toHaveLength(5);
    expect(retired.slice(-2)).toEqual(['retire p/a/b', 'retire p/a']);
    expect(Object.keys((await world.progress.get('uid-1'))?.records ?? {}).sort()).toEqual(['p', 'p/e']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('are all retired at a deletion', async () => {
    const world = createWorld();
    const { log, register, take } = forest();
    world.source.put('o', { spec: { a: { b: { c: 1 } } } });
    const life = await world.start((controller) => register(controller, hooked(log)));
    await life.settle();
    take();
    world.source.startDeletion('o');
    await life.settle();
    expect(take()).toEqual(['retire p/a/b/c', 'retire p/a/b', 'retire p/a']);
    expect(world.source.objects).toEqual([]);
    await life.stop();
  });

  it('a sub that is back is called again, since it has lost its plan; what is below it and was not retired is not', async () => {
    const world = createWorld();
    const { log, register, take } = forest();
    world.source.put('o', { spec: { a: { b: 1, c: 2 } } });
    const busy = (path: string): boolean => path === 'p/a/c';
    const life = await world.start((controller) => register(controller, hooked(log, busy)));
    await life.settle();
    expect(take()).toEqual(['p', 'p/a', 'p/a/b', 'p/a/c']);
    world.source.put('o', { spec: {} });
    await world.clock.advance(50);
    expect(take()).toEqual(['p', 'retire p/a/b', 'retire p/a/c']);
    world.source.put('o', { spec: { a: { b: 1, c: 2 } } });
    await life.settle();
    // Of `c` nobody knows what is left, `b` is new, and no call had begun to retire `a`.
    expect(take()).toEqual(['p', 'p/a', 'p/a/b', 'p/a/c']);
    await life.stop();
  });

  it('without a hook their records go with that of their parent', async () => {
    const world = createWorld();
    const { register } = forest();
    world.source.put('o', { spec: { a: { b: { c: 1 } }, d: 1 } });
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', { spec: { d: 1 } });
    await life.settle();
    expect(Object.keys((await world.progress.get('uid-1'))?.records ?? {}).sort()).toEqual(['p', 'p/d']);
    await life.stop();
  });

  it('wait for a parent that is due: it may have them again', async () => {
    const world = createWorld();
    const log: string[] = [];
    let isBroken = false;
    world.source.put('o', { spec: { ids: ['x', 'y'] } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec', ...hooked(log) }, (ctx) => {
        ctx.sub('s', {}, (sub) => {
          log.push('s');
          if (isBroken) throw new Error('no');
          for (const id of (sub.new as { ids: string[] }).ids) sub.sub(id, { select: () => 0 }, () => {});
        });
      }),
    );
    await life.settle();
    world.source.put('o', { spec: { ids: ['y'], n: 1 } });
    isBroken = true;
    await world.clock.advance(50);
    isBroken = false;
    await life.settle();
    expect(log).toEqual(['s', 's', 's', 'retire p/s/x']);
    await life.stop();
  });
});

describe("bounds of subs of subs (A9'f)", () => {
  it(`${SUB_DEPTH_MAX} levels, and not one more`, async () => {
    const world = createWorld();
    const depths: number[] = [];
    const errors: unknown[] = [];
    const deeper = (ctx: ParentContext<Thing>, depth: number): void => {
      try {
        ctx.sub('s', {}, (sub) => {
          depths.push(depth);
          deeper(sub, depth + 1);
        });
      } catch (error) {
        errors.push(error);
      }
    };
    world.source.put('o', { spec: {} });
    const life = await world.start((controller) => controller.on('change', { id: 'p' }, (ctx) => deeper(ctx, 1)));
    await life.settle();
    expect(depths).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(errors).toEqual([expect.any(LimitExceededError)]);
    expect(errors).toMatchObject([{ limit: 'levels of subs', max: SUB_DEPTH_MAX, actual: SUB_DEPTH_MAX + 1 }]);
    await life.stop();
  });

  it(`${SUBS_MAX} below one handler on all levels together, and not one more; what a plan replaces does not count`, async () => {
    const world = createWorld();
    const errors: unknown[] = [];
    const counts: number[] = [];
    const fill = (ctx: ParentContext<Thing>): void => {
      let count = 0;
      try {
        for (; ; count++) ctx.sub(`s${count}`, { select: () => 0, args: ctx.new as number }, () => {});
      } catch (error) {
        counts.push(count);
        errors.push(error);
      }
    };
    world.source.put('o', { spec: { n: 0 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        for (let n = 0; n < 90; n++) ctx.sub(`few${n}`, { select: () => 0 }, () => {});
        ctx.sub('many', {}, fill);
      });
      controller.on('create', { id: 'other' }, () => {});
    });
    await world.clock.settle();
    world.source.put('o', { spec: { n: 1 } });
    await life.settle();
    expect(counts).toEqual([SUBS_MAX - 91, SUBS_MAX - 91]);
    expect(errors).toMatchObject([
      { limit: 'subs', max: SUBS_MAX, actual: SUBS_MAX + 1 },
      { limit: 'subs', max: SUBS_MAX },
    ]);
    await life.stop();
  }, 60_000);
});
