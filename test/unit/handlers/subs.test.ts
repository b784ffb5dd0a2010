import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import { createWorld, sleep, type Thing } from './harness.ts';

describe('sub-handlers', () => {
  it('run after the parent has returned, with args, their own view, old, diff and cause', async () => {
    const world = createWorld();
    const log: unknown[] = [];
    world.source.put('o', { spec: { zones: ['x'], n: 1 }, status: { m: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec' }, async (ctx) => {
        ctx.sub('plain', { args: { z: 1 } }, (sub) => {
          log.push([sub.parentId, sub.id, sub.args, sub.new, sub.old, sub.cause]);
        });
        ctx.sub('field', { field: '/status/m' }, (sub) => {
          log.push([sub.id, sub.args, sub.new, sub.old, sub.cause, sub.diff]);
        });
        ctx.sub('select', { select: (view) => (view as { n: number }).n }, (sub) => {
          log.push([sub.id, sub.new, sub.old]);
        });
        await sleep(world.clock, 10);
        log.push('parent returns');
      }),
    );
    await life.settle();
    expect(log.splice(0)).toEqual([
      'parent returns',
      ['p', 'plain', { z: 1 }, { zones: ['x'], n: 1 }, undefined, 'create'],
      ['field', undefined, 1, undefined, 'create', [{ path: '', old: undefined, new: 1 }]],
      ['select', 1, undefined],
    ]);
    // Outside the parent's view: only the sub that sees it, and not the parent.
    world.source.put('o', { spec: { zones: ['x'], n: 1 }, status: { m: 2 } });
    await life.settle();
    expect(log.splice(0)).toEqual([['field', undefined, 2, 1, 'update', [{ path: '', old: 1, new: 2 }]]]);
    // A part of the parent's view that `select` leaves out.
    world.source.put('o', { spec: { zones: ['y'], n: 1 }, status: { m: 2 } });
    await life.settle();
    expect(log.splice(0)).toEqual([
      'parent returns',
      ['p', 'plain', { z: 1 }, { zones: ['y'], n: 1 }, { zones: ['x'], n: 1 }, 'update'],
    ]);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('new args are a new input; a sub that leaves the plan loses its record, and begins anew when it is back (row 4)', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const keys = new Set<string>();
    const plans: Record<string, Record<string, number>> = { A: { s: 1, t: 1 }, B: { s: 2 }, C: { s: 2, t: 1 } };
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        for (const [id, args] of Object.entries(plans[String(ctx.new)] ?? {})) {
          ctx.sub(id, { args, select: () => 'always the same' }, (sub) => {
            calls.push(`${id} ${String(sub.args)} ${sub.cause}`);
            keys.add(sub.idempotencyKey);
          });
        }
      }),
    );
    for (const n of ['A', 'B', 'C']) {
      world.source.put('o', { spec: { n } });
      await life.settle();
    }
    expect(calls).toEqual(['s 1 create', 't 1 create', 's 2 update', 't 1 create']);
    expect(keys.size).toBe(4);
    await life.stop();
  });

  it("a parent is complete, and `old` moves, only when every sub is settled (A9'a)", async () => {
    const world = createWorld();
    const olds: unknown[] = [];
    let isBroken = true;
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        olds.push(ctx.old);
        ctx.sub('s', {}, () => {
          if (isBroken) throw new Error('not yet');
        });
      }),
    );
    await world.clock.advance(50);
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.advance(50);
    isBroken = false;
    await life.settle();
    world.source.put('o', { spec: { n: 3 } });
    await life.settle();
    expect(olds).toEqual([undefined, undefined, 2]);
    await life.stop();
  });

  it("after a restart at rest nothing is rebuilt, with subs of every kind (I17')", async () => {
    const world = createWorld();
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
        ctx.sub('plain', { args: 1 }, () => {});
        ctx.sub('field', { field: 'status.m' }, () => {});
        ctx.sub('select', { select: (view) => view }, () => {});
      });
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    const second = await world.start(register);
    await second.settle();
    expect(second.stats()).toMatchObject({ calls: 0, writes: 0 });
    await second.stop();
  });

  it("with a sub due after a restart, the parent is called first, only to rebuild (A9'd)", async () => {
    const world = createWorld();
    const log: string[] = [];
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        log.push(`p rebuild=${ctx.rebuild} old=${String(ctx.old)}`);
        ctx.sub('s', { field: 'status.m' }, (sub) => {
          log.push(`s ${String(sub.new)} ${sub.cause}`);
        });
        ctx.sub('t', {}, () => {
          log.push('t');
        });
      });
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    world.source.put('o', { spec: { n: 1 }, status: { m: 2 } });
    const second = await world.start(register);
    await second.settle();
    expect(log.slice(3)).toEqual(['p rebuild=true old=1', 's 2 update']);
    expect(second.stats()).toMatchObject({ calls: 2, writes: 2 });
    await second.stop();
  });

  it('a rebuild that fails lets the subs rest by backoff and counts against nobody', async () => {
    const world = createWorld();
    const at: number[] = [];
    let isFirst = true;
    let fails = 3;
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n', retries: 0 }, (ctx) => {
        if (ctx.rebuild) at.push(world.clock.now());
        if (!isFirst && fails-- > 0) throw new Error('not ready');
        for (const id of ['s', 't']) ctx.sub(id, { field: 'status.m', retries: 0 }, () => {});
      });
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    isFirst = false;
    const start = world.clock.now();
    world.source.put('o', { spec: { n: 1 }, status: { m: 2 } });
    const second = await world.start(register);
    await second.settle();
    expect(at.map((time) => time - start)).toEqual([0, 100, 300, 700]);
    expect(second.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    expect(second.stats()).toMatchObject({ successes: 2, permanentFailures: 0, temporaryFailures: 0 });
    await second.stop();
  });

  it('a rebuild with other ids is adopted as a new plan and reported', async () => {
    const world = createWorld();
    const log: string[] = [];
    const warnings: string[] = [];
    let ids = ['s', 't'];
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        for (const id of ids) {
          ctx.sub(id, { field: 'status.m' }, (sub) => {
            log.push(`${id} ${String(sub.new)}`);
          });
        }
      });
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    ids = ['t', 'u'];
    world.source.put('o', { spec: { n: 1 }, status: { m: 2 } });
    const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => warnings.push(message) };
    const second = await world.start(register, { logger });
    await second.settle();
    expect(log).toEqual(['s 1', 't 1', 't 2', 'u 2']);
    expect(warnings).toEqual(['Handler "p" has registered other sub-handlers on an equal view']);
    expect(Object.keys((await world.progress.get('uid-1'))?.records ?? {}).sort()).toEqual(['p', 'p/t', 'p/u']);
    await second.stop();
  });

  it("a sub that runs on an outdated state on purpose is not told to stop for being outdated (A10')", async () => {
    const world = createWorld();
    const log: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
        ctx.sub('s', {}, async (sub) => {
          await sleep(world.clock, 100);
          log.push(`s ${String(sub.new)} ${sub.signal.aborted}`);
        });
        await sleep(world.clock, 100);
        log.push(`p ${String(ctx.new)} ${ctx.signal.aborted}`);
      }),
    );
    await world.clock.advance(50);
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.advance(100);
    world.source.put('o', { spec: { n: 3 } });
    await life.settle();
    expect(log).toEqual(['p 1 true', 's 1 false', 'p 3 false', 's 3 false']);
    await life.stop();
  });

  it('subs have retries, timeouts and a signal of their own', async () => {
    const world = createWorld();
    const signals: AbortSignal[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n', retries: 7 }, (ctx) => {
        ctx.sub('s', { retries: 1, timeoutMs: 50 }, async (sub) => {
          signals.push(sub.signal);
          await new Promise(() => {});
        });
      }),
    );
    await life.settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(life.controller.state('o')).toMatchObject({
      settled: true,
      succeeded: false,
      handlers: [
        { id: 'p', state: 'ok' },
        { id: 'p/s', state: 'failed', attempts: 2 },
      ],
    });
    await life.stop();
  });
});

describe("waits (A4')", () => {
  it('a jump of the wall clock moves no wait of a running process', async () => {
    for (const deltaMs of [-86_400_000, 86_400_000]) {
      const world = createWorld();
      const at: number[] = [];
      world.source.put('o', {});
      const life = await world.start((controller) =>
        controller.on('change', { id: 'h', retries: 1 }, () => {
          at.push(world.clock.now());
          throw new Error('no');
        }),
      );
      await world.clock.advance(20);
      world.clock.jumpWallTime(deltaMs);
      await life.settle();
      expect(at).toEqual([0, 100]);
      await life.stop();
    }
  });

  it('a new process believes a stored wait for no longer than it was meant', async () => {
    for (const [deltaMs, expected] of [
      [0, 70],
      [-86_400_000, 100],
      [86_400_000, 0],
    ] as const) {
      const world = createWorld();
      const at: number[] = [];
      world.source.put('o', {});
      const register = (controller: Controller<Thing>): void =>
        controller.on('change', { id: 'h', retries: 1 }, () => {
          at.push(world.clock.now());
          throw new Error('no');
        });
      const first = await world.start(register);
      first.abort();
      const stored = await world.progress.get('uid-1');
      await world.clock.advance(30);
      world.clock.jumpWallTime(deltaMs);
      const start = world.clock.now();
      const second = await world.start(register);
      await world.clock.advance(expected - 1);
      expect(stored?.records.h?.attempt).toMatchObject({ state: 'open', failures: 1, delayMs: 100 });
      if (expected > 0) expect(at).toEqual([0]);
      await world.clock.advance(1);
      expect(at[1]).toBe(start + expected);
      await second.stop();
      await first.stop();
    }
  });
});
