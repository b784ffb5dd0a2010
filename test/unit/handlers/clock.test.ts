import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { Clock } from '../../../src/types/clock.ts';
import { BackendError, TemporaryError } from '../../../src/types/errors.ts';
import { createWorld, type Thing, type World } from './harness.ts';
import { meddled } from './own-write-rig.ts';

/** Wall time goes its own way; timers and the monotonic clock are those of the world. */
function withWallTime(world: World, wallTime: () => number): Clock {
  return { now: () => world.clock.now(), wallTime, after: (delayMs, fn) => world.clock.after(delayMs, fn) };
}

const later = (): TemporaryError => new TemporaryError('later', { delayMs: 100 });

/** What may wait for another attempt. */
const WAITS: Readonly<Record<string, (controller: Controller<Thing>, call: () => void) => void>> = {
  'a handler': (controller, call) => {
    controller.on('change', { id: 'h' }, () => {
      call();
      throw later();
    });
  },
  'a handler with a backoff that does not grow': (controller, call) => {
    controller.on('change', { id: 'h', backoff: { baseMs: 100, factor: 1, jitter: 0 } }, () => {
      call();
      throw new Error('no');
    });
  },
  'a sub': (controller, call) => {
    controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => {
      ctx.sub('s', {}, () => {
        call();
        throw later();
      });
    });
  },
  'a hook': (controller, call) => {
    controller.on(
      'change',
      {
        id: 'h',
        field: 'spec',
        retire: () => {
          call();
          throw later();
        },
      },
      (ctx) => {
        if (ctx.cause === 'create') ctx.sub('s', {}, () => {});
      },
    );
  },
  'a call whose patches are refused': (controller, call) => {
    controller.on('change', { id: 'h', field: 'spec', backoff: { baseMs: 100, factor: 1, jitter: 0 } }, (ctx) => {
      call();
      ctx.patch({ status: { bad: true } });
    });
  },
};

describe("waits by a wall clock that does what it likes (A4')", () => {
  const walls: Readonly<Record<string, (world: World) => () => number>> = {
    'goes on': (world) => () => world.clock.wallTime(),
    'stands still': () => () => 1_700_000_000_000,
    'runs backwards': (world) => () => 1_700_000_000_000 - world.clock.now(),
    'leaps a day each time': () => {
      let days = 0;
      return () => 86_400_000 * days++;
    },
    'leaps back and forth': () => {
      let reads = 0;
      return () => 1_700_000_000_000 + 86_400_000 * (reads++ % 2);
    },
  };
  for (const [what, register] of Object.entries(WAITS)) {
    it.each(Object.entries(walls))(
      `${what} is called again after its delay, and not before; wall time %s`,
      async (_, wall) => {
        const world = createWorld();
        const at: number[] = [];
        world.source.put('o', { spec: { n: 1 } });
        const source = meddled(world, ({ patches }) => {
          if (patches.length > 0) throw new BackendError('patch', 'no such field', { permanent: true });
        });
        const life = await world.start((controller) => register(controller, () => at.push(world.clock.now())), {
          clock: withWallTime(world, wall(world)),
          source,
        });
        if (what === 'a hook') world.source.put('o', { spec: { n: 2 } });
        await world.clock.advance(450);
        expect(at).toEqual([0, 100, 200, 300, 400]);
        await life.stop();
      },
    );
  }

  it('a suspension, in which timers stand still and wall time does not, adds to a wait and ends', async () => {
    const world = createWorld();
    const at: number[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', retries: 1 }, () => {
        at.push(world.clock.now());
        throw later();
      });
    });
    await world.clock.advance(50);
    world.clock.jumpWallTime(3_600_000);
    await life.settle();
    expect(at).toEqual([0, 100]);
    await life.stop();
  });

  it.each([
    ['back by an hour', -3_600_000, 100],
    ['forward', 3_600_000, 0],
  ])(
    'a process that begins after wall time has jumped %s waits no longer than was meant',
    async (_, deltaMs, waitMs) => {
      const world = createWorld();
      const at: number[] = [];
      const register = (controller: Controller<Thing>): void =>
        controller.on('change', { id: 'h', retries: 1 }, () => {
          at.push(world.clock.now());
          throw later();
        });
      world.source.put('o', { spec: { n: 1 } });
      const life = await world.start(register);
      await world.clock.advance(50);
      await life.stop();
      world.clock.jumpWallTime(deltaMs);
      const begun = world.clock.now();
      const next = await world.start(register);
      await next.settle();
      expect(at.map((time) => time - begun)).toEqual([0 - begun, waitMs]);
      await next.stop();
    },
  );

  it('timers that fire early make no second call and no loop', async () => {
    const world = createWorld();
    const at: number[] = [];
    let timers = 0;
    world.source.put('o', { spec: { n: 1 } });
    const early: Clock = {
      now: () => world.clock.now(),
      wallTime: () => world.clock.wallTime(),
      after: (delayMs, fn) => {
        timers++;
        return world.clock.after(delayMs > 1 ? delayMs - 0.9 : delayMs, fn);
      },
    };
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'h', retries: 3 }, () => {
          at.push(world.clock.now());
          throw later();
        });
      },
      { clock: early },
    );
    await world.clock.advance(1000);
    expect(at).toHaveLength(4);
    expect(at.every((time, index) => time >= 100 * index)).toBe(true);
    expect(timers).toBeLessThan(12);
    await life.stop();
  });
});
