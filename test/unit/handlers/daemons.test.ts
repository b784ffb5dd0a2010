import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { DaemonContext, DaemonOptions } from '../../../src/handlers/spawn-options.ts';
import { PermanentError, TemporaryError } from '../../../src/types/errors.ts';
import type { ObjectSource } from '../../../src/types/source.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

type Context = DaemonContext<Thing>;
type Options = Partial<DaemonOptions<Thing>>;
type Body = (ctx: Context) => Promise<void> | void;

/** Goes on until its signal, and then for so long. */
const untilSignal =
  (world: World, endsMs = 0): Body =>
  async ({ signal }) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await sleep(world.clock, endsMs);
  };

/** A daemon that notes when its calls begin and end. */
function daemon(world: World, options: Options, body: Body = untilSignal(world)) {
  const log: string[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on('daemon', { id: 'd', ...options }, async (ctx) => {
      log.push(`begin ${ctx.uid} ${world.clock.now()}`);
      try {
        await body(ctx);
      } finally {
        log.push(`end ${ctx.uid} ${world.clock.now()}`);
      }
    });
  return { log, register };
}

const put = (world: World, n: unknown): string => world.source.put('o', { spec: { n } }).uid;

/** The world's source without finalizers. */
function plain({ source: inner }: World): ObjectSource<Thing> {
  return {
    list: (options) => inner.list(options),
    watch: (options) => inner.watch(options),
    get: (name, options) => inner.get(name, options),
    patch: (patch, options) => inner.patch(patch, options),
    compare: (a, b) => inner.compare(a, b),
  };
}

describe("daemons (A23')", () => {
  it('run once for each object in scope, beside the handlers, and are no work to wait for', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, {});
    const seen: unknown[] = [];
    const uid = put(world, 1);
    const life = await world.start((controller) => {
      register(controller);
      controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => void seen.push(ctx.new));
    });
    for (const n of [2, 3]) {
      put(world, n);
      await life.settle();
    }
    expect([log, seen]).toEqual([[`begin ${uid} 0`], [1, 2, 3]]);
    expect(life.stats()).toMatchObject({ behind: 0, daemons: 1 });
    expect(world.clock.pending).toBe(0);
    await life.stop();
    expect(log).toEqual([`begin ${uid} 0`, `end ${uid} 0`]);
    expect(life.stats().daemons).toBe(0);
  });

  it('hold their object by a finalizer until they have ended', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, {}, untilSignal(world, 500));
    const life = await world.start(register);
    const uid = put(world, 1);
    await life.settle();
    expect(world.source.objects[0]?.finalizers).toEqual(['plimsoll.dev/handlers']);
    world.source.startDeletion('o');
    await world.clock.advance(499);
    expect(world.source.objects[0]?.deleting).toBe(true);
    await world.clock.advance(1);
    expect(world.source.objects).toEqual([]);
    expect(log).toEqual([`begin ${uid} 0`, `end ${uid} 500`]);
    await life.settle();
    await life.stop();
  });

  it('the finalizer waits for the handlers of deletions, too', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, {}, untilSignal(world, 100));
    const life = await world.start((controller) => {
      register(controller);
      controller.on('delete', { id: 'x' }, () => sleep(world.clock, 300));
    });
    put(world, 1);
    await life.settle();
    world.source.startDeletion('o');
    await world.clock.advance(299);
    expect([log.length, world.source.objects.length]).toEqual([2, 1]);
    await world.clock.advance(1);
    expect(world.source.objects).toEqual([]);
    await life.stop();
  });

  it('one that does not end in time is abandoned, and the finalizer goes', async () => {
    const world = createWorld();
    const errors: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (...entry: unknown[]) => errors.push(entry) };
    const { log, register } = daemon(world, { cancellationTimeoutMs: 1000 }, untilSignal(world, 5000));
    const life = await world.start(register, { logger });
    put(world, 1);
    await life.settle();
    world.source.startDeletion('o');
    await world.clock.advance(999);
    expect(world.source.objects.length).toBe(1);
    await world.clock.advance(1);
    expect(world.source.objects).toEqual([]);
    expect(errors).toMatchObject([
      ['Daemon "d" has not ended 1000 ms after its signal: it is abandoned', { name: 'o' }],
    ]);
    expect(life.stats()).toMatchObject({ daemons: 0, daemonsAbandoned: 1 });
    await world.clock.advance(10_000);
    expect(log.length).toBe(2);
    await life.stop();
  });

  it('one that was abandoned and never ends is not waited for at the stop either', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    let calls = 0;
    const life = await world.start(
      (controller) =>
        controller.on('daemon', { id: 'd', when: ({ spec }) => spec?.n !== 0, cancellationTimeoutMs: 1000 }, (ctx) => {
          // The first one does not mind its signal.
          if (++calls === 1) return new Promise(() => {});
          return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
        }),
      { drainMs: 60_000 },
    );
    world.source.put('o', { spec: { n: 0 } });
    await world.clock.advance(2000);
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.advance(10);
    expect([calls, life.stats().daemons, life.stats().daemonsAbandoned]).toEqual([2, 1, 1]);
    let isDone = false;
    const done = life.done.then(() => {
      isDone = true;
    });
    life.abort();
    await world.clock.advance(1);
    expect([isDone, life.stats().daemons, world.clock.pending]).toEqual([true, 0, 0]);
    await done;
  });

  it('the late end of one that was abandoned does not count for the one after it', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    let calls = 0;
    const life = await world.start(
      (controller) =>
        controller.on('daemon', { id: 'd', when: ({ spec }) => spec?.n !== 0, cancellationTimeoutMs: 1000 }, (ctx) =>
          ++calls === 1
            ? sleep(world.clock, 3000)
            : new Promise((resolve) => ctx.signal.addEventListener('abort', () => world.clock.after(500, resolve))),
        ),
      { drainMs: 60_000 },
    );
    world.source.put('o', { spec: { n: 0 } });
    await world.clock.advance(2000);
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.advance(2000);
    let isDone = false;
    const done = life.done.then(() => {
      isDone = true;
    });
    life.abort();
    await world.clock.advance(400);
    expect([calls, isDone]).toEqual([2, false]);
    await world.clock.advance(100);
    expect(isDone).toBe(true);
    await done;
  });

  it('on a source without finalizers, nothing is written and they are just aborted', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, {});
    const life = await world.start(register, { source: plain(world) });
    const uid = put(world, 1);
    await life.settle();
    expect(world.source.objects[0]?.resourceVersion).toBe('1');
    world.source.delete('o');
    await world.clock.advance(10);
    expect(log).toEqual([`begin ${uid} 0`, `end ${uid} 0`]);
    expect(world.clock.pending).toBe(0);
    await life.stop();
  });

  it('another uid under the name gets its own after the one before has ended', async () => {
    for (const cancellationTimeoutMs of [60_000, 200]) {
      const world = createWorld();
      const { log, register } = daemon(world, { cancellationTimeoutMs }, untilSignal(world, 500));
      const life = await world.start(register, { source: plain(world) });
      const first = put(world, 1);
      await life.settle();
      world.source.delete('o');
      const second = put(world, 2);
      await world.clock.advance(5000);
      const endsMs = Math.min(500, cancellationTimeoutMs);
      expect(log.filter((line) => line.startsWith('begin'))).toEqual([`begin ${first} 0`, `begin ${second} ${endsMs}`]);
      await life.stop();
    }
  });

  it('leaving the scope ends it, coming back begins it anew, but never two at a time', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, { when: (o) => o.spec?.n === 1 }, untilSignal(world, 300));
    const life = await world.start(register);
    const uid = put(world, 1);
    await world.clock.advance(100);
    put(world, 2);
    await world.clock.advance(100);
    put(world, 1);
    await world.clock.advance(100);
    put(world, 2);
    put(world, 1);
    await world.clock.advance(1000);
    expect(log).toEqual([`begin ${uid} 0`, `end ${uid} 400`, `begin ${uid} 400`]);
    await life.stop();
  });

  it('the delay after a failure holds on over a moment out of scope', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, { when: (o) => o.spec?.n !== 0 }, () => {
      throw new TemporaryError('later', { delayMs: 900 });
    });
    const uid = put(world, 1);
    const life = await world.start(register);
    for (let n = 0; n < 10; n++) {
      put(world, n % 2);
      await world.clock.advance(100);
    }
    expect(log.filter((line) => line.startsWith('begin'))).toEqual([`begin ${uid} 0`, `begin ${uid} 900`]);
    await life.stop();
  });

  it('one that returns by itself is done for this uid', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, { when: (o) => o.spec?.n !== 0 }, () => {});
    const life = await world.start(register);
    for (const n of [1, 0, 1]) {
      put(world, n);
      await world.clock.advance(1000);
    }
    expect(log.length).toBe(2);
    world.source.startDeletion('o');
    await world.clock.advance(10);
    expect(world.source.objects).toEqual([]);
    put(world, 1);
    await world.clock.advance(1000);
    expect(log.length).toBe(4);
    await life.stop();
  });

  it('one that throws begins anew by backoff, at most retries times; not after a permanent error', async () => {
    const world = createWorld();
    const script: unknown[] = [new Error('a'), new TemporaryError('b', { delayMs: 2000 }), undefined, 'c'];
    const attempts: number[] = [];
    const { log, register } = daemon(world, { retries: 3, backoff: { baseMs: 100, jitter: 0 } }, (ctx) => {
      attempts.push(ctx.attempt);
      throw script.shift();
    });
    const permanent = daemon(world, { id: 'p' }, () => Promise.reject(new PermanentError('no')));
    const life = await world.start((controller) => {
      register(controller);
      permanent.register(controller);
    });
    const uid = put(world, 1);
    await world.clock.advance(60_000);
    expect(log.filter((line) => line.startsWith('begin'))).toEqual(
      [0, 100, 2100, 2500].map((ms) => `begin ${uid} ${ms}`),
    );
    expect([attempts, permanent.log.length]).toEqual([[0, 1, 2, 3], 2]);
    expect(life.stats()).toMatchObject({ temporaryFailures: 3, permanentFailures: 2, daemons: 0 });
    await life.stop();
  });

  it('initialDelayMs and idleMs put off the beginning', async () => {
    const world = createWorld();
    const { log, register } = daemon(world, { initialDelayMs: 100, idleMs: 500 });
    const life = await world.start(register);
    const uid = put(world, 0);
    for (let n = 1; n <= 3; n++) {
      await world.clock.advance(200);
      put(world, n);
    }
    await world.clock.advance(5000);
    expect(log).toEqual([`begin ${uid} 1100`]);
    await life.stop();
  });

  it('see the newest state each time they ask', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const { register } = daemon(world, {}, async (ctx) => {
      while (!ctx.signal.aborted) {
        seen.push(ctx.object.spec?.n);
        expect(Object.isFrozen(ctx.object.spec)).toBe(true);
        await sleep(world.clock, 100);
      }
      seen.push(`last ${ctx.object.spec?.n}`);
    });
    const life = await world.start(register);
    for (const n of [1, 2, 3]) {
      put(world, n);
      await world.clock.advance(100);
    }
    world.source.startDeletion('o');
    await world.clock.advance(100);
    expect(seen).toEqual([1, 1, 2, 3, 'last 3']);
    await life.stop();
  });

  it('the stop aborts them and waits for them within the drain; nothing is left', async () => {
    for (const [endsMs, expected] of [
      [50, 2],
      [5000, 1],
    ] as const) {
      const world = createWorld();
      const { log, register } = daemon(world, {}, untilSignal(world, endsMs));
      const life = await world.start(register, { drainMs: 1000 });
      put(world, 1);
      await life.settle();
      life.abort();
      let isDone = false;
      void life.done.then(() => {
        isDone = true;
      });
      await world.clock.advance(1000);
      expect([log.length, isDone]).toEqual([expected, true]);
      // The finalizer stays for the next process.
      expect(world.source.objects[0]?.finalizers?.length).toBe(1);
      expect(world.clock.pending).toBe(endsMs === 50 ? 0 : 1);
    }
  });
});

describe("patches of daemons (A23')", () => {
  it('are written at once, in order, on the newest state, and handlers are called for them', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const { register } = daemon(world, {}, async (ctx) => {
      void ctx.patch({ status: { n: 1 } });
      await ctx.patch({ status: { n: 2, m: 1 } });
      seen.push(ctx.object.status);
      await untilSignal(world)(ctx);
    });
    put(world, 1);
    world.source.setFaults({ patchDelayMsMax: 20 });
    const life = await world.start((controller) => {
      register(controller);
      controller.on('change', { id: 'h', field: 'status' }, (ctx) => void seen.push(ctx.new));
    });
    put(world, 2);
    await world.clock.advance(1000);
    expect(seen.at(-1)).toEqual({ n: 2, m: 1 });
    expect(world.source.objects[0]?.object).toEqual({ spec: { n: 2 }, status: { n: 2, m: 1 } });
    await life.stop();
  });

  it('are no change for its own idleMs', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const calls: number[] = [];
    const life = await world.start((controller) =>
      controller.on('daemon', { id: 'd', idleMs: 1000 }, async (ctx) => {
        calls.push(world.clock.now());
        await ctx.patch({ spec: { own: calls.length } });
        throw new TemporaryError('again', { delayMs: 10 });
      }),
    );
    await world.clock.advance(1035);
    expect(calls).toEqual([1000, 1010, 1020, 1030]);
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.advance(990);
    expect(calls.length).toBe(4);
    await life.stop();
  });

  it('are refused after the signal, after the end, and where they do not fit; a rejection is logged', async () => {
    const world = createWorld();
    const warnings: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (...entry: unknown[]) => warnings.push(entry) };
    const errors: unknown[] = [];
    const contexts: Context[] = [];
    const { register } = daemon(world, { when: (o) => o.spec?.n === 1 }, async (ctx) => {
      contexts.push(ctx);
      expect(() => ctx.patch(5 as never)).toThrow(TypeError);
      await ctx.patch([{ op: 'test', path: '/spec/n', value: 9 }]).catch((error: unknown) => errors.push(error));
      await untilSignal(world)(ctx);
      void ctx.patch({ status: { late: 1 } });
    });
    put(world, 1);
    const life = await world.start(register, { logger });
    put(world, 2);
    await world.clock.advance(1000);
    expect(errors).toMatchObject([{ name: 'ValueError' }]);
    expect(warnings).toMatchObject([
      ['A patch of daemon "d" is not applied', { error: { name: 'ValueError' } }],
      ['A patch of daemon "d" is not applied', { error: { name: 'AbortError' } }],
    ]);
    expect(() => contexts[0]?.patch({ status: { late: 2 } })).toThrow('the call is over');
    expect(world.source.objects[0]?.object).toEqual({ spec: { n: 2 } });
    await life.stop();
  });

  it('that are lost on the way are found by what they have made', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = createWorld(seed);
      let rejections = 0;
      const { register } = daemon(world, {}, async (ctx) => {
        for (let n = 1; n <= 10; n++) {
          for (let isDone = false; !isDone; ) {
            isDone = await ctx.patch({ status: { n } }).then(
              () => true,
              () => {
                rejections++;
                return false;
              },
            );
          }
          expect(ctx.object.status).toEqual({ n });
        }
        await untilSignal(world)(ctx);
      });
      put(world, 1);
      const life = await world.start(register);
      world.source.setFaults({ patchErrorRate: 0.5 });
      await world.clock.advance(10_000);
      expect(world.source.objects[0]?.object.status).toEqual({ n: 10 });
      expect(rejections).toBeLessThan(40);
      await life.stop();
    }
  });

  it('under way are at most 1000', async () => {
    const world = createWorld();
    const errors: unknown[] = [];
    const { register } = daemon(world, {}, async (ctx) => {
      const patches = Array.from({ length: 1001 }, (_, n) => ctx.patch({ status: { n } }));
      for (const result of await Promise.allSettled(patches)) {
        if (result.status === 'rejected') errors.push(result.reason);
      }
    });
    put(world, 1);
    const life = await world.start(register);
    await world.clock.advance(1000);
    expect(errors).toMatchObject([{ name: 'LimitExceededError' }]);
    expect(world.source.objects[0]?.object.status).toEqual({ n: 999 });
    await life.stop();
  });
});

describe('options of daemons are checked', () => {
  it.each<[string, object, string]>([
    ['a timeout', { timeoutMs: 1 }, 'unknown option timeoutMs'],
    ['an interval', { intervalMs: 1 }, 'unknown option intervalMs'],
    ['a cancellation that is negative', { cancellationTimeoutMs: -1 }, 'cancellationTimeoutMs must be at least 0'],
    ['a cancellation that is text', { cancellationTimeoutMs: '1' }, 'cancellationTimeoutMs must be at least 0'],
  ])('%s', async (_name, options, message) => {
    const world = createWorld();
    await expect(world.start(daemon(world, options).register)).rejects.toThrow(message);
  });
});
