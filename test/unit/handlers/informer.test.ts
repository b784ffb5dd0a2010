import { describe, expect, it } from 'vitest';
import { inform } from '../../../src/handlers/informer.ts';
import { ObjectTable } from '../../../src/handlers/object-table.ts';
import { defaultViewBy } from '../../../src/handlers/view.ts';
import { GuardedLogger } from '../../../src/system/guarded-logger.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { ObjectSource, SourceWatchItem } from '../../../src/types/source.ts';
import { createWorld } from './harness.ts';

/** A signal that counts the listeners it has, and the most it ever had. */
function countingSignal(controller: AbortController) {
  const { signal } = controller;
  const listeners = new Set<unknown>();
  let most = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener, options?: AddEventListenerOptions) => {
    most = Math.max(most, listeners.add(listener).size);
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    listeners.delete(listener);
    remove(type, listener);
  };
  return { signal, count: () => listeners.size, most: () => most };
}

/** A source whose watches end at once, and which leaves a listener on every signal that it gets. */
function endingSource(count: (what: 'list' | 'watch') => void): ObjectSource {
  const leave = (signal: AbortSignal | undefined): void => signal?.addEventListener('abort', () => {});
  return {
    list: async ({ signal }) => {
      count('list');
      leave(signal);
      return { resourceVersion: '1', items: [] };
    },
    async *watch({ signal }): AsyncGenerator<SourceWatchItem> {
      count('watch');
      leave(signal);
      yield { type: 'bookmark', resourceVersion: '1' };
    },
    get: async () => undefined,
    compare: (a, b) => Number(a) - Number(b),
  };
}

describe('the informer', () => {
  it('lists 200 times and leaves no listener on the signal it lives by', async () => {
    const clock = createVirtualClock();
    const counts = { list: 0, watch: 0 };
    const source = endingSource((what) => counts[what]++);
    const controller = new AbortController();
    const { signal, count, most } = countingSignal(controller);
    const rules = { process: 'p', defaultView: defaultViewBy(undefined, undefined), onFault: () => {} };
    const done = inform(
      {
        source,
        table: new ObjectTable(source.compare, rules, () => {}),
        clock,
        random: () => 0.5,
        backoff: { baseMs: 10, factor: 1, maxMs: 10, jitter: 0 },
        logger: new GuardedLogger(undefined),
        onList: () => {},
      },
      signal,
    );
    await clock.advance(1995);
    expect(counts).toEqual({ list: 200, watch: 200 });
    expect(most()).toBeLessThanOrEqual(2);
    controller.abort();
    await done;
    expect(count()).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('takes a watch that lived longer than the longest wait for no failure', async () => {
    for (const [livedMs, expected] of [
      [3_600_000, 200],
      [1000, 30_000],
    ] as const) {
      const clock = createVirtualClock();
      const lists: number[] = [];
      const source: ObjectSource = {
        ...endingSource(() => {}),
        list: async () => {
          lists.push(clock.now());
          return { resourceVersion: '1', items: [] };
        },
        async *watch(): AsyncGenerator<SourceWatchItem> {
          // Nothing happens, and then it is cut.
          await new Promise<void>((resolve) => clock.after(livedMs, resolve));
        },
      };
      const controller = new AbortController();
      const rules = { process: 'p', defaultView: defaultViewBy(undefined, undefined), onFault: () => {} };
      const table = new ObjectTable(source.compare, rules, () => {});
      const backoff = { baseMs: 200, factor: 2, maxMs: 30_000, jitter: 0 };
      const logger = new GuardedLogger(undefined);
      const done = inform(
        { source, table, clock, random: () => 0, backoff, logger, onList: () => {} },
        controller.signal,
      );
      await clock.advance(13 * (livedMs + 30_000));
      const waits = lists.slice(1).map((at, index) => at - (lists[index] ?? 0) - livedMs);
      expect(waits.length).toBeGreaterThan(11);
      expect(waits[11]).toBe(expected);
      controller.abort();
      await done;
    }
  });

  it('gives a source another signal for every question, so that one that leaves listeners behind fills up none', async () => {
    const world = createWorld();
    const signals = new Map<AbortSignal, number>();
    const note = (signal: AbortSignal | undefined): void => {
      if (signal !== undefined) signals.set(signal, (signals.get(signal) ?? 0) + 1);
    };
    const source: ObjectSource<object> = {
      list: (options) => {
        note(options.signal);
        return world.source.list(options);
      },
      watch: (options) => world.source.watch(options),
      get: (name, options) => {
        note(options.signal);
        return world.source.get(name, options);
      },
      compare: (a, b) => world.source.compare(a, b),
    };
    for (let n = 0; n < 50; n++) world.source.put(`o${n}`, {});
    const life = await world.start((controller) => controller.on('change', { id: 'h' }, () => {}), { source });
    await life.settle();
    for (let n = 0; n < 10; n++) {
      world.source.breakWatches();
      await world.clock.advance(60_000);
    }
    expect(signals.size).toBe(61);
    expect(Math.max(...signals.values())).toBe(1);
    await life.stop();
  });

  it('stops although the source answers nothing and obeys no signal', async () => {
    const never = new Promise<never>(() => {});
    const controller = new AbortController();
    const rules = { process: 'p', defaultView: defaultViewBy(undefined, undefined), onFault: () => {} };
    const source: ObjectSource = { ...endingSource(() => {}), list: () => never };
    const done = inform(
      {
        source,
        table: new ObjectTable(source.compare, rules, () => {}),
        clock: createVirtualClock(),
        random: () => 0,
        backoff: { baseMs: 10, factor: 1, maxMs: 10, jitter: 0 },
        logger: new GuardedLogger(undefined),
        onList: () => {},
      },
      controller.signal,
    );
    controller.abort();
    await done;
  });

  it('an item that is not newer than the list brings nobody back whom the list lacks', async () => {
    const world = createWorld();
    const seen: string[] = [];
    world.source.put('ghost', { spec: { n: 1 } });
    world.source.put('kept', { spec: { n: 1 } });
    world.source.delete('ghost');
    const life = await world.start((controller) => {
      controller.on('event', { id: 'e' }, ({ type, name }) => void seen.push(`${type} ${name}`));
      controller.on('index', { id: 'i' }, (_object, { name }) => ({ [name]: 1 }));
    });
    await life.settle();
    world.source.replay();
    await life.settle();
    await world.clock.advance(60_000);
    expect(seen).toEqual(['added kept']);
    expect([[...life.controller.index('i').keys()], life.stats().objects]).toEqual([['kept'], 1]);
    world.source.put('ghost', { spec: { n: 2 } });
    await life.settle();
    expect(seen).toEqual(['added kept', 'added ghost']);
    await life.stop();
  });
});
