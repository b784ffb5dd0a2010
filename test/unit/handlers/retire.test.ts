import { describe, expect, it } from 'vitest';
import type { RetireContext } from '../../../src/handlers/context.ts';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { HandlerOptions } from '../../../src/handlers/options.ts';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import { PermanentError } from '../../../src/types/errors.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

/** Subs by id, with their args. */
type Plan = Readonly<Record<string, unknown>>;

/** A parent that plans what `spec` says, and a log of what its subs and its hook did. */
function recorder(world: World, fail: (what: string) => unknown = () => undefined) {
  const calls: string[] = [];
  const contexts: RetireContext<Thing>[] = [];
  const keys: string[] = [];
  const act = async (what: string): Promise<void> => {
    calls.push(what);
    await sleep(world.clock, 10);
    const error = fail(what);
    if (error !== undefined) throw error;
  };
  const options: HandlerOptions<Thing> = {
    id: 'p',
    field: 'spec',
    retries: 0,
    retire: (ctx) => {
      contexts.push(ctx);
      return act(`retire ${ctx.id} ${JSON.stringify(ctx.tried)}`);
    },
  };
  const register = (controller: Controller<Thing>, changes: Partial<HandlerOptions<Thing>> = {}): void =>
    controller.on('change', { ...options, ...changes }, async (ctx) => {
      const { fails, ...plan } = ctx.new as Plan;
      for (const [id, args] of Object.entries(plan)) {
        ctx.sub(id, { args, retries: 1 }, (sub) => {
          keys.push(sub.idempotencyKey);
          return act(`${id} ${JSON.stringify(sub.args)}`);
        });
      }
      if (fails === true) throw new PermanentError('no');
    });
  const put = (spec: Plan): void => {
    world.source.put('o', { spec });
  };
  return { calls, contexts, keys, register, put, take: () => calls.splice(0) };
}

/** A store of which writes can be lost together with the process. */
function mortal(progress: ProgressStore) {
  let isDead = false;
  const never = new Promise<never>(() => {});
  const alive = <R>(ask: () => Promise<R>): Promise<R> => (isDead ? never : ask());
  const store: ProgressStore = {
    get: (uid, name) => alive(() => progress.get(uid, name)),
    list: () => alive(() => progress.list()),
    delete: (uid) => alive(() => progress.delete(uid)),
    compareAndSet: (uid, gen, next) => alive(() => progress.compareAndSet(uid, gen, next)),
  };
  return { store, crash: () => (isDead = true) };
}

describe("subs that leave the plan (A9'e)", () => {
  it('are retired by the hook of the parent, and then their record goes', async () => {
    const world = createWorld();
    const { contexts, register, put, take } = recorder(world);
    put({ a: 1, b: 2 });
    const life = await world.start(register);
    await life.settle();
    expect(take()).toEqual(['a 1', 'b 2']);
    put({ b: 2 });
    await world.clock.advance(5);
    expect(life.controller.state('o')).toMatchObject({
      settled: false,
      handlers: [{}, {}, { id: 'p/a', state: 'retiring' }],
    });
    await life.settle();
    expect(take().sort()).toEqual(['b 2', 'retire a [1]']);
    const [context] = contexts;
    expect(context).toMatchObject({
      id: 'a',
      parentId: 'p',
      uid: 'uid-1',
      name: 'o',
      attempt: 0,
      object: { spec: { b: 2 } },
    });
    expect([Object.isFrozen(context), Object.isFrozen(context?.tried)]).toEqual([true, true]);
    const document = await world.progress.get('uid-1');
    expect(Object.keys(document?.records ?? {})).toEqual(['p', 'p/b']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('that were never opened just lose their record', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ a: 1, b: 2 });
    const life = await world.start(register);
    await world.clock.advance(5);
    put({});
    await life.settle();
    expect(take()).toEqual(['a 1', 'retire a [1]']);
    await life.stop();
  });

  it('without a hook just lose their record', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ a: 1 });
    const life = await world.start((controller) => register(controller, { retire: undefined } as never));
    await life.settle();
    put({});
    await life.settle();
    expect(take()).toEqual(['a 1']);
    expect(Object.keys((await world.progress.get('uid-1'))?.records ?? {})).toEqual(['p']);
    expect(world.source.objects[0]?.finalizers).toEqual([]);
    await life.stop();
  });

  it('that a version without the hook opened are retired with the args of the plan', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ a: 1 });
    const life = await world.start((controller) => register(controller, { retire: undefined } as never));
    await life.settle();
    await life.stop();
    take();
    const next = await world.start(register);
    put({});
    await next.settle();
    expect(take()).toEqual(['retire a [1]']);
    await next.stop();
  });

  it('are retried without limit, also after a PermanentError, by the backoff of the parent', async () => {
    const world = createWorld();
    const { contexts, register, put, take } = recorder(world, (what) =>
      what.startsWith('retire') && contexts.length < 5 ? new PermanentError('not yet') : undefined,
    );
    put({ a: 1 });
    const life = await world.start(register);
    await life.settle();
    put({});
    const startMs = world.clock.now();
    await life.settle();
    expect(take()).toEqual(['a 1', ...Array(5).fill('retire a [1]')]);
    expect(contexts.map(({ attempt }) => attempt)).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(world.clock.now() - startMs).toBe(100 + 200 + 400 + 800 + 5 * 10);
    expect(life.stats()).toMatchObject({ temporaryFailures: 4, permanentFailures: 0 });
    await life.stop();
  });

  it('wait while the parent is due or waits, and go on when it has failed for good or is out of scope', async () => {
    const world = createWorld();
    let isBroken = true;
    const { register, put, take } = recorder(world, (what) =>
      what.startsWith('retire') && isBroken ? new Error('no') : undefined,
    );
    put({ a: 1 });
    const life = await world.start((controller) => register(controller, { when: ({ spec }) => spec?.out !== true }));
    await life.settle();
    put({ b: 1 });
    await world.clock.advance(40);
    expect(take()).toEqual(['a 1', 'retire a [1]', 'b 1']);
    put({ b: 1, fails: true });
    await world.clock.advance(200);
    expect(take()).toEqual(['retire a [1]']);
    put({ b: 1, out: true });
    isBroken = false;
    await life.settle();
    expect(take()).toEqual(['retire a [1]']);
    await life.stop();
  });

  it('row 4: retired, added again with the same view and args: called again, under another key', async () => {
    const world = createWorld();
    const { keys, register, put, take } = recorder(world);
    put({ a: 1 });
    const life = await world.start(register);
    await life.settle();
    put({});
    await life.settle();
    put({ a: 1 });
    await life.settle();
    expect(take()).toEqual(['a 1', 'retire a [1]', 'a 1']);
    expect(new Set(keys).size).toBe(2);
    await life.stop();
  });

  it('row 13: args x done, args y planned and not run, then the id leaves: every arg opened, which is x', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ z: 0, a: 'x' });
    const life = await world.start(register);
    await life.settle();
    put({ z: 0, a: 'y' });
    await world.clock.advance(5);
    put({});
    await life.settle();
    expect(take()).toEqual(['z 0', 'a "x"', 'z 0', 'retire a ["x"]', 'retire z [0]']);
    await life.stop();
  });

  it('row 13: with y begun and failed, it is x and y', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world, (what) =>
      what === 'a "y"' ? new PermanentError('no') : undefined,
    );
    for (const spec of [{ a: 'x' }, { a: 'y' }]) put(spec);
    put({ a: 'x' });
    const life = await world.start(register);
    await life.settle();
    put({ a: 'y' });
    await life.settle();
    put({});
    await life.settle();
    expect(take()).toEqual(['a "x"', 'a "y"', 'retire a ["x","y"]']);
    await life.stop();
  });

  it('row 13: a success forgets what was tried before it', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ a: 'x' });
    const life = await world.start(register);
    for (const spec of [{ a: 'y' }, {}]) {
      await life.settle();
      put(spec);
    }
    await life.settle();
    expect(take()).toEqual(['a "x"', 'a "y"', 'retire a ["y"]']);
    await life.stop();
  });

  it('row 14: the intent of y is written, then a crash before the call: retire gets x and y', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ a: 'x' });
    const process = mortal(world.progress);
    const life = await world.start(register, {
      progress: {
        ...process.store,
        async compareAndSet(uid, gen, next) {
          const done = await process.store.compareAndSet(uid, gen, next);
          if (next.records['p/a']?.tried?.length !== 2) return done;
          process.crash();
          return new Promise(() => {});
        },
      },
    });
    await life.settle();
    put({ a: 'y' });
    await world.clock.advance(100);
    expect(take()).toEqual(['a "x"']);
    put({});
    await life.stop();
    const next = await world.start(register);
    await next.settle();
    expect(take()).toEqual(['retire a ["x","y"]']);
    await next.stop();
  });

  it('row 15: a call to retire begins and fails, the plan has the id again with the same view: it runs again', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world, (what) =>
      what.startsWith('retire') ? new Error('no') : undefined,
    );
    put({ a: 1 });
    const life = await world.start((controller) => register(controller, { field: 'spec' }));
    await life.settle();
    put({});
    await world.clock.advance(20);
    expect(take()).toEqual(['a 1', 'retire a [1]']);
    put({ a: 1 });
    await life.settle();
    expect(take()).toEqual(['a 1']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('row 15: one that no call to retire has begun for does not', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    put({ a: 1, b: 1 });
    const life = await world.start(register);
    await life.settle();
    put({});
    await world.clock.advance(5);
    put({ a: 1, b: 1 });
    await life.settle();
    expect(take()).toEqual(['a 1', 'b 1', 'retire a [1]', 'a 1']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('row 16: an effect is done, crash before its first record, the next plan lacks it: the intent has made it known', async () => {
    const world = createWorld();
    const { register, put, take } = recorder(world);
    const process = mortal(world.progress);
    put({ a: 1 });
    const life = await world.start(register, { progress: process.store });
    await world.clock.advance(5);
    process.crash();
    await world.clock.advance(100);
    expect(take()).toEqual(['a 1']);
    put({});
    await life.stop();
    const next = await world.start(register);
    await next.settle();
    expect(take()).toEqual(['retire a [1]']);
    await next.stop();
  });

  it('a crash in the middle of a call to retire repeats it under the same key', async () => {
    const world = createWorld();
    const { contexts, register, put, take } = recorder(world);
    const process = mortal(world.progress);
    put({ a: 1 });
    const life = await world.start(register, { progress: process.store });
    await life.settle();
    put({});
    await world.clock.advance(5);
    process.crash();
    await life.stop();
    const next = await world.start(register);
    await next.settle();
    expect(take()).toEqual(['a 1', 'retire a [1]', 'retire a [1]']);
    expect(contexts[0]?.idempotencyKey).toBe(contexts[1]?.idempotencyKey);
    await next.stop();
  });
});

describe('a hook is refused', () => {
  it('without finalizers of the source, and for what is no function', async () => {
    const world = createWorld();
    const { patch: _patch, ...source } = world.source;
    await world.start(
      (controller) => {
        expect(() => controller.on('change', { id: 'p', retire: () => {} }, () => {})).toThrow(
          /without finalizers of its source is not supported/,
        );
        expect(() => controller.on('delete', { id: 'd' }, () => {})).toThrow(/a deletion without finalizers/);
        expect(() => controller.on('change', { id: 'p', retire: 1 as never }, () => {})).toThrow(
          'retire is of type number',
        );
      },
      {
        source: {
          ...source,
          list: (o) => world.source.list(o),
          watch: (o) => world.source.watch(o),
          get: (n, o) => world.source.get(n, o),
          compare: (a, b) => world.source.compare(a, b),
        },
      },
    );
  });

  it('below a handler for deletions, where there are no subs', async () => {
    const world = createWorld();
    await world.start((controller) => {
      expect(() => controller.on('delete', { id: 'd', retire: () => {} }, () => {})).toThrow(
        'retire is for handlers that register',
      );
    });
  });
});
