import { describe, expect, it } from 'vitest';
import type { HandlerContext } from '../../../src/handlers/context.ts';
import { type Controller, createController } from '../../../src/handlers/controller.ts';
import { valueAt } from '../../../src/handlers/path.ts';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import type { MemoryObjectSource } from '../../../src/testing/object-source.ts';
import { ClosedError, PermanentError, TemporaryError, UnsupportedError } from '../../../src/types/errors.ts';
import { createWorld, sleep, type Thing, type World } from './harness.ts';

/** The world's progress store, with writes that take their time. */
function slowWrites(world: World, delayMs: number): ProgressStore {
  return {
    ...world.progress,
    async compareAndSet(uid, gen, next) {
      await sleep(world.clock, delayMs);
      return world.progress.compareAndSet(uid, gen, next);
    },
  };
}

describe('controller: calls', () => {
  it('calls a handler once for each state of its own view, with old, new, diff and cause', async () => {
    const world = createWorld();
    const calls: unknown[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => {
        calls.push([ctx.cause, ctx.old, ctx.new, ctx.diff, ctx.attempt, ctx.name, ctx.resourceVersion]);
      });
    });
    await life.settle();
    world.source.put('a', { spec: { n: 1 }, status: { x: 1 } });
    await life.settle();
    world.source.put('a', { spec: { n: 2 }, status: { x: 1 } });
    await life.settle();
    expect(calls).toEqual([
      ['create', undefined, 1, [{ path: '', old: undefined, new: 1 }], 0, 'a', '1'],
      ['update', 1, 2, [{ path: '', old: 1, new: 2 }], 0, 'a', '3'],
    ]);
    // k handlers affected: k calls, k + 1 writes; an unrelated change: no write.
    expect(life.stats()).toMatchObject({ calls: 2, successes: 2, writes: 4, behind: 0, objects: 1 });
    await life.stop();
  });

  it("calls handlers in the order of registration, and subs in that of their plan (A5')", async () => {
    const world = createWorld();
    const calls: string[] = [];
    const ids = Array.from({ length: 12 }, (_, n) => `h${(n * 7) % 12}`);
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      for (const id of ids) {
        controller.on('change', { id, field: 'spec.n' }, (ctx) => {
          calls.push(id);
          if (ctx.new === 1) for (const sub of ids) ctx.sub(sub, {}, () => void calls.push(`${id}/${sub}`));
        });
      }
    });
    await life.settle();
    const subs = ids.flatMap((id) => ids.map((sub) => `${id}/${sub}`));
    expect(calls).toEqual([...ids, ...subs]);
    calls.length = 0;
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(calls).toEqual(ids);
    await life.stop();
  });

  it('retries with backoff within the budget, then fails for good until the input changes', async () => {
    const world = createWorld();
    const at: number[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', field: 'spec.n', retries: 2 }, (ctx) => {
        at.push(world.clock.now());
        if (ctx.new !== 2) throw new Error('no');
      });
    });
    await life.settle();
    expect(at).toEqual([0, 100, 300]);
    expect(life.controller.state('a')).toMatchObject({
      settled: true,
      succeeded: false,
      handlers: [{ id: 'h', state: 'failed', attempts: 3, wakeWallMs: undefined, succeeded: undefined }],
    });
    for (let n = 0; n < 40; n++) {
      world.source.put('a', { spec: { n: 1, other: n } });
      await life.settle();
    }
    expect(at.length).toBe(3);
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(at.length).toBe(4);
    expect(life.controller.state('a')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('gives every input a budget of its own', async () => {
    const world = createWorld();
    const attempts: string[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', field: 'spec.n', retries: 1 }, (ctx) => {
        attempts.push(`${String(ctx.new)} ${ctx.attempt}`);
        throw new Error('no');
      });
    });
    await world.clock.advance(50);
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(attempts).toEqual(['1 0', '2 0', '2 1']);
    await life.stop();
  });

  it("calls a handler at most once in a pass: its retry is for the newest state (A2')", async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'fails', field: 'spec.n' }, (ctx) => {
          calls.push(`fails ${String(ctx.new)}`);
          if (ctx.new === 1) throw new TemporaryError('soon', { delayMs: 1 });
        });
        controller.on('change', { id: 'slow', field: 'spec.n' }, async (ctx) => {
          calls.push(`slow ${String(ctx.new)}`);
          await sleep(world.clock, 50);
        });
      },
      { policy: 'complete' },
    );
    await world.clock.advance(10);
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(calls).toEqual(['fails 1', 'slow 1', 'fails 2', 'slow 2']);
    await life.stop();
  });

  it("calls on the state that has come while the intent was written (A2')", async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => {
          calls.push(`${String(ctx.new)} v${ctx.resourceVersion}`);
        });
      },
      { progress: slowWrites(world, 20) },
    );
    await world.clock.advance(10);
    world.source.put('a', { spec: { n: 1 }, status: { m: 1 } });
    await life.settle();
    expect(calls).toEqual(['1 v2']);
    // The attempt was open already, so the second pass needed no intent.
    expect(life.stats().writes).toBe(2);
    await life.stop();
  });

  it('makes calls even under edits faster than a write', async () => {
    const world = createWorld();
    let calls = 0;
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'h', field: 'spec.n' }, () => {
          calls++;
        });
      },
      { progress: slowWrites(world, 20) },
    );
    for (let n = 0; n < 200; n++) {
      world.source.put('a', { spec: { n } });
      await world.clock.advance(5);
    }
    // One call in at most five writes: three in vain, one that is not, and the outcome.
    expect(calls).toBeGreaterThanOrEqual(9);
    await life.settle();
    expect(life.controller.state('a')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('waits as long as a TemporaryError asks, and shows it', async () => {
    const world = createWorld();
    const at: number[] = [];
    world.source.put('a', {});
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h' }, () => {
        at.push(world.clock.now());
        if (at.length === 1) throw new TemporaryError('later', { delayMs: 7000 });
      });
    });
    await world.clock.settle();
    expect(life.controller.state('a')?.handlers[0]).toMatchObject({
      state: 'open',
      attempts: 1,
      wakeWallMs: world.clock.wallTime() + 7000,
    });
    expect(life.stats()).toMatchObject({ waiting: 1, behind: 1 });
    // An event does not cut the wait short.
    await world.clock.advance(1000);
    world.source.put('a', { status: { n: 1 } });
    await life.settle();
    expect(at).toEqual([0, 7000]);
    await life.stop();
  });

  it('counts a timeout as a temporary failure, aborts the signal and refuses the late result', async () => {
    const world = createWorld();
    const reasons: unknown[] = [];
    world.source.put('a', {});
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', timeoutMs: 50, retries: 1 }, async (ctx) => {
        ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
        ctx.sub(`s${ctx.attempt}`, {}, () => {});
        await sleep(world.clock, 1000);
        if (ctx.attempt === 1) throw new Error('late, and nobody may notice');
        expect(() => ctx.sub('late', {}, () => {})).toThrow(TypeError);
      });
    });
    await life.settle();
    await world.clock.advance(5000);
    expect(reasons).toHaveLength(2);
    expect(life.stats()).toMatchObject({ calls: 2, successes: 0, temporaryFailures: 1, permanentFailures: 1 });
    expect(life.controller.state('a')?.handlers.map(({ id }) => id)).toEqual(['h']);
    await life.stop();
  });

  it('hands out a frozen state, the same to all calls of a pass', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    world.source.put('a', { spec: { deep: { n: 1 } } });
    const life = await world.start((controller) => {
      const look = (ctx: HandlerContext<Thing>): void => {
        seen.push(ctx.object);
        expect(() => Object.assign(ctx.object.spec?.deep as object, { n: 2 })).toThrow(TypeError);
        expect(() => Object.assign(ctx.object, { spec: {} })).toThrow(TypeError);
        expect(() => Object.assign(ctx, { name: 'b' })).toThrow(TypeError);
        expect(() => Object.assign(ctx.new as object, { x: 1 })).toThrow(TypeError);
      };
      controller.on('change', { id: 'one' }, look);
      controller.on('change', { id: 'two', select: (object) => ({ copy: object.spec }) }, look);
    });
    await life.settle();
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(seen[1]);
    await life.stop();
  });

  it("hands out nothing that can be changed of an object that its source froze at the top only (I5')", async () => {
    const world = createWorld();
    const attempts: unknown[] = [];
    world.source.put('a', Object.freeze({ spec: { n: 1, deep: { n: 1 } } }));
    const isolated = (value: object): object => Object.freeze({ copy: structuredClone(value) });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'one', select: ({ spec }) => isolated(spec ?? {}) }, (ctx) => {
        const view = ctx.new as { copy: { n: number } };
        for (const part of [ctx.object.spec, ctx.object.spec?.deep, view.copy]) {
          attempts.push(part);
          expect(() => Object.assign(part as object, { n: 2 })).toThrow(TypeError);
        }
      });
    });
    await life.settle();
    expect(attempts).toHaveLength(3);
    expect(life.stats().successes).toBe(1);
    await life.stop();
  });

  it('is serial per object and parallel across objects up to concurrency', async () => {
    const world = createWorld();
    let running = 0;
    let most = 0;
    const open = new Set<string>();
    for (let n = 0; n < 10; n++) world.source.put(`o${n}`, {});
    const life = await world.start(
      (controller) => {
        for (const id of ['x', 'y']) {
          controller.on('change', { id }, async (ctx) => {
            expect(open.has(ctx.name)).toBe(false);
            open.add(ctx.name);
            most = Math.max(most, ++running);
            await sleep(world.clock, 10);
            running--;
            open.delete(ctx.name);
          });
        }
      },
      { concurrency: 4 },
    );
    await life.settle();
    expect(most).toBe(4);
    expect(world.clock.now()).toBe(60);
    await life.stop();
  });

  it("leaves scope and returns with the same view: no call if settled (I16')", async () => {
    const world = createWorld();
    const calls: unknown[] = [];
    const put = (on: boolean, n: number): unknown =>
      world.source.put('a', { spec: { n }, metadata: { labels: { on } } });
    put(true, 1);
    const life = await world.start((controller) => {
      controller.on(
        'change',
        { id: 'h', field: 'spec.n', when: (object) => valueAt(object, ['metadata', 'labels', 'on']) === true },
        (ctx) => {
          calls.push(ctx.new);
        },
      );
    });
    await life.settle();
    put(false, 1);
    await life.settle();
    put(false, 2);
    await life.settle();
    put(true, 1);
    await life.settle();
    expect(calls).toEqual([1]);
    put(true, 2);
    await life.settle();
    expect(calls).toEqual([1, 2]);
    expect(life.stats().writes).toBe(4);
    await life.stop();
  });

  it('reports a view that throws, calls nothing with a guess, and goes on with the next state', async () => {
    const world = createWorld();
    const calls: unknown[] = [];
    world.source.put('a', { spec: { n: 'bad' } });
    const life = await world.start((controller) => {
      const select = (object: Thing): unknown => {
        if (object.spec?.n === 'bad') throw new RangeError('bad');
        return object.spec;
      };
      controller.on('change', { id: 'h', select }, (ctx) => {
        calls.push(ctx.new);
      });
      controller.on('change', { id: 'other' }, () => {});
    });
    await life.settle();
    expect(life.controller.state('a')?.settled).toBe(false);
    expect(life.controller.state('a')?.handlers[0]?.fault).toBeInstanceOf(RangeError);
    expect(life.stats()).toMatchObject({ faults: 1, successes: 1 });
    world.source.put('a', { spec: { n: 1 } });
    await life.settle();
    expect(calls).toEqual([{ n: 1 }]);
    expect(life.controller.state('a')?.settled).toBe(true);
    await life.stop();
  });
});

describe('controller: registration', () => {
  it('refuses duplicate and malformed ids, bad options and unknown kinds (row 32)', async () => {
    const world = createWorld();
    const controller = createController<Thing>({ source: world.source, clock: world.clock });
    const on = (options: object) => () => controller.on('change', { id: 'x', ...options }, () => {});
    on({ id: 'h' })();
    expect(on({ id: 'h' })).toThrow(TypeError);
    for (const id of ['', 'a/b', '__proto__', 'x'.repeat(254)]) expect(on({ id })).toThrow(TypeError);
    expect(on({ field: 'a', select: () => 1 })).toThrow(TypeError);
    expect(on({ field: 'a..b' })).toThrow(TypeError);
    expect(on({ retries: -1 })).toThrow(RangeError);
    expect(on({ timeoutMs: 0 })).toThrow(RangeError);
    expect(on({ backoff: { baseMs: 0 } })).toThrow(RangeError);
    expect(() => controller.on('timers' as 'change', { id: 'd' }, () => {})).toThrow(UnsupportedError);
    expect(() => createController({ source: world.source, drainMs: -1 })).toThrow(RangeError);
    expect(() => createController({ source: world.source, concurrency: 0 })).toThrow(RangeError);
  });

  it('refuses duplicate subs inside the call, which fails the parent (row 32)', async () => {
    const world = createWorld();
    world.source.put('a', {});
    const errors: unknown[] = [];
    const life = await world.start((controller) => {
      controller.on('change', { id: 'p', retries: 0 }, (ctx) => {
        ctx.sub('s', {}, () => {});
        for (const again of [
          () => ctx.sub('s', {}, () => {}),
          () => ctx.sub('a/b', {}, () => {}),
          () => ctx.sub('t', { field: 'x', select: () => 1 }, () => {}),
          () => ctx.sub('t', { args: () => 1 }, () => {}),
          () => ctx.sub('t', { timeoutMs: -1 }, () => {}),
        ]) {
          try {
            again();
          } catch (error) {
            errors.push(error);
          }
        }
        throw errors[0];
      });
    });
    await life.settle();
    expect(errors).toHaveLength(5);
    expect(life.stats()).toMatchObject({ calls: 1, permanentFailures: 1 });
    await life.stop();
  });

  it('takes no handler once it runs, and runs once', async () => {
    const world = createWorld();
    const life = await world.start(() => {});
    expect(() => life.controller.on('change', { id: 'late' }, () => {})).toThrow(TypeError);
    await expect(life.controller.run({})).rejects.toThrow(TypeError);
    await life.stop();
  });
});

describe('controller: objects, views and names of all kinds', () => {
  it("gives every call bytes of its own (I5')", async () => {
    const world = createWorld();
    const source = world.source as unknown as MemoryObjectSource<unknown>;
    source.put('alone', Uint8Array.of(1, 2));
    source.put('inside', { spec: { n: 1 }, bytes: Uint8Array.of(1, 2) });
    const seen: string[] = [];
    const bytesOf = (object: unknown): Uint8Array => (valueAt(object, ['bytes']) ?? object) as Uint8Array;
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('change', { id, select: (object) => [...bytesOf(object)] }, (ctx) => {
            seen.push(`${ctx.name} ${id} ${bytesOf(ctx.object).join()} ${String(ctx.new)}`);
            bytesOf(ctx.object)[0] = 99;
            ctx.sub('s', {}, (sub) => {
              seen.push(`${sub.name} ${id}/s ${bytesOf(sub.object).join()}`);
            });
          });
        }
      },
      { concurrency: 1 },
    );
    await life.settle();
    expect(seen.filter((line) => line.includes('99'))).toEqual([]);
    expect(seen).toHaveLength(8);
    expect(bytesOf(source.objects[0]?.object)).toEqual(Uint8Array.of(1, 2));
    await life.stop();
  });

  it('calls nobody on a filter or a selection that is a promise, nor on data that is not plain', async () => {
    const world = createWorld();
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      const never = (): never => expect.unreachable();
      const instance = new (class {
        readonly #n = 1;
        get n(): number {
          return this.#n;
        }
      })();
      controller.on('change', { id: 'when', when: (async () => false) as unknown as () => boolean }, never);
      controller.on('change', { id: 'select', select: async () => 1 }, never);
      controller.on('change', { id: 'instance', select: () => instance }, never);
      controller.on('change', { id: 'fine', when: ({ spec }) => spec?.n === 1 }, () => {});
    });
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 1, faults: 3 });
    const faults = life.controller.state('a')?.handlers.map(({ id, fault }) => `${id}: ${fault === undefined}`);
    expect(faults).toEqual(['when: false', 'select: false', 'instance: false', 'fine: true']);
    await life.stop();
  });

  it('has the same fault for every handler on an object that is too deep', async () => {
    const world = createWorld();
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 1500; level++) deep = { deep };
    const item = {
      name: 'a',
      uid: 'u',
      resourceVersion: '1',
      deleting: false,
      object: { spec: { n: 1 }, status: deep },
    };
    const source = {
      list: async () => ({ resourceVersion: '1', items: [item] }),
      watch: async function* () {
        await new Promise(() => {});
        yield { type: 'bookmark' as const, resourceVersion: '1' };
      },
      get: async () => item,
      compare: () => 0,
    };
    const life = await world.start(
      (controller) => {
        for (const id of ['first', 'second']) {
          controller.on('change', { id, field: 'spec.n' }, () => expect.unreachable());
        }
        controller.on('change', { id: 'default' }, () => expect.unreachable());
      },
      { source },
    );
    await life.settle();
    const faults = life.controller.state('a')?.handlers.map(({ fault }) => String(fault)) ?? [];
    expect(faults).toHaveLength(3);
    expect(new Set(faults).size).toBe(1);
    expect(life.stats()).toMatchObject({ calls: 0, faults: 3 });
    await life.stop();
  });

  it('has records of handlers, subs and objects that are called like members of every object', async () => {
    const world = createWorld();
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
    for (const name of [...names, '__proto__']) world.source.put(name, { spec: { n: 1 } });
    const calls: string[] = [];
    const register = (controller: Controller<Thing>): void => {
      for (const id of names) {
        controller.on('change', { id, field: 'spec.n' }, (ctx) => {
          calls.push(`${ctx.cause} ${String(ctx.old)}`);
          ctx.sub(id, {}, () => {
            calls.push('sub');
          });
        });
      }
    };
    const life = await world.start(register);
    await life.settle();
    expect(calls.filter((call) => call === 'create undefined')).toHaveLength(4 * 5);
    expect(calls.filter((call) => call === 'sub')).toHaveLength(4 * 5);
    const first = world.written[0];
    expect(Object.keys(first?.records ?? {})).toEqual(['constructor']);
    expect(first?.records.constructor).toMatchObject({
      attempt: { state: 'open', failures: 0 },
      done: null,
      episode: 1,
    });
    await life.stop();
    const again = await world.start(register);
    await again.settle();
    expect(again.stats()).toMatchObject({ objects: 5, calls: 0, writes: 0 });
    await again.stop();
  });
});

describe('controller: life', () => {
  it('drains: aborts running calls, records outcomes, resolves within drainMs', async () => {
    const world = createWorld();
    for (const name of ['obeys', 'finishes', 'ignores']) world.source.put(name, {});
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'h' }, async (ctx) => {
          if (ctx.name === 'finishes') await sleep(world.clock, 300);
          else if (ctx.name === 'ignores') await sleep(world.clock, 5000);
          else await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
        });
      },
      { drainMs: 1000 },
    );
    const before = world.written.length;
    await life.stop();
    expect(world.clock.now()).toBe(10_000);
    // Only the one that finished in time; what came after the end of the drain is refused.
    expect(world.written.slice(before).map(({ name }) => name)).toEqual(['finishes']);
    expect(life.stats()).toMatchObject({ calls: 3, temporaryFailures: 0, superseded: 1 });
    await expect(life.controller.idle({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');

    // The interrupted attempts are still open: both are called again, under the same key.
    const again = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}));
    await again.settle();
    expect(again.stats().calls).toBe(2);
    await again.stop();
  });

  it('has no effect when started with an aborted signal', async () => {
    const world = createWorld();
    world.source.put('a', {});
    const controller = createController({ source: world.source, clock: world.clock });
    controller.on('change', { id: 'h' }, () => expect.unreachable());
    const waiting = expect(controller.idle()).rejects.toThrow(ClosedError);
    await controller.run({ signal: AbortSignal.abort() });
    await waiting;
    expect(controller.stats()).toMatchObject({ objects: 0, calls: 0 });
  });

  it('rejects, drained, when the source fails for good', async () => {
    const world = createWorld();
    const controller = createController({ source: world.source, clock: world.clock });
    const done = expect(controller.run({})).rejects.toThrow(ClosedError);
    await world.clock.settle();
    world.source.breakWatches(new ClosedError('watch'));
    await world.clock.advance(1000);
    await done;
  });

  it('lists again with backoff after any other end of the watch, as a difference', async () => {
    const world = createWorld();
    for (const name of ['stays', 'goes']) world.source.put(name, { spec: { n: 1 } });
    const calls: string[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h' }, (ctx) => {
        calls.push(ctx.name);
      }),
    );
    await life.settle();
    world.source.setFaults({ dropRate: 1 });
    world.source.delete('goes');
    world.source.put('comes', {});
    world.source.compact();
    world.source.setFaults({});
    world.source.breakWatches();
    await world.clock.advance(250);
    await life.settle();
    expect(calls).toEqual(['stays', 'goes', 'comes']);
    expect(life.stats()).toMatchObject({ objects: 2, relists: 1 });
    expect(world.progress.size).toBe(2);
    await life.stop();
  });

  it('drops the records of objects that are gone, also of those that went while nobody was looking', async () => {
    const world = createWorld();
    for (const name of ['a', 'b', 'c']) world.source.put(name, {});
    const first = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}));
    await first.settle();
    world.source.delete('a');
    await first.settle();
    expect(world.progress.size).toBe(2);
    await first.stop();
    world.source.delete('b');
    const second = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}));
    await second.settle();
    expect(world.progress.size).toBe(1);
    expect(second.stats()).toMatchObject({ objects: 1, calls: 0, writes: 0 });
    await second.stop();
  });

  it('re-creation is another object: the old records go, the cause is create', async () => {
    const world = createWorld();
    const causes: string[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h' }, (ctx) => {
        causes.push(`${ctx.uid} ${ctx.cause}`);
      }),
    );
    await life.settle();
    world.source.delete('a');
    world.source.put('a', { spec: { n: 1 } });
    await life.settle();
    expect(causes).toEqual(['uid-1 create', 'uid-2 create']);
    expect(world.progress.size).toBe(1);
    await life.stop();
  });

  it("makes no call and no write for an object on its way out (A11'e)", async () => {
    const world = createWorld();
    world.source.put('a', { spec: { n: 1 } });
    const signals: AbortSignal[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec.n' }, async (ctx) => {
        signals.push(ctx.signal);
        await sleep(world.clock, 100);
      }),
    );
    await world.clock.advance(10);
    world.source.startDeletion('a');
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await life.stop();
    const again = await world.start((controller) => controller.on('change', { id: 'other' }, () => {}));
    await again.settle();
    expect(again.stats()).toMatchObject({ calls: 0, writes: 0 });
    await again.stop();
  });

  it("a new uid waits for the call of the old one (A11'e)", async () => {
    const world = createWorld();
    world.source.put('a', {});
    const log: string[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h' }, async (ctx) => {
        log.push(`${ctx.uid} begins at ${world.clock.now()}`);
        await sleep(world.clock, 100);
        log.push(`${ctx.uid} ends`);
      }),
    );
    await world.clock.advance(10);
    world.source.delete('a');
    world.source.put('a', {});
    await life.settle();
    expect(log).toEqual(['uid-1 begins at 0', 'uid-1 ends', 'uid-2 begins at 100', 'uid-2 ends']);
    expect(world.progress.size).toBe(1);
    await life.stop();
  });

  it('goes on although the logger throws or rejects', async () => {
    const thrown = (): never => {
      throw new Error('the disk is full');
    };
    const rejected = async (): Promise<void> => thrown();
    for (const logger of [
      { debug: thrown, info: thrown, warn: thrown, error: thrown },
      { debug: rejected, info: rejected, warn: rejected, error: rejected },
    ]) {
      const world = createWorld();
      const calls: string[] = [];
      let isDown = true;
      const progress: ProgressStore = {
        ...world.progress,
        async list() {
          if (isDown) throw new Error('the sweep has failed');
          return world.progress.list();
        },
        async get(uid) {
          if (isDown) throw new Error('the pass has failed');
          return world.progress.get(uid);
        },
      };
      world.source.put('a', { spec: { n: 1 } });
      const life = await world.start(
        (controller) => {
          controller.on('change', { id: 'fails', field: 'spec.n', retries: 1 }, (ctx) => {
            calls.push(`${String(ctx.new)} ${ctx.attempt}`);
            throw new Error('no');
          });
          controller.on('change', { id: 'faulty', when: thrown }, () => {});
        },
        { logger, progress },
      );
      await world.clock.advance(1000);
      isDown = false;
      await life.settle();
      world.source.breakWatches();
      await world.clock.advance(1000);
      world.source.put('a', { spec: { n: 2 } });
      await life.settle();
      expect(calls).toEqual(['1 0', '1 1', '2 0', '2 1']);
      expect(life.stats()).toMatchObject({ permanentFailures: 2, relists: 1, faults: 2 });
      await life.stop();
    }
  });

  it('works with the defaults of the platform', async () => {
    const world = createWorld();
    world.source.put('a', { spec: { n: 1 } });
    const progress = createMemoryProgress();
    const controller = createController({ source: world.source, progress });
    const calls: unknown[] = [];
    controller.on('change', { id: 'h' }, (ctx) => {
      calls.push(ctx.new);
      if (ctx.name === 'never') throw new PermanentError('no');
    });
    const stop = new AbortController();
    const done = controller.run({ signal: stop.signal });
    await controller.idle();
    stop.abort();
    await done;
    expect(calls).toEqual([{ spec: { n: 1 } }]);
    expect(progress.size).toBe(1);
  });
});
