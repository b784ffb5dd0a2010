import { describe, expect, it } from 'vitest';
import { createController } from '../../../src/handlers/controller.ts';
import { ClosedError } from '../../../src/types/errors.ts';
import { createWorld, sleep } from './harness.ts';

/** How a promise has ended by now, `pending` if it has not. */
async function endOf(promise: Promise<unknown>): Promise<string> {
  const turns = async (): Promise<string> => {
    for (let turn = 0; turn < 20; turn++) await undefined;
    return 'pending';
  };
  return Promise.race([
    promise.then(
      () => 'resolved',
      (error: unknown) => (error instanceof ClosedError ? 'closed' : String(error)),
    ),
    turns(),
  ]);
}

describe('idle', () => {
  it('rejects with ClosedError from the stop on, for those who wait and those who come later', async () => {
    const world = createWorld();
    world.source.put('a', {});
    const life = await world.start(
      (controller) => controller.on('change', { id: 'h' }, () => sleep(world.clock, 1e6)),
      { drainMs: 500 },
    );
    const before = life.controller.idle().then(
      () => 'resolved',
      (error: unknown) => error,
    );
    life.abort();
    // Between the abort and the drain, during the drain, and after the end of `run`.
    const atOnce = life.controller.idle();
    expect(await endOf(atOnce)).toBe('closed');
    await world.clock.advance(100);
    expect(await endOf(life.controller.idle())).toBe('closed');
    await world.clock.advance(1000);
    await life.done;
    expect(await endOf(life.controller.idle())).toBe('closed');
    expect(await before).toBeInstanceOf(ClosedError);
  });

  it('does not resolve after a stop that left objects unhandled; they are behind for good', async () => {
    const world = createWorld();
    for (const name of ['called', 'queued', 'waiting', 'settled']) world.source.put(name, { spec: { name } });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h' }, async (ctx) => {
          if (ctx.name === 'waiting') throw new Error('later');
          if (ctx.name !== 'settled') await new Promise(() => {});
        }),
      { concurrency: 1, backoff: { baseMs: 1e6, maxMs: 1e6 } },
    );
    await life.stop();
    expect(life.stats()).toMatchObject({ objects: 4, queued: 0, waiting: 0, behind: 4 });
    const again = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}));
    await again.settle();
    await again.stop();
    expect(again.stats()).toMatchObject({ objects: 4, behind: 0 });
    expect(await endOf(again.controller.idle())).toBe('closed');
  });

  it('rejects with ClosedError when the controller was started with an aborted signal', async () => {
    const world = createWorld();
    world.source.put('a', {});
    const controller = createController({ source: world.source, clock: world.clock });
    await controller.run({ signal: AbortSignal.abort() });
    expect(await endOf(controller.idle())).toBe('closed');
  });

  it('rejects with ClosedError when the source has failed for good', async () => {
    const world = createWorld();
    const controller = createController({ source: world.source, clock: world.clock });
    const done = controller.run({});
    await world.clock.settle();
    world.source.breakWatches(new ClosedError('watch'));
    await expect(done).rejects.toThrow(ClosedError);
    expect(await endOf(controller.idle())).toBe('closed');
  });
});

describe('a call that the drain leaves behind', () => {
  it('keeps no timer, and its end is neither written nor reported as an error', async () => {
    const world = createWorld();
    const told: string[] = [];
    const tell = (message: string): void => {
      told.push(message);
    };
    world.source.put('a', {});
    let finish = (): void => {};
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', timeoutMs: 3_600_000 }, () => new Promise((resolve) => (finish = resolve))),
      { drainMs: 100, logger: { debug: tell, info: tell, warn: tell, error: tell } },
    );
    const writes = world.written.length;
    life.abort();
    await world.clock.advance(100);
    await life.done;
    expect(world.clock.pending).toBe(0);
    finish();
    await world.clock.settle();
    expect(world.written.length).toBe(writes);
    expect(told).toEqual([]);
    expect(life.stats()).toMatchObject({ running: 0, behind: 1 });
  });
});
