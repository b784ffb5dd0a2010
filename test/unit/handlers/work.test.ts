import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import { ShortMap } from '../../../src/handlers/short-map.ts';
import { Snapshot } from '../../../src/handlers/snapshot.ts';
import { TableMap } from '../../../src/handlers/table-map.ts';
import { BURST_MAX } from '../../../src/queue/pacer.ts';
import { createWorld, type Thing } from './harness.ts';

/** Steps on records, views and jobs that one call may cost, however many subs or handlers there are. */
const STEPS_PER_CALL_MAX = 60;

function countOf(spies: readonly { readonly mock: { readonly calls: readonly unknown[] } }[]): number {
  return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}

/** Counts how often the parts of a document and of a state are looked at. */
function countSteps() {
  const maps = [TableMap, ShortMap] as const;
  const reads = maps.map((map) => vi.spyOn(map.prototype, 'get'));
  const changes = maps.map((map) => vi.spyOn(map.prototype, 'set'));
  const writes = vi.spyOn(TableMap.prototype, 'with');
  const copies = maps.map((map) => vi.spyOn(map.prototype, 'entries'));
  const views = [vi.spyOn(Snapshot.prototype, 'viewOf'), vi.spyOn(Snapshot.prototype, 'viewOfSub')];
  return {
    steps: (): number => {
      const changed = writes.mock.calls.reduce((sum, [changes]) => sum + changes.length, 0);
      return countOf([...reads, ...changes, ...views]) + changed;
    },
    copies: (): number => countOf(copies),
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Has everything called once and returns the steps for each call. */
async function stepsPerCall(register: (controller: Controller<Thing>) => void): Promise<number> {
  const world = createWorld();
  world.source.put('o', { spec: { n: 1 } });
  const { steps, copies } = countSteps();
  const life = await world.start(register, { progress: world.progress });
  await life.settle();
  const perCall = steps() / life.stats().calls;
  // A store that keeps documents by reference has nothing copied as a whole.
  expect(copies()).toBe(0);
  expect(life.stats()).toMatchObject({ behind: 0, temporaryFailures: 0 });
  vi.restoreAllMocks();
  await life.stop();
  return perCall;
}

function subs(count: number, field?: string): (controller: Controller<Thing>) => void {
  return (controller) =>
    controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
      for (let n = 0; n < count; n++)
        ctx.sub(`s${n}`, { args: n, ...(field === undefined ? {} : { field }) }, () => {});
    });
}

function handlers(count: number): (controller: Controller<Thing>) => void {
  return (controller) => {
    for (let n = 0; n < count; n++) controller.on('change', { id: `h${n}`, field: 'spec.n' }, () => {});
  };
}

describe('the work for one call', () => {
  it.each([
    ['subs', subs],
    ['handlers', handlers],
  ] as const)('does not grow with the number of %s', async (_name, register) => {
    const [few, many] = [await stepsPerCall(register(100)), await stepsPerCall(register(1500))];
    expect(few).toBeLessThan(STEPS_PER_CALL_MAX);
    expect(many).toBeLessThan(STEPS_PER_CALL_MAX);
    expect(Math.abs(many - few)).toBeLessThan(3);
  });

  it('does not grow either where subs fail and come back one by one', async () => {
    const world = createWorld();
    const count = 300;
    world.source.put('o', { spec: { n: 1 } });
    const { steps } = countSteps();
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
          for (let n = 0; n < count; n++) {
            ctx.sub(`s${n}`, { args: n }, (sub) => {
              // Each comes back at another time, so most have a pass of their own.
              if (sub.attempt === 0) throw new Error('later');
            });
          }
        }),
      { progress: world.progress, backoff: { baseMs: 100, jitter: 0.9 } },
    );
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 2 * count + 1, temporaryFailures: count });
    expect(life.stats().passes).toBeGreaterThan(count / 2);
    expect(steps() / life.stats().calls).toBeLessThan(STEPS_PER_CALL_MAX);
    await life.stop();
  });
});

describe('a long pass', () => {
  it('gives way to timers: one that is due fires before the end of 3000 subs', async () => {
    const world = createWorld();
    let calls = 0;
    const seen: number[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        world.clock.after(0, () => seen.push(calls));
        for (let n = 0; n < 3000; n++) {
          ctx.sub(`s${n}`, {}, () => {
            calls++;
            if (calls % 500 === 0) world.clock.after(0, () => seen.push(calls));
          });
        }
      }),
    );
    world.source.put('o', { spec: { n: 1 } });
    await life.settle();
    expect(calls).toBe(3000);
    expect(seen).toHaveLength(7);
    for (const [index, at] of seen.entries()) {
      expect(at).toBeGreaterThanOrEqual(500 * index);
      expect(at).toBeLessThan(500 * index + 2 * BURST_MAX);
    }
    expect(life.stats().passes).toBe(1);
    await life.stop();
  });

  it('ends early when the controller stops, and is gone on with after the restart', async () => {
    const world = createWorld();
    let calls = 0;
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        for (let n = 0; n < 3000; n++) {
          ctx.sub(`s${n}`, {}, () => {
            calls++;
          });
        }
      });
    world.source.put('o', { spec: { n: 1 } });
    const first = await world.start(register);
    first.abort();
    const begun = calls;
    expect(begun).toBeLessThan(BURST_MAX);
    await world.clock.settle();
    await first.done;
    expect(world.clock.pending).toBe(0);
    // Not even the burst after the one that was going on.
    expect(calls).toBe(begun);
    expect(first.stats().behind).toBe(1);
    const second = await world.start(register);
    await second.settle();
    // What had ended is not repeated.
    expect(calls).toBe(3000);
    await second.stop();
  });
});
