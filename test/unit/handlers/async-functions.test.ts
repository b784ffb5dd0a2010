import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAnnotationProgress } from '../../../src/handlers/annotation-progress.ts';
import type { Controller } from '../../../src/handlers/controller.ts';
import type { ControllerOptions } from '../../../src/handlers/options.ts';
import { createEssenceHasher } from '../../../src/mod.ts';
import { createWorld, type Thing, type World } from './harness.ts';

const unhandled: unknown[] = [];
const note = (error: unknown): void => {
  unhandled.push(error);
};

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

/** Where a plain function is asked for, one that is async and rejects; typed as what it is taken for. */
const rejecting = (async () => {
  throw new Error('an async function');
}) as unknown as () => never;

type Row = [string, (controller: Controller<Thing>) => void, ((world: World) => Partial<ControllerOptions<Thing>>)?];

const ROWS: readonly Row[] = [
  ['when', (controller) => controller.on('change', { id: 'h', when: rejecting }, () => {})],
  ['labels', (controller) => controller.on('change', { id: 'h', labels: { a: rejecting } }, () => {})],
  ['annotations', (controller) => controller.on('change', { id: 'h', annotations: { a: rejecting } }, () => {})],
  ['value', (controller) => controller.on('change', { id: 'h', field: 'spec', value: rejecting }, () => {})],
  ['old', (controller) => controller.on('change', { id: 'h', field: 'spec', old: rejecting }, () => {})],
  ['new', (controller) => controller.on('change', { id: 'h', field: 'spec', new: rejecting }, () => {})],
  ['select', (controller) => controller.on('change', { id: 'h', select: rejecting }, () => {})],
  [
    'select of a sub',
    (controller) => controller.on('change', { id: 'h' }, (ctx) => ctx.sub('s', { select: rejecting }, () => {})),
  ],
  ['an event filter', (controller) => controller.on('event', { id: 'h', when: rejecting }, () => {})],
  ['a timer filter', (controller) => controller.on('timer', { id: 'h', intervalMs: 10, when: rejecting }, () => {})],
  ['a daemon filter', (controller) => controller.on('daemon', { id: 'h', when: rejecting }, () => {})],
  ['an index', (controller) => controller.on('index', { id: 'h' }, rejecting)],
  ['view', (controller) => controller.on('change', { id: 'h' }, () => {}), () => ({ view: rejecting })],
  ['priority', (controller) => controller.on('change', { id: 'h' }, () => {}), () => ({ priority: rejecting })],
  [
    'normalise',
    (controller) => controller.on('change', { id: 'h' }, () => {}),
    () => ({ essence: createEssenceHasher({ normalise: rejecting }) }),
  ],
  [
    'alsoCompare',
    (controller) => controller.on('change', { id: 'h' }, () => {}),
    () => ({ essence: createEssenceHasher({ alsoCompare: rejecting }) }),
  ],
  [
    'keepsViews',
    (controller) => controller.on('change', { id: 'h' }, () => {}),
    (world) => ({ progress: createAnnotationProgress(world.source, { keepsViews: rejecting }) }),
  ],
];

describe('an async function where a plain one is asked for', () => {
  it.each(ROWS)('%s: it is told of, and its rejection ends no process', async (_, register, options) => {
    const world = createWorld();
    const told: unknown[] = [];
    const tell = (_message: string, facts?: object): void => {
      told.push(facts);
    };
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(register, {
      ...options?.(world),
      logger: { debug: tell, info: tell, warn: tell, error: tell },
    });
    await world.clock.advance(50);
    // Node tells of rejections that nobody has handled once all microtasks have run.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
    expect(told.length).toBeGreaterThan(0);
    expect(world.source.objects[0]?.object.metadata?.annotations).toBeUndefined();
    await life.stop();
  });
});
