import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { createWorld, sleep, type World } from '../unit/handlers/harness.ts';

const POLICIES = ['supersede', 'complete'] as const;

/** The longest way from one execution of an id to its next, over all ids; the first 3 rounds are the start. */
function longestGap(executions: readonly string[], ids: readonly string[]): number {
  let longest = 0;
  for (const id of ids) {
    const places = executions.flatMap((execution, place) => (execution === id ? [place] : []));
    for (const [index, place] of places.entries()) {
      const next = places[index + 1] ?? executions.length;
      longest = Math.max(longest, next - place);
    }
  }
  return longest;
}

/** Changes the whole view, at once or `everyMs`, until the world has seen enough. */
async function churn(world: World, everyMs: number, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    world.source.put('o', { spec: { n } });
    await world.clock.advance(everyMs);
  }
}

describe("handlers: fairness under steady change (I9')", () => {
  for (const k of [2, 4, 8]) {
    const ids = Array.from({ length: k }, (_, index) => `h${index}`);
    for (const everyMs of [10, 4]) {
      for (const policy of POLICIES) {
        it(`(a) ${k} handlers, ${policy}, a change each ${everyMs} ms, calls of 10 ms: k executions`, async () => {
          const world = createWorld();
          const executions: string[] = [];
          const life = await world.start(
            (controller) => {
              for (const id of ids) {
                controller.on('change', { id, field: 'spec.n' }, async () => {
                  executions.push(id);
                  await sleep(world.clock, 10);
                });
              }
            },
            { policy },
          );
          await churn(world, everyMs, 400);
          expect(executions.length).toBeGreaterThan(100);
          expect(longestGap(executions, ids)).toBe(k);
          await life.settle();
          await life.stop();
        });
      }

      it.each([
        ['supersede', 2 * k],
        ['complete', k + 1],
      ] as const)(
        `(b) a parent with ${k} subs, %s, a change each ${everyMs} ms: %i executions`,
        async (policy, bound) => {
          const world = createWorld();
          const executions: string[] = [];
          const life = await world.start(
            (controller) =>
              controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
                executions.push('p');
                for (const id of ids) {
                  ctx.sub(id, {}, async () => {
                    executions.push(id);
                    await sleep(world.clock, 10);
                  });
                }
                await sleep(world.clock, 10);
              }),
            { policy },
          );
          await churn(world, everyMs, 400);
          expect(longestGap(executions, ids)).toBe(bound);
          await life.settle();
          await life.stop();
        },
      );
    }
  }
});

describe("handlers: fairness with other ways to write and to call (I9')", () => {
  it.each([
    ['supersede', 8],
    ['complete', 8],
  ] as const)("8 handlers, %s, persist 'pass': %i executions", async (policy, bound) => {
    const world = createWorld();
    const executions: string[] = [];
    const ids = Array.from({ length: 8 }, (_, index) => `h${index}`);
    const life = await world.start(
      (controller) => {
        for (const id of ids) {
          controller.on('change', { id, field: 'spec.n' }, async () => {
            executions.push(id);
            await sleep(world.clock, 10);
          });
        }
      },
      { policy, persist: 'pass' },
    );
    await churn(world, 4, 400);
    expect(executions.length).toBeGreaterThan(100);
    expect(longestGap(executions, ids)).toBe(bound);
    await life.settle();
    await life.stop();
  });

  it("a parent with 2 subs that have 2 each: a leaf for each two parents, so 3k executions for k leaves (A9'f)", async () => {
    const world = createWorld();
    const executions: string[] = [];
    const work = async (id: string): Promise<void> => {
      executions.push(id);
      await sleep(world.clock, 10);
    };
    const leaves = ['a/0', 'a/1', 'b/0', 'b/1'];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
        for (const id of ['a', 'b']) {
          ctx.sub(id, {}, async (sub) => {
            for (const leaf of ['0', '1']) sub.sub(leaf, {}, () => work(`${id}/${leaf}`));
            await work(id);
          });
        }
        await work('p');
      }),
    );
    await churn(world, 4, 800);
    expect(longestGap(executions, leaves)).toBe(3 * leaves.length);
    await life.settle();
    await life.stop();
  });
});

describe("handlers: fairness between parents and others (A5')", () => {
  it('a due parent takes the turn of its subs: one sub costs two executions, wherever the parent itself stands', async () => {
    const world = createWorld();
    const executions: string[] = [];
    const [leaves, subs] = [
      ['h0', 'h1', 'h2', 'h3'],
      ['s0', 's1', 's2', 's3'],
    ];
    const work = async (id: string): Promise<void> => {
      executions.push(id);
      await sleep(world.clock, 10);
    };
    const life = await world.start((controller) => {
      for (const id of leaves) controller.on('change', { id, field: 'spec.n' }, () => work(id));
      controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
        for (const id of subs) ctx.sub(id, {}, () => work(id));
        await work('p');
      });
    });
    await churn(world, 10, 400);
    expect(longestGap(executions, [...leaves, ...subs])).toBe(leaves.length + 2 * subs.length);
    await life.settle();
    await life.stop();
  });
});

describe('handlers: the final value reaches everybody', () => {
  it('parent on a field, three sub-handlers of 0.5 s each, 20 changes 0.2 s apart, random timings', async () => {
    const runs = sized({ smoke: 1000, full: 10_000 });
    for (let run = 0; run < runs; run++) {
      const seed = (testSeed() + run) >>> 0;
      const random = createSeededRandom(seed);
      const world = createWorld(seed);
      const last = new Map<string, unknown>();
      const life = await world.start(
        (controller) =>
          controller.on('change', { id: 'p', field: 'spec.tick' }, async (ctx) => {
            await sleep(world.clock, random() * 100);
            last.set('p', ctx.new);
            for (const id of ['sub_0', 'sub_1', 'sub_2']) {
              ctx.sub(id, {}, async (sub) => {
                await sleep(world.clock, random() * 1000);
                last.set(id, sub.new);
              });
            }
          }),
        { policy: random() < 0.5 ? 'supersede' : 'complete' },
      );
      for (let tick = 0; tick < 20; tick++) {
        world.source.put('o', { spec: { tick } });
        await world.clock.advance(random() * 400);
      }
      await life.settle();
      const where = `run with seed ${seed}; ${reproduce('property')}`;
      expect(Object.fromEntries(last), where).toEqual({ p: 19, sub_0: 19, sub_1: 19, sub_2: 19 });
      expect(life.controller.state('o'), where).toMatchObject({ settled: true, succeeded: true });
      await life.stop();
    }
  });
});
