import { describe, expect, it } from 'vitest';
import type { ActivityOptions } from '../../../src/handlers/activities.ts';
import { type Controller, createController } from '../../../src/handlers/controller.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { PermanentError, UnsupportedError } from '../../../src/types/errors.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

/** A controller that notes what it does. */
async function start(
  world: World,
  register: (controller: Controller<Thing>, log: string[]) => void,
  options: object = {},
) {
  const log: string[] = [];
  const at = (what: string): void => void log.push(`${what} ${world.clock.now()}`);
  const { source } = world;
  const errors: unknown[] = [];
  const controller = createController<Thing>({
    clock: world.clock,
    random: createSeededRandom(1),
    backoff: { baseMs: 100, jitter: 0, maxMs: 10_000 },
    source: {
      list: (given) => {
        at('list');
        return source.list(given);
      },
      watch: (given) => source.watch(given),
      get: (name, given) => source.get(name, given),
      compare: (a, b) => source.compare(a, b),
    },
    logger: { debug() {}, info() {}, warn() {}, error: (...entry: unknown[]) => errors.push(entry) },
    ...options,
  });
  register(controller, log);
  controller.on('change', { id: 'h' }, () => at('change'));
  const stop = new AbortController();
  const outcome = controller.run({ signal: stop.signal }).then(
    () => log.push(`stopped ${world.clock.now()}`),
    (error: unknown) => log.push(`rejected ${String(error)} ${world.clock.now()}`),
  );
  await world.clock.settle();
  return { controller, stop, log, errors, outcome };
}

describe("startups and cleanups (A25')", () => {
  it('run once, one after the other: before the first list, and after the drain', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const { stop, log } = await start(world, (controller, log) => {
      const busy = (id: string) => async (): Promise<void> => {
        log.push(`${id} begins ${world.clock.now()}`);
        await sleep(world.clock, 100);
        log.push(`${id} ends ${world.clock.now()}`);
      };
      controller.on('cleanup', { id: 'c1' }, busy('c1'));
      controller.on('startup', { id: 's1' }, busy('s1'));
      controller.on('startup', { id: 's2' }, busy('s2'));
      controller.on('cleanup', { id: 'c2' }, busy('c2'));
      controller.on('daemon', { id: 'd' }, async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await sleep(world.clock, 50);
        log.push(`daemon ends ${world.clock.now()}`);
      });
    });
    await world.clock.advance(500);
    stop.abort();
    await world.clock.advance(1000);
    expect(log).toEqual([
      's1 begins 0',
      's1 ends 100',
      's2 begins 100',
      's2 ends 200',
      'list 200',
      'change 200',
      'daemon ends 550',
      'c1 begins 550',
      'c1 ends 650',
      'c2 begins 650',
      'c2 ends 750',
      'stopped 750',
    ]);
    expect(world.clock.pending).toBe(0);
  });

  it('are tried again by backoff, also after a timeout', async () => {
    const world = createWorld();
    const attempts: string[] = [];
    const { stop, log } = await start(world, (controller) => {
      controller.on(
        'startup',
        { id: 's', timeoutMs: 50, backoff: { baseMs: 10, jitter: 0 } },
        async ({ attempt, signal }) => {
          attempts.push(`${attempt} ${world.clock.now()}`);
          if (attempt === 0) throw null;
          if (attempt === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      );
    });
    await world.clock.advance(500);
    expect([attempts, log]).toEqual([['0 0', '1 10', '2 80'], ['list 80']]);
    stop.abort();
  });

  it.each([
    ['a permanent error', new PermanentError('no'), 5, 0],
    ['retries used up', new Error('no'), 2, 300],
  ])('%s of a startup rejects run, and nothing else is called', async (_name, error, retries, atMs) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const { controller, log, errors, outcome } = await start(world, (controller, log) => {
      controller.on('startup', { id: 's', retries }, () => Promise.reject(error));
      controller.on('startup', { id: 's2' }, () => void log.push('s2'));
      controller.on('cleanup', { id: 'c' }, () => void log.push('c'));
    });
    await world.clock.advance(10_000);
    await outcome;
    expect(log).toEqual([`rejected ${String(error)} ${atMs}`]);
    expect(errors).toMatchObject([['Startup "s" failed for good', { error }]]);
    await expect(controller.idle()).rejects.toThrow('the controller');
    expect(world.clock.pending).toBe(0);
  });

  it('a stop during a startup aborts it, and calls neither the source nor a cleanup', async () => {
    for (const [body, endsMs] of [
      ['obeys', 100],
      ['waits', 100],
      ['hangs', 1100],
    ] as const) {
      const world = createWorld();
      const { stop, log, outcome } = await start(
        world,
        (controller, log) => {
          controller.on('startup', { id: 's' }, async ({ signal }) => {
            if (body === 'waits') throw new Error('later');
            await new Promise((resolve) => body === 'obeys' && signal.addEventListener('abort', resolve));
            throw signal.reason;
          });
          controller.on('cleanup', { id: 'c' }, () => void log.push('c'));
        },
        { drainMs: 1000, backoff: { baseMs: 60_000 } },
      );
      await world.clock.advance(100);
      stop.abort();
      await world.clock.advance(10_000);
      await outcome;
      expect(log, body).toEqual([`stopped ${endsMs}`]);
      expect(world.clock.pending).toBe(0);
    }
  });

  it('a cleanup that fails is told of, and the others run; the time for all of them is bounded', async () => {
    const world = createWorld();
    const { stop, log, errors, outcome } = await start(
      world,
      (controller, log) => {
        controller.on('cleanup', { id: 'bad', retries: 1 }, () => Promise.reject(new Error('no')));
        controller.on('cleanup', { id: 'good' }, () => void log.push('good'));
        controller.on('cleanup', { id: 'hangs' }, ({ signal }) => {
          signal.addEventListener('abort', () => log.push(`aborted ${world.clock.now()}`));
          return new Promise(() => {});
        });
        controller.on('cleanup', { id: 'last' }, () => void log.push('last'));
      },
      { cleanupMs: 1000 },
    );
    stop.abort();
    await world.clock.advance(10_000);
    await outcome;
    expect(log).toEqual(['list 0', 'good', 'aborted 1000', 'stopped 1000']);
    expect(errors).toMatchObject([
      ['Cleanup "bad" failed for good', { error: { message: 'no' } }],
      ['Cleanup "hangs" is not done: the time is up', { cleanupMs: 1000 }],
      ['Cleanup "last" is not done: the time is up', { cleanupMs: 1000 }],
    ]);
    expect(world.clock.pending).toBe(0);
  });

  it('cleanups run when the source fails for good, and run rejects with its error', async () => {
    const world = createWorld();
    const error = new UnsupportedError('list', 'everything');
    const { log, outcome } = await start(
      world,
      (controller, log) => controller.on('cleanup', { id: 'c' }, () => void log.push('c')),
      {
        source: {
          list: () => Promise.reject(error),
          watch: world.source.watch,
          get: () => Promise.resolve(undefined),
          compare: () => 0,
        },
      },
    );
    await world.clock.advance(10_000);
    await outcome;
    expect(log).toEqual(['c', `rejected ${String(error)} 0`]);
  });

  it('options are checked', async () => {
    const refused = (kind: 'startup' | 'cleanup', options: object): Promise<unknown> =>
      start(createWorld(), (controller) => controller.on(kind, { id: 'a', ...options } as ActivityOptions, () => {}));
    await expect(refused('startup', { when: () => true })).rejects.toThrow('unknown option when');
    await expect(refused('cleanup', { retries: -1 })).rejects.toThrow('retries must be');
    await expect(refused('startup', { backoff: { baseMs: 0 } })).rejects.toThrow('baseMs');
    await expect(refused('cleanup', { id: 'h' })).rejects.toThrow('the id is taken');
    await expect(start(createWorld(), () => {}, { cleanupMs: -1 })).rejects.toThrow('cleanupMs must be at least 0');
  });
});
