import { describe, expect, it } from 'vitest';
import { createEssenceHasherWith, type EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import type { HandlerOptions } from '../../../src/handlers/options.ts';
import { createWorld, type Thing } from './harness.ts';

/** A world in which programs with other rules for the essence follow one another; each gives its calls and writes. */
function setUp() {
  const world = createWorld();
  const run = async (
    rules: EssenceHasherOptions | undefined,
    object: object,
    options: Partial<HandlerOptions<Thing>> = {},
    subs: readonly string[] = [],
  ) => {
    const calls: unknown[] = [];
    const writes = world.written.length;
    const essence = rules === undefined ? {} : { essence: createEssenceHasherWith(coreModule(), rules) };
    world.source.put('o', object);
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', ...options }, (ctx) => {
        calls.push(ctx.new);
        for (const sub of subs) ctx.sub(sub, {}, () => {});
      });
    }, essence);
    await life.settle();
    await life.stop();
    return { calls, writes: world.written.length - writes };
  };
  return { world, run };
}

const NOISE: EssenceHasherOptions = { ignore: ['/spec/noise'] };

describe("rules of the essence that are others now (A14')", () => {
  it('are written with the record, unless they are the default ones', async () => {
    const { world, run } = setUp();
    await run({ ignore: ['/x'] }, { spec: { a: 1 } });
    const { schemaId } = createEssenceHasherWith(coreModule(), { ignore: ['/x'] });
    expect(world.written.at(-1)?.records.h?.schema).toBe(JSON.stringify(['default', null, schemaId]));
    for (const rules of [undefined, {}, { ignore: [] }] as const) {
      const other = setUp();
      await other.run(rules, { spec: { a: 1 } });
      expect(other.world.written.at(-1)?.records.h).not.toHaveProperty('schema');
    }
  });

  it('make no call and no write where the digest is the same', async () => {
    const { run } = setUp();
    await run(undefined, { spec: { a: 1 } });
    expect(await run({ ignore: ['/spec/b'] }, { spec: { a: 1 } })).toEqual({ calls: [], writes: 0 });
    expect(await run({ ignore: ['/spec/c'], lists: { '/spec/l': 'set' } }, { spec: { a: 1 } })).toEqual({
      calls: [],
      writes: 0,
    });
  });

  it('make no call where less counts now, and that is the same; the next change is called', async () => {
    const { run } = setUp();
    await run(undefined, { spec: { a: 1, noise: 1 } });
    expect(await run(NOISE, { spec: { a: 1, noise: 2 } })).toEqual({ calls: [], writes: 1 });
    expect(await run(NOISE, { spec: { a: 1, noise: 3 } })).toEqual({ calls: [], writes: 0 });
    expect((await run(NOISE, { spec: { a: 2, noise: 3 } })).calls).toEqual([{ spec: { a: 2 } }]);
  });

  const same = { spec: { a: 1, noise: 1 } };
  const told = 'where what was told then is something else by the rules of now';

  it.each<[string, EssenceHasherOptions | undefined, EssenceHasherOptions | undefined, object]>([
    ['less counts, and has changed', undefined, NOISE, { spec: { a: 2, noise: 1 } }],
    ['more counts', NOISE, undefined, same],
    ['an exclusion is put back', undefined, { keep: ['/status'] }, { ...same, status: { on: true } }],
    ['the version is put back', undefined, { keep: ['/apiVersion'] }, { ...same, apiVersion: 'v1', kind: 'T' }],
    ['the defaults are gone', undefined, { defaults: false }, { ...same, status: { on: true } }],
  ])(`call ${told}, also with adopt: %s`, async (_what, before, after, object) => {
    for (const onSchemaChange of ['run', 'adopt'] as const) {
      const { run } = setUp();
      await run(before, { ...object, ...same });
      expect((await run(after, object, { onSchemaChange })).calls).toHaveLength(1);
    }
  });

  it.each<[string, EssenceHasherOptions]>([
    ['more is compared', { alsoCompare: () => 1 }],
    ['the function takes no rest of an object', { version: '2', normalise: needsKind, ignore: ['/spec/noise'] }],
  ])('call or adopt, as they are told to, where nobody can tell: %s', async (_what, after) => {
    for (const onSchemaChange of ['run', 'adopt'] as const) {
      const { run } = setUp();
      await run(undefined, { kind: 'T', ...same });
      const { calls } = await run(after, { kind: 'T', ...same }, { onSchemaChange });
      expect([onSchemaChange, calls.length]).toEqual([onSchemaChange, onSchemaChange === 'run' ? 1 : 0]);
    }
  });

  it('with another algorithm or seed make no call', async () => {
    const { run } = setUp();
    await run(undefined, { spec: { a: 1 } });
    expect(await run({ algorithm: 'sha256' }, { spec: { a: 1 } })).toEqual({ calls: [], writes: 1 });
    expect(await run({ seed: 7n }, { spec: { a: 1 } })).toEqual({ calls: [], writes: 1 });
    expect((await run({ seed: 8n }, { spec: { a: 2 } })).calls).toEqual([{ spec: { a: 2 } }]);
  });

  it('that go by the kind know it, though no view has it', async () => {
    const { run } = setUp();
    const object = (noise: number): object => ({ apiVersion: 'apps/v1', kind: 'T', spec: { a: 1, noise } });
    await run(undefined, object(1));
    const kinds = { 'apps/*/T': NOISE };
    expect((await run({ kinds }, object(2))).calls).toEqual([]);
    expect((await run({ kinds: { 'v1/T': NOISE } }, object(2))).calls).toEqual([{ spec: { a: 1, noise: 2 } }]);
  });

  it('of a normalised view make no call where it is the same in another form', async () => {
    const { run } = setUp();
    await run(undefined, { spec: { cpu: '1000m' } });
    const { calls } = await run({ version: '1', normalise: cpuInUnits }, { spec: { cpu: '1' } });
    expect(calls).toEqual([]);
  });

  it('of the same version are looked at; with another version, the handler is called', async () => {
    const { run } = setUp();
    await run(undefined, { spec: { a: 1, noise: 1 } }, { version: '1' });
    expect((await run(NOISE, { spec: { a: 1, noise: 2 } }, { version: '1' })).calls).toEqual([]);
    expect((await run(NOISE, { spec: { a: 1, noise: 2 } }, { version: '2' })).calls).toHaveLength(1);
  });

  it('are no matter of a field, and a field of a view by any rules is done if it is unchanged', async () => {
    const { run } = setUp();
    await run(NOISE, { spec: { a: 1, noise: 1 } });
    expect((await run(NOISE, { spec: { a: 1, noise: 2 } }, { field: 'spec.a' })).calls).toEqual([]);
    expect(await run(undefined, { spec: { a: 1, noise: 2 } }, { field: 'spec.a' })).toEqual({ calls: [], writes: 0 });
    expect((await run(undefined, { spec: { a: 2, noise: 2 } }, { field: 'spec.a' })).calls).toEqual([2]);
  });

  it('call a parent whose digest differs: its plan belongs to its view', async () => {
    const { run } = setUp();
    await run(undefined, { spec: { a: 1, noise: 1 } }, {}, ['s']);
    expect((await run(NOISE, { spec: { a: 1, noise: 1 } }, {}, ['s'])).calls).toHaveLength(1);
    expect((await run(NOISE, { spec: { a: 1, noise: 2 } }, {}, ['s'])).calls).toHaveLength(0);
  });
});

describe("what has to be equal too for a skip (I1')", () => {
  it('calls when it changes, with the essence as it was', async () => {
    const { run } = setUp();
    const rules: EssenceHasherOptions = { alsoCompare: (object) => (object as Thing).status?.ready === true };
    const object = (ready: boolean, beats: number): object => ({ spec: { a: 1 }, status: { ready, beats } });
    const calls = [];
    for (const [ready, beats] of [
      [false, 1],
      [false, 2],
      [true, 3],
      [true, 4],
      [false, 5],
    ] as const) {
      calls.push((await run(rules, object(ready, beats))).calls);
    }
    const view = { spec: { a: 1 } };
    expect(calls).toEqual([[view], [], [view], [], [view]]);
  });
});

function needsKind(object: unknown): unknown {
  if (typeof object !== 'object' || object === null || !('kind' in object)) throw new TypeError('no kind');
  return object;
}

function cpuInUnits(object: unknown): unknown {
  const { spec } = object as { spec: { cpu: string } };
  return spec.cpu.endsWith('m') ? { spec: { cpu: String(Number.parseInt(spec.cpu, 10) / 1000) } } : object;
}
