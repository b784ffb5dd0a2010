import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { DaemonContext } from '../../../src/handlers/spawn-options.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

/**
 * What a call does, synchronously, to the object whose turn it is, is known before the next call of that turn begins, or that
 * call hears of it (A10', A23', A35').
 */

type Begin = (controller: Controller<Thing>, act: () => void) => void;

/** The call that acts, before the others of its turn. */
const FIRST: readonly (readonly [string, Begin])[] = [
  ['timer', (controller, act) => controller.on('timer', { id: 'first' }, act)],
  ['daemon', (controller, act) => controller.on('daemon', { id: 'first' }, act)],
  ['change', (controller, act) => controller.on('change', { id: 'first' }, act)],
  ['resume', (controller, act) => controller.on('resume', { id: 'first' }, act)],
  ['sub', (controller, act) => controller.on('change', { id: 'first' }, (ctx) => ctx.sub('s', {}, act))],
];

const ENDS: readonly (readonly [string, (world: World) => void])[] = [
  ['deletes it', ({ source }) => source.delete('o')],
  ['has it on its way out', ({ source }) => source.startDeletion('o')],
  [
    'replaces it',
    ({ source }) => {
      source.delete('o');
      source.put('o', { spec: { next: 1 } });
    },
  ],
  ['takes it out of scope', ({ source }) => source.put('o', { spec: { out: 1 } })],
];

const isIn = ({ spec }: Thing): boolean => spec?.out === undefined;

/** Long calls, and which of them go on. */
function watched(world: World) {
  const running = new Set<string>();
  let overlaps = 0;
  const body = async ({ uid, signal }: Pick<DaemonContext<Thing>, 'uid' | 'signal'>): Promise<void> => {
    if (running.size > 0) overlaps++;
    running.add(uid);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await sleep(world.clock, 5);
    running.delete(uid);
  };
  return { running, body, overlaps: () => overlaps };
}

describe.each(['daemon', 'timer'] as const)('a %s whose turn comes after a call', (kind) => {
  for (const [first, begin] of FIRST) {
    it.each(ENDS)(`of kind ${first} that %s is told, or does not begin`, async (_, act) => {
      const world = createWorld();
      const { running, body, overlaps } = watched(world);
      world.source.put('o', { spec: {} });
      const [{ uid: old } = { uid: '' }] = world.source.objects;
      let isDone = false;
      const life = await world.start((controller) => {
        begin(controller, () => {
          if (!isDone) act(world);
          isDone = true;
        });
        // So that the object is held, and goes when nothing of it goes on; where that does not bring the turn of timers first.
        if (first === 'timer' || first === 'daemon') controller.on('delete', { id: 'gone' }, () => {});
        if (kind === 'daemon') controller.on('daemon', { id: 'long', when: isIn }, body);
        else controller.on('timer', { id: 'long', when: isIn }, body);
      });
      await world.clock.advance(1000);
      expect([isDone, running.has(old), overlaps()]).toEqual([true, false, 0]);
      const startedMs = world.clock.now();
      life.abort();
      await world.clock.advance(100);
      await life.done;
      expect([running.size, world.clock.now() - startedMs]).toEqual([0, 100]);
      // Nothing that has ended holds the object.
      expect(world.source.objects.filter(({ deleting, finalizers = [] }) => deleting && finalizers.length > 0)).toEqual(
        [],
      );
    });
  }
});

describe('a pause that a call begins', () => {
  it.each(FIRST)('of kind %s holds back the timers and daemons of its turn', async (_, begin) => {
    const world = createWorld();
    world.source.put('o', { spec: {} });
    const begun: string[] = [];
    let isDone = false;
    const life = await world.start((controller) => {
      begin(controller, () => {
        if (!isDone) controller.pause();
        isDone = true;
      });
      controller.on('timer', { id: 't' }, () => void begun.push('t'));
      controller.on('daemon', { id: 'd' }, () => void begun.push('d'));
    });
    await world.clock.advance(1000);
    expect([isDone, begun]).toEqual([true, []]);
    life.controller.resume();
    await world.clock.advance(1000);
    expect(begun).toEqual(['t', 'd']);
    await life.stop();
  });
});

it('D14: a resumption is once for each process, also where two that live have one record of it', async () => {
  const world = createWorld();
  world.source.put('o', { spec: { n: 0 } });
  const calls = [0, 0];
  const register = (process: 0 | 1) => (controller: Controller<Thing>) => {
    controller.on('resume', { id: 'r' }, () => {
      calls[process] = (calls[process] ?? 0) + 1;
    });
    controller.on('change', { id: 'h', field: 'spec.n' }, () => {});
  };
  const lives = [await world.start(register(0)), await world.start(register(1), { random: () => 0.5 })];
  for (let n = 1; n <= 10; n++) {
    world.source.put('o', { spec: { n } });
    await world.clock.advance(1000);
  }
  expect(calls).toEqual([1, 1]);
  for (const { controller } of lives) expect(controller.state('o')).toMatchObject({ settled: true, succeeded: true });
  for (const life of lives) await life.stop();
  const next = await world.start(register(0), { random: () => 0.7 });
  await next.settle();
  expect(calls).toEqual([2, 1]);
  await next.stop();
});
