import { describe, expect, it } from 'vitest';
import { createAnnotationProgress } from '../../../src/handlers/annotation-progress.ts';
import type { Controller } from '../../../src/handlers/controller.ts';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import { createStatusProgress } from '../../../src/handlers/status-progress.ts';
import type { MemoryObjectSource } from '../../../src/testing/object-source.ts';
import { documentOf } from '../../../src/testing/progress-session.ts';
import { BackendError, LimitExceededError, ValueError } from '../../../src/types/errors.ts';
import type { Logger } from '../../../src/types/logger.ts';
import type { SourcePatch } from '../../../src/types/source.ts';
import { createWorld, type Thing, type World } from './harness.ts';

const MAIN = 'plimsoll.dev/progress';

function annotationsOf({ source }: World, name = 'o'): Record<string, string> {
  const found = source.objects.find((object) => object.name === name)?.object.metadata?.annotations;
  return { ...(found as Record<string, string> | undefined) };
}

/** Puts another content, and leaves the annotations. */
function edit({ source }: World, more: Thing, name = 'o'): void {
  const before = source.objects.find((object) => object.name === name)?.object;
  source.put(name, { ...before, ...more });
}

/** Errors that were logged. */
function errorLog(): { readonly logger: Logger; readonly errors: unknown[] } {
  const errors: unknown[] = [];
  const silent = () => {};
  const error = (_text: string, facts?: unknown) => errors.push((facts as { error: unknown }).error);
  return { logger: { debug: silent, info: silent, warn: silent, error }, errors };
}

/** The source, with something done before each patch. */
function ahead(source: MemoryObjectSource<Thing>, act: (patch: SourcePatch) => void): MemoryObjectSource<Thing> {
  return Object.assign(Object.create(source) as MemoryObjectSource<Thing>, {
    get: source.get.bind(source),
    compare: source.compare.bind(source),
    patch: (patch: SourcePatch, options: object) => {
      act(patch);
      return source.patch(patch, options);
    },
  });
}

const KINDS: Readonly<Record<string, (source: MemoryObjectSource<Thing>) => ProgressStore>> = {
  annotations: (source) => createAnnotationProgress(source),
  'annotations of a prefix': (source) => createAnnotationProgress(source, { prefix: 'a.example' }),
  status: (source) => createStatusProgress(source),
  'a place of their own': (source) => createStatusProgress(source, { path: '/status/a.b~1c/d' }),
};

describe("records on objects: nobody sees them (A42')", () => {
  for (const [kind, create] of Object.entries(KINDS)) {
    it(`${kind}: handlers of every view are called for changes of others alone, and then there is rest`, async () => {
      const world = createWorld();
      const seen: string[] = [];
      world.source.put('o', { spec: { n: 0 }, status: { s: 0 }, metadata: { annotations: { a: '0' } } });
      const register = (controller: Controller<Thing>): void => {
        const note = (id: string) => (ctx: { object: Thing }) => {
          seen.push(id);
          expect(JSON.stringify(ctx.object)).not.toMatch(/"gen|progress|managed/);
        };
        for (const field of ['metadata', 'metadata.annotations', 'status']) {
          controller.on('change', { id: field, field }, note(field));
        }
        controller.on('change', { id: 'all', select: (object) => object }, note('all'));
        controller.on('change', { id: 'default' }, note('default'));
      };
      const life = await world.start(register, { progress: create(world.source) });
      await life.settle();
      expect(seen.length).toBe(5);
      const { writes } = life.stats();
      expect([writes, world.source.resourceVersion]).toEqual([6, '7']);
      edit(world, { status: { ...world.source.objects[0]?.object.status, s: 1 } });
      await life.settle();
      expect(seen.slice(5).sort()).toEqual(['all', 'status']);
      expect(life.stats().writes).toBe(writes + 3);
      world.source.replay();
      await life.settle();
      await life.stop();
      const next = await world.start(register, { progress: create(world.source) });
      await next.settle();
      expect([seen.length, next.stats().writes, world.clock.pending]).toEqual([7, 0, 0]);
      await next.stop();
    });
  }

  it('two controllers with records on one object, each with a view of all annotations, come to rest', async () => {
    const world = createWorld();
    const calls = [0, 0];
    world.source.put('o', { metadata: { annotations: { a: '0' } } });
    const lives = [];
    for (const [n, prefix] of ['plimsoll.dev', 'other.example'].entries()) {
      lives.push(
        await world.start(
          (controller) =>
            controller.on('change', { id: 'h', field: 'metadata.annotations' }, (ctx) => {
              calls[n] = (calls[n] ?? 0) + 1;
              expect(ctx.new).toEqual({ a: '0' });
            }),
          { progress: createAnnotationProgress(world.source, { prefix }) },
        ),
      );
    }
    for (const life of lives) await life.settle();
    expect(calls).toEqual([1, 1]);
    for (const life of lives) await life.stop();
  });

  it('who removes the records has every handler called anew, and nothing goes wrong', async () => {
    const world = createWorld();
    let calls = 0;
    world.source.put('o', { spec: { n: 0 } });
    const progress = createAnnotationProgress(world.source);
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => void calls++), {
      progress,
    });
    await life.settle();
    await life.stop();
    world.source.put('o', { spec: { n: 0 } });
    const next = await world.start((controller) => controller.on('change', { id: 'h' }, () => void calls++), {
      progress,
    });
    await next.settle();
    expect(calls).toBe(2);
    expect(Object.keys(annotationsOf(world))).toContain(MAIN);
    await next.stop();
  });
});

describe("records on objects: room (A42', A43')", () => {
  const text = 'x'.repeat(262_144 - 700);

  it('no room and no other place: a typed error, nothing is called, nothing is written', async () => {
    const world = createWorld();
    const { logger, errors } = errorLog();
    let calls = 0;
    world.source.put('o', { metadata: { annotations: { text: 'x'.repeat(262_144 - 40) } } });
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => void calls++), {
      progress: createAnnotationProgress(world.source),
      logger,
    });
    await world.clock.advance(30_000);
    expect(errors[0]).toBeInstanceOf(LimitExceededError);
    expect(errors[0]).toMatchObject({ limit: 'progressBytes', max: 262_144 });
    expect([calls, world.source.resourceVersion, life.stats().waiting]).toEqual([0, '1', 1]);
    expect(errors.length).toBeLessThan(12);
    // With room again, it goes on by itself.
    edit(world, { metadata: { annotations: { text: 'x' } } });
    await life.settle();
    expect(calls).toBe(1);
    await life.stop();
  });

  it('views that are too large are kept elsewhere, one part for each object, and are there after a restart', async () => {
    const world = createWorld();
    const overflow = createMemoryProgress();
    const olds: unknown[] = [];
    const start = () =>
      world.start(
        (controller) => controller.on('change', { id: 'h', field: 'spec' }, (ctx) => void olds.push(ctx.old)),
        {
          progress: createAnnotationProgress(world.source, { overflow }),
        },
      );
    world.source.put('o', { spec: { n: 0, text: 'y'.repeat(500) }, metadata: { annotations: { text } } });
    for (let n = 0; n < 3; n++) {
      const life = await start();
      await life.settle();
      expect(overflow.size).toBe(1);
      await life.stop();
      edit(world, { spec: { n: n + 1, text: 'y'.repeat(500) } });
    }
    expect(olds).toMatchObject([{}, { n: 0 }, { n: 1 }].map((old, n) => (n === 0 ? undefined : old)));
    const [head] = await createAnnotationProgress(world.source, { overflow }).list();
    expect(head).toMatchObject({ uid: 'uid-1', name: 'o' });
    // With more room, all of it is on the object, and the part goes.
    const life = await start();
    edit(world, { spec: { n: 9 }, metadata: { annotations: { ...annotationsOf(world), text: '' } } });
    await life.settle();
    expect(overflow.size).toBe(0);
    await life.stop();
  });

  it('records that are too large are kept elsewhere, too; the part goes with the object, also after a restart', async () => {
    const world = createWorld();
    const overflow = createMemoryProgress();
    let calls = 0;
    const start = () =>
      world.start(
        (controller) => {
          for (let n = 0; n < 8; n++)
            controller.on('change', { id: `handler-${n}`, field: 'spec' }, () => void calls++);
        },
        { progress: createAnnotationProgress(world.source, { overflow }) },
      );
    world.source.put('o', { spec: { n: 0 }, metadata: { annotations: { text } } });
    const life = await start();
    await life.settle();
    expect(JSON.parse(annotationsOf(world)[MAIN] ?? '')).not.toHaveProperty('records');
    await life.stop();
    const next = await start();
    await next.settle();
    expect([calls, overflow.size, next.stats().writes]).toEqual([8, 1, 0]);
    await next.stop();
    world.source.delete('o');
    const last = await start();
    await last.settle();
    await world.clock.advance(1000);
    expect(overflow.size).toBe(0);
    await last.stop();
  });

  it('a part whose patch never came is found by a list, and goes with the next write', async () => {
    const world = createWorld();
    const overflow = createMemoryProgress();
    const { uid } = world.source.put('o', { metadata: { annotations: { text } } });
    const target = { uid, name: 'o' };
    const large = (gen: number, writeId: string) =>
      documentOf(target, gen, { writeId, bases: { [`digest of ${writeId}`]: 'y'.repeat(500) } });
    const dying = ahead(world.source, () => {
      throw new BackendError('patch an object', 'the process dies');
    });
    await createAnnotationProgress(world.source, { overflow }).compareAndSet(uid, 0, large(1, 'a'));
    await expect(createAnnotationProgress(dying, { overflow }).compareAndSet(uid, 1, large(2, 'b'))).rejects.toThrow();
    expect(overflow.size).toBe(2);
    const next = createAnnotationProgress(world.source, { overflow });
    expect(await next.get(uid, 'o')).toEqual(large(1, 'a'));
    expect(await next.list()).toHaveLength(1);
    expect(await next.compareAndSet(uid, 1, large(2, 'c'))).toBe(true);
    expect([overflow.size, await next.get(uid, 'o')]).toEqual([1, large(2, 'c')]);
  });

  it('a lost part: without views there is no old; without records there is a typed error', async () => {
    const world = createWorld();
    for (const [name, annotation] of [
      ['o', text],
      ['p', 'x'.repeat(262_144 - 300)],
    ] as const) {
      const overflow = createMemoryProgress();
      const { uid } = world.source.put(name, { metadata: { annotations: { text: annotation } } });
      const document = documentOf({ uid, name }, 1, { bases: { 'digest of write-1': 'y'.repeat(500) } });
      await createAnnotationProgress(world.source, { overflow }).compareAndSet(uid, 0, document);
      const found = createAnnotationProgress(world.source, { overflow: createMemoryProgress() }).get(uid, name);
      if (name === 'o') expect(await found).toEqual({ ...document, bases: {} });
      else
        await expect(found).rejects.toThrow(/Cannot read the progress of "p": its records should be in the overflow/);
    }
  });

  it('views of a Secret are copied nowhere, those of others unless it is said', async () => {
    for (const [kind, options, isKept] of [
      ['Secret', {}, false],
      ['Secret', { keepsViews: () => true }, true],
      ['ConfigMap', {}, true],
      ['ConfigMap', { keepsViews: () => false }, false],
    ] as const) {
      const world = createWorld();
      const olds: unknown[] = [];
      const put = (data: string) => edit(world, { kind, data: { password: data } } as Thing);
      put('hunter2');
      for (const data of ['hunter3', '']) {
        const life = await world.start(
          (controller) => controller.on('change', { id: 'h' }, (ctx) => void olds.push([ctx.cause, ctx.old])),
          { progress: createAnnotationProgress(world.source, options) },
        );
        await life.settle();
        await life.stop();
        expect(JSON.stringify(annotationsOf(world)).includes('hunter')).toBe(isKept);
        if (data !== '') put(data);
      }
      expect(olds).toEqual([
        ['create', undefined],
        ['update', isKept ? { data: { password: 'hunter2' } } : undefined],
      ]);
    }
  });
});

describe("records on objects: writes (A42')", () => {
  it('gives way to changes by others up to 16 times, then it is an error and the object waits', async () => {
    for (const [edits, isWritten] of [
      [15, true],
      [16, false],
    ] as const) {
      const world = createWorld();
      const { uid } = world.source.put('o', { spec: { n: 0 } });
      let left = edits;
      const source = ahead(world.source, () => {
        if (left-- > 0) edit(world, { spec: { n: left } });
      });
      const writing = createAnnotationProgress(source).compareAndSet(uid, 0, documentOf({ uid, name: 'o' }, 1));
      if (isWritten) expect(await writing).toBe(true);
      else await expect(writing).rejects.toThrow(/somebody changed the object 16 times in a row/);
    }
  });

  it('edits before each write do not keep a controller from its end, and none makes a hot loop', async () => {
    const world = createWorld();
    let patches = 0;
    let isHostile = true;
    let calls = 0;
    world.source.put('o', { spec: { n: 0 }, metadata: { labels: { n: '0' } } });
    const source = ahead(world.source, () => {
      patches++;
      if (isHostile)
        edit(world, { metadata: { ...world.source.objects[0]?.object.metadata, labels: { n: `${patches}` } } });
    });
    const { logger, errors } = errorLog();
    const life = await world.start(
      (controller) => controller.on('change', { id: 'h', field: 'spec' }, () => void calls++),
      {
        progress: createAnnotationProgress(source),
        logger,
      },
    );
    await world.clock.advance(60_000);
    expect(errors[0]).toBeInstanceOf(BackendError);
    expect(patches).toBeLessThan(16 * 20);
    isHostile = false;
    await life.settle();
    expect([calls, life.controller.state('o')?.settled]).toEqual([1, true]);
    await life.stop();
  });

  it("ignores and cleans what was copied from another object (A15'), and refuses what was spoilt", async () => {
    const world = createWorld();
    const progress = createAnnotationProgress(world.source);
    const { uid } = world.source.put('o', {});
    await progress.compareAndSet(
      uid,
      0,
      documentOf({ uid, name: 'o' }, 1, { bases: { 'digest of write-1': 'old view' } }),
    );
    const copy = world.source.put('copy', { metadata: { annotations: annotationsOf(world) } });
    expect(await progress.get(copy.uid, 'copy')).toBeUndefined();
    const own = documentOf({ uid: copy.uid, name: 'copy' }, 1, { writeId: 'own' });
    expect(await progress.compareAndSet(copy.uid, 0, own)).toBe(true);
    expect(JSON.stringify(annotationsOf(world, 'copy'))).not.toContain('old view');
    expect(await progress.get(copy.uid, 'copy')).toEqual(own);
    for (const spoilt of ['{', '[]', '{"uid":"uid-1"}', '{"uid":"uid-1","gen":1,"part":7}']) {
      world.source.put('o', { metadata: { annotations: { [MAIN]: spoilt } } });
      await expect(progress.get(uid, 'o')).rejects.toThrow(ValueError);
    }
  });

  it('reads no object that it has just written, for 1000 of them', async () => {
    const world = createWorld();
    let reads = 0;
    const source = Object.assign(
      ahead(world.source, () => {}),
      {
        get: (name: string) => {
          reads++;
          return world.source.get(name, {});
        },
      },
    );
    const progress = createAnnotationProgress<Thing>(source);
    const targets = Array.from({ length: 1001 }, (_, n) => ({ name: `o${n}`, uid: world.source.put(`o${n}`, {}).uid }));
    for (const target of targets) await progress.compareAndSet(target.uid, 0, documentOf(target, 1));
    expect(reads).toBe(1001);
    const [first, second] = [targets[1000], targets[0]];
    for (const target of [first, second]) {
      if (target !== undefined) await progress.compareAndSet(target.uid, 1, documentOf(target, 2));
    }
    expect(reads).toBe(1002);
  });

  it('checks what it is given', () => {
    const { source } = createWorld();
    const readOnly: object = { get: source.get, compare: source.compare };
    expect(() => createAnnotationProgress(readOnly as typeof source)).toThrow(/the source has no method patch/);
    for (const prefix of ['', 'A', 'a/b', 'a..b', `${'a'.repeat(254)}`]) {
      expect(() => createAnnotationProgress(source, { prefix })).toThrow(/the prefix is no DNS name/);
    }
    const misspelt: object = { prefx: 'a' };
    expect(() => createAnnotationProgress(source, misspelt)).toThrow(/unknown option prefx/);
    expect(() => createStatusProgress(source, { path: 'status' })).toThrow(TypeError);
    expect(() => createStatusProgress(source, { bytesMax: 0 })).toThrow(RangeError);
    expect(() => createStatusProgress(source, { overflow: {} as ProgressStore })).toThrow(/overflow has no method get/);
  });
});
