import { describe, expect, it } from 'vitest';
import { createEssenceHasherWith } from '../../../src/core/essence-hasher.ts';
import { coreModule } from '../../../src/core/module.ts';
import type { Controller } from '../../../src/handlers/controller.ts';
import { createWorld, type Thing } from './harness.ts';

/** Two values of a part of an object that differ only in what the essence of a whole object leaves out. */
const PAIRS: readonly (readonly [string, object, object])[] = [
  ['kind', { kind: 'Deployment', name: 'web' }, { kind: 'StatefulSet', name: 'web' }],
  ['apiVersion', { apiVersion: 'v1' }, { apiVersion: 'v2' }],
  ['status', { status: 'on' }, { status: 'off' }],
  ['metadata', { metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
];

/** Puts both values, lets each settle, and returns what was seen. */
async function seenOf(
  [before, after]: readonly [object, object],
  register: (controller: Controller<Thing>, saw: (value: unknown) => void) => void,
): Promise<readonly unknown[]> {
  const world = createWorld();
  const seen: unknown[] = [];
  const life = await world.start((controller) => register(controller, (value) => seen.push(value)));
  for (const target of [before, after]) {
    world.source.put('o', { spec: { target } });
    await life.settle();
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
  }
  await life.stop();
  return seen;
}

describe("handlers miss no state of what they asked for (I1')", () => {
  describe.each(PAIRS)('that changes in its %s', (_name, before, after) => {
    it('with a field', async () => {
      const seen = await seenOf([before, after], (controller, saw) =>
        controller.on('change', { id: 'h', field: 'spec.target' }, (ctx) => saw(ctx.new)),
      );
      expect(seen).toEqual([before, after]);
    });

    it('with a selection', async () => {
      const seen = await seenOf([before, after], (controller, saw) =>
        controller.on('change', { id: 'h', select: ({ spec }) => spec?.target }, (ctx) => saw(ctx.new)),
      );
      expect(seen).toEqual([before, after]);
    });

    it('in a sub with a field, a selection or args', async () => {
      const seen = await seenOf([before, after], (controller, saw) =>
        controller.on('change', { id: 'p', field: 'spec.target' }, (ctx) => {
          ctx.sub('field', { field: 'spec.target' }, (sub) => saw(sub.new));
          ctx.sub('select', { select: (view) => view }, (sub) => saw(sub.new));
          ctx.sub('args', { select: () => 1, args: ctx.new }, (sub) => saw(sub.args));
        }),
      );
      expect(seen).toEqual([before, before, before, after, after, after]);
    });
  });

  it("with the controller's view", async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const register = (controller: Controller<Thing>): void =>
      controller.on('change', { id: 'h' }, (ctx) => {
        seen.push(ctx.new);
      });
    const life = await world.start(register, { view: (object) => object.spec });
    const specs = PAIRS.flatMap(([, before, after]) => [before, after]) as Thing['spec'][];
    for (const spec of specs) {
      world.source.put('o', spec === undefined ? {} : { spec });
      await life.settle();
    }
    expect(seen).toEqual(specs);
    await life.stop();
  });

  it('with a hasher of its own for the default view', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const essence = createEssenceHasherWith(coreModule(), { defaults: false, ignore: ['/spec/noise'] });
    const register = (controller: Controller<Thing>): void => {
      controller.on('change', { id: 'all' }, (ctx) => {
        seen.push(ctx.new, ctx.old, ctx.diff);
      });
      controller.on('change', { id: 'noise', select: (object) => object }, (ctx) => {
        seen.push((ctx.new as Thing).spec?.noise);
      });
    };
    const life = await world.start(register, { essence });
    for (const [noise, status] of [
      [1, 'a'],
      [2, 'a'],
      [2, 'b'],
    ] as const) {
      world.source.put('o', { spec: { noise }, status: { status } });
      await life.settle();
    }
    const [first, second] = ['a', 'b'].map((status) => ({ spec: {}, status: { status } }));
    expect(seen).toEqual([
      ...[first, undefined, [{ path: '', old: undefined, new: first }], 1, 2],
      ...[second, first, [{ path: '/status/status', old: 'a', new: 'b' }], 2],
    ]);
    await life.stop();
  });
});

describe('the default view of a Kubernetes object', () => {
  it('is its essence: bookkeeping calls nobody and is not told', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h' }, (ctx) => {
        seen.push(ctx.new);
        ctx.sub('s', {}, (sub) => {
          seen.push(sub.new);
        });
      }),
    );
    const view = { spec: { n: 1 }, metadata: { labels: { a: '1' } } };
    for (const generation of [1, 2]) {
      world.source.put('o', {
        ...view,
        metadata: {
          ...view.metadata,
          generation,
          annotations: { 'deployment.kubernetes.io/revision': `${generation}` },
        },
        status: { generation },
      });
      await life.settle();
    }
    expect(seen).toEqual([view, view]);
    expect(life.stats()).toMatchObject({ calls: 2, faults: 0 });
    await life.stop();
  });

  it('has no digest where the object is not JSON: the fault is shown and nobody is called', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { bytes: new Uint8Array(1) } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'default' }, () => expect.unreachable());
      controller.on('change', { id: 'bytes', field: 'spec.bytes' }, () => expect.unreachable());
    });
    await life.settle();
    expect(life.stats()).toMatchObject({ calls: 0, faults: 2 });
    await life.stop();
  });
});
