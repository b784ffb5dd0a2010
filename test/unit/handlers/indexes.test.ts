import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { IndexEntries, IndexFunction, IndexOptions, ObjectIndex } from '../../../src/handlers/index-options.ts';
import { Indexes } from '../../../src/handlers/indexes.ts';
import { Snapshot } from '../../../src/handlers/snapshot.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';
import { createWorld, sleep, type Thing } from './harness.ts';

type Options = Partial<IndexOptions<Thing>>;

const byN: IndexFunction<Thing> = ({ spec }, { name }) => ({ [String(spec?.n)]: name });

const indexes =
  (fn: IndexFunction<Thing>, options: Options = {}) =>
  (controller: Controller<Thing>): void =>
    controller.on('index', { id: 'i', ...options }, fn);

const RULES = { defaultView: () => ({ value: undefined, digest: '' }), process: 'p', onFault: () => {} };

function stateOf(name: string, resourceVersion: string, object: unknown): Snapshot {
  return new Snapshot({ name, uid: `uid of ${name}`, resourceVersion, deleting: false, object }, RULES);
}

function nameOf(facts: object = {}): string {
  return 'name' in facts ? String(facts.name) : '';
}

/** Small in memory, and without end where it is copied. */
function withoutEnd(): unknown {
  let shared: unknown = {};
  for (let level = 0; level < 60; level++) shared = { a: shared, b: shared };
  return shared;
}

/** Everything that an index says, keys and values in order. */
function contents(index: ObjectIndex): Readonly<Record<string, readonly unknown[]>> {
  const keys = [...index.keys()].sort();
  expect(index.size).toBe(keys.length);
  for (const key of keys) expect(index.has(key)).toBe(true);
  return Object.fromEntries(keys.map((key) => [key, [...index.get(key)].sort()]));
}

describe("indexes (A24')", () => {
  it('are in step with the newest states: edits, scope, deletions', async () => {
    const world = createWorld();
    for (const [name, n] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ] as const)
      world.source.put(name, { spec: { n } });
    const life = await world.start(indexes(byN, { when: (o) => o.spec?.n !== 9 }));
    const index = life.controller.index<string>('i');
    expect(contents(index)).toEqual({ 1: ['a', 'b'], 2: ['c'] });
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(contents(index)).toEqual({ 1: ['b'], 2: ['a', 'c'] });
    world.source.put('b', { spec: { n: 9 } });
    world.source.delete('c');
    await life.settle();
    expect(contents(index)).toEqual({ 2: ['a'] });
    expect([index.get('1'), index.has('1'), index.get('2')]).toEqual([[], false, ['a']]);
    expect(world.written).toEqual([]);
    await life.stop();
  });

  it.each<[string, (object: Thing) => IndexEntries, Readonly<Record<string, readonly unknown[]>>]>([
    ['an object', () => ({ x: 1, y: { a: 1 } }), { x: [1], y: [{ a: 1 }] }],
    [
      'pairs',
      () =>
        [
          ['x', 1],
          ['x', 2],
          [3, null],
        ] as const,
      { 3: [null], x: [1, 2] },
    ],
    ['a map', () => new Map([['x', 1]]), { x: [1] }],
    [
      'a generator',
      function* () {
        yield ['x', 1] as const;
      },
      { x: [1] },
    ],
    ['nothing', () => undefined, {}],
    ['null', () => null, {}],
    ['an object without keys', () => ({}), {}],
  ])('take %s', async (_name, fn, expected) => {
    const world = createWorld();
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start(indexes(fn));
    expect(contents(life.controller.index('i'))).toEqual(expected);
    await life.stop();
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['returns a promise', () => Promise.resolve({})],
    ['returns text', () => 'text'],
    ['returns what are no pairs', () => ['x']],
    ['returns a key that is none', () => [[{}, 1]]],
    ['returns a value that is no data', () => ({ x: new Date(0) })],
    ['returns a value without end', () => ({ x: withoutEnd() })],
  ])('one that %s: a fault, told once, and the old entries of the object are gone', async (_name, wrong) => {
    const world = createWorld();
    const errors: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (...entry: unknown[]) => errors.push(entry) };
    world.source.put('a', { spec: { n: 1 } });
    world.source.put('b', { spec: { n: 1 } });
    const fn: IndexFunction<Thing> = (object, facts) =>
      object.spec?.n === 2 ? (wrong() as IndexEntries) : byN(object, facts);
    const life = await world.start(indexes(fn), { logger });
    world.source.put('a', { spec: { n: 2 } });
    await life.settle();
    expect(contents(life.controller.index('i'))).toEqual({ 1: ['b'] });
    expect(errors).toMatchObject([['Cannot look at the object for "i"', { name: 'a', resourceVersion: '3' }]]);
    expect(life.stats().faults).toBe(1);
    world.source.put('a', { spec: { n: 3 } });
    await life.settle();
    expect(contents(life.controller.index('i'))).toEqual({ 1: ['b'], 3: ['a'] });
    await life.stop();
  });

  it('no call of any kind begins before the first list is indexed, and each finds its own state', async () => {
    const world = createWorld();
    for (let n = 0; n < 50; n++) world.source.put(`o${n}`, { spec: { n: 'x' } });
    world.source.setFaults({ readDelayMsMax: 30 });
    const seen: Record<string, number[]> = {};
    const look =
      (kind: string) =>
      (ctx: { index<V>(id: string): ObjectIndex<V>; object: Thing }): void => {
        seen[kind] ??= [];
        seen[kind].push(ctx.index<string>('i').get(String(ctx.object.spec?.n)).length);
      };
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'change' }, (ctx) => {
          look('change')(ctx);
          ctx.sub('s', {}, look('sub'));
        });
        controller.on('event', { id: 'event' }, look('event'));
        controller.on('timer', { id: 'timer' }, look('timer'));
        controller.on('daemon', { id: 'daemon' }, look('daemon'));
        indexes(byN)(controller);
      },
      { concurrency: 3 },
    );
    await world.clock.advance(5000);
    await life.settle();
    expect(Object.keys(seen).sort()).toEqual(['change', 'daemon', 'event', 'sub', 'timer']);
    for (const [kind, lengths] of Object.entries(seen)) expect(new Set(lengths), kind).toEqual(new Set([50]));
    await life.stop();
  });

  it('a handler of retirements and one of deletions have it, too', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const life = await world.start((controller) => {
      indexes(byN)(controller);
      const retire = (ctx: { index(id: string): ObjectIndex }): void =>
        void seen.push(['retire', ctx.index('i').get('1')]);
      controller.on('change', { id: 'p', retire }, (ctx) => ctx.sub('s', {}, () => {}));
      controller.on('delete', { id: 'd' }, (ctx) => void seen.push(['delete', ctx.index('i').get('1')]));
    });
    world.source.put('a', { spec: { n: 1 } });
    await life.settle();
    world.source.startDeletion('a');
    await life.settle();
    expect(seen).toEqual([
      ['retire', ['a']],
      ['delete', ['a']],
    ]);
    expect(life.controller.index('i').size).toBe(0);
    await life.stop();
  });

  it('are full at entriesMax: an object that does not fit is left out, and taken in when there is room', async () => {
    const world = createWorld();
    const warnings: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (...entry: unknown[]) => warnings.push(entry) };
    const times: IndexFunction<Thing> = ({ spec }, { name }) =>
      Array.from({ length: Number(spec?.n) }, (_, n) => [name, n] as const);
    const life = await world.start(indexes(times, { entriesMax: 4 }), { logger });
    const index = life.controller.index('i');
    const put = async (name: string, n: number): Promise<void> => {
      world.source.put(name, { spec: { n } });
      await life.settle();
    };
    await put('a', 2);
    await put('b', 2);
    expect([[...index.keys()], index.omitted, warnings.length]).toEqual([['a', 'b'], 0, 0]);
    await put('c', 1);
    await put('d', 2);
    expect([[...index.keys()], index.omitted, life.stats().omitted]).toEqual([['a', 'b'], 2, 2]);
    expect(warnings).toMatchObject([
      ['Index "i" is full: an object is left out', { name: 'c', entriesMax: 4 }],
      ['Index "i" is full: an object is left out', { name: 'd', entriesMax: 4 }],
    ]);
    await put('a', 1);
    // It was in and fits, so it stays; what it leaves is for the first who waits.
    expect([[...index.keys()].sort(), index.omitted]).toEqual([['a', 'b', 'c'], 1]);
    world.source.delete('b');
    await life.settle();
    expect(['a', 'c', 'd'].map((name) => index.get(name).length)).toEqual([1, 1, 2]);
    expect(index.omitted).toBe(0);
    await put('huge', 5);
    await put('d', 1);
    await put('e', 1);
    expect([index.omitted, index.has('e'), index.has('huge')]).toEqual([1, true, false]);
    await life.stop();
  });

  it('that are full keep no entries of what is left out, know its place, and tell of it once', async () => {
    const world = createWorld();
    const warnings: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (...entry: unknown[]) => warnings.push(entry) };
    const asked: string[] = [];
    const times: IndexFunction<Thing> = ({ spec }, { name }) => {
      asked.push(`${name} ${String(spec?.n)}`);
      return Array.from({ length: Number(spec?.n) }, (_, n) => [name, n] as const);
    };
    const life = await world.start(indexes(times, { entriesMax: 4 }), { logger });
    const index = life.controller.index('i');
    const put = async (name: string, n: number): Promise<void> => {
      world.source.put(name, { spec: { n } });
      await life.settle();
    };
    for (const name of ['in', 'first', 'second']) await put(name, 4);
    // A new state of one that is left out costs it nothing, and one that is in may shrink.
    await put('first', 3);
    await put('in', 2);
    await put('second', 1);
    expect([[...index.keys()], index.omitted]).toEqual([['in'], 2]);
    expect(warnings).toMatchObject([
      ['Index "i" is full: an object is left out', { name: 'first' }],
      ['Index "i" is full: an object is left out', { name: 'second' }],
    ]);
    asked.length = 0;
    world.source.delete('in');
    await life.settle();
    expect([[...index.keys()], index.get('first').length, index.omitted]).toEqual([['first', 'second'], 3, 0]);
    // Nothing was kept of them but their number.
    expect(asked).toEqual(['first 3', 'second 1']);
    await life.stop();
  });

  it("A24': random programs: whatever the bound leaves out, it leaves out as a whole, in order, and no more than it has to", () => {
    const failed: string[] = [];
    for (let round = 0; round < 200; round++) {
      const seed = (testSeed() + round) >>> 0;
      const random = createSeededRandom(seed);
      const entriesMax = 1 + Math.floor(random() * 8);
      const told: string[] = [];
      const logger = {
        debug() {},
        info() {},
        error() {},
        warn: (_text: string, facts?: object) => told.push(nameOf(facts)),
      };
      const kept = new Indexes(logger);
      kept.add('index', { id: 'i', entriesMax }, ({ n }: { readonly n: number }, { name }) =>
        Array.from({ length: n }, (_, part) => [name, part] as const),
      );
      const index = kept.get('i');
      // What is in, with its number of entries; what waits, the first one first; what can never be in.
      const inside = new Map<string, number>();
      let line: { readonly name: string; count: number }[] = [];
      const tooLarge = new Set<string>();
      const expectedTold: string[] = [];
      const total = (): number => [...inside.values()].reduce((sum, count) => sum + count, 0);
      for (let step = 0; step < 60; step++) {
        const name = `o${Math.floor(random() * 6)}`;
        const n = random() < 0.15 ? undefined : Math.floor(random() * (entriesMax + 2));
        kept.observe(name, n === undefined ? undefined : stateOf(name, String(step), { n }));
        const wasIn = inside.delete(name);
        const waits = line.find((one) => one.name === name);
        const wasOut = waits !== undefined || tooLarge.delete(name);
        const isWish = n !== undefined && n > 0;
        const isTooLarge = isWish && n > entriesMax;
        if (!isWish || isTooLarge) line = line.filter((one) => one !== waits);
        if (isTooLarge) tooLarge.add(name);
        else if (isWish && waits !== undefined) waits.count = n;
        else if (isWish && total() + n <= entriesMax && (wasIn || line.length === 0)) inside.set(name, n);
        else if (isWish) line.push({ name, count: n });
        const isOut = tooLarge.has(name) || line.some((one) => one.name === name);
        if (isOut && !wasOut) expectedTold.push(name);
        for (let [next] = line; next !== undefined && total() + next.count <= entriesMax; [next] = line) {
          inside.set(next.name, next.count);
          line.shift();
        }
        const found = Object.fromEntries([...index.keys()].sort().map((key) => [key, index.get(key).length]));
        const expected = Object.fromEntries([...inside].sort(([a], [b]) => (a < b ? -1 : 1)));
        const facts = JSON.stringify([found, index.omitted, told]);
        const rule = JSON.stringify([expected, line.length + tooLarge.size, expectedTold]);
        if (facts !== rule) failed.push(`${seed} step ${step}: ${facts}, not ${rule}`);
      }
    }
    expect(failed.slice(0, 3), reproduce('unit')).toEqual([]);
  });

  it('an endless iterable has an end', async () => {
    const world = createWorld();
    world.source.put('a', {});
    const endless = function* () {
      for (let n = 0; ; n++) yield [n, n] as const;
    };
    const life = await world.start(indexes(endless, { entriesMax: 10 }));
    expect(life.controller.index('i')).toMatchObject({ size: 0, omitted: 1 });
    await life.stop();
  });

  it('what they hand out cannot be changed', async () => {
    const world = createWorld();
    world.source.put('a', {});
    const own = { list: [1] };
    const life = await world.start(indexes(() => ({ x: own })));
    const index = life.controller.index<typeof own>('i');
    own.list.push(2);
    expect(index.get('x')).toEqual([{ list: [1] }]);
    expect(() => index.get('x')[0]?.list.push(3)).toThrow(TypeError);
    expect(() => (index.get('x') as unknown[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(index, { size: 7 })).toThrow(TypeError);
    await life.stop();
  });

  it('options, and ids that are no index, are refused', async () => {
    const refused = (options: object): Promise<unknown> => createWorld().start(indexes(byN, options));
    await expect(refused({ entriesMax: 0 })).rejects.toThrow('entriesMax must be a whole number from 1 on');
    await expect(refused({ retries: 1 })).rejects.toThrow('unknown option retries');
    const life = await createWorld().start(indexes(byN));
    expect(() => life.controller.index('j')).toThrow('Cannot read index "j": there is none');
    await life.stop();
  });

  it("I24': random programs: after every step the index is what a recomputation from the accepted states is", async () => {
    const failed: string[] = [];
    for (let index = 0; index < 80; index++) {
      const seed = (testSeed() + index) >>> 0;
      const random = createSeededRandom(seed);
      const world = createWorld(seed);
      const hostility = random() < 0.4 ? 0 : random() * 0.3;
      world.source.setFaults({
        dropRate: hostility,
        duplicateRate: hostility,
        delayMsMax: hostility * 300,
        staleListRate: hostility,
        readErrorRate: hostility,
      });
      const fn: IndexFunction<Thing> = ({ spec }, { name }) => {
        const n = Number(spec?.n);
        if (n === 4) throw new Error('broken');
        return Array.from({ length: n }, (_, part) => [(n + part) % 3, `${name}@${n}`] as const);
      };
      const when = ({ spec }: Thing): boolean => spec?.n !== 5;
      const newest = new Map<string, Thing>();
      const life = await world.start((controller) => {
        indexes(fn, { when })(controller);
        // Keeps the names in the table alive, and is told of every accepted state.
        controller.on('event', { id: 'e', backlogMax: 1000 }, (ctx) => {
          if (ctx.type === 'deleted') newest.delete(ctx.name);
          else newest.set(ctx.name, ctx.object);
        });
        controller.on('change', { id: 'h' }, () => sleep(world.clock, random() * 40));
      });
      const check = (step: number): void => {
        const expected: Record<string, unknown[]> = {};
        for (const [name, object] of newest) {
          if (!when(object) || object.spec?.n === 4) continue;
          const facts = { name, uid: '', resourceVersion: '' };
          for (const [key, value] of fn(object, facts) as Iterable<readonly [number, unknown]>) {
            expected[key] ??= [];
            expected[key].push(value);
          }
        }
        for (const values of Object.values(expected)) values.sort();
        const found = contents(life.controller.index('i'));
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          failed.push(`${seed} step ${step}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
        }
      };
      for (let step = 0; step < 25; step++) {
        const name = ['a', 'b', 'c'][Math.floor(random() * 3)] ?? 'a';
        if (random() < 0.2) world.source.delete(name);
        else if (random() < 0.1) world.source.breakWatches();
        else world.source.put(name, { spec: { n: Math.floor(random() * 6) } });
        await world.clock.advance(random() < 0.5 ? 0 : random() * 100);
        check(step);
      }
      world.source.setFaults({});
      world.source.breakWatches();
      await world.clock.advance(60_000);
      check(99);
      if (newest.size !== world.source.objects.length) failed.push(`${seed}: the events have missed an end`);
      await life.stop();
    }
    expect(failed.slice(0, 3), reproduce('unit')).toEqual([]);
  }, 60_000);
});
