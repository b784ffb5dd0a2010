import { describe, expect, it } from 'vitest';
import type { StorageWatchOptions } from '../../../src/storage/types.ts';
import { KINDS, openRig, PREFIX, Reader, type Rig, type RigOptions, type Thing, thing, withRig } from './rig.ts';

const POD = '/pods/ns1/';

function watch(rig: Rig, options: StorageWatchOptions<Thing> = {}): Reader {
  return new Reader(rig.storage.watch('/pods', { recursive: true, ...options }), rig.clock);
}

async function create(rig: Rig, names: string): Promise<void> {
  for (const name of names) await rig.run(rig.storage.create(`${POD}${name}`, thing(name)));
}

async function set(rig: Rig, name: string, spec: number): Promise<void> {
  await rig.run(rig.storage.guaranteedUpdate(`${POD}${name}`, (object) => ({ ...object, spec })));
}

/** The same test on an embedded store and on a replica of one. */
function both(title: string, test: (rig: Rig) => Promise<void>, options: RigOptions = {}): void {
  it.each(KINDS)(`${title} (%s)`, (kind) => withRig(kind, test, options));
}

describe('watches of a storage: where they begin', () => {
  both('K14: from 0 the state as ADDED, then what comes, also after compaction', async (rig) => {
    await create(rig, 'abc');
    await set(rig, 'a', 2);
    await rig.run(rig.storage.delete(`${POD}b`));
    const reader = watch(rig, { resourceVersion: '0' });
    await rig.run(rig.store.compact(6));
    expect(await reader.more()).toEqual(['ADDED c=1@4', 'ADDED a=2@5']);
    await set(rig, 'c', 7);
    expect(await reader.more()).toEqual(['MODIFIED c=7@7']);
    await rig.run(rig.store.compact(7));
    await set(rig, 'c', 8);
    await rig.run(rig.storage.delete(`${POD}a`));
    expect(await reader.more()).toEqual(['MODIFIED c=8@8', 'DELETED a=2@9']);
    expect(reader.error).toBeUndefined();
  });

  both('K15: without a version it is as from 0', async (rig) => {
    await create(rig, 'ab');
    for (const options of [{}, { resourceVersion: '' }]) {
      const reader = watch(rig, options);
      expect(await reader.more()).toEqual(['ADDED a=1@2', 'ADDED b=1@3']);
    }
    const reader = watch(rig);
    expect(await reader.more()).toHaveLength(2);
    await create(rig, 'c');
    expect(await reader.more()).toEqual(['ADDED c=1@4']);
  });

  both('K16: with initial events, the end of them is a bookmark with that annotation', async (rig) => {
    await create(rig, 'ab');
    await rig.truth.put('/elsewhere', 1);
    await rig.run(rig.storage.getCurrentResourceVersion());
    for (const resourceVersion of ['', '0', '2', '4']) {
      const reader = watch(rig, { resourceVersion, sendInitialEvents: true, allowWatchBookmarks: true });
      expect(await reader.more()).toEqual(['ADDED a=1@2', 'ADDED b=1@3', 'BOOKMARK @4 k8s.io/initial-events-end']);
    }
    const without = watch(rig, { sendInitialEvents: true });
    expect(await without.more()).toEqual(['ADDED a=1@2', 'ADDED b=1@3']);
    const reader = watch(rig, {
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      predicate: ({ spec }) => spec === 9,
    });
    expect(await reader.more()).toEqual(['BOOKMARK @4 k8s.io/initial-events-end']);
    await create(rig, 'c');
    await set(rig, 'c', 9);
    expect(await reader.more()).toEqual(['ADDED c=9@6']);
  });

  both('K16: they are of a state that is new enough, or the version is too large', async (rig) => {
    await create(rig, 'a');
    await rig.truth.put(`${PREFIX}${POD}b`, thing('b'));
    const consistent = watch(rig, { sendInitialEvents: true });
    expect(await consistent.more()).toEqual(['ADDED a=1@2', 'ADDED b=1@3']);
    const waits = watch(rig, { sendInitialEvents: true, resourceVersion: '5', allowWatchBookmarks: true });
    expect(await waits.more()).toEqual([]);
    await create(rig, 'cd');
    await rig.clock.advance(200);
    expect((await waits.more()).at(-1)).toBe('BOOKMARK @5 k8s.io/initial-events-end');
    const late = watch(rig, { sendInitialEvents: true, resourceVersion: '50' });
    await late.more();
    await rig.clock.advance(3000);
    expect(late.error).toMatchObject({ code: 'RESOURCE_VERSION_TOO_LARGE', resourceVersion: '50' });
    // Both watches that got all are open, the one that was late is not.
    expect(rig.storage.stats()).toMatchObject({ watches: 2, waiters: 0 });
  });

  both('K17: without initial events nothing but what comes', async (rig) => {
    await create(rig, 'ab');
    const readers = ['', '0', '3'].map((resourceVersion) => watch(rig, { resourceVersion, sendInitialEvents: false }));
    for (const reader of readers) expect(await reader.more()).toEqual([]);
    await create(rig, 'c');
    for (const reader of readers) expect(await reader.more()).toEqual(['ADDED c=1@4']);
    // "Now" is that of the call, not of the first question.
    const early = watch(rig, { sendInitialEvents: false });
    await create(rig, 'd');
    expect(await early.more()).toEqual(['ADDED d=1@5']);
  });

  both('K17: from a version what came after it, whatever is said of initial events', async (rig) => {
    await create(rig, 'ab');
    await set(rig, 'a', 2);
    const all = ['ADDED b=1@3', 'MODIFIED a=2@4'];
    expect(await watch(rig, { resourceVersion: '2' }).more()).toEqual(all);
    expect(await watch(rig, { resourceVersion: '2', sendInitialEvents: false }).more()).toEqual(all);
    expect(await watch(rig, { resourceVersion: '4' }).more()).toEqual([]);
    // One that is still to come is waited for.
    const future = watch(rig, { resourceVersion: '5' });
    await create(rig, 'cd');
    expect(await future.more()).toEqual(['ADDED d=1@6']);
  });

  both('K04: a start that was compacted is told at the first event, once', async (rig) => {
    await create(rig, 'abc');
    await set(rig, 'a', 2);
    await rig.run(rig.store.compact(4));
    const reader = watch(rig, { resourceVersion: '2' });
    await reader.more();
    expect(reader.error).toMatchObject({ code: 'EXPIRED', httpStatus: 410, reason: 'Expired', resourceVersion: '2' });
    expect(rig.storage.stats().watches).toBe(0);
    const legal = watch(rig, { resourceVersion: '4' });
    expect(await legal.more()).toEqual(['MODIFIED a=2@5']);
    // At the boundary an event could be had, but not what was before it.
    const boundary = watch(rig, { resourceVersion: '4' });
    await rig.run(rig.store.compact(5));
    await boundary.more();
    expect(boundary.error).toMatchObject({ code: 'EXPIRED' });
  });

  both('K13: one key, and what is below it', async (rig) => {
    const one = new Reader(rig.storage.watch('/pods/a', { sendInitialEvents: false }), rig.clock);
    const below = new Reader(rig.storage.watch('/pods/a', { recursive: true, sendInitialEvents: false }), rig.clock);
    for (const key of ['/pods/a', '/pods/a/b', '/pods/ab']) await rig.run(rig.storage.create(key, thing(key)));
    expect(await one.more()).toEqual(['ADDED /pods/a=1@2']);
    expect(await below.more()).toEqual(['ADDED /pods/a/b=1@3']);
  });
});

describe('watches of a storage: what they deliver', () => {
  both('K19: DELETED has the last state, with the version of the deletion', async (rig) => {
    await create(rig, 'ab');
    await set(rig, 'a', 5);
    const reader = watch(rig, { sendInitialEvents: false });
    const deleted = await rig.run(rig.storage.delete(`${POD}a`));
    expect(deleted.metadata?.resourceVersion).toBe('5');
    expect(await reader.more()).toEqual(['DELETED a=5@5']);
    await create(rig, 'a');
    expect(await reader.more()).toEqual(['ADDED a=1@6']);
  });

  both('K19: several keys of one commit come one after the other, with one version', async (rig) => {
    const reader = watch(rig, { sendInitialEvents: false });
    await rig.truth.putAll({ [`${PREFIX}${POD}b`]: thing('b'), [`${PREFIX}${POD}a`]: thing('a') });
    expect(await reader.more()).toEqual(['ADDED b=1@2', 'ADDED a=1@2']);
  });

  both('K20: an object that begins to match is ADDED, one that ceases to is DELETED', async (rig) => {
    const reader = watch(rig, { sendInitialEvents: false, predicate: ({ spec }) => Number(spec) >= 10 });
    await create(rig, 'a');
    await set(rig, 'a', 5);
    await set(rig, 'a', 10);
    await set(rig, 'a', 11);
    await set(rig, 'a', 3);
    await set(rig, 'a', 4);
    await set(rig, 'a', 12);
    await rig.run(rig.storage.delete(`${POD}a`));
    await create(rig, 'b');
    await rig.run(rig.storage.delete(`${POD}b`));
    expect(await reader.more()).toEqual([
      'ADDED a=10@4',
      'MODIFIED a=11@5',
      // The last state that matched, at the version of what made it cease to.
      'DELETED a=11@6',
      'ADDED a=12@8',
      'DELETED a=12@9',
    ]);
  });

  both('K21: a bookmark about every minute, of all that was delivered, and empty but for its version', async (rig) => {
    const quiet = watch(rig, { sendInitialEvents: false });
    const reader = watch(rig, { sendInitialEvents: false, allowWatchBookmarks: true });
    await create(rig, 'a');
    await rig.truth.put('/elsewhere', 1);
    expect(await reader.more()).toEqual(['ADDED a=1@2']);
    await rig.clock.advance(59_999);
    expect(await reader.more()).toEqual([]);
    await rig.clock.advance(1);
    await reader.more();
    expect(reader.events.at(-1)).toBe('BOOKMARK @3');
    await create(rig, 'b');
    await rig.clock.advance(60_000);
    await reader.more();
    expect(reader.events).toEqual(['ADDED a=1@2', 'BOOKMARK @3', 'ADDED b=1@4', 'BOOKMARK @4']);
    expect(await quiet.more()).toHaveLength(2);
    expect(quiet.events).toEqual(['ADDED a=1@2', 'ADDED b=1@4']);
    const first = rig.storage.watch('/pods', { allowWatchBookmarks: true, sendInitialEvents: true, recursive: true });
    const raw = [await rig.run(first.next()), await rig.run(first.next()), await rig.run(first.next())][2];
    expect(raw?.value?.object).toEqual({
      metadata: { resourceVersion: '4', annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
  });

  both('K21: never before an event that it covers, however late the consumer asks', async (rig) => {
    const reader = watch(rig, { sendInitialEvents: false, allowWatchBookmarks: true });
    await create(rig, 'abc');
    // The minute has passed before anybody asked for the first event.
    await rig.clock.advance(70_000);
    expect(await reader.more()).toEqual(['ADDED a=1@2', 'ADDED b=1@3', 'ADDED c=1@4', 'BOOKMARK @4']);
  });

  both('K21: one comes just before the time limit, then the watch is done', async (rig) => {
    const reader = watch(rig, { sendInitialEvents: false, allowWatchBookmarks: true, timeoutMs: 10_000 });
    const plain = watch(rig, { sendInitialEvents: false, timeoutMs: 10_000 });
    await create(rig, 'a');
    expect(await reader.more()).toEqual(['ADDED a=1@2']);
    await plain.more();
    await rig.clock.advance(8000);
    await reader.more();
    expect(reader.events.at(-1)).toBe('BOOKMARK @2');
    expect(reader.isDone).toBe(false);
    await rig.clock.advance(2000);
    await Promise.all([reader.more(), plain.more()]);
    expect([reader.isDone, reader.error, reader.events.length]).toEqual([true, undefined, 2]);
    expect([plain.isDone, plain.error, plain.events]).toEqual([true, undefined, ['ADDED a=1@2']]);
    expect(rig.storage.stats().watches).toBe(0);
  });

  both('K22: what was there when it was stopped can still be read, in order, then it is done', async (rig) => {
    const opened = rig.storage.watch('/pods', { recursive: true, sendInitialEvents: false });
    for (let index = 0; index < 21; index++) {
      await rig.run(rig.storage.create(`${POD}${String(index).padStart(2, '0')}`, thing(`p${index}`)));
    }
    await rig.clock.advance(1000);
    opened.stop();
    await create(rig, 'z');
    const reader = new Reader(opened, rig.clock);
    expect(await reader.more()).toEqual(Array.from({ length: 21 }, (_, index) => `ADDED p${index}=1@${index + 2}`));
    expect([reader.isDone, reader.error]).toEqual([true, undefined]);
    expect(rig.storage.stats().watches).toBe(0);
  });

  both('K22: stopped while its consumer waits, it is done at once', async (rig) => {
    const opened = rig.storage.watch('/pods', { recursive: true });
    const reader = new Reader(opened, rig.clock);
    await create(rig, 'a');
    expect(await reader.more()).toEqual(['ADDED a=1@2']);
    opened.stop();
    opened.stop();
    expect(await reader.more()).toEqual([]);
    expect(reader.isDone).toBe(true);
  });
});

describe('watches of a storage: their end', () => {
  both('a signal ends it with its reason, return quietly, close with ClosedError', async (rig) => {
    const stop = new AbortController();
    const aborted = watch(rig, { signal: stop.signal });
    const closed = watch(rig);
    const returned = rig.storage.watch('/pods');
    const waiting = returned.next();
    await Promise.all([aborted.more(), closed.more()]);
    await returned.return();
    expect(await rig.run(waiting)).toEqual({ value: undefined, done: true });
    expect(await rig.run(returned.next())).toEqual({ value: undefined, done: true });
    stop.abort(new Error('enough'));
    await aborted.more();
    expect((aborted.error as Error).message).toBe('enough');
    await rig.storage.close();
    await closed.more();
    expect(closed.error).toMatchObject({ code: 'CLOSED' });
    expect(rig.storage.stats()).toEqual({ watches: 0, waiters: 0, pins: 0 });
  });

  both('what the predicate throws ends it, and a second consumer is refused', async (rig) => {
    const bad = watch(rig, {
      predicate: () => {
        throw new Error('no idea');
      },
    });
    const opened = rig.storage.watch('/pods', { recursive: true });
    const first = opened.next();
    await expect(opened.next()).rejects.toThrow('one consumer');
    await create(rig, 'a');
    expect((await rig.run(first)).value).toMatchObject({ type: 'ADDED' });
    await bad.more();
    expect((bad.error as Error).message).toBe('no idea');
  });

  it('wrong options are refused by the call', async () => {
    const { storage } = await openRig('embedded');
    const bad = (options: object) => () => storage.watch('/pods', options);
    expect(bad({ resourceVersion: 'x' })).toThrow('invalid resource version');
    expect(bad({ resourceVersionMatch: 'Exact' })).toThrow('no resourceVersionMatch Exact');
    expect(bad({ resourceVersionMatch: 'Some' })).toThrow('unknown resourceVersionMatch');
    expect(bad({ sendInitialEvents: 'yes' })).toThrow(TypeError);
    expect(bad({ predicate: 7 })).toThrow(TypeError);
    expect(bad({ timeoutMs: 0 })).toThrow(RangeError);
    expect(bad({ limit: 1 })).toThrow('unknown option limit');
    expect(storage.stats().watches).toBe(0);
  });

  it('K21: a time limit holds for who has gone away, too', async () => {
    const rig = await openRig('embedded');
    rig.storage.watch('/pods', { timeoutMs: 1000 });
    expect(rig.storage.stats().watches).toBe(1);
    await rig.clock.advance(1000);
    expect(rig.storage.stats().watches).toBe(0);
    expect(rig.clock.pending).toBe(0);
  });
});
