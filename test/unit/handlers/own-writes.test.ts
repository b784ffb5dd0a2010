import { describe, expect, it } from 'vitest';
import type { ParentContext } from '../../../src/handlers/context.ts';
import { PermanentError, TemporaryError } from '../../../src/types/errors.ts';
import type { SourcePatch } from '../../../src/types/source.ts';
import { createWorld, sleep, type Thing } from './harness.ts';
import { meddled, run, served, spec } from './own-write-rig.ts';

/** Rows and invariants about what handlers write (A8'). */
const POLICIES = ['supersede', 'complete'] as const;

describe('own writes, row by row', () => {
  it('row 5: a failure noted in the own view keeps the retry budget: 3 calls', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    const keys = new Set<string>();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => {
      seen.push([ctx.attempt, ctx.cause, ctx.new]);
      keys.add(ctx.idempotencyKey);
      ctx.patch({ spec: { error: `attempt ${ctx.attempt}` } });
      throw new TemporaryError('later', { delayMs: 10 });
    });
    await life.settle();
    expect(seen).toEqual([
      [0, 'create', { n: 1 }],
      [1, 'create', { n: 1, error: 'attempt 0' }],
      [2, 'create', { n: 1, error: 'attempt 1' }],
    ]);
    expect(keys.size).toBe(1);
    expect(spec(world)).toEqual({ n: 1, error: 'attempt 2' });
    expect(life.controller.state('o')?.handlers).toMatchObject([{ state: 'failed', attempts: 3 }]);
    await life.stop();
  });

  it('row 6: a permanent failure that is noted in the own view is called once', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => {
      ctx.patch({ spec: { error: 'no' } });
      throw new PermanentError('no');
    });
    await life.settle();
    expect([life.stats().calls, spec(world).error]).toEqual([1, 'no']);
    world.source.put('o', { spec: { n: 1 } });
    await life.settle();
    expect(life.stats().calls).toBe(2);
    await life.stop();
  });

  it.each(POLICIES)('row 7: with %s, a handler that patches its own view is called once', async (policy) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => ctx.patch({ spec: { done: (ctx.new as { n: number }).n } }), { policy });
    await life.settle();
    expect([life.stats().calls, spec(world)]).toEqual([1, { n: 1, done: 1 }]);
    await life.stop();
  });

  it('row 29: two handlers that push each other are slowed down, whatever happens elsewhere in the object', async () => {
    const world = createWorld();
    const warnings: unknown[] = [];
    const silent = () => {};
    world.source.put('o', { spec: { a: 0, b: 0 } });
    const life = await world.start(
      (controller) => {
        const up = (own: string, other: string) =>
          controller.on('change', { id: own, field: `spec.${own}` }, (ctx) => {
            ctx.patch({ spec: { [other]: Number(ctx.new) + 1 } });
          });
        up('a', 'b');
        up('b', 'a');
      },
      {
        backoff: { baseMs: 100, jitter: 0, maxMs: 3_600_000 },
        logger: { debug: silent, info: silent, error: silent, warn: (_text, facts) => warnings.push(facts) },
      },
    );
    const heartbeat = async (ms: number) => {
      for (let beat = 0; beat < ms / 500; beat++) {
        const { object } = world.source.objects[0] ?? {};
        world.source.put('o', { ...object, status: { beat } });
        await world.clock.advance(500);
      }
    };
    await heartbeat(60_000);
    const first = life.stats().calls;
    await heartbeat(540_000);
    expect([first, life.stats().calls - first]).toEqual([37, 6]);
    expect(warnings.at(-1)).toMatchObject({ handler: 'a', paths: [''], episodes: 21 });
    expect(life.controller.state('o')?.handlers).toMatchObject([{ loop: { paths: [''] } }, { loop: { paths: [''] } }]);
    expect(life.stats().loops).toBe(warnings.length);
    // Somebody else changes what one of them sees: that one begins anew.
    world.source.put('o', { spec: { ...spec(world), a: -1 } });
    await world.clock.advance(50);
    expect(life.controller.state('o')?.handlers[0]?.loop).toBeUndefined();
    await life.stop();
  });

  it('row 31: two patches in one pass: the second is laid on the answer to the first', async () => {
    const world = createWorld();
    const sent: SourcePatch[] = [];
    world.source.put('o', { spec: { a: 1, b: 1 } });
    const source = meddled(world, (patch) => {
      sent.push(patch);
    });
    const life = await world.start(
      (controller) => {
        for (const id of ['a', 'b']) {
          controller.on('change', { id, field: `spec.${id}` }, (ctx) => ctx.patch({ status: { [id]: ctx.new } }));
        }
      },
      { source },
    );
    await life.settle();
    expect(sent.map(({ resourceVersion }) => resourceVersion)).toEqual(['1', '2']);
    expect(world.source.objects[0]?.object.status).toEqual({ a: 1, b: 1 });
    expect([life.stats().calls, life.stats().patches, world.source.resourceVersion]).toEqual([2, 2, '3']);
    await life.stop();
  });
});

describe("absorption of own writes (I11')", () => {
  it('`old` after it is the view with the own patch in it', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => {
      seen.push([ctx.old, ctx.new]);
      ctx.patch({ spec: { copy: (ctx.new as { n: number }).n } });
    });
    await life.settle();
    world.source.put('o', { spec: { n: 2, copy: 1 } });
    await life.settle();
    expect(seen).toEqual([
      [undefined, { n: 1 }],
      [
        { n: 1, copy: 1 },
        { n: 2, copy: 1 },
      ],
    ]);
    await life.stop();
  });

  it('somebody else changes the view meanwhile: one call more, and nothing of theirs is lost', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, async (ctx) => {
      await sleep(world.clock, 10);
      ctx.patch({ spec: { copy: (ctx.new as { n: number }).n } });
    });
    await world.clock.advance(5);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect([life.stats().calls, spec(world)]).toEqual([2, { n: 2, copy: 2 }]);
    await life.stop();
  });

  it('a write past `ctx.patch` is that of somebody else: two calls', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, () => {
      world.source.put('o', { spec: { n: 1, mine: true } });
    });
    await life.settle();
    expect(life.stats().calls).toBe(2);
    await life.stop();
  });

  it('others see the write: a handler of the same view is called for it, and they converge', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('o', { spec: { a: 0, b: 0 } });
    const life = await world.start((controller) => {
      for (const id of ['a', 'b']) {
        controller.on('change', { id, field: 'spec' }, (ctx) => {
          calls.push(id);
          ctx.patch({ spec: { [id]: 1 } });
        });
      }
    });
    await life.settle();
    expect([calls, spec(world)]).toEqual([['a', 'b', 'a'], { a: 1, b: 1 }]);
    await life.stop();
  });

  it('two that push each other to a common fixed point get there, through the guard', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { a: 0, b: 0 } });
    const life = await world.start((controller) => {
      const up = (own: string, other: string) =>
        controller.on('change', { id: own, field: `spec.${own}` }, (ctx) => {
          ctx.patch({ spec: { [other]: Math.min(20, Number(ctx.new) + 1) } });
        });
      up('a', 'b');
      up('b', 'a');
    });
    await life.settle();
    expect(spec(world)).toEqual({ a: 20, b: 20 });
    expect(life.stats().loops).toBeGreaterThan(0);
    expect(world.clock.pending).toBe(0);
    await life.stop();
  });

  it('a parent that patches its own view plans once, and its subs run on the patched state', async () => {
    const world = createWorld();
    const calls: unknown[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
        calls.push(['p', ctx.new]);
        ctx.patch({ spec: { planned: true } });
        ctx.sub('s', {}, (sub) => {
          calls.push(['s', sub.new]);
        });
      }),
    );
    await life.settle();
    expect(calls).toEqual([
      ['p', { n: 1 }],
      ['s', { n: 1, planned: true }],
    ]);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('a sub that writes into the view of its parent has the parent called again', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p', field: 'spec' }, (ctx) => {
        calls.push('p');
        ctx.sub('s', {}, (sub) => {
          calls.push('s');
          sub.patch({ spec: { sub: true } });
        });
      }),
    );
    await life.settle();
    expect(calls).toEqual(['p', 's', 'p']);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('who takes the object out of its own scope is not called when it comes back as it was left', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1, on: true } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec.n', when: ({ spec }) => spec?.on === true }, (ctx) => {
        ctx.patch({ spec: { n: 2, on: false } });
      }),
    );
    await life.settle();
    world.source.put('o', { spec: { n: 2, on: true } });
    await life.settle();
    expect(life.stats().calls).toBe(1);
    await life.stop();
  });
});

describe("a source that makes something else of a patch (A8'c)", () => {
  const DROPS = [{ op: 'remove', path: '/spec/out' }] as const;

  it.each([
    ['drops a member: one call', DROPS, 1, { n: 1 }],
    ['clamps a member: two calls', { spec: { out: 3 } }, 2, { n: 1, out: 3 }],
    ['adds a default: two calls', { spec: { size: 1 } }, 2, { n: 1, out: 5, size: 1 }],
  ] as const)('%s, and then there is rest', async (_name, more, calls, end) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(world, (ctx) => ctx.patch({ spec: { out: 5 } }), { source: served(world, () => more) });
    await life.settle();
    await world.clock.advance(3_600_000);
    expect([life.stats().calls, spec(world), life.stats().loops]).toEqual([calls, end, 0]);
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(life.stats().calls).toBe(2 * calls);
    await life.stop();
  });

  it('drops what a failure notes in its own view: the retry budget is kept', async () => {
    const world = createWorld();
    const seen: number[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const source = served(world, () => DROPS);
    const life = await run(
      world,
      (ctx) => {
        seen.push(ctx.attempt);
        ctx.patch({ spec: { out: `attempt ${ctx.attempt}` } });
        throw new TemporaryError('later', { delayMs: 10 });
      },
      { source },
    );
    await life.settle();
    expect([seen, life.controller.state('o')?.handlers[0]?.state]).toEqual([[0, 1, 2], 'failed']);
    await life.stop();
  });

  it('drops what a parent writes: its plan holds, and its functions are there without another call', async () => {
    const world = createWorld();
    const seen: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const life = await run(
      world,
      (ctx) => {
        seen.push(`h ${(ctx.new as { n: number }).n}`);
        ctx.patch({ spec: { out: 5 } });
        for (const id of ['a', 'b']) (ctx as ParentContext<Thing>).sub(id, {}, () => void seen.push(id));
      },
      { source: served(world, () => DROPS) },
    );
    await life.settle();
    world.source.put('o', { spec: { n: 2 } });
    await life.settle();
    expect(seen).toEqual(['h 1', 'a', 'b', 'h 2', 'a', 'b']);
    await life.stop();
  });

  it('drops it for a handler with selfTrigger: its patches change nothing', async () => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', field: 'spec', selfTrigger: true }, (ctx) =>
          ctx.patch({ spec: { out: 5 } }),
        ),
      { source: served(world, () => DROPS) },
    );
    await life.settle();
    expect([life.stats().calls, life.stats().loops]).toEqual([1, 0]);
    await life.stop();
  });
});

describe("selfTrigger (A8'b)", () => {
  it('is called again where somebody puts back what its patch has changed, before the next call', async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    let isPutBack = false;
    const { source } = world;
    const plain = meddled(world, () => {});
    const meddling: typeof plain = {
      ...plain,
      async patch(change, options) {
        const result = await source.patch(change, options);
        if (!isPutBack) source.put('o', { spec: { n: 'AB' } });
        isPutBack = true;
        return result;
      },
    };
    source.put('o', { spec: { n: 'AB' } });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', field: 'spec.n', selfTrigger: true }, (ctx) => {
          seen.push(ctx.new);
          if (ctx.new !== 'ab') ctx.patch({ spec: { n: 'ab' } });
        }),
      { source: meddling },
    );
    await life.settle();
    expect([seen, source.objects[0]?.object.spec?.n]).toEqual([['AB', 'AB', 'ab'], 'ab']);
    await life.stop();
  });

  /** Counts `spec.n` up to a limit, by its own writes. */
  const count = async (limit: number, selfTrigger: boolean) => {
    const world = createWorld();
    const seen: unknown[] = [];
    world.source.put('o', { spec: { n: 0 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec.n', selfTrigger }, (ctx) => {
        seen.push([ctx.old, ctx.new]);
        ctx.patch({ spec: { n: Math.min(limit, (ctx.new as number) + 1) } });
      }),
    );
    return { world, seen, life };
  };

  it('a handler is called for its own writes until they change nothing; without the option, not', async () => {
    for (const [selfTrigger, expected] of [
      [
        true,
        [
          [undefined, 0],
          [0, 1],
          [1, 2],
          [2, 3],
        ],
      ],
      [false, [[undefined, 0]]],
    ] as const) {
      const { seen, life } = await count(3, selfTrigger);
      await life.settle();
      expect(seen).toEqual(expected);
      expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
      expect(life.stats().loops).toBe(0);
      await life.stop();
    }
  });

  it('without end it is slowed down like any loop of own writes', async () => {
    const { world, seen, life } = await count(Number.POSITIVE_INFINITY, true);
    await world.clock.advance(60_000);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.length).toBeLessThan(25);
    expect(life.stats().loops).toBeGreaterThan(0);
    expect(life.controller.state('o')?.handlers[0]?.loop?.paths).toEqual(['']);
    await life.stop();
  });

  it('a failure that it notes in its own view is a new input', async () => {
    const world = createWorld();
    const keys = new Set<string>();
    let calls = 0;
    world.source.put('o', { spec: { n: 0 } });
    const life = await world.start((controller) =>
      controller.on('change', { id: 'h', field: 'spec', retries: 1, selfTrigger: true }, (ctx) => {
        calls++;
        keys.add(ctx.idempotencyKey);
        ctx.patch({ spec: { failed: true } });
        throw new Error('no');
      }),
    );
    await life.settle();
    // Once without the note, and twice with it.
    expect([calls, keys.size]).toEqual([3, 2]);
    await life.stop();
  });

  it.each(['create', 'resume', 'delete'] as const)('is refused for %s', async (kind) => {
    const world = createWorld();
    const life = await world.start((controller) => {
      expect(() => controller.on(kind, { id: 'h', selfTrigger: true }, () => {})).toThrow('change and update');
    });
    await life.stop();
  });
});
