import { describe, expect, it } from 'vitest';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import { BackendError } from '../../../src/types/errors.ts';
import type { ObjectSource } from '../../../src/types/source.ts';
import { createWorld, type Life, sleep, type Thing, type World } from './harness.ts';

const never = (): Promise<void> => new Promise(() => {});

/** The source of a world, some of it otherwise. */
function sourceWith({ source }: World, methods: Partial<ObjectSource<Thing>>): ObjectSource<Thing> {
  return {
    hasFinalizers: true,
    list: (options) => source.list(options),
    watch: (options) => source.watch(options),
    get: (name, options) => source.get(name, options),
    patch: (patch, options) => source.patch(patch, options),
    compare: (a, b) => source.compare(a, b),
    ...methods,
  };
}

/** What a call takes, and how few there may be of it. */
const LIMITS = [
  ['a place', { concurrency: 1 }, {}],
  ['a token', {}, { rateLimit: { perSecond: 10, burst: 1 } }],
] as const;

describe.each(LIMITS)("an object with a timer call that never ends keeps %s from nobody (A44')", (_what, one, all) => {
  it('that came free while the object was resting in line', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', ...one }, async ({ name }) => {
        calls.push(name);
        await sleep(world.clock, 100);
      });
      controller.on('timer', { id: 't', initialDelayMs: 10, when: ({ spec }) => spec?.hangs === true }, never);
    }, all);
    world.source.put('first', {});
    await world.clock.settle();
    world.source.put('hangs', { spec: { hangs: true } });
    for (let n = 0; n < 40; n++) world.source.put(`o${n}`, {});
    await world.clock.advance(10_000);
    expect(calls.filter((name) => name !== 'hangs')).toHaveLength(41);
    expect(life.stats()).toMatchObject({ behind: 1, running: 1 });
    await life.stop();
  });

  it('that its last pass was granted for the next one', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('hangs', { spec: { hangs: true } });
    const life = await world.start((controller) => {
      controller.on(
        'change',
        { id: 'other', when: ({ spec }) => spec?.hangs === true, field: 'spec.hangs' },
        async () => {
          world.source.put('hangs', { spec: { hangs: true, n: 1 } });
          await sleep(world.clock, 150);
        },
      );
      controller.on('change', { id: 'h', field: 'spec.n', when: ({ spec }) => spec?.n === 1, ...one }, ({ name }) => {
        calls.push(name);
        return sleep(world.clock, 100);
      });
      controller.on('timer', { id: 't', initialDelayMs: 10, when: ({ spec }) => spec?.hangs === true }, never);
    }, all);
    await world.clock.advance(200);
    for (let n = 0; n < 3; n++) world.source.put(`o${n}`, { spec: { n: 1 } });
    await world.clock.advance(2000);
    expect(calls).toEqual(['o0', 'o1', 'o2']);
    await life.stop();
  });
});

it("a timer that is nearly always at work does not cost its object its place in line (A44')", async () => {
  const world = createWorld();
  const calls: string[] = [];
  let n = 0;
  const life = await world.start((controller) => {
    controller.on('change', { id: 'h', concurrency: 1 }, async ({ name }) => {
      calls.push(name);
      // As many others as one likes: somebody is always in line.
      if (name !== 'busy') world.source.put(`o${++n}`, {});
      await sleep(world.clock, 70);
    });
    controller.on('timer', { id: 't', intervalMs: 1, when: ({ spec }) => spec?.isBusy === true }, () =>
      sleep(world.clock, 1000),
    );
  });
  for (const name of ['a', 'b', 'c']) world.source.put(name, {});
  await world.clock.settle();
  world.source.put('busy', { spec: { isBusy: true } });
  await world.clock.advance(10_000);
  expect(calls).toContain('busy');
  await life.stop();
});

describe("an object that comes back with what is kept for it (A45')", () => {
  it('is not behind a long line', async () => {
    const world = createWorld();
    const at: number[] = [];
    const calls: string[] = [];
    const life = await world.start(
      (controller) => {
        // Everybody has something else to do first, and the place is granted at the end of the pass.
        controller.on('change', { id: 'long' }, async ({ name }) => {
          if (name === 'o0') world.source.put('o0', { spec: { n: 1 } });
          await sleep(world.clock, 10);
        });
        controller.on(
          'change',
          { id: 'h', field: 'spec.n', when: ({ spec }) => spec?.n === 1, concurrency: 1 },
          ({ name }) => {
            calls.push(name);
            at.push(world.clock.now());
          },
        );
      },
      { concurrency: 1 },
    );
    for (let n = 0; n < 300; n++) world.source.put(`o${n}`, {});
    await life.settle();
    expect(calls).toEqual(['o0']);
    expect(at[0]).toBeLessThan(50);
    await life.stop();
  });

  it('nor is one to which something comes free while it is in line', async () => {
    const world = createWorld();
    const at: Record<string, number> = {};
    const life = await world.start(
      (controller) => {
        controller.on(
          'change',
          { id: 'h', when: ({ spec }) => spec?.isLimited === true, concurrency: 1 },
          ({ name }) => {
            at[name] = world.clock.now();
            return sleep(world.clock, 100);
          },
        );
        controller.on('change', { id: 'other', selfTrigger: true }, async (ctx) => {
          await sleep(world.clock, 10);
          // Has its object come back at once, while it waits for a place.
          if (ctx.name === 'last' && ctx.object.spec?.seen === undefined) ctx.patch({ spec: { seen: true } });
        });
      },
      { concurrency: 2 },
    );
    world.source.put('first', { spec: { isLimited: true } });
    await world.clock.settle();
    world.source.put('last', { spec: { isLimited: true } });
    for (let n = 0; n < 300; n++) world.source.put(`o${n}`, {});
    await life.settle();
    expect(at.first).toBe(0);
    expect(at.last).toBeLessThan(150);
    await life.stop();
  });
});

it("an object whose daemon cannot begin since its source fails keeps nothing meanwhile (A44')", async () => {
  const world = createWorld();
  const calls: string[] = [];
  const source = sourceWith(world, { patch: () => Promise.reject(new BackendError('patch', 'broken')) });
  const life = await world.start(
    (controller) => {
      controller.on('change', { id: 'h', concurrency: 1 }, async ({ name }) => {
        calls.push(name);
        await sleep(world.clock, 100);
      });
      controller.on('daemon', { id: 'd', when: ({ spec }) => spec?.isBroken === true }, () => {});
    },
    { source, backoff: { baseMs: 60_000, maxMs: 60_000 } },
  );
  world.source.put('first', {});
  await world.clock.settle();
  world.source.put('broken', { spec: { isBroken: true } });
  world.source.put('next', {});
  await world.clock.advance(1000);
  expect(calls).toEqual(['first', 'next']);
  await life.stop();
});

it('the error of a pass is told of, and so is that of the timers after it', async () => {
  const world = createWorld();
  const logged: unknown[] = [];
  const source = sourceWith(world, { get: () => Promise.reject(new BackendError('read', 'no source')) });
  const progress: ProgressStore = {
    ...world.progress,
    get: async () => {
      throw new BackendError('read', 'no store');
    },
  };
  world.source.put('o', {});
  const life = await world.start(
    (controller) => {
      controller.on('change', { id: 'h' }, () => {});
      controller.on('timer', { id: 't' }, () => {});
    },
    { source, progress, logger: { debug() {}, info() {}, warn() {}, error: (...entry) => logged.push(entry) } },
  );
  expect(logged).toMatchObject([
    ['Cannot call the timers and daemons of an object', { name: 'o', error: { message: 'Cannot read: no source' } }],
    ['Cannot work on an object', { name: 'o', error: { message: 'Cannot read: no store' } }],
  ]);
  await life.stop();
});

describe.each(LIMITS)("with parallel, %s is kept only for a call that there is room for (A46')", (_what, one, all) => {
  it('beside as many calls as there may be', async () => {
    const world = createWorld();
    const at: Record<string, number> = {};
    const isFull = ({ spec }: Thing): boolean => spec?.isFull === true;
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('change', { id, when: isFull }, () => sleep(world.clock, 10_000));
        }
        controller.on('change', { id: 'h', ...one }, ({ name }) => {
          at[name] = world.clock.now();
        });
      },
      { parallel: 2, ...all },
    );
    world.source.put('full', { spec: { isFull: true } });
    await world.clock.advance(1000);
    world.source.put('next', {});
    await world.clock.advance(5000);
    expect(at.next).toBeLessThan(1500);
    await life.settle();
    expect(at.full).toBeGreaterThanOrEqual(10_000);
    await life.stop();
  });

  it('and that is to be made alone, not while others go on', async () => {
    const world = createWorld();
    const at: Record<string, number> = {};
    let fails = true;
    const start = (): Promise<Life> =>
      world.start(
        (controller) => {
          controller.on('change', { id: 'a', when: ({ spec }) => spec?.isSlow === true }, async () => {
            await sleep(world.clock, 10_000);
          });
          controller.on('change', { id: 'p', field: 'spec.kind', ...one }, (ctx) => {
            at[ctx.name] = world.clock.now();
            ctx.sub('s', {}, () => {
              if (fails) throw new Error('not yet');
            });
          });
        },
        { parallel: 2, progress: world.progress, ...all },
      );
    world.source.put('slow', { spec: { kind: 1 } });
    const first = await start();
    await world.clock.advance(1000);
    await first.stop();
    fails = false;
    // The sub is due, and its parent has to be called for it; whoever was never called has his turn before.
    world.source.put('slow', { spec: { kind: 1, isSlow: true } });
    const beginMs = world.clock.now();
    const second = await start();
    await world.clock.advance(1000);
    world.source.put('next', {});
    await world.clock.advance(5000);
    expect(at.next).toBeLessThan(beginMs + 1500);
    await second.settle();
    expect(at.slow).toBeGreaterThanOrEqual(beginMs + 10_000);
    await second.stop();
  });
});
