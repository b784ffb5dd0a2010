import { describe, expect, it, vi } from 'vitest';
import type { HandlerContext, SubContext } from '../../../src/handlers/context.ts';
import { TimedCall } from '../../../src/handlers/timed-call.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { createWorld, type Thing } from './harness.ts';

type Context = HandlerContext<Thing> | SubContext<Thing>;

/** Calls a handler and a sub once. */
async function called(look: (ctx: Context) => void): Promise<void> {
  const world = createWorld();
  world.source.put('o', { spec: { n: 1 } });
  const life = await world.start((controller) =>
    controller.on('change', { id: 'h', field: 'spec' }, (ctx) => {
      ctx.sub('s', {}, look);
      look(ctx);
    }),
  );
  await life.settle();
  await life.stop();
}

describe('the context of a call', () => {
  it('has its key and its signal among its own members, in a copy as well, the same each time', async () => {
    const keys: string[] = [];
    await called((ctx) => {
      const copy = { ...ctx };
      expect(Object.keys(ctx)).toEqual(expect.arrayContaining(['idempotencyKey', 'signal', 'object', 'old', 'new']));
      expect(copy.signal).toBeInstanceOf(AbortSignal);
      expect(copy.signal).toBe(ctx.signal);
      expect(copy.idempotencyKey).toBe(ctx.idempotencyKey);
      expect(Object.isFrozen(ctx)).toBe(true);
      keys.push(ctx.idempotencyKey);
    });
    expect(new Set(keys).size).toBe(2);
  });

  it("A13': has the key of its call also when it is read after the record has gone on", async () => {
    const world = createWorld();
    const seen: { readonly ctx: HandlerContext<Thing>; readonly key: string }[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const late: HandlerContext<Thing>[] = [];
    const life = await world.start((controller) => {
      controller.on('change', { id: 'early', field: 'spec' }, (ctx) => {
        seen.push({ ctx, key: ctx.idempotencyKey });
      });
      controller.on('change', { id: 'late', field: 'spec' }, (ctx) => {
        late.push(ctx);
      });
    });
    await life.settle();
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    await life.stop();
    expect(seen.map(({ ctx }) => ctx.idempotencyKey)).toEqual(seen.map(({ key }) => key));
    const expected = seen.map(({ key }) => JSON.parse(key).with(1, 'late'));
    // Its turn comes after that of the other one, so its episode began a tick later.
    expect(late.map(({ idempotencyKey }) => JSON.parse(idempotencyKey))).toEqual(
      expected.map((key) => key.with(3, key[3] + 1)),
    );
  });

  it('makes no signal for a call that does not ask for one', async () => {
    const made = vi.spyOn(TimedCall.prototype, 'signal', 'get');
    await called(() => {});
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });
});

describe('the signal of a call', () => {
  it('is aborted with the first reason, whether it was asked for before or after', () => {
    const [before, after] = [new TimedCall('before'), new TimedCall('after')];
    const early = before.signal;
    for (const call of [before, after]) {
      expect(call.aborted).toBe(false);
      call.abort('first');
      call.abort('second');
      expect(call.aborted).toBe(true);
    }
    for (const signal of [early, before.signal, after.signal]) {
      expect([signal.aborted, signal.reason]).toEqual([true, 'first']);
    }
    expect(before.signal).toBe(early);
  });

  it('is that of the platform where there is no reason', () => {
    const call = new TimedCall('plain');
    call.abort(undefined);
    expect(call.signal.reason).toMatchObject({ name: 'AbortError' });
  });

  it('is aborted at the timeout, also when it is asked for afterwards', async () => {
    const clock = createVirtualClock();
    const call = new TimedCall('slow');
    const result = call.run(() => new Promise<void>(() => {}), 50, clock);
    await clock.advance(50);
    expect(await result).toMatchObject({ ok: false, aborted: false });
    expect([call.isLate, call.signal.aborted]).toEqual([true, true]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ] as const)('tells of a call that %s whether it was to stop', async (_how, fn) => {
    const [free, stopped] = [new TimedCall('free'), new TimedCall('stopped')];
    stopped.abort('stop');
    const clock = createVirtualClock();
    expect(await free.run(fn, undefined, clock)).toMatchObject({ ok: false, aborted: false });
    expect(await stopped.run(fn, undefined, clock)).toMatchObject({ ok: false, aborted: true });
  });
});
