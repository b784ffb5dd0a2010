import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { TemporaryError } from '../../../src/types/errors.ts';
import { createWorld } from './harness.ts';

const thrown = (): never => {
  throw new Error('not this either');
};

/** Things to throw that throw when they are looked at. */
const TRAPS: readonly (readonly [string, () => unknown])[] = [
  ['a revoked proxy', revoked],
  [
    'a TemporaryError whose delay throws',
    () => Object.defineProperty(new TemporaryError('x'), 'delayMs', { get: thrown }),
  ],
  [
    'an object that refuses to be text',
    () => ({
      toString: thrown,
      get message() {
        return thrown();
      },
    }),
  ],
  ['nothing', () => undefined],
];

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('nothing that users hand in stops an object', () => {
  it.each(TRAPS)('a handler that throws %s has failed like any other', async (_name, make) => {
    const world = createWorld();
    const attempts: number[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start((controller) => {
      controller.on('change', { id: 'h', retries: 2 }, (ctx) => {
        attempts.push(ctx.attempt);
        throw make();
      });
      controller.on('change', { id: 'p' }, (ctx) =>
        ctx.sub('s', { retries: 1 }, () => {
          throw make();
        }),
      );
    });
    await life.settle();
    expect(attempts).toEqual([0, 1, 2]);
    expect(life.stats()).toMatchObject({ temporaryFailures: 3, permanentFailures: 2, successes: 1, waiting: 0 });
    expect(life.controller.state('a')).toMatchObject({ settled: true, succeeded: false });
    await life.stop();
  });

  it.each([
    ['a logger that looks into errors', { logger: { debug: read, info: read, warn: read, error: read } }],
    ['a random source that dries up', { random: dryingUp() }],
  ])('%s: outcomes are written all the same', async (_name, options) => {
    const world = createWorld();
    const attempts: number[] = [];
    world.source.put('a', { spec: { n: 1 } });
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', retries: 2, backoff: { baseMs: 100, jitter: 1 } }, (ctx) => {
          attempts.push(ctx.attempt);
          throw revoked();
        }),
      options,
    );
    await life.settle();
    expect(attempts).toEqual([0, 1, 2]);
    expect(world.written.at(-1)?.records.h?.attempt).toMatchObject({ state: 'failed', failures: 3 });
    await life.stop();
  });
});

function read(_message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  for (const field of Object.values(fields)) Reflect.ownKeys(Object(field));
}

/** Good for the ids of a process and nothing more. */
function dryingUp(): () => number {
  const random = createSeededRandom(1);
  let left = 2;
  return () => (left-- > 0 ? random() : thrown());
}
