import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { TimerContext, TimerOptions } from '../../../src/handlers/spawn-options.ts';
import { BackendError, PermanentError, TemporaryError } from '../../../src/types/errors.ts';
import type { ObjectSource } from '../../../src/types/source.ts';
import { createWorld, type Life, sleep, type Thing, type World } from './harness.ts';

type Options = Partial<TimerOptions<Thing>>;
type Body = (ctx: TimerContext<Thing>) => Promise<void> | void;

/** A timer that notes the ms at which its calls begin. */
function timer(world: World, options: Options, body: Body = () => {}) {
  const calls: number[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on('timer', { id: 't', ...options }, (ctx) => {
      calls.push(world.clock.now());
      return body(ctx);
    });
  return { calls, register };
}

const put = (world: World, n: unknown, rest: Thing = {}): unknown => world.source.put('o', { spec: { n }, ...rest });

describe("timers (A22')", () => {
  it('are called by interval, from the end of one call to the next', async () => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 1000 }, () => sleep(world.clock, 300));
    put(world, 1);
    const life = await world.start(register);
    await world.clock.advance(5000);
    expect(calls).toEqual([0, 1300, 2600, 3900]);
    await life.stop();
  });

  it('sharp: from the beginning; a call that takes longer misses turns', async () => {
    const world = createWorld();
    let takesMs = 300;
    const { calls, register } = timer(world, { intervalMs: 1000, sharp: true }, async () => {
      await sleep(world.clock, takesMs);
      takesMs += 1000;
    });
    put(world, 1);
    const life = await world.start(register);
    await world.clock.advance(6500);
    expect(calls).toEqual([0, 1000, 3000, 6000]);
    await life.stop();
  });

  it('wait for initialDelayMs from coming into scope, each time', async () => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 1000, initialDelayMs: 400, when: (o) => o.spec?.n !== 0 });
    const life = await world.start(register);
    put(world, 1);
    await world.clock.advance(1500);
    put(world, 0);
    await world.clock.advance(2000);
    put(world, 1);
    await world.clock.advance(1500);
    expect(calls).toEqual([400, 1400, 3900, 4900]);
    await life.stop();
  });

  it.each<[string, Body, number[]]>([
    ['an interval', () => {}, [0, 1000, 2000]],
    ['a delay after an error', () => Promise.reject(new TemporaryError('later', { delayMs: 900 })), [0, 900, 1800]],
  ])('%s holds on over a moment out of scope', async (_what, body, expected) => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 1000, when: (o) => o.spec?.n !== 0 }, body);
    put(world, 1);
    const life = await world.start(register);
    for (let n = 0; n < 25; n++) {
      await world.clock.advance(60);
      put(world, 0);
      await world.clock.advance(40);
      put(world, 1);
    }
    expect(calls).toEqual(expected);
    await life.stop();
  });

  const each100 = Array.from({ length: 25 }, (_, n) => n * 100);
  it.each<[string, Options, 'ok' | 'error', number[]]>([
    ['an interval', { intervalMs: 1000 }, 'ok', [0, 1100, 2200]],
    ['a sharp interval', { intervalMs: 1000, sharp: true }, 'ok', [0, 1000, 2000]],
    ['an interval, cut short', { intervalMs: 1000 }, 'error', each100],
    ['neither', {}, 'ok', each100],
  ])('a call that has ended after its object had left the scope: %s', async (_what, options, end, expected) => {
    const world = createWorld();
    const { calls, register } = timer(world, { ...options, when: (o) => o.spec?.n !== 0 }, async (ctx) => {
      await sleep(world.clock, 20);
      if (end === 'error') ctx.signal.throwIfAborted();
    });
    put(world, 1);
    const life = await world.start(register);
    for (let n = 0; n < 25; n++) {
      await world.clock.advance(10);
      put(world, 0);
      await world.clock.advance(90);
      put(world, 1);
    }
    expect(calls).toEqual(expected);
    await life.stop();
  });

  it.each<[string, Options, 'ok' | 'error' | 'hang']>([
    ['succeeds', {}, 'ok'],
    ['succeeds, sharp', { sharp: true }, 'ok'],
    ['fails', { backoff: { baseMs: 1, jitter: 0 } }, 'error'],
    ['takes too long', { timeoutMs: 50, backoff: { baseMs: 1, jitter: 0 } }, 'hang'],
  ])(
    'a call during which the object is out of scope for a moment %s: initialDelayMs counts',
    async (_how, options, end) => {
      const world = createWorld();
      const limits = { intervalMs: 100, initialDelayMs: 1000, when: (o: Thing) => o.spec?.n !== 0 };
      const { calls, register } = timer(world, { ...limits, ...options }, async () => {
        await sleep(world.clock, end === 'hang' ? 10_000 : 60);
        if (end === 'error') throw new Error('no');
      });
      put(world, 1);
      const life = await world.start(register);
      await world.clock.advance(1010);
      put(world, 0);
      await world.clock.advance(10);
      put(world, 1);
      await world.clock.advance(1040);
      expect(calls.slice(0, 2)).toEqual([1000, 2020]);
      await life.stop();
    },
  );

  it('idleMs: only when what they see has not changed for so long', async () => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 1000, idleMs: 500, field: 'spec.n' });
    const life = await world.start(register);
    for (let n = 0; n < 5; n++) {
      put(world, n);
      await world.clock.advance(200);
    }
    expect(calls).toEqual([]);
    await world.clock.advance(2000);
    expect(calls).toEqual([1300, 2300]);
    for (let n = 0; n < 10; n++) {
      put(world, 4, { status: { n } });
      await world.clock.advance(200);
    }
    expect(calls).toEqual([1300, 2300, 3300, 4300]);
    await life.stop();
  });

  it('idleMs without an interval: once after each change; neither: once', async () => {
    const world = createWorld();
    const idle = timer(world, { idleMs: 500, id: 'idle' });
    const once = timer(world, { id: 'once' });
    const life = await world.start((controller) => {
      idle.register(controller);
      once.register(controller);
    });
    put(world, 1);
    await world.clock.advance(5000);
    put(world, 2);
    await world.clock.advance(5000);
    expect([idle.calls, once.calls]).toEqual([[500, 5500], [0]]);
    expect(world.clock.pending).toBe(0);
    await life.stop();
  });

  it('an error has its own delay; a success begins a new budget', async () => {
    const world = createWorld();
    const script: unknown[] = [
      new Error('a'),
      new TemporaryError('b', { delayMs: 5000 }),
      null,
      undefined,
      new Error('c'),
    ];
    const attempts: number[] = [];
    const { calls, register } = timer(
      world,
      { intervalMs: 1000, retries: 3, backoff: { baseMs: 100, jitter: 0 } },
      (ctx) => {
        attempts.push(ctx.attempt);
        const error = script.shift();
        if (error !== undefined) throw error;
      },
    );
    put(world, 1);
    const life = await world.start(register);
    await world.clock.advance(8000);
    expect(calls).toEqual([0, 100, 5100, 5500, 6500, 6600, 7600]);
    expect(attempts).toEqual([0, 1, 2, 3, 0, 1, 0]);
    expect(life.stats()).toMatchObject({ temporaryFailures: 4, permanentFailures: 0, behind: 0 });
    await life.stop();
  });

  it.each([
    ['a permanent error', new PermanentError('no'), 5, 1],
    ['retries used up', new Error('no'), 2, 3],
  ])('%s ends it for this uid, also over scopes, and not for another one', async (_name, error, retries, expected) => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 100, retries, when: (o) => o.spec?.n !== 0 }, () => {
      throw error;
    });
    put(world, 1);
    const life = await world.start(register);
    await world.clock.advance(10_000);
    put(world, 0);
    await world.clock.advance(100);
    put(world, 1);
    await world.clock.advance(10_000);
    expect([calls.length, life.stats().permanentFailures]).toEqual([expected, 1]);
    world.source.delete('o');
    put(world, 1);
    await world.clock.advance(10_000);
    expect(calls.length).toBe(2 * expected);
    await life.stop();
  });

  it('a call that takes too long has failed, and what it asks to be written is dropped', async () => {
    const world = createWorld();
    const reasons: unknown[] = [];
    const { calls, register } = timer(world, { intervalMs: 1000, timeoutMs: 50 }, async (ctx) => {
      ctx.patch({ status: { late: true } });
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
      await sleep(world.clock, 500);
    });
    put(world, 1);
    const life = await world.start(register);
    await world.clock.advance(220);
    expect([calls, reasons.length]).toEqual([[0, 150], 2]);
    expect(world.source.objects[0]?.object.status).toBeUndefined();
    await life.stop();
  });

  it('take turns with the handlers of their object, and with each other', async () => {
    const world = createWorld();
    let running = 0;
    const busy = async (): Promise<void> => {
      expect(++running).toBe(1);
      await sleep(world.clock, 30);
      running--;
    };
    const counts: Record<string, number> = {};
    const counted = (id: string) => (): Promise<void> => {
      counts[id] = (counts[id] ?? 0) + 1;
      return busy();
    };
    const life = await world.start((controller) => {
      controller.on('timer', { id: 't1', intervalMs: 50 }, counted('t1'));
      controller.on('timer', { id: 't2', intervalMs: 1 }, counted('t2'));
      controller.on('change', { id: 'h' }, counted('h'));
    });
    for (let n = 0; n < 50; n++) {
      put(world, n);
      await world.clock.advance(20);
    }
    for (const id of ['t1', 't2', 'h']) expect(counts[id], id).toBeGreaterThan(5);
    await life.stop();
  });

  it("an armed timer is no work: idle resolves, nothing is behind, nothing is written (I19')", async () => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 60_000 });
    put(world, 1);
    const life = await world.start(register);
    await life.settle();
    await life.settle();
    expect(life.stats()).toMatchObject({ behind: 0, waiting: 0, calls: 1 });
    expect([calls, world.written.length, world.clock.pending]).toEqual([[0], 0, 1]);
    expect(world.source.objects[0]?.finalizers ?? []).toEqual([]);
    await life.stop();
    expect(world.clock.pending).toBe(0);
  });

  it('stop when the object goes, is on its way out, or leaves the scope: the running call gets the abort', async () => {
    for (const end of ['delete', 'startDeletion', 'scope'] as const) {
      const world = createWorld();
      const log: string[] = [];
      const { calls, register } = timer(world, { intervalMs: 100, when: (o) => o.spec?.n === 1 }, async (ctx) => {
        ctx.signal.addEventListener('abort', () => log.push(String(ctx.signal.reason)));
        await sleep(world.clock, 50);
        ctx.patch({ status: { end } });
      });
      put(world, 1);
      world.source.setFinalizers('o', ['somebody']);
      const life = await world.start(register);
      if (end === 'delete') world.source.delete('o');
      else if (end === 'startDeletion') world.source.startDeletion('o');
      else put(world, 2);
      await world.clock.advance(10_000);
      expect([calls.length, log.length], end).toEqual([1, 1]);
      expect(world.source.objects[0]?.object.status, end).toBeUndefined();
      await life.stop();
    }
  });

  it('the object is read before the first call of a process: none for what is gone', async () => {
    const world = createWorld();
    put(world, 1);
    const { calls, register } = timer(world, { intervalMs: 100 });
    world.source.delete('o');
    world.source.setFaults({ staleListRate: 1, dropRate: 1 });
    const seen: unknown[] = [];
    const life = await world.start((controller) => {
      register(controller);
      controller.on('event', { id: 'e' }, (ctx) => void seen.push(ctx.type));
    });
    await world.clock.advance(1000);
    expect(calls).toEqual([]);
    expect(seen.length % 2).toBe(0);
    await life.stop();
  });
});

describe("patches of timers (A22')", () => {
  it('are written after the call, on the newest state, whether it succeeds or fails', async () => {
    const world = createWorld();
    const { register } = timer(world, { intervalMs: 1000, retries: 0 }, async (ctx) => {
      ctx.patch({ status: { by: 't' } });
      await sleep(world.clock, 10);
      throw new PermanentError('no');
    });
    put(world, 1);
    const life = await world.start(register);
    put(world, 2);
    await world.clock.advance(100);
    expect(world.source.objects[0]?.object).toEqual({ spec: { n: 2 }, status: { by: 't' } });
    await life.stop();
  });

  it('are no change for its own idleMs, and a change for handlers', async () => {
    const world = createWorld();
    let n = 0;
    const { calls, register } = timer(world, { idleMs: 500, field: 'spec' }, (ctx) => ctx.patch({ spec: { n: ++n } }));
    const seen: unknown[] = [];
    put(world, 0);
    const life = await world.start((controller) => {
      register(controller);
      controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => void seen.push(ctx.new));
    });
    await world.clock.advance(10_000);
    expect([calls, seen]).toEqual([[500], [0, 1]]);
    await life.stop();
  });

  it.each<[string, (world: World, life: Life) => void]>([
    ['out of scope', (world) => put(world, 0)],
    ['on its way out', (world) => world.source.startDeletion('o')],
    ['left by the controller', (_world, life) => life.abort()],
  ])('those of a call whose object is %s by then are dropped, also if it has succeeded', async (_what, stop) => {
    const world = createWorld();
    const { register } = timer(world, { intervalMs: 60_000, when: (o) => o.spec?.n !== 0 }, async (ctx) => {
      await sleep(world.clock, 100);
      ctx.patch({ status: { ok: true } });
    });
    put(world, 1);
    world.source.setFinalizers('o', ['somebody']);
    const life = await world.start(register);
    await world.clock.advance(50);
    stop(world, life);
    await world.clock.advance(1000);
    expect(world.source.objects[0]?.object.status).toBeUndefined();
    await life.stop();
  });

  it('that do not fit the state of the call fail it; ifUnchanged and others have it made again', async () => {
    const world = createWorld();
    const { calls, register } = timer(world, { intervalMs: 60_000, field: 'spec.n', idleMs: 0 }, async (ctx) => {
      const { n } = ctx.object.spec as { n: number };
      await sleep(world.clock, 10);
      if (n < 3) ctx.patch({ spec: { n: n + 10 } }, { ifUnchanged: true });
      else
        ctx.patch([
          { op: 'test', path: '/spec/n', value: n },
          { op: 'add', path: '/spec/ok', value: n },
        ]);
    });
    put(world, 1);
    const life = await world.start(register);
    put(world, 2);
    await world.clock.advance(12);
    put(world, 4);
    await world.clock.advance(5000);
    expect(calls).toEqual([0, 10, 20]);
    expect(world.source.objects[0]?.object.spec).toEqual({ n: 4, ok: 4 });
    expect(life.stats()).toMatchObject({ superseded: 2, successes: 1 });
    await life.stop();
  });

  it('that the source refuses, or does not answer, fail the call', async () => {
    const world = createWorld();
    const failures: unknown[] = [
      new BackendError('patch an object', 'forbidden', { permanent: true }),
      new BackendError('patch an object', 'is down'),
    ];
    const { source: inner } = world;
    const source: ObjectSource<Thing> = {
      list: (options) => inner.list(options),
      watch: (options) => inner.watch(options),
      get: (name, options) => inner.get(name, options),
      compare: (a, b) => inner.compare(a, b),
      patch: async (...args: Parameters<typeof inner.patch>) => {
        const error = failures.shift();
        if (error !== undefined) throw error;
        return inner.patch(...args);
      },
    };
    const { calls, register } = timer(world, { intervalMs: 60_000 }, (ctx) => ctx.patch({ status: { ok: true } }));
    put(world, 1);
    const life = await world.start(register, { source });
    await world.clock.advance(5000);
    expect(calls).toEqual([0, 100, 300]);
    expect(world.source.objects[0]?.object.status).toEqual({ ok: true });
    await life.stop();
  });
});

describe('options of timers are checked', () => {
  it.each<[string, object, string]>([
    ['an unknown one', { cancellationTimeoutMs: 1 }, 'unknown option cancellationTimeoutMs'],
    ['an interval of nothing', { intervalMs: 0 }, 'intervalMs must be above 0'],
    ['an endless interval', { intervalMs: Number.POSITIVE_INFINITY }, 'intervalMs must be above 0 and finite'],
    ['an interval that is text', { intervalMs: '1' }, 'intervalMs must be above 0'],
    ['sharp without an interval', { sharp: true }, 'sharp needs intervalMs'],
    ['sharp that is a number', { intervalMs: 1, sharp: 1 }, 'sharp is of type number'],
    ['a negative delay', { initialDelayMs: -1 }, 'initialDelayMs must be at least 0'],
    ['an idle time that is none', { idleMs: Number.NaN }, 'idleMs must be at least 0'],
    ['retries', { retries: 1.5 }, 'retries must be a whole number'],
    ['field beside select', { field: 'a', select: () => 1 }, 'field and select exclude each other'],
    ['an id that is taken', { id: 'taken' }, 'the id is taken'],
  ])('%s', async (_name, options, message) => {
    const { register } = timer(createWorld(), options);
    const start = createWorld().start((controller) => {
      controller.on('change', { id: 'taken' }, () => {});
      register(controller);
    });
    await expect(start).rejects.toThrow(message);
  });
});
