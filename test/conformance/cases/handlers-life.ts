import { ClosedError, createController } from 'plimsoll';
import { equal, rejects, test, throws } from '../harness.ts';
import { createWorld, like, quiet, sleep, start, untilAborted } from './handlers-support.ts';

/** Two handlers, the first of which takes 100 ms; the object changes after 50. */
async function changeInside(policy: 'supersede' | 'complete'): Promise<string[]> {
  const world = createWorld();
  const calls: string[] = [];
  world.source.put('a', { spec: 1 });
  const register: Parameters<typeof start>[1] = (controller) => {
    controller.on('change', { id: 'slow', field: 'spec' }, async (ctx) => {
      calls.push(`slow ${String(ctx.new)}`);
      await sleep(world.clock, 100);
    });
    controller.on('change', { id: 'next', field: 'spec' }, (ctx) => {
      calls.push(`next ${String(ctx.new)}`);
    });
  };
  const life = await start(world, register, { policy });
  await world.clock.advance(50);
  world.source.put('a', { spec: 2 });
  await life.settle();
  like(life.controller.state('a'), { settled: true, succeeded: true });
  await life.stop();
  return calls;
}

test('policy: supersede runs the rest of a pass on the newest state only', async () => {
  equal((await changeInside('supersede')).sort(), ['next 2', 'slow 1', 'slow 2']);
});

test('policy: complete ends the pass on the state it began with', async () => {
  equal(await changeInside('complete'), ['slow 1', 'next 1', 'slow 2', 'next 2']);
});

test('policy: a call whose input is outdated is told so, at most every second time', async () => {
  const world = createWorld();
  const ends: string[] = [];
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, async ({ signal, new: input }) => {
      const outcome = await Promise.race([
        sleep(world.clock, 100).then(() => 'ok'),
        untilAborted(signal).catch((reason: unknown) => reason),
      ]);
      ends.push(`${String(input)} ${outcome instanceof DOMException ? outcome.name : String(outcome)}`);
      if (outcome !== 'ok') throw outcome;
    });
  });
  for (let n = 1; n <= 4; n++) {
    world.source.put('a', { spec: n });
    await quiet(world.clock);
    await world.clock.advance(40);
  }
  await life.settle();
  equal(ends.slice(0, 2), ['1 AbortError', '2 ok']);
  equal(ends.at(-1), '4 ok');
  const { calls, successes, superseded, temporaryFailures } = life.controller.stats();
  equal([successes + superseded, temporaryFailures], [calls, 0]);
  await life.stop();
});

test('policy: a call for an object that goes is told so', async () => {
  const world = createWorld();
  const names: string[] = [];
  for (const name of ['deleting', 'deleted', 'replaced']) world.source.put(name, { spec: 1 });
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h', field: 'spec' }, async ({ name, cause, uid, signal }) => {
      if (cause === 'create' && uid !== 'uid-4') await untilAborted(signal).finally(() => names.push(name));
    });
  });
  world.source.startDeletion('deleting');
  world.source.delete('deleted');
  world.source.delete('replaced');
  world.source.put('replaced', { spec: 1 });
  await life.settle();
  equal(names.sort(), ['deleted', 'deleting', 'replaced']);
  like(life.controller.stats(), { calls: 4, superseded: 3, successes: 1 });
  await life.stop();
});

test('life: the abort of run reaches running calls; outcomes are still written, until drainMs', async () => {
  const world = createWorld();
  const reasons: unknown[] = [];
  for (const name of ['obeys', 'finishes', 'ignores']) world.source.put(name, {});
  const register: Parameters<typeof start>[1] = (controller) =>
    controller.on('change', { id: 'h' }, async ({ name, signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      if (name === 'finishes') await sleep(world.clock, 300);
      else if (name === 'ignores') await sleep(world.clock, 5000);
      else await untilAborted(signal);
    });
  const life = await start(world, register, { drainMs: 1000 });
  const idle = rejects(life.controller.idle(), { class: ClosedError, code: 'CLOSED' });
  let isDone = false;
  void life.done.then(() => {
    isDone = true;
  });
  life.abort();
  await quiet(world.clock);
  await world.clock.advance(999);
  await quiet(world.clock);
  equal([isDone, reasons.map((reason) => reason instanceof ClosedError)], [false, [true, true, true]]);
  await world.clock.advance(1);
  await life.done;
  await idle;
  like(life.controller.stats(), { calls: 3, successes: 1, superseded: 1, temporaryFailures: 0 });
  await world.clock.advance(10_000);
  // The interrupted attempts are open still: a next controller calls both again, and only those.
  const again = await start(world, (controller) => controller.on('change', { id: 'h' }, () => {}));
  await again.settle();
  equal(again.controller.stats().calls, 2);
  await again.stop();
  equal([world.clock.pending, world.source.watches], [0, 0]);
});

test('life: a controller does nothing before run, and nothing with a signal that is aborted', async () => {
  const { clock, source } = createWorld();
  source.put('a', {});
  const controller = createController({ source, clock });
  controller.on('change', { id: 'h' }, () => {
    throw new Error('called');
  });
  await quiet(clock);
  equal([controller.stats().objects, controller.state('a')], [0, undefined]);
  const idle = rejects(controller.idle(), { class: ClosedError });
  await controller.run({ signal: AbortSignal.abort() });
  await idle;
  like(controller.stats(), { objects: 0, calls: 0, writes: 0, passes: 0 });
});

test('life: run once, register before; idle obeys its signal', async () => {
  const world = createWorld();
  const life = await start(world, () => {});
  throws(() => life.controller.on('change', { id: 'late' }, () => {}), { class: TypeError });
  await rejects(life.controller.run({}), { class: TypeError });
  const reason = new Error('enough');
  const waited = await rejects(life.controller.idle({ signal: AbortSignal.abort(reason) }), { class: Error });
  equal(waited === reason, true);
  await life.controller.idle();
  await life.stop();
});

test('life: idle waits for the first list and for retries', async () => {
  const world = createWorld();
  world.source.setFaults({ readDelayMsMax: 1000 });
  world.source.put('a', {});
  let calls = 0;
  const life = await start(world, (controller) => {
    controller.on('change', { id: 'h' }, () => {
      if (++calls === 1) throw new Error('once');
    });
  });
  let isIdle = false;
  const idle = life.controller.idle().then(() => {
    isIdle = true;
  });
  await quiet(world.clock);
  equal([isIdle, calls, life.controller.stats().behind], [false, 0, 0]);
  await life.settle();
  await idle;
  equal([isIdle, calls], [true, 2]);
  await life.stop();
});

test('life: from the stop on, idle is closed and what was left is behind; no timer is left', async () => {
  const world = createWorld();
  for (const name of ['a', 'b']) world.source.put(name, { spec: 1 });
  const life = await start(
    world,
    (controller) => controller.on('change', { id: 'h', timeoutMs: 3_600_000 }, () => new Promise(() => {})),
    { concurrency: 1, drainMs: 100 },
  );
  const waiting = rejects(life.controller.idle(), { class: ClosedError });
  life.abort();
  await quiet(world.clock);
  await waiting;
  await rejects(life.controller.idle(), { class: ClosedError });
  await world.clock.advance(100);
  await life.done;
  await rejects(life.controller.idle(), { class: ClosedError });
  like(life.controller.stats(), { objects: 2, behind: 2, waiting: 0, queued: 0 });
  equal(world.clock.pending, 0);
});

test('life: a timer that falls due in a pass of 3000 subs fires before its end', async () => {
  const world = createWorld();
  let calls = 0;
  let seen: number | undefined;
  world.source.put('a', { spec: 1 });
  const life = await start(world, (controller) =>
    controller.on('change', { id: 'p' }, (ctx) => {
      world.clock.after(0, () => {
        seen = calls;
      });
      for (let n = 0; n < 3000; n++) {
        ctx.sub(`s${n}`, {}, () => {
          calls++;
        });
      }
    }),
  );
  await life.settle();
  equal([calls, (seen ?? 3000) < 1000], [3000, true]);
  await life.stop();
});
