import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../../src/handlers/record.ts';
import { digestOfView } from '../../../src/handlers/view.ts';
import { PermanentError, TemporaryError } from '../../../src/types/errors.ts';
import type { ObjectSource } from '../../../src/types/source.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

/** Rows of docs/spec/handlers.md: each is a sequence that broke an earlier reading of it. */
const A = { spec: { n: 'A' } };
const B = { spec: { n: 'B' } };

/** Calls of one handler on `spec.n`, each written down; `fail` says which ones throw. */
function recorder(world: World, fail: (value: unknown) => unknown = () => undefined) {
  const calls: string[] = [];
  const keys: string[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on('change', { id: 'h', field: 'spec.n', retries: 0 }, async (ctx) => {
      calls.push(`${ctx.cause} ${String(ctx.old)} -> ${String(ctx.new)}`);
      keys.push(ctx.idempotencyKey);
      await sleep(world.clock, 10);
      const error = fail(ctx.new);
      if (error !== undefined) throw error;
    });
  return { calls, keys, register };
}

/**
 * A progress store as one process has it: `crash` makes it go silent; a write that is under way then, or that `hold`
 * keeps back, happens later, with `land`, and nobody is told.
 */
function mortal(progress: ProgressStore) {
  let isDead = false;
  let holds = (_next: ProgressDocument): boolean => false;
  const held: (() => Promise<boolean>)[] = [];
  const never = new Promise<never>(() => {});
  const store: ProgressStore = {
    get: (uid, name) => (isDead ? never : progress.get(uid, name)),
    list: () => (isDead ? never : progress.list()),
    delete: (uid) => (isDead ? never : progress.delete(uid)),
    async compareAndSet(uid, gen, next) {
      if (isDead) return never;
      if (holds(next)) {
        held.push(() => progress.compareAndSet(uid, gen, next));
        return never;
      }
      const done = await progress.compareAndSet(uid, gen, next);
      return isDead ? never : done;
    },
  };
  return {
    store,
    crash: (): void => {
      isDead = true;
    },
    hold: (predicate: (next: ProgressDocument) => boolean): void => {
      holds = predicate;
    },
    land: async (): Promise<readonly boolean[]> => Promise.all(held.splice(0).map((write) => write())),
  };
}

/** A source whose first list and first watch are of the past. */
function withOldList(source: ObjectSource<Thing>, list: Awaited<ReturnType<ObjectSource<Thing>['list']>>) {
  return {
    list: async () => list,
    watch: async function* () {
      await new Promise(() => {});
      yield { type: 'bookmark' as const, resourceVersion: '0' };
    },
    get: (name: string) => source.get(name, {}),
    compare: (a: string, b: string) => source.compare(a, b),
  };
}

describe('handlers, row by row', () => {
  it('row 1: A ok, B fails, A again: A is called again', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world, (value) => (value === 'B' ? new PermanentError('no') : undefined));
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    world.source.put('o', A);
    await life.settle();
    expect(calls).toEqual(['create undefined -> A', 'update A -> B', 'update A -> A']);
    await life.stop();
  });

  it('row 2: A ok, B called, crash before its record, A again, restart: A is called again', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    const process = mortal(world.progress);
    world.source.put('o', A);
    const life = await world.start(register, { progress: process.store });
    await life.settle();
    world.source.put('o', B);
    await world.clock.advance(5);
    expect(calls).toHaveLength(2);
    process.crash();
    await world.clock.advance(5);
    world.source.put('o', A);
    await life.stop();
    const next = await world.start(register);
    await next.settle();
    expect(calls.slice(2)).toEqual(['update A -> A']);
    await next.stop();
  });

  it('row 3: the second A of A, B, A has another key; a retry and a crash keep it', async () => {
    const world = createWorld();
    let failures = 1;
    const { keys, register } = recorder(world, () => (failures-- > 0 ? new PermanentError('no') : undefined));
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    failures = 0;
    for (const value of [B, A]) {
      world.source.put('o', value);
      await life.settle();
    }
    expect(new Set(keys).size).toBe(3);
    await life.stop();
  });

  it('row 3: retries and crashes keep the key', async () => {
    const world = createWorld();
    const keys: string[] = [];
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'h', field: 'spec.n' }, async (ctx) => {
        keys.push(`${ctx.attempt} ${ctx.idempotencyKey}`);
        await sleep(world.clock, 10);
        if (keys.length < 3) throw new Error('again');
      });
    const process = mortal(world.progress);
    world.source.put('o', A);
    const life = await world.start(register, { progress: process.store });
    await world.clock.advance(115);
    expect(keys).toHaveLength(2);
    process.crash();
    await life.stop();
    const next = await world.start(register);
    await next.settle();
    // The interrupted attempt is not counted, so the third call is attempt 1 again.
    expect(keys).toHaveLength(3);
    expect(keys.map((key) => key[0])).toEqual(['0', '1', '1']);
    expect(new Set(keys.map((key) => key.slice(2))).size).toBe(1);
    await next.stop();
  });

  it('row 8: a parent is not called again while its sub waits for a retry', async () => {
    const world = createWorld();
    const calls: string[] = [];
    let failures = 3;
    world.source.put('o', A);
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        calls.push('p');
        ctx.sub('s', {}, () => {
          calls.push('s');
          if (failures-- > 0) throw new Error('later');
        });
      }),
    );
    await world.clock.advance(150);
    world.source.put('o', { ...A, status: { heartbeat: 1 } });
    await life.settle();
    expect(calls).toEqual(['p', 's', 's', 's', 's']);
    await life.stop();
  });

  it('row 9: edits each 60 ms, parent takes 100 ms: each sub within 2k executions', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const ids = ['a', 'b', 'c'];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
        calls.push('p');
        for (const id of ids) {
          ctx.sub(id, {}, async () => {
            calls.push(id);
            await sleep(world.clock, 10);
          });
        }
        await sleep(world.clock, 100);
      }),
    );
    for (let n = 0; n < 200; n++) {
      world.source.put('o', { spec: { n } });
      await world.clock.advance(60);
    }
    const before = calls.length;
    for (const id of ids) expect(longestGap(calls.slice(0, before), id)).toBeLessThanOrEqual(2 * ids.length);
    await life.settle();
    await life.stop();
  });

  it('row 9: the same with a handler that obeys its signal: it is aborted, but not twice running', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec.n' }, async (ctx) => {
        await sleep(world.clock, 100);
        ctx.signal.throwIfAborted();
        calls.push(String(ctx.new));
      }),
    );
    for (let n = 0; n < 100; n++) {
      world.source.put('o', { spec: { n } });
      await world.clock.advance(60);
    }
    await life.settle();
    expect(calls.length).toBeGreaterThan(20);
    expect(calls.at(-1)).toBe('99');
    expect(life.stats()).toMatchObject({ temporaryFailures: 0, permanentFailures: 0 });
    expect(life.stats().superseded).toBeGreaterThan(20);
    await life.stop();
  });

  it('row 10: each plan has two new ids and one stable id: the stable one gets its turn', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, async (ctx) => {
        calls.push('p');
        for (const id of [`x${String(ctx.new)}`, `y${String(ctx.new)}`, 'stable']) {
          ctx.sub(id, {}, async () => {
            calls.push(id);
            await sleep(world.clock, 20);
          });
        }
        await sleep(world.clock, 20);
      }),
    );
    for (let n = 0; n < 157; n++) {
      world.source.put('o', { spec: { n } });
      await world.clock.advance(40);
    }
    const stable = calls.filter((id) => id === 'stable').length;
    expect(stable).toBeGreaterThanOrEqual(70);
    await life.settle();
    await life.stop();
  });

  it('row 11: a new digest on which the parent fails for good: its subs rest', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('o', { spec: { n: 'A' }, status: { m: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        calls.push(`p ${String(ctx.new)}`);
        if (ctx.new === 'B') throw new PermanentError('no');
        ctx.sub('s', { field: 'status.m' }, (sub) => {
          calls.push(`s ${String(sub.new)}`);
        });
      }),
    );
    await life.settle();
    world.source.put('o', { spec: { n: 'B' }, status: { m: 2 } });
    await life.settle();
    world.source.put('o', { spec: { n: 'B' }, status: { m: 3 } });
    await life.settle();
    expect(calls).toEqual(['p A', 's 1', 'p B']);
    world.source.put('o', { spec: { n: 'A' }, status: { m: 3 } });
    await life.settle();
    expect(calls).toEqual(['p A', 's 1', 'p B', 'p A', 's 3']);
    await life.stop();
  });

  it('row 17: restart on a stale list, view equal, rest older: no call on the older state', async () => {
    const world = createWorld();
    const versions: string[] = [];
    const register = (controller: Controller<Thing>): void => {
      controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => {
        versions.push(`h ${ctx.resourceVersion}`);
      });
    };
    world.source.put('o', A);
    const old = await world.source.list({});
    world.source.put('o', { ...A, status: { m: 1 } });
    const life = await world.start(register);
    await life.settle();
    await life.stop();
    world.source.put('o', { ...A, status: { m: 2 } });
    const next = await world.start(
      (controller) => {
        register(controller);
        controller.on('change', { id: 'new', field: 'spec.n' }, (ctx) => {
          versions.push(`new ${ctx.resourceVersion}`);
        });
      },
      { source: withOldList(world.source, old) },
    );
    await next.settle();
    expect(versions).toEqual(['h 2', 'new 3']);
    await next.stop();
  });

  it('row 18: restart on a stale list: the old digest is not repeated', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    world.source.put('o', A);
    const old = await world.source.list({});
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    await life.stop();
    const next = await world.start(register, { source: withOldList(world.source, old) });
    await next.settle();
    expect(calls).toEqual(['create undefined -> A', 'update A -> B']);
    expect(next.stats()).toMatchObject({ calls: 0, writes: 0 });
    await next.stop();
  });

  it('rows 17, 18: a read that is itself older than what was used is not acted on, but repeated', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    world.source.put('o', A);
    const old = await world.source.list({});
    world.source.put('o', B);
    const life = await world.start(register);
    await life.settle();
    await life.stop();
    let reads = 0;
    const liar = {
      ...withOldList(world.source, old),
      get: async (name: string) => (++reads < 4 ? old.items[0] : world.source.get(name, {})),
    };
    const next = await world.start(register, { source: liar });
    await next.settle();
    expect(reads).toBe(4);
    expect(calls).toEqual(['create undefined -> B']);
    await next.stop();
  });

  it("row 19: a dead process's write lands after its successor has read: it is refused or seen", async () => {
    for (const landsBefore of ['intent', 'end']) {
      const world = createWorld();
      const { calls, register } = recorder(world);
      const process = mortal(world.progress);
      world.source.put('o', A);
      const first = await world.start(register, { progress: process.store });
      await first.settle();
      process.hold((next) => next.records.h?.attempt?.digest === digestOfView('B'));
      world.source.put('o', B);
      await world.clock.settle();
      process.crash();
      await first.stop();
      world.source.put('o', A);
      const successor = mortal(world.progress);
      const racing: ProgressStore = {
        ...successor.store,
        async get(uid, name) {
          const doc = await successor.store.get(uid, name);
          if (landsBefore === 'intent') await process.land();
          return doc;
        },
      };
      const second = await world.start(
        (controller) => {
          register(controller);
          controller.on('change', { id: 'other', field: 'spec.n' }, () => {});
        },
        { progress: racing },
      );
      await second.settle();
      if (landsBefore === 'end') {
        expect(await process.land()).toEqual([false]);
      }
      await second.settle();
      expect(second.controller.state('o')?.settled).toBe(true);
      expect((await world.progress.list()).length).toBe(1);
      // If B was opened by the late write, A is called again; if the write was refused, B was never called.
      expect(calls).toEqual(
        landsBefore === 'intent' ? ['create undefined -> A', 'update A -> A'] : ['create undefined -> A'],
      );
      await second.stop();
    }
  });

  it('row 20: the late write has dropped the very sub that the successor opens: no stub stays, no call', async () => {
    const world = createWorld();
    const calls: string[] = [];
    let isStuck = true;
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        calls.push(`p ${String(ctx.new)} ${ctx.rebuild}`);
        for (const id of ctx.new === 'A' ? ['s', 't'] : ['t']) {
          ctx.sub(id, {}, async (sub) => {
            calls.push(`${id} ${String(sub.new)}`);
            if (isStuck) await new Promise(() => {});
          });
        }
      });
    world.source.put('o', A);
    const process = mortal(world.progress);
    const first = await world.start(register, { progress: process.store });
    expect(calls.splice(0)).toEqual(['p A false', 's A']);
    process.crash();
    isStuck = false;
    // B came and went; the dead process has planned for it, without s, and that write is still on its way.
    world.source.put('o', B);
    world.source.put('o', A);
    let lateWrites = 0;
    const racing: ProgressStore = {
      ...world.progress,
      async compareAndSet(uid, gen, next) {
        if (next.records['p/s']?.attempt?.state === 'open' && lateWrites++ === 0) {
          const doc = await world.progress.get(uid);
          expect(await world.progress.compareAndSet(uid, gen, plannedForB(doc))).toBe(true);
        }
        return world.progress.compareAndSet(uid, gen, next);
      },
    };
    const documents: string[][] = [];
    const life = await world.start(register, {
      progress: {
        ...racing,
        async compareAndSet(uid, gen, next) {
          const done = await racing.compareAndSet(uid, gen, next);
          if (done) documents.push(Object.keys(next.records).sort());
          return done;
        },
      },
    });
    await life.settle();
    // The sub is not called below a parent that has planned otherwise: the parent is due first.
    expect(calls).toEqual(['p A false', 't A', 's A']);
    expect(documents[0]).toEqual(['p', 'p/t']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
    await first.stop();
  });

  it('row 20: the late write has settled the very sub that the successor opens: no call', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    const process = mortal(world.progress);
    world.source.put('o', A);
    const first = await world.start(register, { progress: process.store });
    process.hold((next) => next.records.h?.attempt?.state === 'ok');
    await world.clock.advance(10);
    process.crash();
    let lateWrites = 0;
    const life = await world.start(register, {
      progress: {
        ...world.progress,
        async compareAndSet(uid, gen, next) {
          if (lateWrites++ === 0) expect(await process.land()).toEqual([true]);
          return world.progress.compareAndSet(uid, gen, next);
        },
      },
    });
    await life.settle();
    expect(calls).toHaveLength(1);
    expect(life.stats()).toMatchObject({ calls: 0, writes: 0 });
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
    await first.stop();
  });

  it('row 21: a write that was applied but not answered is recognised: nothing is called twice', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    let fails = 0;
    const flaky: ProgressStore = {
      ...world.progress,
      async compareAndSet(uid, gen, next) {
        const done = await world.progress.compareAndSet(uid, gen, next);
        if (fails++ % 2 === 0) throw new Error('the answer got lost');
        return done;
      },
    };
    world.source.put('o', A);
    const life = await world.start(register, { progress: flaky });
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    expect(calls).toEqual(['create undefined -> A', 'update A -> B']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    // Two intents and two outcomes, none of them written twice.
    expect((await world.progress.get('uid-1'))?.gen).toBe(4);
    await life.stop();
  });

  it('row 21: a write that lands only after it was looked for is recognised by the next one', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    let isFirst = true;
    const late: ProgressStore = {
      ...world.progress,
      async compareAndSet(uid, gen, next) {
        if (!isFirst || next.records.h?.attempt?.state !== 'ok') return world.progress.compareAndSet(uid, gen, next);
        isFirst = false;
        world.clock.after(50, () => void world.progress.compareAndSet(uid, gen, next));
        throw new Error('no answer');
      },
    };
    world.source.put('o', A);
    const life = await world.start(register, { progress: late });
    await life.settle();
    expect(calls).toHaveLength(1);
    expect((await world.progress.get('uid-1'))?.gen).toBe(2);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('row 21: a store that is down repeats no call; the outcome is written when it is back', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    let isDown = false;
    const check = (): void => {
      if (isDown) throw new Error('down');
    };
    const flaky: ProgressStore = {
      ...world.progress,
      get: async (uid) => {
        check();
        return world.progress.get(uid);
      },
      async compareAndSet(uid, gen, next) {
        check();
        return world.progress.compareAndSet(uid, gen, next);
      },
    };
    world.source.put('o', A);
    const life = await world.start(register, { progress: flaky });
    await world.clock.advance(5);
    isDown = true;
    // The outage is not made worse by events: they do not cut the wait short.
    for (let n = 0; n < 100; n++) {
      world.source.put('o', { ...A, status: { n } });
      await world.clock.advance(100);
    }
    expect(life.stats().passes).toBeLessThan(15);
    isDown = false;
    await life.settle();
    expect(calls).toEqual(['create undefined -> A']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('row 22: a read says gone, then a late item of that uid: not called', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    world.source.put('o', A);
    const old = await world.source.list({});
    const life = await world.start(register, {
      source: {
        ...withOldList(world.source, old),
        async *watch() {
          await sleep(world.clock, 50);
          const item = old.items[0];
          if (item !== undefined)
            yield { type: 'modified' as const, object: { ...item, resourceVersion: '99', object: B } };
          await new Promise(() => {});
        },
        get: async () => undefined,
      },
    });
    await world.clock.advance(1000);
    expect(calls).toEqual([]);
    expect(life.stats()).toMatchObject({ objects: 0, writes: 0 });
    await life.stop();
  });

  it('row 23: restart on a list that still has an object deleted meanwhile: not called', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world);
    world.source.put('o', A);
    const first = await world.start(register);
    await first.settle();
    await first.stop();
    world.source.put('o', B);
    const old = await world.source.list({});
    world.source.delete('o');
    const next = await world.start(register, { source: withOldList(world.source, old) });
    await next.settle();
    expect(calls).toEqual(['create undefined -> A']);
    expect(next.stats()).toMatchObject({ calls: 0, writes: 0, objects: 0 });
    expect(world.progress.size).toBe(0);
    await next.stop();
  });

  it('row 28: the first attempt fails for good, the input is corrected: cause create, no old', async () => {
    const world = createWorld();
    const { calls, register } = recorder(world, (value) => (value === 'A' ? new PermanentError('no') : undefined));
    world.source.put('o', A);
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', B);
    await life.settle();
    expect(calls).toEqual(['create undefined -> A', 'create undefined -> B']);
    await life.stop();
  });

  it('row 33: 17, then 19 during the first sub: every sub ends on 19; a value without subs drops them', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const tick = (n: number): unknown => world.source.put('o', { spec: { tick: n } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.tick' }, (ctx) => {
        calls.push(`p ${String(ctx.new)}`);
        if ((ctx.new as number) % 2 === 0) return;
        for (const id of ['sub_0', 'sub_1', 'sub_2']) {
          ctx.sub(id, {}, async (sub) => {
            calls.push(`${id} ${String(sub.new)}`);
            await sleep(world.clock, 500);
          });
        }
      }),
    );
    tick(17);
    await world.clock.advance(100);
    tick(19);
    await life.settle();
    expect(calls).toEqual(['p 17', 'sub_0 17', 'p 19', 'sub_1 19', 'sub_2 19', 'sub_0 19']);
    tick(20);
    await life.settle();
    expect(calls.slice(6)).toEqual(['p 20']);
    const doc = await world.progress.get('uid-1');
    expect(Object.keys(doc?.records ?? {})).toEqual(['p']);
    expect(doc?.bases).toEqual({ [digestOfView(20)]: 20 });
    await life.stop();
  });

  it('a parent waits by its own backoff: subs of the old plan rest meanwhile', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('o', { spec: { n: 1 }, status: { m: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        calls.push(`p ${ctx.attempt}`);
        if (ctx.new === 2 && ctx.attempt === 0) throw new TemporaryError('wait', { delayMs: 1000 });
        ctx.sub('s', { field: 'status.m' }, (sub) => {
          calls.push(`s ${String(sub.new)}`);
        });
      }),
    );
    await life.settle();
    world.source.put('o', { spec: { n: 2 }, status: { m: 2 } });
    await world.clock.advance(500);
    expect(calls).toEqual(['p 0', 's 1', 'p 0']);
    await life.settle();
    expect(calls.slice(3)).toEqual(['p 1', 's 2']);
    await life.stop();
  });
});

/** What the dead process of row 20 was about to write. */
function plannedForB(doc: ProgressDocument | undefined): ProgressDocument {
  const parent = doc?.records.p;
  const sub = doc?.records['p/t'];
  if (doc === undefined || parent === undefined || sub === undefined)
    throw new Error('there is no document to go on from');
  const attempt = { digest: digestOfView('B'), state: 'ok', failures: 0, wakeAtWallMs: 0, delayMs: 0 } as const;
  const records = { p: { ...parent, attempt, plan: [{ id: 't' }], episode: 9 }, 'p/t': sub };
  return { ...doc, gen: doc.gen + 1, tick: 9, writeId: 'late', records };
}

/** The most executions from one of `id` to the next, or to an end of the list. */
function longestGap(calls: readonly string[], id: string): number {
  let longest = 0;
  let last = -1;
  for (const [place, call] of calls.entries()) {
    if (call !== id) continue;
    longest = Math.max(longest, place - last);
    last = place;
  }
  return Math.max(longest, calls.length - last - 1);
}
