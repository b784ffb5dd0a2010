import { describe, expect, it } from 'vitest';
import { BATCH_MAX } from '../../../src/handlers/pass.ts';
import { createWorld, sleep } from './harness.ts';

describe("one write for a whole pass: persist 'pass' (A12'b)", () => {
  it.each([
    ['call', 6],
    ['pass', 2],
  ] as const)('%s: 5 handlers that see a change cost %i writes', async (persist, writes) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) {
          controller.on('change', { id, field: 'spec.n' }, () => sleep(world.clock, 10));
        }
      },
      { persist },
    );
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 5, writes, passes: 1 });
    await life.stop();
  });

  it('a parent with 5 subs costs 3 writes: its intent, its outcome with the intents of all subs, their outcomes', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
          for (const id of ['a', 'b', 'c', 'd', 'e']) ctx.sub(id, {}, () => {});
        }),
      { persist: 'pass' },
    );
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 6, writes: 3 });
    const states = world.written.map(({ records }) =>
      Object.values(records)
        .map(({ attempt }) => attempt?.state ?? 'none')
        .join(' '),
    );
    expect(states).toEqual(['open', 'ok open open open open open', 'ok ok ok ok ok ok']);
    await life.stop();
  });

  it(`at most ${BATCH_MAX} attempts are open, and as many outcomes wait, before there is a write`, async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const count = 2 * BATCH_MAX + 1;
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
          for (let n = 0; n < count; n++) ctx.sub(`s${n}`, {}, () => {});
        }),
      { persist: 'pass' },
    );
    await life.settle();
    expect(life.stats().writes).toBe(1 + 3 + 1);
    const open = world.written.map(
      ({ records }) => Object.values(records).filter(({ attempt }) => attempt?.state === 'open').length,
    );
    expect(open).toEqual([1, BATCH_MAX, BATCH_MAX, 1, 0]);
    await life.stop();
  });

  it('a crash repeats every call of the pass, under the keys that they had', async () => {
    const world = createWorld();
    const keys: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    let isDead = false;
    const mortal = {
      ...world.progress,
      compareAndSet: (...args: Parameters<typeof world.progress.compareAndSet>) =>
        isDead ? new Promise<never>(() => {}) : world.progress.compareAndSet(...args),
    };
    const start = (progress: typeof world.progress) =>
      world.start(
        (controller) => {
          for (const id of ['a', 'b', 'c']) {
            controller.on('change', { id, field: 'spec.n' }, (ctx) => {
              keys.push(ctx.idempotencyKey);
              if (id === 'b') isDead = true;
            });
          }
        },
        { persist: 'pass', progress },
      );
    await start(mortal);
    await world.clock.advance(10);
    expect(keys).toHaveLength(3);
    const second = await start(world.progress);
    await second.settle();
    expect(keys.slice(3)).toEqual(keys.slice(0, 3));
    await second.stop();
  });

  it("patches go into the object after their call, as ever (A8')", async () => {
    const world = createWorld();
    const marks: unknown[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('change', { id, field: 'spec.n' }, async (ctx) => {
            marks.push(world.source.objects[0]?.object.status);
            ctx.patch({ status: { [id]: true } });
            await sleep(world.clock, 10);
          });
        }
      },
      { persist: 'pass' },
    );
    await life.settle();
    expect(marks).toEqual([undefined, { a: true }]);
    expect(life.stats()).toMatchObject({ calls: 2, writes: 2, patches: 2 });
    await life.stop();
  });

  it("a call that ended without an outcome does not keep the others from their turn (A5')", async () => {
    const world = createWorld();
    const log: string[] = [];
    world.source.put('o', { spec: { n: 0 } });
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b', 'c']) {
          controller.on('change', { id, field: 'spec.n' }, async ({ signal }) => {
            log.push(id);
            await sleep(world.clock, 10);
            signal.throwIfAborted();
          });
        }
      },
      { persist: 'pass' },
    );
    for (let n = 1; n < 9; n++) {
      await world.clock.advance(8);
      world.source.put('o', { spec: { n } });
    }
    expect(log.slice(0, 6)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    await life.settle();
    await life.stop();
  });
});
