import { describe, expect, it } from 'vitest';
import { createController } from '../../../src/handlers/controller.ts';
import { createStoreSource } from '../../../src/handlers/store-source.ts';
import { resolveBackoff } from '../../../src/queue/backoff.ts';
import { LimitExceededError, ValueError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { createWorld, type Thing } from './harness.ts';

function wrong<T>(value: unknown): T {
  return value as T;
}

const nothing = (): void => {};
const seams = { list: nothing, watch: nothing, get: nothing, compare: nothing };

function controllerWith(options: object) {
  return createController<Thing>({ source: createWorld().source, ...options });
}

/** Small, and yet of more parts than anybody can look at. */
function unfolding(): unknown {
  let part: unknown = {};
  for (let level = 0; level < 64; level++) part = [part, part];
  return part;
}

const NO_NUMBERS: readonly unknown[] = ['5', null, {}, [], true, 5n, Symbol('five')];

function refusal(call: () => unknown): readonly [string, string] | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return [(error as Error).name, (error as Error).message];
  }
}

describe('createController refuses', () => {
  it.each([
    ['an unknown option', { concurrencyMax: 3 }, 'unknown option concurrencyMax'],
    ['an unknown policy', { policy: 'superseed' }, 'policy is superseed'],
    ['a policy that is no word', { policy: true }, 'policy is true'],
    ['an unknown way to persist', { persist: 'object' }, 'persist is object'],
    ['no source', { source: undefined }, 'source is not an object'],
    [
      'a source without get',
      { source: { list: nothing, watch: nothing, compare: nothing } },
      'source has no method get',
    ],
    ['a patch that is no function', { source: { ...seams, patch: 5 } }, 'patch of the source is of type number'],
    ['an owner that is no function', { source: { ...seams, owns: true } }, 'owns of the source is of type boolean'],
    [
      'finalizers by name',
      { source: { ...seams, hasFinalizers: 'f' } },
      'hasFinalizers of the source is of type string',
    ],
    ['a progress store that lacks a method', { progress: { get: nothing } }, 'progress has no method compareAndSet'],
    ['an essence that is a function', { essence: nothing }, 'essence has no method digest'],
    ['a digest alone as essence', { essence: { digest: nothing } }, 'essence has no method canonicalize'],
    ['a clock without a wall time', { clock: { now: nothing, after: nothing } }, 'clock has no method wallTime'],
    ['a logger that lacks a level', { logger: { error: nothing } }, 'logger has no method debug'],
    ['a view that is a path', { view: 'spec' }, 'view is of type string'],
    ['a random number', { random: 4 }, 'random is of type number'],
    [
      'essence beside view',
      { view: nothing, essence: { digest: nothing, canonicalize: nothing } },
      'essence and view exclude each other',
    ],
    ['a backoff with an unknown name', { backoff: { base: 1 } }, 'Cannot create a controller: backoff.base is unknown'],
    ['a backoff that is text', { backoff: { baseMs: '500' } }, 'baseMs is of type string'],
    ['a priority that is a number', { priority: 3 }, 'priority is of type number'],
    ['a rate that is a number', { rateLimit: 5 }, 'rateLimit: the options are number'],
    ['a rate with an unknown name', { rateLimit: { perSecond: 5, per: 1 } }, 'unknown option per'],
    ['a breaker with an unknown name', { breaker: { failuresMax: 5, openMs: 1 } }, 'unknown option openMs'],
    [
      'a breaker with an unknown backoff',
      { breaker: { failuresMax: 5, backoff: { base: 1 } } },
      'Cannot create a controller: backoff.base is unknown',
    ],
  ])('%s', (_name, options, message) => {
    expect(() => controllerWith(options)).toThrow(TypeError);
    expect(() => controllerWith(options)).toThrow(message);
  });

  it.each([
    { concurrency: 0 },
    { concurrency: Number.NaN },
    { concurrency: 1.5 },
    { parallel: 0 },
    { parallel: 1.5 },
    { drainMs: -1 },
    { backoff: { maxMs: 1 } },
    { ageingMs: 0 },
    { ageingMs: Number.POSITIVE_INFINITY },
    { queuedMax: 0 },
    { queuedMax: 1.5 },
    { rateLimit: { perSecond: 0 } },
    { rateLimit: { perSecond: Number.POSITIVE_INFINITY } },
    { rateLimit: { perSecond: 1, burst: 0 } },
    { rateLimit: { perSecond: 1, burst: 1.5 } },
    { breaker: { failuresMax: 0 } },
    { breaker: { failuresMax: 1, backoff: { baseMs: 0 } } },
  ])('%j', (options) => {
    expect(() => controllerWith(options)).toThrow(RangeError);
  });

  it.each<[string, (value: unknown) => object]>([
    ['concurrency', (concurrency) => ({ concurrency })],
    ['parallel', (parallel) => ({ parallel })],
    ['drainMs', (drainMs) => ({ drainMs })],
    ['cleanupMs', (cleanupMs) => ({ cleanupMs })],
    ['ageingMs', (ageingMs) => ({ ageingMs })],
    ['queuedMax', (queuedMax) => ({ queuedMax })],
    ['recordTtlMs', (recordTtlMs) => ({ recordTtlMs })],
    ['perSecond', (perSecond) => ({ rateLimit: { perSecond } })],
    ['burst', (burst) => ({ rateLimit: { perSecond: 1, burst } })],
    ['failuresMax', (failuresMax) => ({ breaker: { failuresMax } })],
    ['baseMs', (baseMs) => ({ backoff: { baseMs } })],
    ['policy', (policy) => ({ policy })],
    ['persist', (persist) => ({ persist })],
  ])('%s that is no number, or no choice: a TypeError that names it', (name, optionsOf) => {
    for (const value of NO_NUMBERS) {
      expect(refusal(() => controllerWith(optionsOf(value)))).toEqual(['TypeError', expect.stringContaining(name)]);
    }
  });

  it.each([undefined, null, 'source'])('%j as options', (options) => {
    expect(() => createController(wrong<never>(options))).toThrow(TypeError);
  });

  it('nothing that is undefined', () => {
    const names = [
      'progress',
      'essence',
      'view',
      'concurrency',
      'policy',
      'backoff',
      'drainMs',
      'clock',
      'random',
      'logger',
    ];
    controllerWith(Object.fromEntries(names.map((name) => [name, undefined])));
  });
});

describe('on refuses', () => {
  it.each([
    ['an unknown option', { timeout: 5 }, TypeError],
    ['a selection that is a path', { select: 'spec' }, TypeError],
    ['a filter that is no function', { when: true }, TypeError],
    ['a field that is no text', { field: ['spec'] }, TypeError],
    ['half a retry', { retries: 0.5 }, RangeError],
    ['a pointer with an escape that is none', { field: '/a~2b' }, TypeError],
    ['an id that is a number', { id: 7 }, TypeError],
    ['a backoff with an unknown name', { backoff: { max: 1 } }, TypeError],
    ['no call at a time', { concurrency: 0 }, RangeError],
    ['an id with half of a pair of surrogates', { id: 'a\ud83d' }, TypeError],
    ['an id that is a symbol', { id: Symbol('a') }, TypeError],
    ['a version with half of a pair of surrogates', { version: 'a\ud83d' }, TypeError],
    ['a field with half of a pair of surrogates', { field: 'spec.\udc00' }, TypeError],
    ['a backoff that is a list', { backoff: [] }, TypeError],
  ])('%s', (_name, options, error) => {
    const controller = controllerWith({});
    expect(() => controller.on('change', wrong({ id: 'h', ...options }), nothing)).toThrow(error);
    controller.on('change', { id: 'h', retries: Number.POSITIVE_INFINITY }, nothing);
  });

  it.each([
    ['change', 'retries'],
    ['change', 'timeoutMs'],
    ['change', 'concurrency'],
    ['timer', 'intervalMs'],
    ['timer', 'initialDelayMs'],
    ['timer', 'idleMs'],
    ['daemon', 'cancellationTimeoutMs'],
    ['event', 'backlogMax'],
    ['index', 'entriesMax'],
  ] as const)('in %s, %s that is no number: a TypeError that names it and the handler', (kind, name) => {
    const controller = controllerWith({});
    for (const value of NO_NUMBERS) {
      const options = wrong<never>({ id: 'h', [name]: value });
      expect(refusal(() => controller.on(kind, options, nothing))).toEqual([
        'TypeError',
        expect.stringMatching(`^Cannot register handler "h": ${name} must be `),
      ]);
    }
  });

  it('what is no options, and what is no function', () => {
    const controller = controllerWith({});
    for (const options of [undefined, null, 'h', []])
      expect(() => controller.on('change', wrong(options), nothing)).toThrow(TypeError);
    expect(() => controller.on('change', { id: 'h' }, wrong('deploy'))).toThrow(TypeError);
  });
});

describe('sub refuses', () => {
  it.each([
    ['an unknown option', { when: nothing }, TypeError],
    ['a selection that is a path', { select: 'spec' }, TypeError],
    ['a field that is no text', { field: 7 }, TypeError],
    ['an instance of a class as args', { args: new URL('http://a') }, ValueError],
    ['a selection that is a promise', { select: async () => 1 }, ValueError],
    ['retries as text', { retries: '3' }, TypeError],
    ['retries below 0', { retries: -1 }, RangeError],
    ['no options', undefined, TypeError],
    ['a list of options', [], TypeError],
    ['a field with half of a pair of surrogates', { field: 'spec.\udc00' }, TypeError],
    ['args with half of a pair of surrogates', { args: { a: ['\ud83d'] } }, ValueError],
    ['args that share a part without end', { args: unfolding() }, LimitExceededError],
    ['args that are no data', { args: { a: 1n } }, ValueError],
    ['a selection that is no data', { select: () => Number.NaN }, ValueError],
  ])('%s', async (_name, options, error) => {
    const world = createWorld();
    world.source.put('a', {});
    let checked = 0;
    const life = await world.start((controller) =>
      controller.on('change', { id: 'p' }, (ctx) => {
        let thrown: unknown;
        try {
          ctx.sub('s', wrong(options), nothing);
        } catch (caught) {
          thrown = caught;
        }
        expect(thrown).toBeInstanceOf(error);
        if (error !== TypeError) expect(String(thrown)).toContain('Cannot register sub-handler "s" of "p"');
        expect(() => ctx.sub('s', {}, wrong(undefined))).toThrow(TypeError);
        ctx.sub('s', {}, nothing);
        checked++;
      }),
    );
    await life.settle();
    expect([checked, life.stats().successes]).toEqual([1, 2]);
    await life.stop();
  });
});

describe('createStoreSource refuses', () => {
  const store = wrong<Store<unknown, string>>({ ready: nothing, range: nothing, get: nothing, watch: nothing });

  it.each([
    ['an unknown option', { prefix: 'a/', limit: 1 }],
    ['a prefix that is no text', { prefix: new Uint8Array() }],
    ['no prefix', {}],
    ['no options', undefined],
  ])('%s', (_name, options) => {
    expect(() => createStoreSource(store, wrong(options))).toThrow(TypeError);
  });

  it('what is no store', () => {
    for (const other of [undefined, null, {}, new Map()]) {
      expect(() => createStoreSource(wrong<never>(other), { prefix: '' })).toThrow(TypeError);
    }
  });
});

describe('run and idle refuse', () => {
  it.each([
    ['no options', null, 'the options are null'],
    ['a misspelt signal', { sgnal: new AbortController().signal }, 'unknown option sgnal'],
    ['a signal that is none', { signal: {} }, 'the signal is not an AbortSignal'],
  ])('%s, and the controller can still be run', async (_name, options, message) => {
    const controller = controllerWith({ clock: createWorld().clock });
    await expect(controller.run(wrong(options))).rejects.toThrow(`Cannot run the controller: ${message}`);
    const idle = controller.idle(wrong(options));
    await expect(idle).rejects.toThrow(`Cannot wait until the controller is idle: ${message}`);
    await controller.run({ signal: AbortSignal.abort() });
  });
});

describe('a backoff', () => {
  it('takes what is absent from the defaults', () => {
    expect(resolveBackoff(wrong({ baseMs: undefined, factor: 3 }), { baseMs: 50, maxMs: 70 })).toEqual({
      baseMs: 50,
      factor: 3,
      maxMs: 70,
      jitter: 0.2,
    });
    for (const backoff of [null, 500, 'fast', []]) expect(() => resolveBackoff(wrong(backoff))).toThrow(TypeError);
  });
});
