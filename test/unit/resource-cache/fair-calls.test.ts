import { describe, expect, it } from 'vitest';
import { createResourceStore } from '../../../src/resource-cache/create-resource-store.ts';
import { Pins } from '../../../src/resource-cache/pins.ts';
import type { Commit } from '../../../src/resource-cache/resource-tables.ts';
import { Subscription } from '../../../src/resource-cache/subscription.ts';
import { added, deleted, POD, rig, type Thing, thing } from './things.ts';

describe('calls of handlers', () => {
  it('RC7 a handler that takes its time does not take that of the others', async () => {
    const { clock } = rig();
    let now = 0;
    const store = createResourceStore<Thing>({
      clock: { now: () => now, wallTime: () => 0, after: clock.after },
      sliceMs: 5,
      pendingMax: 10_000,
    });
    const calls = { slow: 0, quick: 0, traced: 0 };
    // Each of its calls takes as long as the slice of all of them.
    store.onEvent(() => void calls.traced++);
    store.onResourceUpdated(() => {
      now += 5;
      calls.slow++;
    });
    let slowBefore = 0;
    store.onResourceUpdated(() => {
      if (++calls.quick === 1000) slowBefore = calls.slow;
    });
    store.feed(POD).apply(Array.from({ length: 1000 }, (_, at) => added(thing(`a/${at}`))));
    await clock.advance(1);
    await store.idle();
    expect(calls).toEqual({ slow: 1000, quick: 1000, traced: 1000 });
    expect(slowBefore).toBeLessThan(10);
    store.close();
  });

  it('RC7 what came and went untold is not kept for a handler that never settles', async () => {
    const { store, clock } = rig();
    const told: string[] = [];
    let release = () => {};
    store.onResourceUpdated(
      ({ key, new: now }) => {
        told.push(`${key.name} ${now?.resourceVersion ?? '-'}`);
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
      { coalesce: true, snapshotView: true },
    );
    const feed = store.feed(POD);
    feed.apply([added(thing('a/first')), added(thing('a/stays'))]);
    await clock.advance(1);
    for (let at = 0; at < 500; at++) {
      const one = thing(`a/${at}`);
      feed.apply([added(one), deleted(one)]);
      await clock.advance(1);
      if (at === 250) feed.apply(added(thing('a/late')));
    }
    expect(store.stats.handlers[0]).toMatchObject({ depth: 2, calls: 1, merged: 1000 });
    // Nothing waits for what is void.
    expect(store.stats.pins).toBe(3);
    for (let turn = 0; turn < 3; turn++) {
      release();
      await clock.advance(1);
    }
    expect([told, store.stats.handlers[0]?.depth]).toEqual([['first 1', 'stays 1', 'late 1'], 0]);
  });

  it('the queue of a handler has no place for void calls, but a few', () => {
    const entry = (name: string) => ({ key: { ...POD, namespace: 'a', name } });
    const pins = new Pins<never>({ retainedMax: 1, release: () => {} });
    const subscription = new Subscription<Thing, undefined>({
      tables: { pins } as never,
      handler: () => new Promise(() => {}),
      options: { name: 'hanging', queueMax: 10_000, snapshotView: false, coalesce: true },
      failed: () => {},
      settled: () => {},
    });
    let seq = 0;
    const push = (of: object, old: object | undefined, now: object | undefined) =>
      subscription.push({ seq: ++seq, entry: of, old, new: now } as unknown as Commit<Thing, undefined>);
    push(entry('first'), undefined, {});
    subscription.run(() => false);
    push(entry('waits'), undefined, {});
    let most = 0;
    for (let at = 0; at < 1000; at++) {
      const [one, state] = [entry(`${at}`), {}];
      push(one, undefined, state);
      push(one, state, undefined);
      expect(subscription.depth).toBe(1);
      most = Math.max(most, subscription.held);
    }
    expect(most).toBeLessThan(64);
    expect([subscription.isBusy, subscription.stats.merged]).toEqual([true, 2000]);
  });
});
