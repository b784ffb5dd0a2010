import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { EventContext, EventOptions } from '../../../src/handlers/event-options.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';
import { createWorld, sleep, type Thing } from './harness.ts';

type Context = EventContext<Thing>;

function on(
  controller: Controller<Thing>,
  fn: (ctx: Context) => Promise<void> | void,
  options: Partial<EventOptions<Thing>> = {},
) {
  controller.on('event', { id: 'e', ...options }, fn);
}

const brief = ({ type, object, resourceVersion }: Context): string => `${type} ${object.spec?.n} @${resourceVersion}`;

describe("event handlers (A21')", () => {
  it('are told of every state and of the deletion, without a record or a write', async () => {
    const world = createWorld();
    const events: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => on(controller, (ctx) => void events.push(brief(ctx))));
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.settle();
    world.source.put('o', { spec: { n: 2 }, status: { x: 1 } });
    await world.clock.settle();
    world.source.delete('o');
    await life.settle();
    expect(events).toEqual(['added 1 @1', 'modified 2 @2', 'modified 2 @3', 'deleted 2 @3']);
    expect([world.written.length, life.stats().events]).toEqual([0, 4]);
    await life.stop();
  });

  it('hear of the end of one life before the next, also where one state shows both', async () => {
    const world = createWorld();
    const events: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      on(controller, (ctx) => void events.push(`${brief(ctx)} ${ctx.uid}`)),
    );
    const [first] = world.source.objects;
    world.source.setFaults({ dropRate: 1 });
    world.source.delete('o');
    world.source.setFaults({});
    const second = world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(events).toEqual([`added 1 @1 ${first?.uid}`, `deleted 1 @1 ${first?.uid}`, `added 2 @3 ${second.uid}`]);
    await life.stop();
  });

  it('are told of an object that a list lacks, and of nothing that is old or comes twice', async () => {
    const world = createWorld();
    const events: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => on(controller, (ctx) => void events.push(brief(ctx))));
    world.source.replay();
    await life.settle();
    world.source.setFaults({ dropRate: 1 });
    world.source.delete('o');
    world.source.setFaults({});
    world.source.breakWatches();
    await world.clock.advance(1000);
    expect(events).toEqual(['added 1 @1', 'deleted 1 @1']);
    await life.stop();
  });

  it('say that an object is on its way out', async () => {
    const world = createWorld();
    const events: unknown[] = [];
    const { uid } = world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      on(controller, ({ type, deleting }) => void events.push([type, deleting])),
    );
    world.source.setFinalizers('o', ['somebody']);
    world.source.startDeletion('o');
    await life.settle();
    world.source.setFinalizers('o', []);
    await life.settle();
    expect(uid).toBeTypeOf('string');
    expect(events.at(-2)).toEqual(['modified', true]);
    expect(events.at(-1)).toEqual(['deleted', true]);
    await life.stop();
  });

  it('one that is slow gets a backlog: the oldest goes, the last one never', async () => {
    for (const [backlogMax, expected] of [
      [1, ['added 0 @1', 'modified 5 @6']],
      [2, ['added 0 @1', 'modified 4 @5', 'modified 5 @6']],
      [4, ['added 0 @1', 'modified 2 @3', 'modified 3 @4', 'modified 4 @5', 'modified 5 @6']],
      [5, ['added 0 @1', 'modified 1 @2', 'modified 2 @3', 'modified 3 @4', 'modified 4 @5', 'modified 5 @6']],
    ] as const) {
      const world = createWorld();
      const events: string[] = [];
      world.source.put('o', { spec: { n: 0 } });
      const slow = async (ctx: Context): Promise<void> => {
        events.push(brief(ctx));
        await sleep(world.clock, 1000);
      };
      const life = await world.start((controller) => on(controller, slow, { backlogMax }));
      for (let n = 1; n <= 5; n++) {
        world.source.put('o', { spec: { n } });
        await world.clock.advance(10);
      }
      await world.clock.advance(10_000);
      expect([events, life.stats().eventsDropped]).toEqual([expected, 6 - expected.length]);
      await life.stop();
    }
  });

  it('a slow one holds up neither other handlers, nor other objects, nor the passes', async () => {
    const world = createWorld();
    const seen: string[] = [];
    const life = await world.start((controller) => {
      on(controller, async (ctx) => {
        seen.push(`slow ${ctx.name}`);
        await new Promise(() => {});
      });
      on(controller, (ctx) => void seen.push(`fast ${ctx.name} ${ctx.type}`), { id: 'fast' });
      controller.on('change', { id: 'h' }, (ctx) => void seen.push(`change ${ctx.name}`));
    });
    world.source.put('a', { spec: { n: 1 } });
    world.source.put('b', { spec: { n: 1 } });
    await life.settle();
    world.source.delete('a');
    await life.settle();
    expect(seen.sort()).toEqual(
      ['change a', 'change b', 'fast a added', 'fast a deleted', 'fast b added', 'slow a', 'slow b'].sort(),
    );
    await life.stop();
  });

  it('no more of them run than the concurrency allows', async () => {
    const world = createWorld();
    let running = 0;
    let most = 0;
    for (let index = 0; index < 10; index++) world.source.put(`o${index}`, { spec: { n: 1 } });
    const slow = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await sleep(world.clock, 100);
      running--;
    };
    const life = await world.start((controller) => on(controller, slow), { concurrency: 3 });
    await world.clock.advance(1000);
    expect([most, life.stats().events]).toEqual([3, 10]);
    await life.stop();
  });

  it('what one throws, and a call that takes too long, is logged and counted, and not tried again', async () => {
    const world = createWorld();
    const errors: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (...entry: unknown[]) => errors.push(entry) };
    const life = await world.start(
      (controller) => {
        on(controller, () => Promise.reject(null));
        on(controller, () => new Promise(() => {}), { id: 'hangs', timeoutMs: 100 });
      },
      { logger },
    );
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.advance(10_000);
    expect(errors).toMatchObject([
      ['Event handler "e" failed', { name: 'o', type: 'added', error: null }],
      ['Event handler "hangs" failed', { name: 'o', type: 'added', error: { code: 'TEMPORARY' } }],
    ]);
    expect(life.stats()).toMatchObject({ events: 2, eventFailures: 2, behind: 0 });
    await life.stop();
  });

  it('filters hold for the state of the event, for a deletion the last one known', async () => {
    const world = createWorld();
    const events: string[] = [];
    const life = await world.start((controller) =>
      on(controller, (ctx) => void events.push(brief(ctx)), { field: 'spec.n', value: (n) => Number(n) > 1 }),
    );
    for (const n of [1, 2, 1, 3]) {
      world.source.put('o', { spec: { n } });
      await life.settle();
    }
    world.source.delete('o');
    await life.settle();
    expect(events).toEqual(['modified 2 @2', 'modified 3 @4', 'deleted 3 @4']);
    await life.stop();
  });

  it('the stop aborts running calls, waits for them within the drain, and begins none', async () => {
    const world = createWorld();
    const log: string[] = [];
    const obedient = async ({ name, signal }: Context): Promise<void> => {
      log.push(`begin ${name}`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await sleep(world.clock, 50);
      log.push(`end ${name}`);
    };
    const life = await world.start((controller) => on(controller, obedient));
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.settle();
    world.source.put('o', { spec: { n: 2 } });
    await world.clock.settle();
    life.abort();
    void life.done.then(() => log.push('stopped'));
    await world.clock.advance(10_000);
    expect(log).toEqual(['begin o', 'end o', 'stopped']);
    expect(world.clock.pending).toBe(0);
  });

  it('a call that the drain leaves behind keeps no timer', async () => {
    const world = createWorld();
    const hangs = (): Promise<void> => new Promise(() => {});
    const life = await world.start((controller) => on(controller, hangs, { timeoutMs: 1e6 }), { drainMs: 100 });
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.settle();
    life.abort();
    await world.clock.advance(100);
    await life.done;
    expect(world.clock.pending).toBe(0);
  });

  it('options are checked', async () => {
    const refused = async (options: object, message: string): Promise<void> => {
      const register = (controller: Controller<Thing>): void => on(controller, () => {}, options);
      await expect(createWorld().start(register)).rejects.toThrow(message);
    };
    await refused({ retries: 1 }, 'unknown option retries');
    await refused({ backlogMax: 0 }, 'backlogMax must be a whole number from 1 on');
    await refused({ backlogMax: Number.POSITIVE_INFINITY }, 'backlogMax must be');
    await refused({ timeoutMs: -1 }, 'timeoutMs must be above 0');
    await refused({ old: 1 }, 'unknown option old');
    await refused({ id: '' }, 'the id must be a string with content');
  });

  it("I21': random programs: in order, without overlap, and the last one is of the last state", async () => {
    const failed: string[] = [];
    for (let index = 0; index < 200; index++) {
      const seed = (testSeed() + index) >>> 0;
      const random = createSeededRandom(seed);
      const world = createWorld(seed);
      const hostility = random() < 0.5 ? 0 : random() * 0.2;
      world.source.setFaults({ duplicateRate: hostility, delayMsMax: hostility * 200, staleListRate: hostility });
      const last = new Map<string, Context>();
      const busy = new Set<string>();
      const violations: string[] = [];
      const fn = async (ctx: Context): Promise<void> => {
        const before = last.get(ctx.name);
        if (busy.has(ctx.name)) violations.push(`${ctx.name} overlaps`);
        if (before !== undefined && Number(ctx.resourceVersion) < Number(before.resourceVersion)) {
          violations.push(`${ctx.name} goes back`);
        }
        if (before?.type === 'deleted' && before.uid === ctx.uid) violations.push(`${ctx.name} is told of the dead`);
        last.set(ctx.name, ctx);
        busy.add(ctx.name);
        if (random() < 0.7) await sleep(world.clock, random() * 100);
        busy.delete(ctx.name);
        if (random() < 0.2) throw new Error('no matter');
      };
      const backlogMax = 1 + Math.floor(random() * 3);
      const life = await world.start((controller) => on(controller, fn, { backlogMax }));
      for (let step = 0; step < 25; step++) {
        const name = random() < 0.5 ? 'a' : 'b';
        if (random() < 0.2) world.source.delete(name);
        else if (random() < 0.1) world.source.breakWatches();
        else world.source.put(name, { spec: { n: step } });
        await world.clock.advance(random() < 0.5 ? 0 : random() * 80);
      }
      world.source.setFaults({});
      world.source.breakWatches();
      await world.clock.advance(60_000);
      for (const name of ['a', 'b']) {
        const object = world.source.objects.find((living) => living.name === name);
        const told = last.get(name);
        const isLast =
          object === undefined
            ? told?.type !== 'added' && told?.type !== 'modified'
            : told?.resourceVersion === object.resourceVersion;
        if (!isLast) violations.push(`${name} ends with ${told?.type} @${told?.resourceVersion}`);
      }
      if (violations.length > 0) failed.push(`${seed}: ${violations.slice(0, 3).join('; ')}`);
      await life.stop();
    }
    expect(failed.slice(0, 3), reproduce('unit')).toEqual([]);
  }, 60_000);
});
