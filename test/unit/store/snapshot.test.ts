import { describe, expect, it, vi } from 'vitest';
import { createMemoryBackend } from '../../../src/backends/memory-backend.ts';
import { LeaseWalk } from '../../../src/lease/lease-walk.ts';
import { openStore } from '../../../src/open-store.ts';
import { bytesCodec, jsonCodec, textCodec } from '../../../src/store/codecs.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Clock } from '../../../src/types/clock.ts';
import { ClosedError, SnapshotError, StoreFullError, UnsupportedError, ValueError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { brief, openTestStore, Reader, settle } from './fixture.ts';

async function reopen<V>(store: Store<V>, clock: VirtualClock): Promise<Store<V>> {
  return openStore<V>({ clock, random: createSeededRandom(2), snapshot: await store.createSnapshot() });
}

/** Rows of a state in brief, or the name of the error. */
function rowsAt(store: Store<string>, revision: number): string {
  try {
    return store.range({ prefix: '', revision }).kvs.map(brief).join(' ');
  } catch (error) {
    return (error as Error).name;
  }
}

const events = async (store: Store<string>, fromRevision: number, prevKv = false) => {
  const reader = new Reader(store.watch({ prefix: '' }, { fromRevision, prevKv }));
  return reader.take();
};

/** A clock that stands still, and runs one timer at a time. */
class StepClock implements Clock {
  readonly timers: (() => void)[] = [];
  time = 0;

  now(): number {
    return this.time;
  }

  wallTime(): number {
    return 1e12 + this.time;
  }

  after(_delayMs: number, fn: () => void): () => void {
    this.timers.push(fn);
    return () => {
      const place = this.timers.indexOf(fn);
      if (place >= 0) this.timers.splice(place, 1);
    };
  }

  async step(): Promise<boolean> {
    const next = this.timers.shift();
    next?.();
    await settle();
    return next !== undefined;
  }

  /** Lets work in steps end, and counts them. */
  async finish<T>(work: Promise<T>): Promise<{ readonly result: T; readonly steps: number }> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    await settle();
    let steps = 0;
    for (; !isOver && (await this.step()); steps++);
    return { result: await work, steps };
  }
}

/** Enough keys for several steps. */
async function openLarge(count = 10_000): Promise<{ store: Store<string>; clock: StepClock; keys: string[] }> {
  const clock = new StepClock();
  const store = await openStore<string>({ clock, retention: { events: 100_000 } });
  const keys = Array.from({ length: count }, (_, index) => `key/${index}`);
  await store.putAll(keys.map((key) => ({ key, value: 'old' })));
  return { store, clock, keys };
}

describe('restart', () => {
  it('C19: all ranges are the same at every revision, and the deleted key can be put again', async () => {
    const { store, clock } = await openTestStore<string>();
    for (let index = 1; index <= 5; index++) await store.put(`foo${index}`, 'x');
    await store.delete('foo1');
    await store.compact(7);
    const restored = await reopen(store, clock);
    const revisions = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(revisions.map((at) => rowsAt(restored, at))).toEqual(revisions.map((at) => rowsAt(store, at)));
    expect([restored.stats().keys, restored.get('foo1'), restored.revision]).toEqual([4, undefined, 7]);
    expect((await restored.put('foo1', 'y')).revision).toBe(8);
    expect(brief(restored.get('foo1'))).toBe('foo1(8,8,1)');
  });

  it('C20: of a key only the delete at C is known', async () => {
    const { store, clock } = await openTestStore<string>();
    await store.put('foo', 'x');
    while (store.revision < 15) await store.put('other', 'x');
    await store.delete('foo');
    await store.compact(16);
    const restored = await reopen(store, clock);
    expect(await events(restored, 16, true)).toEqual(['16: delete foo@16']);
    await restored.put('foo', 'x');
    await restored.put('foo', 'x');
    expect(await events(restored, 16)).toEqual(['16: delete foo@16', '17: put foo(17,17,1)', '18: put foo(17,18,2)']);
    await restored.compact(17);
    await clock.advance(0);
    expect(await events(restored, 16)).toEqual(['CompactedError']);
    expect(await events(restored, 17)).toEqual(['17: put foo(17,17,1)', '18: put foo(17,18,2)']);
    expect(restored.stats()).toMatchObject({ keys: 2, storedVersions: 3, logEntries: 2 });
  });

  it('C21, R26: a store with nothing left keeps its revision', async () => {
    const { store, clock } = await openTestStore<string>();
    for (let index = 0; index < 3; index++) await store.put('foo', 'x');
    await store.delete('foo');
    await store.compact(5);
    const restored = await reopen(store, clock);
    expect([restored.revision, restored.compactRevision, restored.get('foo')]).toEqual([5, 5, undefined]);
    expect((await restored.put('foo', 'y')).revision).toBe(6);
  });

  it('R1, R22: an empty store, one that was never compacted, and one that was at 0', async () => {
    for (const isCompacted of [false, true]) {
      const { store, clock } = await openTestStore<string>();
      if (isCompacted) await store.compact(0);
      const restored = await reopen(store, clock);
      expect([restored.revision, restored.compactRevision]).toEqual([1, 0]);
      const again = restored.compact(0).then(
        () => 'legal',
        (error: Error) => error.name,
      );
      expect(await again).toBe(isCompacted ? 'CompactedError' : 'legal');
      expect((await restored.put('foo', 'y')).revision).toBe(2);
    }
  });

  it('what is superseded below C is not in the snapshot, and the rest goes with later compactions', async () => {
    const { store, clock } = await openTestStore<string>();
    for (let index = 0; index < 5; index++) await store.put('foo', 'superseded'.repeat(100));
    await store.put('foo', 'x');
    await store.put('bar', 'x');
    await store.compact(8);
    const snapshot = await store.createSnapshot();
    expect(snapshot.length).toBeLessThan(200);
    const restored = await openStore<string>({ clock, snapshot });
    expect(restored.stats()).toMatchObject({ storedVersions: 2, logEntries: 1 });
    await restored.put('foo', 'y');
    await restored.compact(9);
    await clock.advance(0);
    expect(restored.stats()).toMatchObject({ storedVersions: 2, logEntries: 1 });
  });
});

describe('identity', () => {
  it('is a new one, also with the seed of the old store, unless it is to be kept', async () => {
    const { store, clock } = await openTestStore<string>();
    await store.put('a', '1');
    const snapshot = await store.createSnapshot();
    const copy = await openStore<string>({ clock, random: createSeededRandom(1), snapshot });
    expect(copy.identity).not.toBe(store.identity);
    const same = await openStore<string>({ clock, snapshot, keepIdentity: true });
    expect(same.identity).toBe(store.identity);
    const from = { fromRevision: 2, identity: store.identity };
    expect(await new Reader(same.watch({ prefix: '' }, from)).take()).toEqual(['2: put a(2,2,1)']);
    expect(await new Reader(copy.watch({ prefix: '' }, from)).take()).toEqual(['IdentityChangedError']);
  });
});

describe('leases', () => {
  it('C61: a moved key survives the old lease', async () => {
    const { store, clock } = await openTestStore<string>();
    for (const id of ['1', '2']) {
      await store.grantLease({ id, ttlMs: 5000 });
      await store.put('foo', 'x', { lease: id });
    }
    const restored = await reopen(store, clock);
    expect(await restored.revokeLease('1')).toEqual({ revision: 3, deleted: 0 });
    expect(brief(restored.get('foo'))).toBe('foo(2,3,2)');
    expect(await restored.revokeLease('2')).toEqual({ revision: 4, deleted: 1 });
    expect(await events(restored, 4)).toEqual(['4: delete foo@4']);
  });

  /** Leases of 10 and of 11 s, 4 s old in the snapshot. */
  async function openLeased(): Promise<Uint8Array> {
    const { store, clock } = await openTestStore<string>();
    for (const [id, ttlMs] of [
      ['12', 10_000],
      ['3', 10_000],
      ['1', 11_000],
    ] as const) {
      await store.grantLease({ id, ttlMs });
      await store.put(`of ${id}`, 'x', { lease: id });
    }
    await clock.advance(4000);
    return store.createSnapshot();
  }

  const WALL = 1_700_000_004_000;

  it.each([
    ['no time passed', 0, [7000, 6000, 6000]],
    ['some time passed', 2500, [4500, 3500, 3500]],
    ['some are due', 6200, [1000, 1000, 1000]],
    ['the wall time went years ahead', 1e11, [1000, 1000, 1000]],
    ['the wall time went back', -1e11, [7000, 6000, 6000]],
  ])('C63, R45: what is left when %s', async (_name, passedMs, left) => {
    const snapshot = await openLeased();
    const clock = createVirtualClock({ startMs: 77, wallTimeMs: WALL + passedMs });
    const store = await openStore<string>({ clock, snapshot });
    const status = async (id: string) => store.leaseTimeToLive(id, { keys: true });
    const [one, three] = [await status('1'), await status('3')];
    expect([one?.remainingMs, three?.remainingMs, (await status('12'))?.remainingMs]).toEqual(left);
    expect(three).toMatchObject({ grantedTtlMs: 10_000, keys: ['of 3'] });
    // One revision each, by deadline and id; nothing before.
    const [last, first] = [left[0] as number, left[1] as number];
    await clock.advance(first - 1);
    expect(store.revision).toBe(4);
    await clock.advance(last - first + 1);
    expect(await events(store, 5)).toEqual(
      ['5', '6', '7'].map((at, index) => {
        const order = last === first ? ['1', '3', '12'] : ['3', '12', '1'];
        return `${at}: delete of ${order[index]}@${at}`;
      }),
    );
  });

  it('R40: a holder that comes in time keeps it; it has its whole TTL again', async () => {
    const clock = createVirtualClock({ wallTimeMs: WALL + 1e9 });
    const store = await openStore<string>({ clock, snapshot: await openLeased() });
    await clock.advance(999);
    expect(await store.keepAliveLease('3')).toEqual({ ttlMs: 10_000 });
    await clock.advance(1);
    expect(await store.leases()).toEqual(['3']);
  });

  it('a lease of less than the grace is not prolonged, from one restart to the next', async () => {
    const { store, clock } = await openTestStore<string>();
    await store.grantLease({ id: '1', ttlMs: 900 });
    await clock.advance(300);
    let one = await reopen(store, clock);
    for (let restarts = 0; restarts < 3; restarts++) {
      await clock.advance(100);
      clock.jumpWallTime(1e6);
      one = await reopen(one, clock);
    }
    expect((await one.leaseTimeToLive('1'))?.remainingMs).toBe(300);
  });

  it('R16: a lease of one key goes with it', async () => {
    const { store, clock } = await openTestStore<string>();
    const { lease } = await store.put('a', 'x', { ttlMs: 5000 });
    const restored = await reopen(store, clock);
    expect(await restored.leases()).toEqual([lease]);
    await restored.put('a', 'y');
    expect(await restored.leases()).toEqual([]);
  });

  it('M31: what is due when the snapshot is asked for is not in it', async () => {
    const { store, clock } = await openTestStore<string>();
    await store.grantLease({ id: '1', ttlMs: 10 });
    await store.put('a', 'x', { lease: '1' });
    await clock.advance(9);
    const silent = { ...clock, now: () => clock.now() + 1 };
    const late = await openStore<string>({ clock: silent, snapshot: await store.createSnapshot() });
    expect(await late.leases()).toEqual(['1']);
    await clock.advance(1);
    const gone = await reopen(late, clock);
    expect([gone.revision, await gone.leases(), gone.get('a')]).toEqual([3, [], undefined]);
  });
});

describe('values and keys', () => {
  it('have to be of the store that is opened', async () => {
    const plain = await (await openTestStore()).store.createSnapshot();
    const coded = await (await openTestStore({ codec: jsonCodec() })).store.createSnapshot();
    const open = openStore as (options: object) => Promise<unknown>;
    await expect(open({ snapshot: plain, keys: 'bytes' })).rejects.toThrow(/the keys of the snapshot are utf8/);
    await expect(open({ snapshot: plain, codec: bytesCodec() })).rejects.toThrow(/put without a codec/);
    await expect(open({ snapshot: coded })).rejects.toThrow(/bytes of a codec, and the store has none/);
    await expect(open({ snapshot: coded, values: 'trusted' })).rejects.toBeInstanceOf(SnapshotError);
    await open({ snapshot: coded, codec: textCodec() });
  });

  it('a codec reads its bytes when they are asked for, and may fail then', async () => {
    const { store } = await openTestStore<unknown>({ codec: jsonCodec() });
    await store.put('a', { n: 1 });
    const snapshot = await store.createSnapshot();
    expect((await openStore({ snapshot, codec: jsonCodec() })).get('a')?.value).toEqual({ n: 1 });
    const text = await openStore<string>({ snapshot, codec: textCodec() });
    expect(text.get('a')?.value).toBe('{"n":1}');
    const decode = () => {
      throw new RangeError('no');
    };
    const broken = await openStore({ snapshot, codec: { encode: () => new Uint8Array(), decode } });
    expect(() => broken.get('a')).toThrow(ValueError);
  });

  it('views of a prefix keep their codecs', async () => {
    const { store, clock } = await openTestStore<unknown>();
    await store.prefix('jobs/', { codec: jsonCodec() }).put('1', { n: 1 });
    const restored = await reopen(store, clock);
    expect(restored.prefix('jobs/', { codec: jsonCodec() }).get('1')?.value).toEqual({ n: 1 });
  });

  it('M34: data are frozen private copies, also if they were shared', async () => {
    const { store } = await openTestStore<{ n: number[] }>({ values: 'trusted' });
    await store.put('a', { n: [1] });
    const restored = await openStore<{ n: number[] }>({ snapshot: await store.createSnapshot() });
    const value = restored.get('a')?.value;
    expect(value).toEqual({ n: [1] });
    expect(Object.isFrozen(value?.n)).toBe(true);
  });

  it.each<[string, unknown, RegExp]>([
    ['a Date', { at: new Date(0) }, /the value at \/at of key "bad"/],
    ['a Map', new Map(), /of key "bad"/],
    ['nothing', [undefined], /at \/0 of key "bad" is not JSON data but undefined/],
    ['NaN', [Number.NaN], /at \/0 of key "bad" is not a finite number/],
    ['half a pair', '\ud800', /of key "bad" has a lone surrogate/],
    ['a function', { toJSON: () => 1 }, /at \/toJSON of key "bad"/],
  ])('%s that is shared has no bytes', async (_name, value, message) => {
    const { store, clock } = await openTestStore<unknown>({ values: 'trusted' });
    await store.put('good', 1);
    await store.put('bad', value);
    const failure = await store.createSnapshot().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ValueError);
    expect(failure).toMatchObject({ key: 'bad', message: expect.stringMatching(message) });
    expect([store.revision, store.get('bad')?.value]).toEqual([3, value]);
    await store.put('bad', 1);
    await store.compact(4);
    const restored = await openStore({ clock, snapshot: await store.createSnapshot() });
    expect(restored.get('bad')?.value).toBe(1);
  });

  it('what a getter of a shared value throws is told as it is', async () => {
    const { store } = await openTestStore<unknown>({ values: 'trusted' });
    const reason = new RangeError('not now');
    const get = () => {
      throw reason;
    };
    await store.put('a', Object.defineProperty({}, 'n', { enumerable: true, get }));
    await expect(store.createSnapshot()).rejects.toBe(reason);
  });

  it('the error of a shared value has the whole key, and as much of it in the message as can be read', async () => {
    const { store } = await openTestStore<unknown>({ values: 'trusted' });
    const key = 'k'.repeat(60_000);
    await store.put(key, new Map());
    const failure = await store.createSnapshot().catch((error: unknown) => error);
    expect(failure).toMatchObject({ key, message: expect.stringContaining('of key "kkk') });
    expect((failure as Error).message.length).toBeLessThan(200);
  });

  it('a getter of a shared value is asked once, and may close the store', async () => {
    const { store } = await openTestStore<unknown>({ values: 'trusted' });
    let reads = 0;
    const value = Object.defineProperty({}, 'n', { enumerable: true, get: () => reads++ });
    await store.put('a', value);
    const restored = await openStore<unknown>({ snapshot: await store.createSnapshot() });
    expect([restored.get('a')?.value, reads]).toEqual([{ n: 0 }, 1]);
    const close = () => void store.close();
    await store.put('b', Object.defineProperty({}, 'n', { enumerable: true, get: close }));
    await expect(store.createSnapshot()).rejects.toBeInstanceOf(ClosedError);
  });
});

describe('options', () => {
  it('are checked at the door', async () => {
    const open = openStore as (options: object) => Promise<unknown>;
    const snapshot = await (await openTestStore()).store.createSnapshot();
    for (const wrong of ['text', [...snapshot], snapshot.buffer, null, 1, {}]) {
      await expect(open({ snapshot: wrong })).rejects.toThrow('Cannot open a store: snapshot is not a Uint8Array');
    }
    await expect(open({ snapshot, keepIdentity: 1 })).rejects.toThrow(TypeError);
    await expect(open({ keepIdentity: true })).rejects.toThrow('keepIdentity needs a snapshot');
    const backend = createMemoryBackend(await openStore({ keys: 'bytes', clock: createVirtualClock() }));
    await expect(open({ backend, snapshot })).rejects.toThrow('snapshot is for embedded stores only');
    const view = (await openTestStore()).store.prefix('a/');
    await expect(view.createSnapshot()).rejects.toBeInstanceOf(UnsupportedError);
  });

  it('a part of a larger buffer will do, and is not kept', async () => {
    const { store } = await openTestStore<Uint8Array>();
    await store.put('a', Uint8Array.of(1, 2));
    const snapshot = await store.createSnapshot();
    const larger = new Uint8Array(snapshot.length + 10);
    larger.set(snapshot, 3);
    const restored = await openStore<Uint8Array>({ snapshot: larger.subarray(3, 3 + snapshot.length) });
    larger.fill(0xee);
    expect(restored.get('a')?.value).toEqual(Uint8Array.of(1, 2));
  });

  it('M18: retention of the new store applies at once', async () => {
    const { store, clock } = await openTestStore<string>();
    for (let index = 0; index < 10; index++) await store.put('a', '0123456789');
    const snapshot = await store.createSnapshot();
    for (const [retention, compactRevision] of [
      [{ events: 3 }, 9],
      [{ bytes: 25 }, 10],
      [{ events: 100 }, 0],
    ] as const) {
      const restored = await openStore<string>({ clock, retention, snapshot });
      expect([restored.compactRevision, restored.revision]).toEqual([compactRevision, 11]);
      await restored.close();
    }
    // How old a commit is nobody knows any more: it counts from here.
    const restored = await openStore<string>({ clock, retention: { ageMs: 50 }, snapshot });
    await clock.advance(50);
    expect(restored.compactRevision).toBe(0);
    await clock.advance(1);
    expect(restored.compactRevision).toBe(11);
    expect(clock.pending).toBe(0);
  });

  it('limits of puts do not bound it, that of the store does', async () => {
    const { store } = await openTestStore<string>();
    await store.put('a long key', 'a long value');
    const snapshot = await store.createSnapshot();
    const small = await openStore<string>({ snapshot, limits: { keyBytes: 2, valueBytes: 2 } });
    expect(small.range({ prefix: '' }).kvs.map(({ value }) => value)).toEqual(['a long value']);
    await expect(openStore({ snapshot, limits: { storeBytes: 3 } })).rejects.toBeInstanceOf(StoreFullError);
  });
});

describe('in steps', () => {
  it('does not change by what is written, deleted and compacted meanwhile', async () => {
    const { store, clock, keys } = await openLarge();
    await store.grantLease({ id: '1', ttlMs: 60_000 });
    await store.put('key/1', 'leased', { lease: '1' });
    for (const key of keys.slice(2, 100)) await store.put(key, 'new');
    const { revision } = store;
    await store.compact(4);
    const before = await events(store, 4, true);
    const work = store.createSnapshot();
    await store.revokeLease('1');
    for (let round = 0; round < 20; round++) {
      for (const key of keys.slice(round * 500, round * 500 + 200)) await store.delete(key);
      await store.put(`other/${round}`, 'x');
      await store.compact(store.revision);
      // Not to its end: what is held back then, no later compaction takes along.
      if (round < 3) await clock.step();
    }
    const { result: snapshot } = await clock.finish(work);
    const { result: restored } = await clock.finish(openStore<string>({ clock, snapshot }));
    expect([restored.revision, restored.compactRevision, restored.stats().keys]).toEqual([revision, 4, keys.length]);
    expect(await events(restored, 4, true)).toEqual(before);
    expect(restored.range({ prefix: 'key/', revision: 4 }).count).toBe(keys.length);
    expect(await restored.leaseTimeToLive('1', { keys: true })).toMatchObject({ remainingMs: 60_000, keys: ['key/1'] });
    await restored.close();
    // What was held back is done.
    while (await clock.step());
    expect(store.stats()).toMatchObject({ logEntries: 1, storedVersions: store.stats().keys });
  });

  it('takes several tasks, and none of them does it all', async () => {
    const { store, clock } = await openLarge();
    await store.put('key/0', 'new');
    // In rows, and in one commit.
    for (const compactRevision of [3, 0]) {
      if (compactRevision > 0) await store.compact(compactRevision);
      const made = await clock.finish(store.createSnapshot());
      const opened = await clock.finish(openStore<string>({ clock, snapshot: made.result }));
      expect(made.steps).toBeGreaterThan(4);
      expect(opened.steps).toBeGreaterThan(4);
      expect(opened.result.stats().keys).toBe(10_000);
    }
  });

  it('a commit of more than a page is whole, whatever is read meanwhile, and so is what comes after', async () => {
    const { store, clock, keys } = await openLarge(3000);
    await store.put('key/0', 'new');
    for (const isCompacted of [false, true]) {
      if (isCompacted) await store.compact(2);
      const work = store.createSnapshot();
      await clock.step();
      expect(store.range({ prefix: '' }).kvs.length).toBe(keys.length);
      const { result: snapshot } = await clock.finish(work);
      const opening = openStore<string>({ clock, snapshot, retention: { events: 100_000 } });
      const { result } = await clock.finish(opening);
      expect([2, 3].map((at) => rowsAt(result, at))).toEqual([2, 3].map((at) => rowsAt(store, at)));
    }
  });

  it('ends after as many tasks as ever, however many new keys come in each of them', async () => {
    const turns = async (isWritten: boolean) => {
      const { store, clock, keys } = await openLarge(20_000);
      await store.put('key/0', 'new');
      await store.compact(3);
      let isMade = false;
      const work = store.createSnapshot().finally(() => {
        isMade = true;
      });
      let count = 0;
      for (; !isMade && count < 100; count++) {
        if (isWritten) {
          const puts = Array.from({ length: 6000 }, (_, index) => ({ key: `new/${count}/${index}`, value: 'x' }));
          await store.putAll(puts);
        }
        await clock.step();
      }
      expect(isMade).toBe(true);
      const { result } = await clock.finish(openStore<string>({ clock, snapshot: await work }));
      expect([result.revision, result.stats().keys]).toEqual([3, keys.length]);
      return count;
    };
    // A task of compaction may come in between.
    expect(await turns(true)).toBeLessThanOrEqual(2 * (await turns(false)) + 2);
  });

  it('keys that get the ids of keys that are gone are not in it', async () => {
    const { store, clock, keys } = await openLarge();
    await store.delete({ prefix: 'key/1' });
    await store.put('key/0', 'new');
    await store.compact(4);
    while (await clock.step());
    const { keys: left } = store.stats();
    const work = store.createSnapshot();
    await clock.step();
    await store.putAll(keys.slice(0, 3000).map((key) => ({ key: `new/${key}`, value: 'new' })));
    const { result: snapshot } = await clock.finish(work);
    const { result } = await clock.finish(openStore<string>({ clock, snapshot }));
    expect([result.revision, result.stats().keys, result.get('new/key/1')]).toEqual([4, left, undefined]);
  });

  it('R45: has the leases of the call, whatever becomes of them meanwhile', async () => {
    const clock = new StepClock();
    const store = await openStore<string>({ clock });
    const ids = Array.from({ length: 3000 }, (_, index) => String(index + 1));
    for (const id of ids) {
      await store.grantLease({ id, ttlMs: 60_000 });
      await store.put(`key/${id}`, 'x', { lease: id });
    }
    clock.time += 1000;
    const work = store.createSnapshot();
    clock.time += 1000;
    for (const id of ids.slice(2000)) await store.keepAliveLease(id);
    for (const id of ids.slice(1500, 2500)) await store.revokeLease(id);
    for (const id of ids.slice(2400, 2500)) await store.grantLease({ id, ttlMs: 5 });
    await store.grantLease({ id: '5000', ttlMs: 5 });
    const { result: snapshot, steps } = await clock.finish(work);
    expect(steps).toBeGreaterThan(2);
    clock.time -= 1000;
    const { result } = await clock.finish(openStore<string>({ clock, snapshot }));
    expect(await result.leases()).toEqual(ids);
    for (const id of ids) {
      const status = { id, grantedTtlMs: 60_000, remainingMs: 59_000, keys: [`key/${id}`] };
      expect(await result.leaseTimeToLive(id, { keys: true })).toEqual(status);
    }
  });

  it('nothing is kept for a snapshot that is over', async () => {
    const keep = vi.spyOn(LeaseWalk.prototype, 'keep');
    const clock = new StepClock();
    const store = await openStore<string>({ clock });
    for (let id = 1; id <= 3000; id++) await store.grantLease({ id: String(id), ttlMs: 60_000 });
    const controller = new AbortController();
    const works = [store.createSnapshot(), store.createSnapshot({ signal: controller.signal })];
    await store.keepAliveLease('3000');
    expect(keep).toHaveBeenCalledTimes(2);
    controller.abort();
    await Promise.allSettled(works.map((work) => clock.finish(work)));
    const aborted = store.createSnapshot({ signal: controller.signal });
    await expect(aborted).rejects.toBe(controller.signal.reason);
    keep.mockClear();
    await store.keepAliveLease('1');
    expect(keep).not.toHaveBeenCalled();
    keep.mockRestore();
  });

  it('a signal ends both between two steps', async () => {
    const { store, clock } = await openLarge();
    const { result: snapshot } = await clock.finish(store.createSnapshot());
    while (await clock.step());
    const reason = new Error('enough');
    for (const start of [
      (signal: AbortSignal): Promise<unknown> => store.createSnapshot({ signal }),
      (signal: AbortSignal): Promise<unknown> => openStore<string>({ clock, snapshot, signal }),
    ]) {
      const controller = new AbortController();
      const work = start(controller.signal);
      await clock.step();
      controller.abort(reason);
      await expect(clock.finish(work)).rejects.toBe(reason);
      await expect(start(controller.signal)).rejects.toBe(reason);
      while (await clock.step());
      expect(clock.timers).toEqual([]);
    }
  });

  it('F36: close() ends it at once and leaves no timer', async () => {
    const { store, clock } = await openLarge();
    const work = store.createSnapshot();
    await store.close();
    await expect(work).rejects.toBeInstanceOf(ClosedError);
    expect(clock.timers).toEqual([]);
    await expect(store.createSnapshot()).rejects.toBeInstanceOf(ClosedError);
  });

  it('F36: a store that fails to open leaves no timer', async () => {
    const { store } = await openTestStore<string>();
    for (let index = 0; index < 10; index++) await store.put('a', 'some text', { ttlMs: 5000 });
    const snapshot = await store.createSnapshot();
    const clock = createVirtualClock();
    const options = { clock, snapshot, retention: { ageMs: 5 } };
    await expect(openStore({ ...options, limits: { storeBytes: 50 } })).rejects.toBeInstanceOf(StoreFullError);
    expect(clock.pending).toBe(0);
    await openStore(options);
    expect(clock.pending).toBe(2);
  });

  it('several at a time are each their own', async () => {
    const { store, clock } = await openLarge(3000);
    const first = store.createSnapshot();
    await store.put('later', 'x');
    const second = store.createSnapshot();
    const made = [(await clock.finish(first)).result, (await clock.finish(second)).result];
    const revisions: number[] = [];
    for (const snapshot of made) {
      const { result } = await clock.finish(openStore<string>({ clock, snapshot }));
      revisions.push(result.revision);
    }
    expect(revisions).toEqual([2, 3]);
  });

  it('what was held back is there at once for a write, when it is done, given up or aborted', async () => {
    const ends: readonly ((work: Promise<unknown>, clock: StepClock, abort: () => void) => Promise<unknown>)[] = [
      (work, clock) => clock.finish(work),
      async (work, clock, abort) => {
        abort();
        await expect(clock.finish(work)).rejects.toBe('enough');
      },
    ];
    for (const options of [{ limits: { storeBytes: 300_000 } }, { memoryBytesMax: 1_048_576 }]) {
      for (const end of ends) {
        const clock = new StepClock();
        const store = await openStore<string>({ clock, retention: { events: 1e6 }, ...options });
        const fill = async () => {
          for (let round = 0; ; round++) await store.put(`key/${round % 50}`, 'x'.repeat(100));
        };
        await expect(fill()).rejects.toBeInstanceOf(StoreFullError);
        const controller = new AbortController();
        const work = store.createSnapshot({ signal: controller.signal });
        await store.compact(store.revision);
        // Compaction comes to where it is held, and has nothing to do any more.
        for (const timer of clock.timers.splice(1)) timer();
        await expect(fill()).rejects.toBeInstanceOf(StoreFullError);
        await end(work, clock, () => controller.abort('enough'));
        // No task has been run since.
        for (let round = 0; round < 50; round++) await store.put(`key/${round}`, 'y'.repeat(100));
      }
    }
  });

  it('what was held back is there at once for the end of a lease', async () => {
    const clock = new StepClock();
    const store = await openStore<string>({ clock, memoryBytesMax: 1_048_576, retention: { events: 1e6 } });
    await store.grantLease({ id: '1', ttlMs: 100 });
    const keys = Array.from({ length: 500 }, (_, index) => `leased/${index}`);
    await store.putAll(keys.map((key) => ({ key, value: 'x', lease: '1' })));
    const fill = async () => {
      for (let round = 0; ; round++) await store.put(`key/${round % 50}`, 'x');
    };
    await expect(fill()).rejects.toBeInstanceOf(StoreFullError);
    const work = store.createSnapshot();
    await store.compact(store.revision);
    await expect(fill()).rejects.toBeInstanceOf(StoreFullError);
    await clock.finish(work);
    clock.time += 100;
    expect(store.range({ prefix: 'leased/' }).count).toBe(0);
    await store.put('a', 'x');
  });

  it('gives way to the end of a lease in a store whose memory is full', async () => {
    const clock = new StepClock();
    const store = await openStore<string>({ clock, memoryBytesMax: 1_048_576, retention: { events: 1 } });
    await store.grantLease({ id: '1', ttlMs: 100 });
    const keys = Array.from({ length: 3000 }, (_, index) => `key/${index}`);
    await store.putAll(keys.map((key, index) => ({ key, value: 'x', lease: index < 2500 ? '1' : '0' })));
    const work = store.createSnapshot();
    const outcome = work.then(
      () => 'made',
      (error: Error) => error.name,
    );
    const fill = async () => {
      for (let round = 0; ; round++) await store.put('filler', `${round}`);
    };
    await expect(fill()).rejects.toBeInstanceOf(StoreFullError);
    const { revision } = store;
    clock.time += 100;
    expect(store.range({ prefix: 'key/' }).count).toBe(500);
    // With the memory that was held back, all keys of the lease can go at one revision.
    expect(store.revision).toBe(revision + 1);
    expect(await outcome).toBe('StoreFullError');
    await store.put('a', 'x');
  });

  it('what is due is gone before it begins, whether a timer ran or not (M31)', async () => {
    const virtual = createVirtualClock();
    let late = 0;
    const clock: Clock = {
      now: () => virtual.now() + late,
      wallTime: () => virtual.wallTime() + late,
      after: (delayMs, fn) => virtual.after(delayMs, fn),
    };
    const store = await openStore<string>({ clock });
    await store.put('a', '1', { ttlMs: 60_000 });
    await store.put('b', '1');
    late = 60_000;
    const making = store.createSnapshot();
    await virtual.advance(100);
    const snapshot = await making;
    expect(store.revision).toBe(4);
    const copy = await openStore<string>({ snapshot });
    expect([copy.get('a'), copy.get('b')?.value, copy.revision]).toEqual([undefined, '1', 4]);
    expect(copy.get('a', { revision: 3 })?.value).toBe('1');
    await copy.close();
    await store.close();
  });
});
