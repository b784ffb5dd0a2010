import { describe, expect, it } from 'vitest';
import { createStorage } from '../../../src/storage/create-storage.ts';
import { changesOf, eventOf } from '../../../src/storage/watch-changes.ts';
import type { WatchBatch, WatchEvent } from '../../../src/types/event.ts';
import {
  brief,
  briefEvent,
  KINDS,
  openRig,
  Reader,
  type Rig,
  type RigOptions,
  type Thing,
  thing,
  withRig,
} from './rig.ts';

/** The same test on an embedded store and on a replica of one. */
function both(title: string, test: (rig: Rig) => Promise<void>, options: RigOptions = {}): void {
  it.each(KINDS)(`${title} (%s)`, (kind) => withRig(kind, test, options));
}

describe('the bounds of a storage', () => {
  both(
    'watches above watchesMax are refused, and one that ends makes room',
    async (rig) => {
      const first = rig.storage.watch('/pods');
      rig.storage.watch('/pods');
      expect(() => rig.storage.watch('/pods')).toThrow('2 watches are open already');
      expect(rig.storage.stats().watches).toBe(2);
      await first.return();
      rig.storage.watch('/pods');
      // One that cannot begin takes no place.
      const stopped = AbortSignal.abort(new Error('before'));
      await first.return();
      expect(() => rig.storage.watch('/pods', { signal: stopped })).toThrow();
      expect(rig.storage.stats().watches).toBe(2);
    },
    { storage: { watchesMax: 2 } },
  );

  both(
    'reads above waitersMax are refused, those that do not wait are not',
    async (rig) => {
      const waiting = [1, 2].map(() => rig.storage.get('/pods/a', { resourceVersion: '9' }));
      await rig.clock.settle();
      expect(rig.storage.stats().waiters).toBe(2);
      expect(await rig.storage.get('/pods/a', { resourceVersion: '9' }).catch((error: Error) => error)).toMatchObject({
        code: 'TOO_MANY_REQUESTS',
        httpStatus: 429,
        retryAfterSeconds: 1,
      });
      expect((await rig.storage.list('/pods', { resourceVersion: '0' })).items).toEqual([]);
      for (const refusal of await Promise.all(waiting.map((read) => rig.refusal(read)))) {
        expect(refusal).toMatchObject({ code: 'RESOURCE_VERSION_TOO_LARGE' });
      }
      expect(rig.storage.stats().waiters).toBe(0);
    },
    { storage: { waitersMax: 2 } },
  );

  both(
    'above pinsMax the revision that was used longest ago is let go',
    async (rig) => {
      const page = (token?: string) =>
        rig.run(
          rig.storage.list('/pods', { recursive: true, limit: 1, ...(token === undefined ? {} : { continue: token }) }),
        );
      const begin = async (name: string) => {
        await rig.run(rig.storage.create(`/pods/${name}`, thing(name)));
        return (await page()).metadata.continue as string;
      };
      await rig.run(rig.storage.create('/pods/a', thing('a')));
      const tokens = [await begin('b'), await begin('c'), await begin('d')];
      expect(rig.storage.stats().pins).toBe(2);
      await rig.run(rig.store.compact(5));
      expect(await rig.refusal(page(tokens[0]))).toMatchObject({ code: 'EXPIRED' });
      // The second is used again, so that the third is the one to go.
      expect((await page(tokens[1])).items.map(brief)).toEqual(['b=1@3']);
      const fourth = await begin('e');
      await rig.run(rig.storage.create('/pods/f', thing('f')));
      await rig.clock.settle();
      expect((await page(tokens[1])).items.map(brief)).toEqual(['b=1@3']);
      expect((await page(fourth)).items.map(brief)).toEqual(['b=1@3']);
      expect(rig.store.stats().pins.map(({ revision }) => revision)).toEqual([4, 6]);
    },
    { storage: { pinsMax: 2 } },
  );

  both(
    'a store that has no pin left makes no page fail',
    async (rig) => {
      for (const name of 'abc') await rig.run(rig.storage.create(`/pods/${name}`, thing(name)));
      const pin = rig.store.pin(rig.store.revision, { owner: 'another' });
      const page = await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1 }));
      expect(page.metadata.continue).toBeDefined();
      expect(rig.storage.stats().pins).toBe(0);
      pin.release();
    },
    { store: { limits: { pins: 1 } } },
  );

  both('close ends waits and lets go of pins', async (rig) => {
    for (const name of 'ab') await rig.run(rig.storage.create(`/pods/${name}`, thing(name)));
    await rig.run(rig.storage.list('/pods', { recursive: true, limit: 1 }));
    const waiting = rig.storage.get('/pods/a', { resourceVersion: '99' });
    await rig.clock.settle();
    expect(rig.storage.stats()).toEqual({ watches: 0, waiters: 1, pins: 1 });
    await rig.storage.close();
    expect(await rig.refusal(waiting)).toMatchObject({ code: 'CLOSED' });
    expect(rig.storage.stats()).toEqual({ watches: 0, waiters: 0, pins: 0 });
    expect(rig.store.stats().pins).toEqual([]);
  });

  it('options that cannot be are refused', async () => {
    const { store } = await openRig('embedded');
    const bad = (options: object) => () => createStorage<Thing>(store, options);
    for (const name of ['waitMs', 'waitersMax', 'watchesMax', 'pinMs', 'bookmarkMs', 'attemptsMax']) {
      expect(bad({ [name]: 0 })).toThrow(RangeError);
      expect(bad({ [name]: '1' })).toThrow(TypeError);
    }
    expect(bad({ pinsMax: -1 })).toThrow(RangeError);
    for (const name of ['prefix', 'clock', 'codec', 'backend']) expect(bad({ [name]: 7 })).toThrow(TypeError);
    expect(bad({ Prefix: '' })).toThrow('unknown option Prefix');
    expect(() => createStorage(7 as never)).toThrow(TypeError);
  });

  it('without a prefix keys are as they are given', async () => {
    const { store, run } = await openRig('embedded');
    const storage = createStorage<Thing>(store);
    await run(storage.create('/pods/a', thing('a')));
    expect(store.get('/pods/a')?.value.spec).toBe(1);
    expect((await run(storage.list('/pods', { recursive: true }))).items).toHaveLength(1);
  });
});

describe('changes of a span', () => {
  const put = (key: string, create: number, mod: number, before?: { create: number }): WatchEvent<Thing> => {
    const kv = { key, value: thing(key, mod), createRevision: create, modRevision: mod, version: 1, lease: '0' };
    if (before === undefined) return { type: 'put', kv };
    return { type: 'put', kv, prevKv: { ...kv, value: thing(key, 1), createRevision: before.create, modRevision: 5 } };
  };
  const gone = (key: string, revision: number): WatchEvent<Thing> => ({
    type: 'delete',
    kv: { key, modRevision: revision },
    prevKv: { key, value: thing(key, 1), createRevision: 5, modRevision: 5, version: 1, lease: '0' },
  });
  const told = (batch: WatchBatch<Thing>) =>
    changesOf(batch).flatMap((change) => {
      const event = eventOf(change, undefined);
      return event === undefined ? [] : briefEvent(event);
    });

  it('are in the order of their versions, those before the last inside the hole (M12)', () => {
    const events = [gone('a', 30), put('b', 12, 12), put('c', 20, 25, { create: 5 }), put('d', 5, 14, { create: 5 })];
    expect(told({ after: 9, revision: 30, span: true, events: [...events, gone('e', 30)] })).toEqual([
      'ADDED b=12@12',
      'MODIFIED d=14@14',
      'DELETED c=1@19',
      'ADDED c=25@25',
      'DELETED a=1@29',
      'DELETED e=1@30',
    ]);
    expect(told({ after: 9, revision: 30, span: true, events: [gone('a', 30), put('b', 30, 30)] })).toEqual([
      'DELETED a=1@29',
      'ADDED b=30@30',
    ]);
    // A span of one revision has no inside.
    expect(told({ after: 9, revision: 10, span: true, events: [gone('a', 10), gone('b', 10)] })).toEqual([
      'DELETED a=1@10',
      'DELETED b=1@10',
    ]);
  });

  it('a commit without the state before is one that nobody can tell', () => {
    const { prevKv: _, ...lost } = gone('a', 7);
    expect(() => told({ revision: 7, events: [lost as WatchEvent<Thing>] })).toThrow('compacted');
  });

  it('an initial state comes by version, so that who stops in the middle can go on', () => {
    const events = [put('a', 2, 9), put('b', 3, 3), put('c', 4, 6)];
    expect(told({ revision: 9, initial: true, events })).toEqual(['ADDED b=3@3', 'ADDED c=6@6', 'ADDED a=9@9']);
  });
});

describe('a store that is closed', () => {
  it('ends the watches of its storage', async () => {
    const rig = await openRig('embedded');
    const reader = new Reader(rig.storage.watch('/pods', { recursive: true }), rig.clock);
    await reader.more();
    await rig.store.close();
    await reader.more();
    expect(reader.error).toMatchObject({ code: 'CLOSED' });
    expect(rig.storage.stats().watches).toBe(0);
  });
});
