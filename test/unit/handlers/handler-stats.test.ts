import { describe, expect, it } from 'vitest';
import { BUCKET_MS, HandlerMetrics } from '../../../src/handlers/handler-metrics.ts';
import { PermanentError } from '../../../src/types/errors.ts';
import { createWorld, sleep } from './harness.ts';

describe("the figures of handlers (A36')", () => {
  it('count calls, outcomes, retries and timeouts, subs for their parents', async () => {
    const world = createWorld();
    for (const name of ['o', 'p']) world.source.put(name, { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'parent', retries: 3 }, (ctx) => {
        ctx.sub('fails', { retries: 1 }, () => {
          throw new Error('no');
        });
        ctx.sub('works', {}, () => {});
      });
      controller.on('change', { id: 'late', timeoutMs: 50, retries: 1 }, () => new Promise(() => {}));
      controller.on('change', { id: 'never' }, () => {
        throw new PermanentError('never');
      });
      controller.on('change', { id: 'nobody', when: () => false }, () => {});
    });
    await life.settle();
    const { parent, late, never, nobody } = life.controller.handlerStats();
    expect(parent).toMatchObject({ calls: 8, successes: 4, temporaryFailures: 2, permanentFailures: 2, retries: 2 });
    expect(late).toMatchObject({ calls: 4, temporaryFailures: 2, permanentFailures: 2, timeouts: 4, retries: 2 });
    expect(never).toMatchObject({ calls: 2, permanentFailures: 2, timeouts: 0, retries: 0, behind: 0, lagMs: 0 });
    expect(nobody).toMatchObject({ calls: 0, running: 0, run: { count: 0, sumMs: 0, maxMs: 0 } });
    expect(late?.run).toMatchObject({ count: 4, sumMs: 200, maxMs: 50 });
    await life.stop();
  });

  it('tell superseded calls from failures', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h' }, async ({ signal }) => {
        await sleep(world.clock, 100);
        signal.throwIfAborted();
      }),
    );
    await world.clock.advance(50);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(life.controller.handlerStats().h).toMatchObject({ calls: 2, successes: 1, superseded: 1 });
    await life.stop();
  });

  it('measure calls, and the wait before them without that of a retry', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    let fails = true;
    const life = await world.start((controller) => {
      controller.on('change', { id: 'first' }, () => sleep(world.clock, 30));
      controller.on('change', { id: 'second' }, async () => {
        await sleep(world.clock, 5);
        if (!fails) return;
        fails = false;
        throw new Error('no');
      });
    });
    await life.settle();
    const { first, second } = life.controller.handlerStats();
    expect(first?.run).toMatchObject({ count: 1, sumMs: 30, maxMs: 30 });
    expect(first?.wait).toMatchObject({ count: 1, sumMs: 0 });
    expect(second?.run).toMatchObject({ count: 2, sumMs: 10, maxMs: 5 });
    // Behind the first handler once; the 100 ms before the retry are not counted.
    expect(second?.wait).toMatchObject({ count: 2, sumMs: 30, maxMs: 30 });
    const buckets = first?.run.buckets.filter(({ count }) => count > 0);
    expect(buckets).toEqual([{ leMs: 50, count: 1 }]);
    expect(first?.run.buckets.length).toBe(BUCKET_MS.length + 1);
    await life.stop();
  });

  it('tell for how many objects a handler is behind, and since when, over states in between', async () => {
    const world = createWorld();
    let fails = true;
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', field: 'spec.n' }, () => {
        if (fails) throw new Error('no');
      });
      controller.on('change', { id: 'quick', field: 'spec.m' }, () => {});
    });
    const lag = () => {
      const { h, quick } = life.controller.handlerStats();
      return [h?.behind, h?.lagMs, quick?.behind, quick?.lagMs];
    };
    world.source.put('o', { spec: { n: 1, m: 1 } });
    await world.clock.advance(100);
    world.source.put('p', { spec: { n: 1, m: 1 } });
    world.source.put('o', { spec: { n: 2, m: 2 } });
    await world.clock.advance(20);
    expect(lag()).toEqual([2, 120, 0, 0]);
    world.source.delete('o');
    await world.clock.advance(20);
    expect(lag()).toEqual([1, 40, 0, 0]);
    fails = false;
    await life.settle();
    expect(lag()).toEqual([0, 0, 0, 0]);
    await life.stop();
  });

  it('end with a view that has come back to what was settled', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => controller.on('change', { id: 'h', field: 'spec.n' }, ({ new: n }) => void n),
      { rateLimit: { perSecond: 0.001, burst: 1 } },
    );
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.advance(10);
    expect(life.controller.handlerStats().h).toMatchObject({ behind: 1, lagMs: 10 });
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.advance(10);
    expect(life.controller.handlerStats().h).toMatchObject({ behind: 0, lagMs: 0 });
    expect([life.stats().behind, world.clock.pending]).toEqual([0, 0]);
    await life.stop();
  });

  it('take as much memory for a million calls as for one', () => {
    const metrics = new HandlerMetrics();
    for (let call = 0; call < 100_000; call++) {
      metrics.begun(call, false);
      metrics.ended(call * 10, false);
      metrics.judged('ok');
    }
    const { run, wait } = metrics.stats(0, 0);
    expect([run.buckets.length, wait.buckets.length]).toEqual([BUCKET_MS.length + 1, BUCKET_MS.length + 1]);
    expect(run.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(100_000);
    expect(run.buckets.at(-1)).toEqual({ leMs: Number.POSITIVE_INFINITY, count: 100_000 - 30_001 });
  });
});
