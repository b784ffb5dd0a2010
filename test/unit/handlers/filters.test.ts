import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import { ABSENT, type LabelFilter, PRESENT, type ValueFilter } from '../../../src/handlers/filter-options.ts';
import type { HandlerOptions } from '../../../src/handlers/options.ts';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import type { HandlerKind } from '../../../src/handlers/registry.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { PermanentError, TemporaryError } from '../../../src/types/errors.ts';
import { reproduce, testSeed } from '../../support/size.ts';
import { createWorld, type Life, type Thing, type World } from './harness.ts';

type Options = Omit<HandlerOptions<Thing>, 'id'>;

/** A handler that notes what it is called with. */
function recorder(kind: HandlerKind, options: Options, fail: (value: unknown) => unknown = () => undefined) {
  const calls: string[] = [];
  const register = (controller: Controller<Thing>): void =>
    controller.on(kind, { id: 'h', retries: 0, ...options }, (ctx) => {
      calls.push(`${ctx.cause} ${JSON.stringify(ctx.old)} -> ${JSON.stringify(ctx.new)}`);
      const error = fail(ctx.new);
      if (error !== undefined) throw error;
    });
  return { register, take: () => calls.splice(0) };
}

/** Puts one value of the field `spec.n` after the other, each of which is handled before the next. */
async function puts(world: World, life: Life, ...values: readonly unknown[]): Promise<void> {
  for (const n of values) {
    world.source.put('o', { spec: n === undefined ? {} : { n } });
    await life.settle();
  }
}

async function calledFor(object: Thing, options: Options, kind: HandlerKind = 'change'): Promise<boolean> {
  const world = createWorld();
  const { register, take } = recorder(kind, options);
  if (kind === 'delete') {
    const life = await world.start(register);
    world.source.put('o', object);
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    await life.stop();
  } else {
    world.source.put('o', object);
    const life = await world.start(register);
    await life.settle();
    await life.stop();
  }
  return take().length > 0;
}

const labelled = (labels: Readonly<Record<string, unknown>> | undefined): Thing => ({
  spec: { n: 1 },
  metadata: labels === undefined ? {} : { labels },
});

describe("filters by labels and annotations (A20')", () => {
  const rows: readonly (readonly [
    Readonly<Record<string, LabelFilter>>,
    Readonly<Record<string, unknown>>,
    boolean,
  ])[] = [
    [{ app: 'web' }, { app: 'web' }, true],
    [{ app: 'web' }, { app: 'db' }, false],
    [{ app: 'web' }, {}, false],
    [{ app: '' }, {}, false],
    [{ app: true }, { app: '' }, true],
    [{ app: PRESENT }, {}, false],
    [{ app: false }, {}, true],
    [{ app: ABSENT }, { app: 'web' }, false],
    [{ app: (value) => value !== 'db' }, {}, true],
    [{ app: (value) => value !== 'db' }, { app: 'db' }, false],
    [{ app: 'web', tier: true }, { app: 'web' }, false],
    [{ app: 'web', tier: true }, { app: 'web', tier: 'x' }, true],
    [{ app: '1' }, { app: 1 }, false],
    [{ app: false }, { app: 1 }, true],
    [{ toString: true }, {}, false],
    [{}, {}, true],
  ];

  it.each(rows)('%o of %o is %s, for labels and annotations alike', async (filter, labels, expected) => {
    expect(await calledFor(labelled(labels), { labels: filter })).toBe(expected);
    expect(await calledFor({ spec: { n: 1 }, metadata: { annotations: labels } }, { annotations: filter })).toBe(
      expected,
    );
  });

  it('an object without metadata has no labels, whatever it is', async () => {
    expect(await calledFor({ spec: {} }, { labels: { app: true } })).toBe(false);
    expect(await calledFor({ spec: {} }, { labels: { app: false } })).toBe(true);
    expect(await calledFor(7 as unknown as Thing, { labels: { app: false }, select: () => 1 })).toBe(true);
  });

  it.each(['change', 'create', 'resume', 'delete'] as const)('hold for handlers of kind %s', async (kind) => {
    expect(await calledFor(labelled({ app: 'web' }), { labels: { app: 'web' } }, kind)).toBe(true);
    expect(await calledFor(labelled({ app: 'db' }), { labels: { app: 'web' } }, kind)).toBe(false);
  });

  it('all of the filters have to hold', async () => {
    const labels = { app: 'web' };
    const object = labelled(labels);
    expect(await calledFor(object, { labels, when: () => true, field: 'spec.n', value: 1 })).toBe(true);
    expect(await calledFor(object, { labels, when: () => false, field: 'spec.n', value: 1 })).toBe(false);
    expect(await calledFor(object, { labels, when: () => true, field: 'spec.n', value: 2 })).toBe(false);
  });
});

describe("field works for every kind with a view (A20')", () => {
  it.each([
    ['change', ['create undefined -> 1', 'update 1 -> 2']],
    ['create', ['create undefined -> 1']],
    ['update', ['update 1 -> 2']],
    ['resume', ['resume undefined -> 1']],
    ['delete', ['delete undefined -> 2']],
  ] as const)('%s sees the field alone', async (kind, expected) => {
    const world = createWorld();
    const { register, take } = recorder(kind, { field: 'spec.n' });
    world.source.put('o', { spec: { n: 1, other: 1 } });
    const life = await world.start(register);
    await life.settle();
    world.source.put('o', { spec: { n: 1, other: 2 } });
    await life.settle();
    world.source.put('o', { spec: { n: 2, other: 2 } });
    await life.settle();
    world.source.startDeletion('o');
    await life.settle();
    expect(take()).toEqual(expected);
    await life.stop();
  });
});

describe("filters by value (A20')", () => {
  const rows: readonly (readonly [ValueFilter, unknown, boolean])[] = [
    [1, 1, true],
    [1, '1', false],
    [true, true, true],
    [true, 1, false],
    [null, null, true],
    [null, undefined, false],
    [{ a: [1] }, { a: [1] }, true],
    [{ a: [1] }, { a: [1, 2] }, false],
    [PRESENT, 0, true],
    [PRESENT, undefined, false],
    [ABSENT, undefined, true],
    [ABSENT, null, false],
    [(value) => Number(value) > 3, 4, true],
    [(value) => Number(value) > 3, 3, false],
  ];

  it.each(rows)('%o of %o is %s', async (value, n, expected) => {
    const object = { spec: n === undefined ? {} : { n } };
    for (const kind of ['change', 'create', 'resume', 'delete'] as const) {
      expect(await calledFor(object, { field: 'spec.n', value }, kind), kind).toBe(expected);
    }
  });

  it('a handler that was called for the value is called once more when it is another one', async () => {
    const world = createWorld();
    const { register, take } = recorder('change', { field: 'spec.n', value: 'on' });
    const life = await world.start(register);
    await puts(world, life, 'off', 'on', 'off', 'out', 'off', 'on');
    expect(take()).toEqual(['create undefined -> "on"', 'update "on" -> "off"', 'update "off" -> "on"']);
    await life.stop();
  });

  it.each<[string, unknown, number]>([
    ['failed for good', new PermanentError('no'), 0],
    ['fails', new TemporaryError('later', { delayMs: 60_000 }), 1000],
  ])('what was begun for it is undone, also if the call on the last success %s in between', async (_how, error, ms) => {
    const world = createWorld();
    let failure: unknown;
    const { register, take } = recorder('change', { field: 'spec.n', value: 'on', retries: 9 }, () => failure);
    const life = await world.start(register);
    await puts(world, life, 'on', 'off');
    failure = error;
    for (const n of ['on', 'off']) {
      world.source.put('o', { spec: { n } });
      await world.clock.advance(ms);
    }
    failure = undefined;
    await puts(world, life, 'out', 'off', 'out');
    expect(take().map((call) => call.split(' -> ')[1])).toEqual(['"on"', '"off"', '"on"', '"off"', '"out"']);
    await life.stop();
  });

  it('an update to the value is one, also if the first view was out of scope', async () => {
    const world = createWorld();
    const { register, take } = recorder('update', { field: 'spec.n', value: 'on' });
    const life = await world.start(register);
    await puts(world, life, 'off', 'on');
    expect(take()).toEqual(['update "off" -> "on"']);
    await life.stop();
  });

  it('a handler that failed for good on the value is told when it is another one', async () => {
    const world = createWorld();
    const fail = (value: unknown): unknown => (value === 'on' ? new PermanentError('no') : undefined);
    const { register, take } = recorder('change', { field: 'spec.n', value: 'on' }, fail);
    const life = await world.start(register);
    await puts(world, life, 'off', 'on', 'off', 'out');
    expect(take()).toEqual(['create undefined -> "on"', 'create undefined -> "off"']);
    await life.stop();
  });
});

describe("filters by old and new (A20')", () => {
  it('old is compared with the last success of the handler, not with the state before', async () => {
    const world = createWorld();
    const { register, take } = recorder('change', {
      field: 'spec.n',
      old: (value) => value !== 2,
      new: (n) => n !== 1,
    });
    const life = await world.start(register);
    await puts(world, life, 0, 1, 3);
    expect(take()).toEqual(['create undefined -> 0', 'update 0 -> 3']);
    await puts(world, life, 2, 3, 4);
    expect(take()).toEqual(['update 3 -> 2']);
    await life.stop();
  });

  it('there was nothing before the first success', async () => {
    const world = createWorld();
    const { register, take } = recorder('change', { field: 'spec.n', old: ABSENT });
    const life = await world.start(register);
    await puts(world, life, 1, 2);
    expect(take()).toEqual(['create undefined -> 1']);
    await life.stop();
  });

  it('an update to new is one, also if the first view was another', async () => {
    const world = createWorld();
    const { register, take } = recorder('update', { field: 'spec.n', new: 'on' });
    const life = await world.start(register);
    await puts(world, life, 'off', 'on', 'off', 'on');
    expect(take()).toEqual(['update "off" -> "on"']);
    await life.stop();
  });

  it("a state that is filtered out writes nothing and is settled (A3', I16')", async () => {
    const world = createWorld();
    const { register, take } = recorder('change', { field: 'spec.n', new: 'on' });
    const life = await world.start(register);
    await puts(world, life, 'on');
    const writes = world.written.length;
    await puts(world, life, 'off');
    expect(life.controller.state('o')).toMatchObject({ settled: true, handlers: [{ inScope: false }] });
    await puts(world, life, 'on');
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true, handlers: [{ inScope: true }] });
    expect([take().length, world.written.length - writes]).toEqual([1, 0]);
    await life.stop();
  });

  it('subs of a parent whose next state is filtered out are retired', async () => {
    const world = createWorld();
    const retired: string[] = [];
    let fails = true;
    const life = await world.start((controller) =>
      controller.on(
        'change',
        {
          id: 'p',
          field: 'spec.n',
          new: (value) => value !== 'off',
          retire: (ctx) => {
            if (fails) throw new Error('not yet');
            retired.push(ctx.id);
          },
        },
        (ctx) => ctx.sub(String(ctx.new), {}, () => {}),
      ),
    );
    await puts(world, life, 'a');
    world.source.put('o', { spec: { n: 'b' } });
    await world.clock.advance(50);
    fails = false;
    world.source.put('o', { spec: { n: 'off' } });
    await life.settle();
    expect(retired).toEqual(['a']);
    await life.stop();
  });
});

describe("a filter that throws (A20')", () => {
  const broken = (): boolean => {
    throw new Error('broken filter');
  };
  it.each<[string, Options]>([
    ['labels', { labels: { app: broken } }],
    ['annotations', { annotations: { app: broken } }],
    ['value', { field: 'spec.n', value: broken }],
    ['old', { field: 'spec.n', old: broken }],
    ['new', { field: 'spec.n', new: broken }],
    ['a promise', { field: 'spec.n', value: (() => Promise.resolve(true)) as unknown as () => boolean }],
  ])('%s: a fault with the id and the name, once; other handlers go on', async (_name, options) => {
    const world = createWorld();
    const errors: unknown[] = [];
    const others: unknown[] = [];
    const { register, take } = recorder('change', options);
    const logger = { debug() {}, info() {}, warn() {}, error: (...entry: unknown[]) => errors.push(entry) };
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) => {
        register(controller);
        controller.on('change', { id: 'other' }, (ctx) => {
          others.push(ctx.name);
        });
      },
      { logger },
    );
    await life.settle();
    expect([take(), others, life.stats().faults]).toEqual([[], ['o'], 1]);
    expect(errors).toMatchObject([['Cannot look at the object for "h"', { name: 'o' }]]);
    expect(life.controller.state('o')).toMatchObject({ settled: false });
    await life.stop();
  });
});

describe('filters are checked where they are given', () => {
  it.each<[string, unknown, string]>([
    ['labels that are text', { labels: 'app=web' }, 'labels is not a plain object'],
    ['a list of labels', { labels: ['app'] }, 'labels is not a plain object'],
    ['a label that is a number', { labels: { app: 1 } }, 'labels "app" is of type number'],
    ['an annotation that is a symbol', { annotations: { app: Symbol('x') } }, 'annotations "app" is of type symbol'],
    ['a value without a field', { value: 1 }, 'value needs a field'],
    ['an old without a field', { old: 1 }, 'old needs a field'],
    ['another symbol', { field: 'a', value: Symbol('x') }, 'value is a symbol'],
  ])('%s', async (_name, options, message) => {
    const { register } = recorder('change', options as Options);
    await expect(createWorld().start(register)).rejects.toThrow(message);
  });

  it.each(['value', 'old', 'new'])('a %s that is no JSON data names itself', async (name) => {
    const { register } = recorder('change', { field: 'a', [name]: Number.NaN });
    await expect(createWorld().start(register)).rejects.toThrow(`Cannot register handler "h": ${name}: `);
  });

  it('old and new are for changes and updates', async () => {
    const { register } = recorder('create', { field: 'a', new: 1 });
    await expect(createWorld().start(register)).rejects.toThrow('new is for handlers of kind change and update');
  });

  it('a value that is no JSON data', async () => {
    const { register } = recorder('change', { field: 'a', value: new Date(0) as unknown as ValueFilter });
    await expect(createWorld().start(register)).rejects.toThrow('Cannot register handler "h"');
  });
});

/** A progress store that keeps no views, as those in an object do for Secrets (A42'). */
function withoutViews({ progress }: World): ProgressStore {
  return {
    ...progress,
    compareAndSet: (uid, gen, next) => progress.compareAndSet(uid, gen, { ...next, bases: {} }),
  };
}

type Step = readonly [options: Options, ...values: readonly unknown[]];

/** One process after the other, each with its own filters; what changes first in each has changed while nobody ran. */
async function lives(
  steps: readonly Step[],
  isLossy: boolean,
  fail?: (value: unknown) => unknown,
): Promise<string[][]> {
  const world = createWorld();
  const calls: string[][] = [];
  for (const [options, first, ...values] of steps) {
    const { register, take } = recorder('change', options, fail);
    world.source.put('o', { spec: first === undefined ? {} : { n: first } });
    const life = await world.start(register, isLossy ? { progress: withoutViews(world) } : {});
    await life.settle();
    await puts(world, life, ...values);
    await life.stop();
    calls.push(take());
  }
  return calls;
}

describe("where nobody knows what was handled, the handler is called (A20', A6', A14')", () => {
  const field = 'spec.n';
  it.each<[string, Options, readonly unknown[], readonly unknown[], string[]]>([
    ['value: what it has done for the value is undone', { field, value: 'on' }, ['on'], ['off'], ['"off"']],
    ['value: who had it before is called for the value', { field, value: 'on' }, ['on', 'off'], ['on'], ['"on"']],
    ['old', { field, old: 'on' }, [undefined], ['off'], []],
    ['old, of a success', { field, old: (value) => value !== 2 }, [1], [2], ['2']],
    ['new is about what is there', { field, new: 'on' }, ['on'], ['off'], []],
    ['that nothing was there is known', { field, value: PRESENT, new: ABSENT }, [undefined, undefined], [1], []],
  ])('views that are not kept: %s', async (_name, options, before, after, expected) => {
    const [, calls = []] = await lives(
      [
        [options, ...before],
        [options, ...after],
      ],
      true,
    );
    expect(calls.map((call) => call.split(' -> ')[1])).toEqual(expected);
  });

  const whole = (passes: (n: unknown) => boolean) => (spec: unknown) =>
    passes((spec as { n?: unknown } | undefined)?.n);
  const isOn = (value: unknown): boolean => value === 'on';
  it.each<[string, Step, Step, string[]]>([
    [
      'narrowed: undone',
      [{ field: 'spec', value: whole(isOn) }, 'on'],
      [{ field, value: isOn }, 'off'],
      ['update "on" -> "off"'],
    ],
    ['narrowed: nothing to undo', [{ field: 'spec', old: ABSENT }, 'out'], [{ field, value: isOn }, 'off'], []],
    ['narrowed, by old', [{ field: 'spec' }, 'on'], [{ field, old: 'on' }, 'off'], ['update "on" -> "off"']],
    ['narrowed, by another old', [{ field: 'spec' }, 'on'], [{ field, old: 'out' }, 'off'], []],
    [
      'widened: undone',
      [{ field, value: isOn }, 'on'],
      [{ field: 'spec', value: whole(isOn) }, 'off'],
      ['update undefined -> {"n":"off"}'],
    ],
    ['from a whole object: undone', [{}, 'on'], [{ field, value: isOn }, 'off'], ['update "on" -> "off"']],
    [
      'from a selection: undone',
      [{ select: () => 'on' }, 'on'],
      [{ field, value: isOn }, 'off'],
      ['update undefined -> "off"'],
    ],
    [
      'from another field: undone',
      [{ field: 'spec.n.on' }, { on: 1 }],
      [{ field, value: isOn }, 'off'],
      ['update undefined -> "off"'],
    ],
    [
      'of a new version: undone',
      [{ field, value: isOn }, 'on'],
      [{ field, value: isOn, version: '2' }, 'off'],
      ['update "on" -> "off"'],
    ],
  ])('a view that is defined otherwise, %s', async (_name, before, after, expected) => {
    const [, calls] = await lives([before, after], false);
    expect(calls).toEqual(expected);
  });

  it.each([false, true])(
    "a success on what is not kept any more brings it back (A6'), with subs: %s",
    async (hasSubs) => {
      const world = createWorld();
      const olds: unknown[] = [];
      const register = (controller: Controller<Thing>): void =>
        controller.on('change', { id: 'h', field: 'spec.n', retries: 0 }, (ctx) => {
          olds.push(ctx.old);
          if (ctx.new === 2) throw new Error('no');
          if (hasSubs) ctx.sub('s', {}, () => {});
        });
      const options = { progress: withoutViews(world) };
      const first = await world.start(register, options);
      await puts(world, first, 1);
      await first.stop();
      const life = await world.start(register, options);
      await puts(world, life, 2, 1, 3);
      expect(olds).toEqual([undefined, undefined, undefined, 1]);
      await life.stop();
    },
  );

  it('what has failed by the new definition is no success by it', async () => {
    const fail = (value: unknown): unknown => (value === 'bad' ? new PermanentError('no') : undefined);
    const old: Step = [{ field: 'spec' }, 'on'];
    const failing: Step = [{ field, value: (value) => value === 'on' || value === 'bad' }, 'bad'];
    const last: Step = [{ field, old: 'on' }, 'off', 'on', 'out'];
    const [, second, third] = await lives([old, failing, last], false, fail);
    expect(second).toEqual(['update "on" -> "bad"']);
    expect(third).toEqual(['update "on" -> "off"']);
  });
});

describe("random programs (A20')", () => {
  it('value: at rest the last call was for the final value if it is for it, else none of it is left', async () => {
    const failed: string[] = [];
    for (let index = 0; index < 150; index++) {
      const seed = (testSeed() + index) >>> 0;
      const random = createSeededRandom(seed);
      const world = createWorld(seed);
      const isFor = (value: unknown): boolean => Number(value) % 2 === 1;
      const kind = random() < 0.5 ? 'change' : 'update';
      const keepsViews = random() < 0.5;
      const calls: unknown[] = [];
      const partOf = (seen: unknown): unknown => (typeof seen === 'object' ? (seen as { n: unknown }).n : seen);
      // Each process may look at another field, by another version of it: what is handled stays the same.
      const start = (): Promise<Life> => {
        const field = random() < 0.5 ? 'spec.n' : 'spec';
        const version = random() < 0.8 ? {} : { version: 'v' };
        return world.start(
          (controller) =>
            controller.on(
              kind,
              { id: 'h', field, value: (seen) => isFor(partOf(seen)), retries: 2, ...version },
              (ctx) => {
                calls.push(partOf(ctx.new));
                const chance = random();
                if (chance < 0.3) throw chance < 0.1 ? new PermanentError('no') : new Error('not now');
              },
            ),
          keepsViews ? {} : { progress: withoutViews(world) },
        );
      };
      let n = Math.floor(random() * 4);
      world.source.put('o', { spec: { n } });
      let life = await start();
      const first = n;
      for (let step = 0; step < 12; step++) {
        n = Math.floor(random() * 4);
        world.source.put('o', { spec: { n } });
        await world.clock.advance(Math.floor(random() * 150));
        if (random() < 0.15) {
          await life.stop();
          if (random() < 0.5) {
            n = Math.floor(random() * 4);
            world.source.put('o', { spec: { n } });
          }
          life = await start();
        }
      }
      await life.settle();
      const last = calls.length > 0 ? calls.at(-1) : kind === 'update' ? first : undefined;
      if (isFor(n) ? last !== n : isFor(last)) failed.push(`${seed} ${kind}: ends on ${n}, last call for ${last}`);
      await life.stop();
    }
    expect(failed.slice(0, 3), reproduce('unit')).toEqual([]);
  }, 60_000);
});

describe("what was begun for a view goes on, whatever the filters say of it (A20', A8')", () => {
  it.each<[string, Options]>([
    ['no filter', {}],
    ['value', { value: 'todo' }],
    ['new', { new: 'todo' }],
  ])('a failed call that notes so in its own field is made again, %s', async (_, options) => {
    const world = createWorld();
    const calls: unknown[] = [];
    world.source.put('o', { spec: { n: 'todo' } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec.n', retries: 5, ...options }, (ctx) => {
        calls.push(ctx.new);
        ctx.patch({ spec: { n: calls.length === 1 ? 'busy' : 'done' } });
        if (calls.length === 1) throw new Error('later');
      }),
    );
    await life.settle();
    expect([calls, world.source.objects[0]?.object.spec?.n]).toEqual([['todo', 'busy'], 'done']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('the call for leaving the value is made again when it fails', async () => {
    const world = createWorld();
    const calls: unknown[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec.n', value: 1, retries: 5 }, (ctx) => {
        calls.push(ctx.new);
        if (ctx.new === 1 || calls.length === 2) throw new TemporaryError('later', { delayMs: 100 });
      }),
    );
    world.source.put('o', { spec: { n: 1 } });
    await world.clock.advance(10);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(calls).toEqual([1, 2, 2]);
    await life.stop();
  });

  it('a crash in the call for leaving the value: the next process makes it', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const hang = (process: number) => (controller: Controller<Thing>) =>
      controller.on('change', { id: 'h', field: 'spec.n', value: 1 }, (ctx) => {
        calls.push(`${process} for ${ctx.new}`);
        if (process < 3) return new Promise<void>(() => {});
      });
    world.source.put('o', { spec: { n: 1 } });
    for (const process of [1, 2, 3]) {
      const life = await world.start(hang(process));
      await world.clock.advance(10);
      if (process === 3) await life.settle();
      // The calls of the first two never end, as in a crash.
      life.abort();
      await world.clock.advance(60_000);
      world.source.put('o', { spec: { n: 2 } });
    }
    expect(calls).toEqual(['1 for 1', '2 for 2', '3 for 2']);
  });
});

describe('filters that are no plain object', () => {
  it.each([[new Map([['a', 'b']])], [['a']], [new Date(0)], [null], ['a']])('%s is refused', async (labels) => {
    const world = createWorld();
    const life = world.start((controller) =>
      controller.on('change', { id: 'h', labels: labels as unknown as Record<string, string> }, () => {}),
    );
    await expect(life).rejects.toThrow(/labels is not a plain object/);
  });
});
