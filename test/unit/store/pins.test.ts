import { describe, expect, it } from 'vitest';
import type { OpenStoreOptions } from '../../../src/open-store.ts';
import { textCodec } from '../../../src/store/codecs.ts';
import { Pins, readPinOptions } from '../../../src/store/pins.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createCommitHistory } from '../../../src/testing/commit-history.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import {
  ClosedError,
  CompactedError,
  FutureRevisionError,
  LimitExceededError,
  PinBrokenError,
  StoreFullError,
} from '../../../src/types/errors.ts';
import type { Pin, PinOptions } from '../../../src/types/pin.ts';
import type { Store } from '../../../src/types/store.ts';
import { openRig } from '../../support/replica-rig.ts';
import { reproduce, testSeed } from '../../support/size.ts';
import { openTestStore, Parts, Reader, settle } from './fixture.ts';

/** Pins (M16, M18): what they hold back, what ends them, and that what was wanted meanwhile goes on. */

const owner = 'backup';

/** A store at `revision`, each commit a put of `k`. */
async function openAt(revision: number, options: OpenStoreOptions<unknown> = {}) {
  const opened = await openTestStore<unknown>(options);
  while (opened.store.revision < revision) await opened.store.put('k', opened.store.revision + 1);
  return opened;
}

const reason = (pin: Pin) => (pin.signal.aborted ? (pin.signal.reason as { reason?: string }).reason : 'held');

describe('what pins are on', () => {
  it('is each revision that is held, and no other', () => {
    const parts = new Parts();
    for (let revision = 2; revision <= 10; revision++) parts.commit(revision, ['put', 'k']);
    const { pins } = parts.applier;
    const held = () => [4, 5, 6, 9].filter((revision) => pins.isOn(revision));
    expect(held()).toEqual([]);
    const pin = pins.pin(5, readPinOptions({ owner }, 'pin'));
    const other = pins.pin(9, readPinOptions({ owner }, 'pin'));
    expect(held()).toEqual([5, 9]);
    pin.release();
    expect(held()).toEqual([9]);
    other.release();
    expect(held()).toEqual([]);
  });
});

describe('compaction and a pin', () => {
  it('stops at the pin, says so, and goes on when it is released', async () => {
    const { store } = await openAt(10);
    const pin = store.pin(5, { owner });
    expect([pin.revision, pin.owner, pin.signal.aborted]).toEqual([5, owner, false]);
    expect(await store.compact(8)).toEqual({ requested: 8, compactRevision: 5 });
    expect([store.compactRevision, store.get('k', { revision: 5 })?.value]).toEqual([5, 5]);
    expect(() => store.get('k', { revision: 4 })).toThrow(CompactedError);
    pin.release();
    expect([store.compactRevision, pin.signal.aborted]).toEqual([8, false]);
    expect(() => store.get('k', { revision: 7 })).toThrow(CompactedError);
  });

  it('is judged by the low watermark as it is, and remembers the highest request', async () => {
    const { store } = await openAt(10);
    const pin = store.pin(5, { owner });
    expect((await store.compact(9)).compactRevision).toBe(5);
    await expect(store.compact(5)).rejects.toMatchObject({ minRevision: 6, compactRevision: 5 });
    await expect(store.compact(11)).rejects.toThrow(FutureRevisionError);
    expect(await store.compact(7)).toEqual({ requested: 7, compactRevision: 5 });
    expect(await store.compact(9)).toEqual({ requested: 9, compactRevision: 5 });
    pin.release();
    expect(store.compactRevision).toBe(9);
    await expect(store.compact(9)).rejects.toThrow(CompactedError);
  });

  it('below the pin is as ever, and the first one may be at 0', async () => {
    const { store } = await openAt(10);
    {
      using pin = store.pin(5, { owner });
      expect(await store.compact(0)).toEqual({ requested: 0, compactRevision: 0 });
      await expect(store.compact(0)).rejects.toThrow(CompactedError);
      expect(await store.compact(3)).toEqual({ requested: 3, compactRevision: 3 });
      expect([pin.signal.aborted, store.stats().pins.length]).toEqual([false, 1]);
    }
    expect(store.stats().pins).toEqual([]);
  });

  it('stops at the oldest of several, from whichever side they go', async () => {
    const { store } = await openAt(10);
    const pins = [6, 4, 8, 4].map((revision, index) => store.pin(revision, { owner: `${index}` }));
    expect(store.stats().pins.map((one) => `${one.owner}@${one.revision}`)).toEqual(['1@4', '3@4', '0@6', '2@8']);
    await store.compact(10);
    const seen = [1, 0, 3, 3, 2].map((index) => {
      pins[index]?.release();
      return store.compactRevision;
    });
    expect(seen).toEqual([4, 4, 8, 8, 10]);
    expect(store.stats().pins).toEqual([]);
  });

  it('holds the physical part back too, and gives everything free afterwards', async () => {
    const { store, clock } = await openAt(500);
    const pin = store.pin(100, { owner });
    await store.compact(500);
    while (store.stats().storedVersions > 401 && (await clock.advanceToNext()));
    expect(store.stats().storedVersions).toBe(401);
    for (const revision of [100, 250, 499]) expect(store.get('k', { revision })?.value).toBe(revision);
    pin.release();
    while (await clock.advanceToNext());
    expect(store.stats().storedVersions).toBe(1);
  });

  it('a watch below the pin ends, one at the pin goes on, until the release passes it', async () => {
    const { store } = await openAt(10);
    const pin = store.pin(5, { owner });
    const readers = [4, 5, 9, 10].map((fromRevision) => new Reader(store.watch({ prefix: '' }, { fromRevision })));
    await store.compact(9);
    expect(await readers[0]?.take()).toEqual(['CompactedError']);
    expect((await readers[1]?.take())?.length).toBe(6);
    pin.release();
    await readers[2]?.take();
    expect(readers[2]?.error).toBeUndefined();
  });

  it('a pin is not of the watch: one that lags is ended when the pin goes', async () => {
    const { store } = await openAt(10);
    const pin = store.pin(5, { owner });
    const reader = new Reader(store.watch({ prefix: '' }, { fromRevision: 6 }));
    await store.compact(9);
    pin.release();
    expect(await reader.take()).toEqual(['CompactedError']);
    expect(reader.error).toMatchObject({ minRevision: 9, compactRevision: 9 });
  });

  it('through the view of a prefix: pins are those of the whole store', async () => {
    const { store } = await openAt(10);
    const part = store.prefix('k', { codec: textCodec() });
    const pin = part.pin(5, { owner });
    await part.compact(8);
    expect([store.compactRevision, part.compactRevision, store.stats().pins.length]).toEqual([5, 5, 1]);
    await part.close();
    expect([pin.signal.aborted, store.compactRevision]).toEqual([false, 5]);
    pin.release();
    expect(store.compactRevision).toBe(8);
  });
});

describe('scenario 10, M16: a hole', () => {
  /** `k` at 5, 8 and 9, then the span (9, 30], then 35. */
  function openHole(): Parts {
    const parts = new Parts();
    for (const revision of [5, 8, 9]) parts.commit(revision, ['put', 'k']);
    return parts;
  }
  const floors = ({ mvcc: { window } }: Parts) => [window.compactRevision, window.watchFloor];

  it.each([8, 9])(
    'with a pin at %i compact(20) stays at the pin, a watch from 10 is legal; on release C=30, W=31',
    async (at) => {
      const parts = openHole();
      const pin = parts.applier.pins.pin(at, readPinOptions({ owner }, 'pin'));
      parts.span(30, ['put', 'k']);
      expect([parts.applier.compact(20, 'compact'), ...floors(parts)]).toEqual([at, at, at]);
      expect(parts.at('k', 9)).toBe('k(5,9,3)');
      expect(await parts.watch({ prefix: '' }, { fromRevision: 10 }).take()).toEqual(['(9,30]: put k(5,30,4)']);
      pin.release();
      expect(floors(parts)).toEqual([30, 31]);
      expect(await parts.watch({ prefix: '' }, { fromRevision: 10 }).take()).toEqual(['CompactedError']);
      await parts.compactFully();
      expect([parts.at('k', 30), parts.at('k', 29)]).toEqual(['k(5,30,4)', 'CompactedError 30']);
    },
  );

  it('a pin behind the hole does not keep a request from its end', () => {
    for (const at of [30, 35]) {
      const parts = openHole();
      parts.span(30, ['put', 'k']);
      parts.commit(35, ['put', 'k']);
      parts.applier.pins.pin(at, readPinOptions({ owner }, 'pin'));
      expect([parts.applier.compact(20, 'compact'), ...floors(parts)]).toEqual([30, 30, 31]);
    }
  });

  it('no pin can be in it, or outside of what can be read', () => {
    const parts = openHole();
    parts.span(30, ['put', 'k']);
    const { pins } = parts.applier;
    for (const inside of [10, 20, 29]) {
      expect(() => pins.pin(inside, readPinOptions({ owner }, 'pin'))).toThrow(
        expect.objectContaining({ code: 'COMPACTED', minRevision: 30 }),
      );
    }
    expect(() => pins.pin(31, readPinOptions({ owner }, 'pin'))).toThrow(FutureRevisionError);
    parts.applier.compact(8, 'compact');
    expect(() => pins.pin(7, readPinOptions({ owner }, 'pin'))).toThrow(
      expect.objectContaining({ code: 'COMPACTED', minRevision: 8 }),
    );
    for (const legal of [8, 9, 30]) expect(pins.pin(legal, readPinOptions({ owner }, 'pin')).revision).toBe(legal);
  });

  it('a repair breaks what was pinned below it: that history was wrong (M13)', async () => {
    const parts = openHole();
    const pin = parts.applier.pins.pin(8, readPinOptions({ owner }, 'pin'));
    parts.repair(30, ['put', 'k']);
    await settle();
    expect([reason(pin), ...floors(parts)]).toEqual(['reset', 30, 31]);
    const [below, at] = [parts.applier.pins, parts.applier.pins].map((pins) =>
      pins.pin(30, readPinOptions({ owner }, 'pin')),
    );
    parts.commit(31, ['put', 'k']);
    const newest = parts.applier.pins.pin(31, readPinOptions({ owner }, 'pin'));
    parts.applier.distrustHistory();
    await settle();
    expect([below, at, newest].map((one) => one && reason(one))).toEqual(['reset', 'reset', 'held']);
  });

  it('a state that is made anew breaks all (M35)', async () => {
    const parts = openHole();
    const pin = parts.applier.pins.pin(9, readPinOptions({ owner }, 'pin'));
    parts.applier.compact(9, 'compact');
    parts.applier.restart({ revision: 30, changes: parts.changes(30, [['put', 'k']]) }, 'apply a list');
    await settle();
    expect([reason(pin), ...floors(parts)]).toEqual(['reset', 30, 31]);
  });
});

describe('the bounds of a pin', () => {
  it('time: it breaks after ttlMs, not before, in a microtask, and what was held back goes on', async () => {
    const { store, clock } = await openAt(10);
    const pin = store.pin(5, { owner, ttlMs: 1000 });
    await store.compact(8);
    await clock.advance(999);
    expect([reason(pin), store.compactRevision]).toEqual(['held', 5]);
    await clock.advance(1);
    expect(pin.signal.reason).toBeInstanceOf(PinBrokenError);
    expect(pin.signal.reason).toMatchObject({ code: 'PIN_BROKEN', owner, revision: 5, reason: 'ttlMs' });
    expect([store.compactRevision, store.stats().pins]).toEqual([8, []]);
    pin.release();
    expect(store.compactRevision).toBe(8);
  });

  it('a minute is the default, and a pin that was released has no timer', async () => {
    const { store, clock } = await openAt(3);
    const pin = store.pin(2, { owner });
    await clock.advance(59_999);
    expect(reason(pin)).toBe('held');
    await clock.advance(1);
    expect(reason(pin)).toBe('ttlMs');
    const other = store.pin(2, { owner });
    expect(clock.pending).toBe(1);
    other.release();
    other.release();
    other[Symbol.dispose]();
    expect([clock.pending, reason(other)]).toEqual([0, 'held']);
  });

  it('bytes: those of the values that commits behind it have; it holds at the bound and breaks above', async () => {
    const { store } = await openTestStore<unknown>();
    await store.put('a', 'x'.repeat(500));
    const pin = store.pin(2, { owner, bytes: 100 });
    const [only] = store.stats().pins;
    expect(only).toEqual({ owner, revision: 2, bytes: 0 });
    await store.put('b', 'x'.repeat(55));
    await store.put('c', '\u00e9'.repeat(10));
    await store.put('d', Uint8Array.of(1, 2, 3));
    await store.delete('d');
    await store.put('e', { a: 'b', list: [1, 2] });
    expect(store.stats().pins[0]?.bytes).toBe(55 + 20 + 3 + 22);
    await store.compact(7);
    expect([reason(pin), store.compactRevision]).toEqual(['held', 2]);
    await store.put('f', '');
    expect(reason(pin)).toBe('held');
    const late = pin.signal;
    let isInside = true;
    let wasInside: boolean | undefined;
    late.addEventListener('abort', () => {
      wasInside = isInside;
    });
    const put = store.put('g', '1');
    isInside = false;
    await put;
    await settle();
    expect([reason(pin), wasInside, store.compactRevision, store.stats().pins]).toEqual(['bytes', false, 7, []]);
  });

  it('bytes that are there already count too, and too many break it at once', async () => {
    const { store } = await openTestStore<string>({ codec: textCodec() });
    for (let index = 0; index < 10; index++) await store.put('k', '0123456789');
    const pins = [2, 6, 11, 2].map((revision, index) => store.pin(revision, { owner, bytes: index === 3 ? 89 : 90 }));
    expect(pins.map(reason)).toEqual(['held', 'held', 'held', 'bytes']);
    expect(store.stats().pins.map(({ bytes }) => bytes)).toEqual([90, 50, 0]);
    await store.put('k', '1');
    expect(pins.map(reason)).toEqual(['bytes', 'held', 'held', 'bytes']);
    await store.put('k', 'x'.repeat(40));
    expect(pins.map(reason)).toEqual(['bytes', 'bytes', 'held', 'bytes']);
  });

  it('one commit breaks all whose bound it passes, in the order of the bounds, equal ones as they were made', async () => {
    const { store } = await openTestStore<string>({ codec: textCodec() });
    const broken: number[] = [];
    const bounds = [10, 20, 10, 5, 10];
    const pins = bounds.map((bytes) => store.pin(1, { owner, bytes }));
    for (const [index, { signal }] of pins.entries()) signal.addEventListener('abort', () => broken.push(index));
    await store.put('k', 'x'.repeat(11));
    await settle();
    expect([broken, store.stats().pins]).toEqual([[3, 0, 2, 4], [{ owner, revision: 1, bytes: 11 }]]);
  });

  it('the end of one changes nothing for the others, also for those with the same bound', async () => {
    const { store } = await openTestStore<string>({ codec: textCodec() });
    const pins = [5, 10, 10, 10].map((bytes) => store.pin(1, { owner, bytes }));
    await store.put('k', 'x'.repeat(7));
    pins[1]?.release();
    pins[3]?.release();
    expect([pins.map(reason), store.stats().pins]).toEqual([
      ['bytes', 'held', 'held', 'held'],
      [{ owner, revision: 1, bytes: 7 }],
    ]);
    await store.put('k', 'xxx');
    expect(pins.map(reason)).toEqual(['bytes', 'held', 'held', 'held']);
    await store.put('k', 'x');
    expect(pins.map(reason)).toEqual(['bytes', 'held', 'bytes', 'held']);
  });

  it.each<[string, (pins: Pins, pin: Pin, advance: (ms: number) => Promise<void>) => unknown, number]>([
    ['released', (_, pin) => pin.release(), 1],
    ['out of time', (_, __, advance) => advance(60_000), 1],
    ['broken by bytes', (pins) => pins.grow(101), 0],
    ['broken by a reset', (pins) => pins.resetBelow(3), 0],
    ['lost with the store', (pins) => pins.close(), 0],
  ])('%s: compaction hears of it once if it may go on then, and not otherwise', async (_, end, expected) => {
    const clock = createVirtualClock();
    let gone = 0;
    const pins = new Pins({
      clock,
      max: 2,
      history: { readable: (revision) => revision, bytesAfter: () => 0 },
      onGone: () => {
        gone++;
      },
    });
    const pin = pins.pin(2, readPinOptions({ owner, bytes: 100 }, 'pin'));
    await end(pins, pin, (ms) => clock.advance(ms));
    expect([gone, pins.size, clock.pending]).toEqual([expected, 0, 0]);
    pin.release();
    pin[Symbol.dispose]();
    expect(gone).toBe(expected);
  });

  it('64 MiB are the default', async () => {
    const { store } = await openTestStore<unknown>();
    const pin = store.pin(1, { owner });
    const mebibyte = 'x'.repeat(1_048_576);
    for (let index = 0; index < 64; index++) await store.put('k', mebibyte);
    expect(reason(pin)).toBe('held');
    await store.put('k', 'x');
    expect(reason(pin)).toBe('bytes');
  });

  it('limits.pins: as many as that at a time', async () => {
    const { store } = await openTestStore({ limits: { pins: 2 } });
    const pins = [store.pin(1, { owner }), store.pin(1, { owner })];
    expect(() => store.pin(1, { owner })).toThrow(LimitExceededError);
    expect(() => store.pin(1, { owner })).toThrow('Cannot pin a revision: pins is at most 2, got 3');
    pins[0]?.release();
    store.pin(1, { owner });
    expect(store.stats().pins.length).toBe(2);
  });

  it.each<[number, unknown, new () => Error, string]>([
    [0, { owner }, RangeError, 'the revision is 0, allowed is a safe integer from 1 on'],
    [-1, { owner }, RangeError, 'the revision is -1'],
    [1.5, { owner }, RangeError, 'the revision is 1.5'],
    [Number.NaN, { owner }, RangeError, 'the revision is NaN'],
    ['1' as never, { owner }, TypeError, 'the revision is of type string, allowed is a safe integer from 1 on'],
    [1, undefined, TypeError, 'the options are not an object'],
    [1, {}, TypeError, 'owner is not a string with text'],
    [1, { owner: '' }, TypeError, 'owner is not a string with text'],
    [1, { owner: 1 }, TypeError, 'owner is not a string with text'],
    [1, { owner, ttl: 1 }, TypeError, 'unknown option ttl'],
    [1, { owner, ttlMs: 0 }, RangeError, 'ttlMs is 0, allowed is a safe integer from 1 on'],
    [1, { owner, ttlMs: Number.POSITIVE_INFINITY }, RangeError, 'ttlMs is Infinity'],
    [1, { owner, bytes: -1 }, RangeError, 'bytes is -1, allowed is a safe integer from 0 on'],
    [1, { owner, bytes: Number.POSITIVE_INFINITY }, RangeError, 'bytes is Infinity'],
  ])('pin(%j, %j) is refused', async (revision, options, kind, message) => {
    const { store, clock } = await openTestStore();
    expect(() => store.pin(revision, options as PinOptions)).toThrow(kind);
    expect(() => store.pin(revision, options as PinOptions)).toThrow(`Cannot pin a revision: ${message}`);
    expect([store.stats().pins, clock.pending]).toEqual([[], 0]);
  });
});

describe('the end of the data', () => {
  it('close: the signal aborts with ClosedError, no timer stays, and nothing can be pinned', async () => {
    const { store, clock } = await openAt(3);
    const pins = [store.pin(2, { owner }), store.pin(3, { owner })];
    const { signal } = pins[0] as Pin;
    await store.close();
    await settle();
    expect([signal.reason, pins[1]?.signal.reason].map((error) => error instanceof ClosedError)).toEqual([true, true]);
    expect(clock.pending).toBe(0);
    for (const pin of pins) pin.release();
    expect(() => store.pin(3, { owner })).toThrow(ClosedError);
    // Whatever else is wrong with the call.
    expect(() => store.pin(3, { owner, unknown: 1 } as never)).toThrow(ClosedError);
  });

  it('a replica: pins hold its own window back, and break when its data are replaced', async () => {
    const rig = await openRig();
    const { store, clock } = rig;
    for (let index = 0; index < 5; index++) rig.history.commit([{ key: 'k', value: `${index}` }]);
    await clock.settle();
    const pin = store.pin(store.revision - 3, { owner });
    const compacted = store.compact(store.revision);
    await clock.advance(100);
    expect(await compacted).toEqual({ requested: store.revision, compactRevision: pin.revision });
    expect(store.stats().pins).toEqual([{ owner, revision: pin.revision, bytes: 3 }]);
    const other = createCommitHistory({ identity: 'other' });
    other.commit([{ key: 'k', value: 'other' }]);
    rig.backend.replace(other);
    await clock.advance(20_000);
    expect([store.epoch, pin.signal.aborted && reason(pin), store.stats().pins]).toEqual([2, 'reset', []]);
    const last = store.pin(store.revision, { owner });
    await store.close();
    await settle();
    expect(last.signal.reason).toBeInstanceOf(ClosedError);
  });
});

describe('from inside user code', () => {
  it('a codec of a read may release a pin: the read goes on as it began, compaction waits for its end', async () => {
    let pin: Pin | undefined;
    const seen: number[] = [];
    let store: Store<string> | undefined;
    const codec = {
      encode: (value: string) => new TextEncoder().encode(value),
      decode: (bytes: Uint8Array) => {
        pin?.release();
        if (store !== undefined) seen.push(store.compactRevision);
        return new TextDecoder().decode(bytes);
      },
    };
    ({ store } = await openTestStore<string>({ codec }));
    for (const value of ['2', '3', '4', '5', '6']) await store.put('k', value);
    pin = store.pin(3, { owner });
    await store.compact(6);
    const reader = new Reader(store.watch({ prefix: '' }, { fromRevision: 4, prevKv: true }));
    expect((await reader.drain(1)).batches.map(({ revision }) => revision)).toEqual([4]);
    expect([seen[0], store.compactRevision]).toEqual([3, 6]);
  });

  it('the signal may write: that is the next revision', async () => {
    const { store, clock } = await openAt(5);
    const pin = store.pin(3, { owner, ttlMs: 10 });
    const written: Promise<unknown>[] = [];
    pin.signal.addEventListener('abort', () => written.push(store.put('k', 'late')));
    await clock.advance(10);
    expect(await Promise.all(written)).toEqual([{ revision: 6 }]);
  });
});

describe('a full store and a pin', () => {
  const LIMIT = { memoryBytesMax: 1_048_576, retention: { events: 1 } };

  async function fill(store: Store<unknown>): Promise<StoreFullError> {
    for (let index = 0; index < 100_000; index++) {
      const error = await store.put('k', index).catch((thrown: unknown) => thrown);
      if (error instanceof StoreFullError) return error;
    }
    throw new Error('history is not held back: the store does not get full');
  }

  it('the error of a write names who holds history back; the release makes room', async () => {
    const { store } = await openTestStore<unknown>(LIMIT);
    await store.put('k', 1);
    const pin = store.pin(2, { owner });
    const error = await fill(store);
    expect(error).toMatchObject({ limit: 'memoryBytesMax', max: 1_048_576, memoryBytesMax: 1_048_576 });
    expect(error.pin).toEqual({ owner, revision: 2 });
    expect(error.message).toContain(`history is held back from revision 2 by ${owner}`);
    expect([reason(pin), store.get('k', { revision: 2 })?.value]).toEqual(['held', 1]);
    pin.release();
    expect(store.compactRevision).toBe(store.revision);
    await store.put('k', 'again');
  });

  it('a pin on what is newest holds nothing back, and is not named', async () => {
    const { store } = await openTestStore<unknown>(LIMIT);
    const refused = async () => {
      for (let index = store.revision; index < 100_000; index++) {
        const error = await store.put(`key/${index}`, 1).catch((thrown: unknown) => thrown);
        if (error instanceof StoreFullError) return error;
      }
      throw new Error('the store does not get full');
    };
    await refused();
    store.pin(store.revision, { owner });
    expect((await refused()).pin).toBeUndefined();
  });

  it('an expiry needs no room that is not there: the oldest pins break, those on what is newest stay', async () => {
    const { store, clock } = await openTestStore<unknown>(LIMIT);
    const lease = await store.grantLease({ ttlMs: 1000 });
    for (let index = 0; index < 2000; index++) await store.put(`lease/${index}`, index, { lease: lease.id });
    const old = store.pin(store.revision, { owner: 'old', ttlMs: 1e6 });
    await fill(store);
    const newest = store.pin(store.revision, { owner: 'newest', ttlMs: 1e6 });
    await clock.advance(1000);
    expect(store.range({ prefix: 'lease/' }).count).toBe(0);
    expect([reason(old), reason(newest)]).toEqual(['bytes', 'held']);
    expect(store.get('lease/0', { revision: newest.revision })?.value).toBe(0);
  });

  it('history is dropped up to the oldest pin, then pins break, but none on what is newest', async () => {
    const parts = new Parts();
    for (const revision of [2, 3, 4]) parts.commit(revision, ['put', 'k']);
    const pins = [2, 3, 4].map((revision) => parts.applier.pins.pin(revision, readPinOptions({ owner }, 'pin')));
    const dropped: unknown[] = [];
    for (let round = 0; round < 5; round++) {
      dropped.push([parts.applier.dropHistory(), parts.mvcc.window.compactRevision]);
    }
    await settle();
    expect(dropped.slice(0, 4)).toEqual([
      [true, 2],
      [true, 3],
      [true, 4],
      [false, 4],
    ]);
    expect(pins.map(reason)).toEqual(['bytes', 'bytes', 'held']);
  });
});

describe('random pins', () => {
  it('hold back what they say and nothing else, beside compaction and retention', async () => {
    const random = createSeededRandom(testSeed());
    const below = (n: number) => Math.floor(random() * n);
    for (let round = 0; round < 20; round++) {
      const { store, clock } = await openTestStore<unknown>({ retention: { events: 20 } });
      const held = new Set<Pin>();
      const values = new Map<number, unknown>();
      let wanted = 0;
      for (let step = 0; step < 200; step++) {
        const { revision, compactRevision } = store;
        const lowest = Math.max(compactRevision, 1);
        const kind = below(16);
        if (kind < 8) values.set((await store.put('k', step)).revision, step);
        else if (kind < 11) held.add(store.pin(lowest + below(revision - lowest + 1), { owner, ttlMs: 1 + below(50) }));
        else if (kind < 13) [...held][below(held.size)]?.release();
        else if (kind < 14 && revision > compactRevision) {
          const n = compactRevision + 1 + below(revision - compactRevision);
          await store.compact(n);
          wanted = Math.max(wanted, n);
        } else await clock.advance(below(10));
        const there = new Set(store.stats().pins.map((pin) => pin.revision));
        for (const pin of held) if (!there.has(pin.revision)) held.delete(pin);
        // One put a revision, from 2 on: twenty entries are twenty revisions.
        if (store.revision > 21) wanted = Math.max(wanted, store.revision - 19);
        const what = `${reproduce('unit')}, round ${round}, step ${step}`;
        expect(store.compactRevision, what).toBe(Math.min(wanted, ...there));
        for (const at of there) expect(store.get('k', { revision: at })?.value, what).toBe(values.get(at));
      }
      await clock.advance(50);
      expect([store.compactRevision, store.stats().pins]).toEqual([wanted, []]);
    }
  });
});
