import { describe, expect, it } from 'vitest';
import { createAnnotationProgress } from '../../../src/handlers/annotation-progress.ts';
import type { HandlerContext } from '../../../src/handlers/context.ts';
import { keepRecords } from '../../../src/handlers/kept-records.ts';
import { createMemoryProgress, type ProgressStore } from '../../../src/handlers/progress.ts';
import { createStatusProgress } from '../../../src/handlers/status-progress.ts';
import type { MemoryObjectSource } from '../../../src/testing/object-source.ts';
import { ValueError } from '../../../src/types/errors.ts';
import type { Logger } from '../../../src/types/logger.ts';
import type { Patch } from '../../../src/types/patch.ts';
import { createWorld, type Thing } from './harness.ts';

/** What handlers write where their records are: patches are of the object as handlers see it (A42'). */
type Source = MemoryObjectSource<Thing>;

const KINDS: readonly (readonly [string, (source: Source) => ProgressStore])[] = [
  ['in memory', () => createMemoryProgress()],
  ['in annotations', (source) => createAnnotationProgress(source)],
  ['in the status', (source) => createStatusProgress(source)],
  ['of a store that only conceals', (source) => without(createStatusProgress(source), 'reachesRecords')],
];

function without(store: ProgressStore, name: keyof ProgressStore): ProgressStore {
  const { [name]: _left, ...rest } = store;
  return rest as ProgressStore;
}

/** Errors that were logged. */
function errorLog(): { readonly logger: Logger; readonly errors: unknown[] } {
  const errors: unknown[] = [];
  const silent = () => {};
  const error = (_text: string, facts?: unknown) => errors.push((facts as { error: unknown }).error);
  return { logger: { debug: silent, info: silent, warn: silent, error }, errors };
}

/** Patches that name whole places, made of the object as its handler sees it. */
const PATCHES: readonly (readonly [string, (object: Thing) => Patch])[] = [
  ['a status of its own', () => [{ op: 'add', path: '/status', value: { phase: 'b' } }]],
  ['no status', () => ({ status: null })],
  ['no annotations', () => ({ metadata: { annotations: null } })],
  ['other annotations', () => [{ op: 'replace', path: '/metadata/annotations', value: { b: '2' } }]],
  ['an annotation less', () => ({ metadata: { annotations: { a: null } }, status: { phase: null } })],
  [
    'the last annotation removed',
    ({ metadata }) =>
      Object.keys(metadata?.annotations ?? {}).includes('a') ? [{ op: 'remove', path: '/metadata/annotations/a' }] : {},
  ],
  ['a copy of all metadata', () => [{ op: 'copy', from: '/metadata', path: '/spec/was' }]],
  [
    'a test of all annotations',
    (object) => [
      { op: 'test', path: '/metadata/annotations', value: object.metadata?.annotations },
      { op: 'add', path: '/spec/done', value: 1 },
    ],
  ],
  [
    'a test of the whole object',
    (object) => [
      { op: 'test', path: '', value: object },
      { op: 'add', path: '/spec/done', value: 1 },
    ],
  ],
  ['another whole object', (object) => [{ op: 'replace', path: '', value: { ...object, status: { phase: 'c' } } }]],
  ['an annotation below our prefix', () => ({ metadata: { annotations: { 'plimsoll.dev/progress': 'mine' } } })],
  ['the member of the records', () => ({ status: { plimsoll: { progress: 'mine' } } })],
];

describe("patches of what records are in (A42')", () => {
  describe.each(PATCHES)('%s', (_what, patchOf) => {
    /** What handlers have seen of two changes, and the object at the end as they see it. */
    const story = async (create: (source: Source) => ProgressStore) => {
      const world = createWorld();
      const progress = create(world.source);
      const calls: string[] = [];
      const object = { spec: { x: 1, zones: ['eu'] }, metadata: { annotations: { a: '1' } }, status: { phase: 'a' } };
      world.source.put('o', object);
      const life = await world.start(
        (controller) => {
          const retire = ({ id, attempt }: { id: string; attempt: number }) => {
            calls.push(`retire ${id}`);
            if (attempt === 0) throw new Error('not yet');
          };
          controller.on('change', { id: 'zones', field: 'spec.zones', retire }, (ctx) => {
            calls.push('zones');
            for (const zone of ctx.new as string[]) ctx.sub(zone, {}, () => void calls.push(`deploy ${zone}`));
          });
          controller.on('change', { id: 'w', field: 'spec.x' }, (ctx: HandlerContext<Thing>) => {
            calls.push(`w ${ctx.new}`);
            ctx.patch(patchOf(ctx.object));
          });
        },
        { progress },
      );
      await life.settle();
      const { finalizers: _ours, ...rest } = (world.source.objects[0]?.object ?? {}) as Record<string, unknown>;
      world.source.put('o', { ...(rest as Thing), spec: { x: 2, zones: [] } });
      await life.settle();
      const { handlers, settled } = life.controller.state('o') ?? {};
      const end = world.source.objects[0]?.object;
      await life.stop();
      return {
        calls,
        settled,
        states: handlers?.map(({ id, state }) => `${id} ${state}`),
        end: progress.conceal?.(end) ?? end,
      };
    };

    it.each(KINDS.slice(1))(
      '%s: calls, undoings and the object are as with records elsewhere',
      async (_kind, create) => {
        const found = await story(create);
        // A place of records without anything else is not shown, and what names our records writes nothing.
        const shown = KINDS.slice(1).reduce<unknown>(
          (end, [, make]) => {
            return make(createWorld().source).conceal?.(end) ?? end;
          },
          (await story(() => createMemoryProgress())).end,
        );
        const { end: _end, ...expected } = await story(() => createMemoryProgress());
        expect(found).toMatchObject(expected);
        expect(
          KINDS.slice(1).reduce<unknown>(
            (end, [, make]) => make(createWorld().source).conceal?.(end) ?? end,
            found.end,
          ),
        ).toEqual(shown);
        expect(found.calls.filter((call) => call.startsWith('retire'))).toHaveLength(2);
      },
    );
  });

  it('one that puts something else than an object around them is refused, and the records stay', async () => {
    const world = createWorld();
    const calls: string[] = [];
    const { logger, errors } = errorLog();
    world.source.put('o', { spec: { x: 1 } });
    const life = await world.start(
      (controller) => {
        controller.on('change', { id: 'w', field: 'spec.x', retries: 0 }, (ctx) => {
          calls.push('w');
          ctx.patch({ status: 'off' });
        });
        controller.on('change', { id: 'other', field: 'spec.x' }, () => void calls.push('other'));
      },
      { progress: createStatusProgress(world.source), logger },
    );
    await life.settle();
    expect(calls).toEqual(['w', 'other']);
    expect(errors).toMatchObject([{ name: 'ValueError', path: '/status' }]);
    expect(life.controller.state('o')?.handlers).toMatchObject([{ state: 'failed' }, { state: 'ok' }]);
    await life.stop();
  });
});

describe("records on an object that has no room for them (A40'c)", () => {
  it.each<[string, (source: Source) => ProgressStore, unknown, string]>([
    ['text for a status', (source) => createStatusProgress(source), { status: 'on' }, '/status'],
    ['a list for a status', (source) => createStatusProgress(source), { status: ['a'] }, '/status'],
    ['null for a status', (source) => createStatusProgress(source), { status: null }, '/status'],
    [
      'text in their place',
      (source) => createStatusProgress(source),
      { status: { plimsoll: 'mine' } },
      '/status/plimsoll',
    ],
    ['text for metadata', (source) => createAnnotationProgress(source), { metadata: 'm' }, '/metadata'],
    [
      'a list of annotations',
      (source) => createAnnotationProgress(source),
      { metadata: { annotations: ['keep'] } },
      '/metadata/annotations',
    ],
    ['an object that is text', (source) => createStatusProgress(source), 'text', ''],
  ])('%s: an error that says where, nothing is called, and nothing is changed', async (_what, create, object, path) => {
    const world = createWorld();
    const { logger, errors } = errorLog();
    world.source.put('o', object as Thing);
    world.source.put('fine', { spec: { x: 1 } });
    const life = await world.start(
      (controller) => controller.on('change', { id: 'h', select: (seen) => JSON.stringify(seen) }, () => {}),
      { progress: create(world.source), logger },
    );
    await world.clock.advance(1000);
    expect(life.stats().calls).toBe(1);
    expect(world.source.objects.find(({ name }) => name === 'o')?.object).toEqual(object);
    expect(errors[0]).toBeInstanceOf(ValueError);
    expect(errors[0]).toMatchObject({ path });
    world.source.put('o', { spec: { x: 2 } });
    await world.clock.advance(60_000);
    expect([life.stats().calls, life.controller.state('o')?.settled]).toEqual([2, true]);
    await life.stop();
  });

  it.each<[string, (source: Source) => ProgressStore, Thing]>([
    ['annotations', (source) => createAnnotationProgress(source), { metadata: { annotations: {} }, spec: {} }],
    ['metadata', (source) => createAnnotationProgress(source), { metadata: {}, spec: {} }],
    ['status', (source) => createStatusProgress(source), { status: {}, spec: {} }],
    ['all', (source) => createStatusProgress(source), {}],
  ])('empty %s: the first record changes no view', async (_what, create, object) => {
    const world = createWorld();
    const seen: unknown[] = [];
    world.source.put('o', object);
    const life = await world.start(
      (controller) => {
        for (const field of ['metadata', 'metadata.annotations', 'status']) {
          controller.on('change', { id: field, field }, ({ new: view }) => void seen.push(view));
        }
        controller.on('change', { id: 'all', select: (whole) => ({ whole }) }, () => void seen.push('all'));
      },
      { progress: create(world.source) },
    );
    await life.settle();
    expect(seen).toEqual([undefined, undefined, undefined, 'all']);
    await life.stop();
  });
});

describe('keepRecords', () => {
  const whole = { status: { plimsoll: { p: 'x' }, phase: 'a' }, spec: [1] };
  const shown = { status: { phase: 'a' }, spec: whole.spec };

  it.each([
    [{ status: { phase: 'b' } }, { status: { phase: 'b', plimsoll: { p: 'x' } } }],
    [{}, { status: { plimsoll: { p: 'x' } } }],
    [{ spec: [2] }, { spec: [2], status: { plimsoll: { p: 'x' } } }],
    [{ status: { plimsoll: { q: 'y' } } }, { status: { plimsoll: { q: 'y', p: 'x' } } }],
  ])('%j', (next, end) => {
    expect(keepRecords('patch', whole, shown, next)).toEqual(end);
    // Whoever conceals by a deep copy shares nothing.
    expect(keepRecords('patch', whole, structuredClone(shown), next)).toEqual(end);
  });

  it('takes nothing for concealed that is not', () => {
    const next = { spec: 1 };
    expect(keepRecords('patch', shown, shown, next)).toBe(next);
    expect(keepRecords('patch', shown, structuredClone(shown), next)).toBe(next);
  });

  it.each([[{ status: null }], [{ status: ['a'] }], [{ status: 'on' }]])('%j has no room', (next) => {
    expect(() => keepRecords('patch', whole, shown, next)).toThrow(
      expect.objectContaining({ name: 'ValueError', path: '/status' }),
    );
  });
});
