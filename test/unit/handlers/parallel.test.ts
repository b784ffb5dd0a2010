import { describe, expect, it } from 'vitest';
import type { ControllerOptions } from '../../../src/handlers/options.ts';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import { createWorld, type Life, sleep, type Thing, type World } from './harness.ts';

const IDS = ['a', 'b', 'c', 'd', 'e'];

/** Five handlers that take 10, 20, ... ms, and a log of their begins and ends. */
async function race(world: World, options: Partial<ControllerOptions<Thing>>) {
  const log: string[] = [];
  let now = 0;
  let most = 0;
  const work = async (id: string, place: number): Promise<void> => {
    log.push(`${id} begins at ${world.clock.now()}`);
    most = Math.max(most, ++now);
    await sleep(world.clock, 10 * (place + 1));
    now--;
    log.push(`${id} ends at ${world.clock.now()}`);
  };
  world.source.put('o', { spec: { n: 1 } });
  const life = await world.start((controller) => {
    for (const [place, id] of IDS.entries()) controller.on('change', { id, field: 'spec.n' }, () => work(id, place));
  }, options);
  return { life, log, most: () => most };
}

/** So many turns of the microtask queue. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined;
}

describe("calls beside each other within one object (A10'b)", () => {
  it.each(['call', 'pass'] as const)(
    "persist '%s': no patch is lost, whenever two calls end (A8', A12')",
    async (persist) => {
      const lost: string[] = [];
      for (let first = 0; first < 24; first++) {
        for (let second = 0; second < 24; second++) {
          const world = createWorld();
          world.source.put('o', { spec: { n: 1 } });
          const life = await world.start(
            (controller) => {
              controller.on('change', { id: 'a', field: 'spec.n' }, () => turns(first));
              controller.on('change', { id: 'b', field: 'spec.n' }, async (ctx) => {
                await turns(second);
                ctx.patch({ status: { seen: ctx.new } });
              });
            },
            { parallel: 2, persist },
          );
          await life.settle();
          const seen = world.source.objects[0]?.object.status?.seen;
          if (seen !== 1 || life.stats().successes !== 2) lost.push(`${first} and ${second} turns`);
          await life.stop();
        }
      }
      expect(lost).toEqual([]);
    },
  );

  it('two handlers for the deletion of an object are called one after the other', async () => {
    const world = createWorld();
    let now = 0;
    let most = 0;
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('delete', { id }, async () => {
            most = Math.max(most, ++now);
            await sleep(world.clock, 10);
            now--;
          });
        }
      },
      { parallel: 4 },
    );
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    expect([most, world.source.objects.length, life.stats().successes]).toEqual([1, 0, 2]);
    await life.stop();
  });

  it.each([
    [undefined, 1, 150],
    [1, 1, 150],
    [2, 2, 90],
    [5, 5, 50],
    [Number.POSITIVE_INFINITY, 5, 50],
  ])('parallel %s: at most %i at a time, done after %i ms', async (parallel, expected, doneMs) => {
    const world = createWorld();
    const { life, log, most } = await race(world, parallel === undefined ? {} : { parallel });
    await life.settle();
    expect(most()).toBe(expected);
    expect(log.at(-1)).toBe(`e ends at ${doneMs}`);
    expect(life.stats()).toMatchObject({ calls: 5, successes: 5 });
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('outcomes are written as they come, not when the last call ends', async () => {
    const world = createWorld();
    const { life } = await race(world, { parallel: 5 });
    await world.clock.advance(25);
    const records = (await world.progress.get('uid-1'))?.records;
    expect(IDS.map((id) => records?.[id]?.attempt?.state)).toEqual(['ok', 'ok', 'open', 'open', 'open']);
    await life.settle();
    await life.stop();
  });

  it('subs begin after their parent, and then beside each other and beside others', async () => {
    const world = createWorld();
    const log: string[] = [];
    const work = async (id: string, delayMs: number): Promise<void> => {
      log.push(`${id} ${world.clock.now()}`);
      await sleep(world.clock, delayMs);
    };
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
          for (const id of ['s', 't']) ctx.sub(id, {}, () => work(id, 10));
          await work('p', 10);
        });
        controller.on('change', { id: 'long', field: 'spec.n' }, () => work('long', 100));
      },
      { parallel: 3 },
    );
    await life.settle();
    expect(log).toEqual(['p 0', 'long 0', 's 10', 't 10']);
    await life.stop();
  });

  it('all of them are on one state: after a change no other begins on the old one, and all are called on the new one', async () => {
    const world = createWorld();
    const seen: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        for (const id of IDS) {
          controller.on('change', { id, field: 'spec.n' }, async (ctx) => {
            seen.push(`${id}${String(ctx.new)}`);
            await sleep(world.clock, 10);
          });
        }
      },
      { parallel: 2 },
    );
    await world.clock.advance(5);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(seen).toEqual(['a1', 'b1', 'c2', 'd2', 'e2', 'a2', 'b2']);
    await life.stop();
  });

  it('at a stop all of them are told, and their outcomes are written', async () => {
    const world = createWorld();
    const { life, log } = await race(world, { parallel: 5 });
    await life.stop();
    expect(log).toHaveLength(10);
    const records = (await world.progress.get('uid-1'))?.records;
    expect(IDS.map((id) => records?.[id]?.attempt?.state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  });

  it('after a restart two due subs of one parent have it called once to rebuild', async () => {
    const world = createWorld();
    const log: string[] = [];
    const start = (m: number) => {
      world.source.put('o', { spec: { n: 1 }, status: { m } });
      return world.start(
        (controller) =>
          controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
            log.push(`p ${ctx.rebuild}`);
            await sleep(world.clock, 10);
            for (const id of ['s', 't']) {
              ctx.sub(id, { field: 'status.m' }, () => {
                log.push(id);
              });
            }
          }),
        { parallel: 4 },
      );
    };
    const first = await start(1);
    await first.settle();
    await first.stop();
    log.length = 0;
    const second = await start(2);
    await second.settle();
    expect(log).toEqual(['p true', 's', 't']);
    await second.stop();
  });

  it('a store that fails while calls are going on makes no second pass beside them', async () => {
    const world = createWorld();
    let isBroken = false;
    const broken = {
      ...world.progress,
      compareAndSet: async (...args: Parameters<typeof world.progress.compareAndSet>) => {
        if (isBroken) throw new Error('down');
        return world.progress.compareAndSet(...args);
      },
    };
    const { life, log, most } = await race(world, { parallel: 2, progress: broken });
    await world.clock.advance(5);
    isBroken = true;
    await world.clock.advance(500);
    expect([log.length, most()]).toEqual([4, 2]);
    isBroken = false;
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 5, successes: 5 });
    await life.stop();
  });

  it('one that rejects while the pass writes fails the pass, also if nothing begins after that', async () => {
    const world = createWorld();
    let isBroken = false;
    const progress: ProgressStore = {
      ...world.progress,
      // The second one is under way while the first call rejects.
      async compareAndSet(uid, gen, next) {
        const done = await world.progress.compareAndSet(uid, gen, next);
        if (gen > 0) await sleep(world.clock, 100);
        return done;
      },
    };
    const errors: unknown[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life: Life = await world.start(
      (controller) => {
        controller.on('change', { id: 'a', field: 'spec.m' }, async () => {
          await sleep(world.clock, 10);
          isBroken = true;
          // What is being opened will not be called.
          life.controller.pause();
          throw new Error('no');
        });
        controller.on('change', { id: 'b', field: 'spec.n' }, () => {});
      },
      {
        parallel: 2,
        progress,
        clock: {
          now: () => world.clock.now(),
          after: (delayMs, fn) => world.clock.after(delayMs, fn),
          wallTime: () => {
            if (!isBroken) return world.clock.wallTime();
            isBroken = false;
            throw new Error('no time');
          },
        },
        logger: { debug() {}, info() {}, warn() {}, error: (...entry) => errors.push(entry) },
      },
    );
    await world.clock.advance(200);
    expect(errors).toMatchObject([['Cannot work on an object', { name: 'o', error: { message: 'no time' } }]]);
    await life.stop();
  });
});
