import { describe, expect, it } from 'vitest';
import type { Controller } from '../../../src/handlers/controller.ts';
import { ERROR_TEXT_MAX, errorText } from '../../../src/handlers/error-text.ts';
import type { ControllerOptions } from '../../../src/handlers/options.ts';
import { PermanentError } from '../../../src/types/errors.ts';
import { createWorld, type Life, sleep, type Thing, type World } from './harness.ts';

interface Row {
  readonly title: string;
  readonly options?: (world: World) => Partial<ControllerOptions<Thing>>;
  readonly register: (controller: Controller<Thing>, world: World) => void;
  /** After the first states were handled as far as may be. */
  readonly then?: (life: Life, world: World) => unknown;
  readonly lines: readonly string[];
}

const fail = (): never => {
  throw new Error('broken');
};

/** One object, `o`, that handlers see by `spec.n`, whose digest is given as D. */
const ROWS: readonly Row[] = [
  {
    title: 'settled, filtered, and about a deletion',
    register: (controller) => {
      controller.on('change', { id: 'h', field: 'spec.n' }, () => {});
      controller.on('change', { id: 'f', field: 'spec.n', when: () => false }, () => {});
      controller.on('delete', { id: 'd', when: () => false }, () => {});
    },
    lines: [
      'nothing to do',
      'h: done at D',
      'f: not for this object: its when says so',
      'd: not for this object: only one of the two is about a deletion',
    ],
  },
  {
    title: 'filters by name',
    register: (controller) => {
      controller.on('change', { id: 'a', labels: { app: true } }, () => {});
      controller.on('change', { id: 'b', annotations: { 'x/y': false, z: 'on' } }, () => {});
      controller.on('create', { id: 'c', field: 'spec.n', value: -1 }, () => {});
      controller.on('change', { id: 'd', field: 'spec.n', new: -1 }, () => {});
    },
    lines: [
      'nothing to do',
      'a: not for this object: its labels "app" says so',
      'b: not for this object: its annotations "z" says so',
      'c: not for this object: its value says so',
      'd: not for this object: its value, old or new says so',
    ],
  },
  {
    title: 'a fault',
    register: (controller) => controller.on('change', { id: 'h', select: fail }, () => {}),
    lines: ['nothing more can be done: see below', 'h: cannot look at this state: Error: broken'],
  },
  {
    title: 'failed for good',
    register: (controller) =>
      controller.on('change', { id: 'h', field: 'spec.n' }, () => {
        throw new PermanentError('never');
      }),
    lines: ['nothing to do', 'h: failed for good at D: PermanentError: never'],
  },
  {
    title: 'a retry',
    register: (controller) => controller.on('change', { id: 'h' }, fail),
    then: (_life, world) => world.clock.advance(30),
    lines: ['waits', 'h: is tried again in 70 ms, after 1 failure: Error: broken (behind for 30 ms)'],
  },
  {
    title: 'a call that runs, and who comes after it',
    register: (controller, world) => {
      controller.on('change', { id: 'h' }, () => sleep(world.clock, 1000));
      controller.on('change', { id: 'i' }, () => {});
    },
    lines: ['being worked on', 'h: is being called (behind for 0 ms)', 'i: due (behind for 0 ms)'],
  },
  {
    title: 'subs: done, waiting, and those of a parent that waits itself',
    register: (controller) => {
      controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
        if (ctx.new === 2) throw new Error('broken');
        ctx.sub('s', {}, () => {});
        ctx.sub('t', {}, fail);
      });
    },
    then: async (_life, world) => {
      world.source.put('o', { spec: { n: 2 } });
      await world.clock.settle();
    },
    lines: [
      'waits',
      'p: is tried again in 100 ms, after 1 failure: Error: broken (behind for 0 ms)',
      'p/s: waits for "p" to be done with this state (behind for 0 ms)',
      'p/t: waits for "p" to be done with this state (behind for 0 ms)',
    ],
  },
  {
    title: 'a sub to retire',
    register: (controller) => {
      controller.on('change', { id: 'p', field: 'spec.n', retire: fail }, (ctx) => {
        if (ctx.new === 1) ctx.sub('s', {}, () => {});
      });
    },
    then: async (_life, world) => {
      world.source.put('o', { spec: { n: 2 } });
      await world.clock.settle();
    },
    lines: [
      'waits',
      'p: done at D',
      'p/s, to retire: is tried again in 100 ms, after 1 failure: Error: broken (behind for 0 ms)',
    ],
  },
  {
    title: 'a sub to retire that had registered subs itself',
    register: (controller) => {
      controller.on('change', { id: 'p', field: 'spec.n', retire: fail }, (ctx) => {
        if (ctx.new === 1) ctx.sub('s', {}, (sub) => sub.sub('kid', {}, () => {}));
      });
    },
    then: async (_life, world) => {
      world.source.put('o', { spec: { n: 2 } });
      await world.clock.settle();
    },
    lines: [
      'waits',
      'p: done at D',
      'p/s, to retire: waits for "p/s/kid" to be retired first (behind for 0 ms)',
      'p/s/kid, to retire: is tried again in 100 ms, after 1 failure: Error: broken (behind for 0 ms)',
    ],
  },
  {
    title: 'subs to retire below a parent that is due again',
    register: (controller) => {
      controller.on('change', { id: 'p', field: 'spec.n', retire: fail }, (ctx) => {
        if (ctx.new === 3) throw new Error('broken');
        ctx.sub('s', {}, (sub) => {
          if (ctx.new === 1) sub.sub('kid', {}, () => {});
        });
      });
    },
    then: async (_life, world) => {
      for (const n of [2, 3]) {
        world.source.put('o', { spec: { n } });
        await world.clock.settle();
      }
    },
    lines: [
      'waits',
      'p: is tried again in 100 ms, after 1 failure: Error: broken (behind for 0 ms)',
      'p/s: waits for "p" to be done with this state (behind for 0 ms)',
      'p/s/kid, to retire: waits for "p" to be done with this state (behind for 0 ms)',
    ],
  },
  {
    title: 'a pause',
    register: (controller) => controller.on('change', { id: 'h' }, () => {}),
    then: async ({ controller }, world) => {
      controller.pause();
      world.source.put('o', { spec: { n: 2 } });
      await world.clock.settle();
    },
    lines: ['in line', 'h: due, and the controller is paused'],
  },
  {
    title: 'the concurrency of its handler',
    register: (controller, world) => {
      world.source.put('a', {});
      world.source.delete('o');
      world.source.put('o', { spec: { n: 1 } });
      controller.on('change', { id: 'h', concurrency: 1 }, () => sleep(world.clock, 1000));
    },
    lines: ['waits', 'h: due, and as many calls of the handler run as may (behind for 0 ms)'],
  },
  {
    title: 'the rate',
    options: () => ({ rateLimit: { perSecond: 1 } }),
    register: (controller) => {
      controller.on('change', { id: 'h', field: 'spec.n' }, () => {});
      controller.on('change', { id: 'i' }, () => {});
    },
    lines: ['waits', 'h: done at D', 'i: due, and as many calls have begun as the rate limit lets (behind for 0 ms)'],
  },
  {
    title: 'the breaker',
    options: () => ({ breaker: { failuresMax: 1, backoff: { jitter: 0 } } }),
    register: (controller) => {
      controller.on('change', { id: 'h', retries: 0, field: 'spec.n' }, fail);
      controller.on('change', { id: 'i' }, () => {});
    },
    lines: [
      'waits',
      'h: failed for good at D: Error: broken',
      'i: due, held back for 10000 ms: 1 failed call in a row for this object (behind for 0 ms)',
    ],
  },
  {
    title: 'the guard against loops',
    options: () => ({ backoff: { baseMs: 100, maxMs: 100, jitter: 0 } }),
    register: (controller) => {
      for (const [id, other] of [
        ['a', 'b'],
        ['b', 'a'],
      ] as const) {
        controller.on('change', { id, field: `spec.${id}` }, (ctx) =>
          ctx.patch({ spec: { [other]: Number(ctx.new ?? 0) + 1 } }),
        );
      }
    },
    lines: [
      'waits',
      'a: done at D',
      'b: slowed down for 100 ms: own writes have called it 10 times, by its whole view (behind for 0 ms)',
    ],
  },
  {
    title: 'a progress store that fails',
    options: ({ progress }) => ({ progress: { ...progress, compareAndSet: async () => fail() } }),
    register: (controller) => controller.on('change', { id: 'h' }, () => {}),
    lines: [
      'waits, because its progress store or source has failed; again in 100 ms: Error: broken',
      'h: due (behind for 0 ms)',
    ],
  },
  {
    title: 'on its way out, and not held',
    register: (controller) => controller.on('change', { id: 'h' }, () => {}),
    then: async (_life, world) => {
      world.source.startDeletion('o');
      await world.clock.settle();
    },
    lines: [
      'on its way out and not kept for this controller: nobody is called',
      'h: not for this object: only one of the two is about a deletion',
    ],
  },
  {
    title: 'a controller that has stopped',
    register: (controller) => controller.on('change', { id: 'h' }, fail),
    then: (life) => life.stop(),
    lines: ['left as it was when the controller stopped', 'h: due (behind for 10000 ms)'],
  },
];

describe("explain (A36')", () => {
  it.each(ROWS)('$title', async ({ options, register, then, lines }) => {
    const world = createWorld();
    world.source.put('o', { spec: { n: 1 } });
    const life = await world.start((controller) => register(controller, world), options?.(world) ?? {});
    await then?.(life, world);
    const explanation = life.controller.explain('o');
    const digests = life.controller.state('o')?.handlers.map(({ digest }) => digest);
    const text = explanation.text.split('\n').map((line) => {
      const plain = line.replace(/^"o" \(uid uid-\d+, version \d+\): |^ {2}/, '');
      return (digests ?? []).reduce((said: string, digest) => said.replace(digest ?? '-', 'D'), plain);
    });
    expect(text).toEqual(lines);
    // The same facts, the same words; and nothing was changed by asking.
    expect(life.controller.explain('o')).toEqual(explanation);
    await life.stop();
  });

  it('knows nothing of a name that nothing lives under', async () => {
    const world = createWorld();
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}));
    expect(life.controller.explain('nobody')).toEqual({
      name: 'nobody',
      object: 'unknown',
      uid: undefined,
      resourceVersion: undefined,
      trouble: undefined,
      handlers: [],
      text: '"nobody": nothing is known to live under this name',
    });
    await life.stop();
  });

  it('keeps the text of an error to a bound, whatever was thrown', () => {
    const evil = {
      toString() {
        throw new Error('no');
      },
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect([errorText(new RangeError('far')), errorText('word'), errorText(undefined)]).toEqual([
      'RangeError: far',
      'word',
      'undefined',
    ]);
    for (const error of [evil, proxy]) expect(errorText(error)).toBe('an error that cannot be shown');
    expect(errorText(new Error('x'.repeat(10_000)))).toHaveLength(ERROR_TEXT_MAX);
  });
});
