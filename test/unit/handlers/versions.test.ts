import { describe, expect, it } from 'vitest';
import type { EssenceHasher } from '../../../src/core/essence-hasher.ts';
import { createEssenceHasher } from '../../../src/create-essence-hasher.ts';
import type { RetireContext } from '../../../src/handlers/context.ts';
import type { Controller } from '../../../src/handlers/controller.ts';
import { ABSENT } from '../../../src/handlers/filter-options.ts';
import type { ControllerOptions, HandlerOptions } from '../../../src/handlers/options.ts';
import { TemporaryError } from '../../../src/types/errors.ts';
import { createWorld, type Thing } from './harness.ts';

/** A world in which versions of a program follow one another. */
function setUp() {
  const world = createWorld();
  const calls: string[] = [];
  const on = (options: HandlerOptions<Thing>) => (controller: Controller<Thing>) =>
    controller.on('change', options, (ctx) => {
      calls.push(`${options.id} ${ctx.cause} ${JSON.stringify(ctx.new)}`);
    });
  const version = async (
    handlers: readonly ((controller: Controller<Thing>) => void)[],
    during: () => void = () => {},
    options: Partial<ControllerOptions<Thing>> = {},
  ): Promise<string[]> => {
    const life = await world.start((controller) => {
      for (const register of handlers) register(controller);
    }, options);
    await life.settle();
    during();
    await life.settle();
    await life.stop();
    return calls.splice(0);
  };
  return { world, on, version };
}

const isLabelled = (object: Thing): boolean => object.metadata?.on === true;
const put = (world: ReturnType<typeof setUp>['world'], spec: object, on = true): void => {
  world.source.put('o', { spec: { ...spec }, metadata: { on } });
};

describe("handlers that are added (A14')", () => {
  const old = { id: 'old', field: 'spec.a' };
  const added = { id: 'new', field: 'spec.a' };

  it('are called for the objects that there are, or take them as done', async () => {
    for (const onAdded of ['run', 'adopt'] as const) {
      const { world, on, version } = setUp();
      put(world, { a: 1 });
      await version([on(old)]);
      const calls = await version([on(old), on({ ...added, onAdded })], () => put(world, { a: 2 }));
      const later = ['old update 2', 'new update 2'];
      expect(calls.sort()).toEqual((onAdded === 'run' ? ['new create 1', ...later] : later).sort());
    }
  });

  it('with adopt, new objects are handled, whatever the order of handlers', async () => {
    const { world, on, version } = setUp();
    put(world, { a: 1 });
    const handlers = [
      on({ ...added, onAdded: 'adopt' }),
      on(old),
      on({ id: 'newer', field: 'spec.a', onAdded: 'adopt' }),
    ];
    expect(await version(handlers)).toEqual(['new create 1', 'old create 1', 'newer create 1']);
    expect(await version([...handlers].reverse())).toEqual([]);
  });

  it('row 26: with a filter and adopt, an object that comes into scope later is called', async () => {
    const { world, on, version } = setUp();
    put(world, { a: 1 }, false);
    await version([on(old)]);
    const filtered = on({ ...added, when: isLabelled, onAdded: 'adopt' });
    expect(await version([on(old), filtered])).toEqual([]);
    expect(await version([on(old), filtered], () => put(world, { a: 1 }))).toEqual(['new create 1']);
  });

  it('row 26: also if the object was never in any scope but that of others', async () => {
    const { world, on, version } = setUp();
    put(world, { a: 1 }, false);
    const handlers = [on(old), on({ ...added, when: isLabelled, onAdded: 'adopt' })];
    expect(await version(handlers)).toEqual(['old create 1']);
    expect(await version(handlers, () => put(world, { a: 1 }))).toEqual(['new create 1']);
  });

  it('with adopt, an object that nobody cares about gets no document', async () => {
    const { world, on, version } = setUp();
    put(world, { a: 1 }, false);
    await version([on({ ...added, when: isLabelled, onAdded: 'adopt' })]);
    expect([world.written.length, world.progress.size]).toEqual([0, 0]);
  });
});

describe("views that are defined otherwise (A14')", () => {
  it('a field of the view before, unchanged, is done; changed, it is called', async () => {
    const { world, on, version } = setUp();
    const spec = { id: 'h', field: 'spec' };
    put(world, { a: { b: 1 }, c: 1 });
    await version([on({ id: 'h' })]);
    expect(await version([on(spec)])).toEqual([]);
    expect(await version([on({ ...spec, field: 'spec.a.b' })])).toEqual([]);
    expect(await version([on({ ...spec, field: 'spec.a.b' })], () => put(world, { a: { b: 1 }, c: 2 }))).toEqual([]);
    put(world, { a: { b: 2 }, c: 2 });
    await version([on({ ...spec, field: 'spec.a.b' })]);
    put(world, { a: { b: 3 }, c: 2 });
    expect(await version([on({ ...spec, field: 'spec.a' })])).toEqual(['h update {"b":3}']);
  });

  it('a field that changed while nobody was there is called', async () => {
    const { world, on, version } = setUp();
    put(world, { a: 1 });
    await version([on({ id: 'h' })]);
    put(world, { a: 2 });
    expect(await version([on({ id: 'h', field: 'spec.a', onSchemaChange: 'adopt' })])).toEqual(['h update 2']);
  });

  it.each<[string, Partial<HandlerOptions<Thing>>, Partial<HandlerOptions<Thing>>]>([
    ['a wider field', { field: 'spec.a' }, { field: 'spec' }],
    ['another field', { field: 'spec.a' }, { field: 'spec.b' }],
    ['a field that the view before left out', {}, { field: 'status.on' }],
    ['a selection', { field: 'spec' }, { select: ({ spec }) => spec?.a }],
    ['a version of a selection', { select: () => 1, version: '1' }, { select: () => 1, version: '2' }],
    ['a version of the default view', {}, { version: '2' }],
    ['a version of a field', { field: 'spec' }, { field: 'spec.a', version: '2' }],
  ])('%s: onSchemaChange says', async (_what, before, after) => {
    for (const [onSchemaChange, count] of [
      ['run', 1],
      ['adopt', 0],
      [undefined, 1],
    ] as const) {
      const { world, on, version } = setUp();
      world.source.put('o', { spec: { a: 1, b: 2 }, status: { on: 1 } });
      await version([on({ id: 'h', ...before })]);
      const choice = onSchemaChange === undefined ? {} : { onSchemaChange };
      expect(await version([on({ id: 'h', ...after, ...choice })])).toHaveLength(count);
      expect(await version([on({ id: 'h', ...after })])).toEqual([]);
    }
  });

  it.each<[string, Partial<HandlerOptions<Thing>>, Partial<HandlerOptions<Thing>>]>([
    ['a version of a field', { field: 'spec.a' }, { field: 'spec.a', version: '2' }],
    ['a narrower field of another version', { field: 'spec' }, { field: 'spec.a', version: '2' }],
    ['a version of the default view', { version: '1' }, { version: '2' }],
    ['a part that was not there', { field: 'spec' }, { field: 'spec.c' }],
  ])('%s: what is known to have changed is called', async (_what, before, after) => {
    const { world, on, version } = setUp();
    put(world, { a: 1 });
    await version([on({ id: 'h', ...before })]);
    put(world, { a: 2, c: 1 });
    expect(await version([on({ id: 'h', ...after, onSchemaChange: 'adopt' })])).toHaveLength(1);
  });

  const ignoring = (...ignore: string[]): EssenceHasher => createEssenceHasher({ defaults: false, ignore });
  it.each<[string, Thing, Thing, string, Partial<ControllerOptions<Thing>>]>([
    ['has gone', { spec: { a: 1 }, status: { n: 1 } }, { spec: { a: 1 } }, 'status', {}],
    [
      'has gone in part',
      { spec: {}, metadata: { labels: { a: '1' }, resourceVersion: '1' } },
      { spec: {}, metadata: { labels: { a: '1' } } },
      'metadata',
      {},
    ],
    ['has gone below', { spec: { a: 1, b: 1 } }, { spec: { a: 1 } }, 'spec', { essence: ignoring('/spec/b') }],
    ['was normalised', { spec: { a: 2 } }, { spec: { a: 1 } }, 'spec', { view: () => ({ spec: { a: 1 } }) }],
  ])(
    'what a default view left out and %s is called, since nobody can tell',
    async (_what, before, after, field, options) => {
      for (const onSchemaChange of ['run', 'adopt'] as const) {
        const { world, on, version } = setUp();
        world.source.put('o', before);
        await version([on({ id: 'h' })], undefined, options);
        world.source.put('o', after);
        const calls = await version([on({ id: 'h', field, onSchemaChange })], undefined, options);
        expect(calls, onSchemaChange).toHaveLength(onSchemaChange === 'run' ? 1 : 0);
      }
    },
  );

  it('what a default view may have left out is in no `old`, and stops no filter', async () => {
    const metadata = { labels: { a: '1' }, resourceVersion: '1' };
    for (const [filters, count] of [
      [{}, 1],
      [{ old: ABSENT }, 1],
      [{ value: () => false }, 1],
      [{ new: ABSENT }, 0],
    ] as const) {
      const { world, version } = setUp();
      world.source.put('o', { spec: {}, metadata });
      await version([(controller) => controller.on('change', { id: 'h' }, () => {})]);
      const olds: unknown[] = [];
      const told = (controller: Controller<Thing>): void =>
        controller.on('change', { id: 'h', field: 'metadata', ...filters }, (ctx) => {
          olds.push(ctx.old);
        });
      await version([told]);
      expect(olds).toEqual(Array(count).fill(undefined));
    }
  });

  it('what other rules of the essence left out is in no `old`', async () => {
    const { world, version } = setUp();
    world.source.put('o', { spec: { a: 1, b: 2 } });
    const olds: unknown[] = [];
    const told = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'h' }, (ctx) => {
        olds.push(ctx.old);
      });
    await version([told], undefined, { essence: ignoring('/spec/b') });
    await version([told], undefined, { essence: ignoring() });
    expect(olds).toEqual([undefined, undefined]);
  });

  it('`old` and `diff` are by the present definition, if that can be told', async () => {
    const rows: readonly (readonly [Partial<HandlerOptions<Thing>>, Partial<HandlerOptions<Thing>>, string])[] = [
      [{ field: 'spec' }, { field: 'spec.a' }, '1 [""]'],
      [{}, { field: 'spec.a' }, '1 [""]'],
      [{ field: 'spec.a' }, { field: 'spec.a', version: '2' }, '1 [""]'],
      [{ select: ({ spec }) => spec?.a }, { select: ({ spec }) => spec?.a, version: '2' }, '1 [""]'],
      [{ field: 'spec.a' }, { field: 'spec' }, 'undefined [""]'],
      [{ field: 'spec.b' }, { field: 'spec.a' }, 'undefined [""]'],
      [{ select: ({ spec }) => spec?.a }, { field: 'spec.a' }, 'undefined [""]'],
      [{ field: 'spec.a' }, {}, 'undefined [""]'],
    ];
    for (const [before, after, expected] of rows) {
      const { world, on, version } = setUp();
      put(world, { a: 1, b: 1 });
      await version([on({ id: 'h', ...before })]);
      put(world, { a: 2, b: 1 });
      const told: string[] = [];
      await version([
        (controller) =>
          controller.on('change', { id: 'h', ...after }, ({ old, diff }) => {
            told.push(`${JSON.stringify(old)} ${JSON.stringify(diff.map(({ path }) => path))}`);
          }),
      ]);
      expect(told, JSON.stringify([before, after])).toEqual([expected]);
    }
  });

  it('of a handler that has failed, or was interrupted, is called', async () => {
    const { world, version } = setUp();
    let calls = 0;
    const failing = (field: string, error: unknown) => (controller: Controller<Thing>) =>
      controller.on('change', { id: 'h', field, retries: 0, onSchemaChange: 'adopt' }, () => {
        calls++;
        if (error !== undefined) throw error;
      });
    put(world, { a: 1 });
    await version([failing('spec', new Error('no'))]);
    await version([failing('spec.a', undefined)]);
    expect(calls).toBe(2);
  });

  it('of a parent is called, since its plan belongs to its view', async () => {
    const { world, version } = setUp();
    const calls: string[] = [];
    const parent = (field: string) => (controller: Controller<Thing>) =>
      controller.on('change', { id: 'p', field, onSchemaChange: 'adopt' }, (ctx) => {
        calls.push(field);
        ctx.sub('s', {}, () => {});
      });
    put(world, { a: 1 });
    await version([parent('spec')]);
    await version([parent('spec.a')]);
    expect(calls).toEqual(['spec', 'spec.a']);
  });

  it('a version makes a call for an equal view, and none after that', async () => {
    const { world, on, version } = setUp();
    put(world, { a: 1 });
    expect(await version([on({ id: 'h', field: 'spec.a', version: '1' })])).toEqual(['h create 1']);
    expect(await version([on({ id: 'h', field: 'spec.a', version: '1' })])).toEqual([]);
    expect(await version([on({ id: 'h', field: 'spec.a', version: '2' })])).toEqual(['h update 1']);
  });
});

describe("handlers that are gone (A14')", () => {
  const ttl = { recordTtlMs: 60_000 };

  it('their records stay for a rollback, and go with a write after their time', async () => {
    const { world, on, version } = setUp();
    const [stays, goes] = [on({ id: 'stays', field: 'spec.a' }), on({ id: 'goes', field: 'spec.b' })];
    const records = async () => Object.keys((await world.progress.get('uid-1'))?.records ?? {}).sort();
    put(world, { a: 1, b: 1 });
    await version([stays, goes], () => {}, ttl);
    await version([stays], () => put(world, { a: 2, b: 1 }), ttl);
    expect(await records()).toEqual(['goes', 'stays']);
    expect(await version([stays, goes], () => put(world, { a: 3, b: 1 }), ttl)).toEqual(['stays update 3']);
    await world.clock.advance(70_000);
    await version([stays], () => put(world, { a: 4, b: 1 }), ttl);
    expect(await records()).toEqual(['goes', 'stays']);
    await world.clock.advance(70_000);
    const before = world.written.length;
    await version([stays], () => {}, ttl);
    expect([world.written.length - before, await records()]).toEqual([0, ['goes', 'stays']]);
    await version([stays], () => put(world, { a: 5, b: 1 }), ttl);
    expect(await records()).toEqual(['stays']);
    expect(Object.values((await world.progress.get('uid-1'))?.bases ?? {})).toEqual([5]);
  });

  it('with their subs; and never with Infinity', async () => {
    const { world, on, version } = setUp();
    const parent = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'p', field: 'spec.b' }, (ctx) => ctx.sub('s', {}, () => {}));
    const stays = on({ id: 'stays', field: 'spec.a' });
    const records = async () => Object.keys((await world.progress.get('uid-1'))?.records ?? {}).sort();
    put(world, { a: 1, b: 1 });
    await version([stays, parent]);
    for (const [a, recordTtlMs] of [
      [2, Number.POSITIVE_INFINITY],
      [3, Number.POSITIVE_INFINITY],
      [4, 0],
    ] as const) {
      expect(await records()).toEqual(['p', 'p/s', 'stays']);
      await world.clock.advance(1);
      await version([stays], () => put(world, { a, b: 1 }), { recordTtlMs });
    }
    expect(await records()).toEqual(['stays']);
  });

  it('a hook: the subs that wait for it stay as long, and are retired if it is back by then', async () => {
    const { world, version } = setUp();
    const retired: string[] = [];
    let fails = true;
    const parent = (hasHook: boolean) => (controller: Controller<Thing>) => {
      const retire = (ctx: RetireContext<Thing>): void => {
        if (fails) throw new TemporaryError('later', { delayMs: 1e9 });
        retired.push(ctx.id);
      };
      controller.on('change', { id: 'p', field: 'spec', ...(hasHook ? { retire } : {}) }, (ctx) => {
        for (const id of Object.keys(ctx.new as object)) ctx.sub(id, {}, () => {});
      });
    };
    const records = async () => Object.keys((await world.progress.get('uid-1'))?.records ?? {}).sort();
    put(world, { a: 1, b: 1 });
    let life = await world.start(parent(true));
    await life.settle();
    put(world, { a: 1 });
    await world.clock.advance(1000);
    await life.stop();
    fails = false;
    await version([parent(false)], () => put(world, { a: 2 }), ttl);
    expect([await records(), retired]).toEqual([['p', 'p/a', 'p/b'], []]);
    life = await world.start(parent(true), ttl);
    await world.clock.advance(1e9);
    await life.stop();
    expect([await records(), retired]).toEqual([['p', 'p/a'], ['b']]);

    fails = true;
    put(world, { a: 2, b: 2 });
    life = await world.start(parent(true), ttl);
    await life.settle();
    put(world, { a: 2 });
    await world.clock.advance(1000);
    await life.stop();
    await version([parent(false)], () => put(world, { a: 3 }), ttl);
    await world.clock.advance(70_000);
    await version([parent(false)], () => put(world, { a: 4 }), ttl);
    expect([await records(), retired]).toEqual([['p', 'p/a'], ['b']]);
  });

  it('a clock that was set back makes them stay longer, not shorter', async () => {
    const { world, on, version } = setUp();
    const stays = on({ id: 'stays', field: 'spec.a' });
    put(world, { a: 1 });
    await version([stays, on({ id: 'goes' })]);
    await version([stays], () => put(world, { a: 2 }), ttl);
    world.clock.jumpWallTime(-3_600_000);
    await version([stays], () => put(world, { a: 3 }), ttl);
    await world.clock.advance(30_000);
    await version([stays], () => put(world, { a: 4 }), ttl);
    expect(Object.keys((await world.progress.get('uid-1'))?.records ?? {})).toContain('goes');
  });
});

describe('options about versions', () => {
  it('are checked', async () => {
    const { world } = setUp();
    await world.start((controller) => {
      const on = (kind: 'change' | 'update' | 'create' | 'resume', options: object) => () =>
        controller.on(kind, { id: 'h', ...options }, () => {});
      expect(on('change', { version: '' })).toThrow('version must be a string with content');
      expect(on('change', { version: 1 })).toThrow('version must be a string');
      expect(on('change', { onAdded: 'skip' })).toThrow('onAdded is skip, allowed are run and adopt');
      expect(on('change', { onSchemaChange: 1 })).toThrow('onSchemaChange is 1');
      expect(on('update', { onAdded: 'adopt' })).toThrow('onAdded is for handlers of kind change and create');
      expect(on('create', { onSchemaChange: 'run' })).toThrow(
        'onSchemaChange is for handlers of kind change and update',
      );
      expect(on('resume', { onAdded: 'run' })).toThrow(TypeError);
    });
    await expect(world.start(() => {}, { recordTtlMs: -1 })).rejects.toThrow('recordTtlMs must be at least 0');
    await expect(world.start(() => {}, { finalizer: '' })).rejects.toThrow('finalizer must be a string with content');
  });
});
