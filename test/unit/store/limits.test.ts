import { describe, expect, it, vi } from 'vitest';
import type { OpenStoreOptions } from '../../../src/open-store.ts';
import { jsonCodec, textCodec } from '../../../src/store/codecs.ts';
import { measuredCopy } from '../../../src/store/json-data.ts';
import { DEFAULT_LIMITS } from '../../../src/store/limits.ts';
import { PlainValues } from '../../../src/store/values.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { LimitExceededError, StoreFullError } from '../../../src/types/errors.ts';
import type { Limits } from '../../../src/types/limits.ts';
import type { Store } from '../../../src/types/store.ts';
import { errorOf } from '../../support/error-of.ts';
import { openRig } from '../../support/replica-rig.ts';
import { reproduce, testSeed } from '../../support/size.ts';
import { openTestStore } from './fixture.ts';

/** Limits (R21): at each one, and one above it: a typed error, and nothing is written. */

type AnyStore = Store<unknown>;
/** Calls with one that is as large as the limit allows, or larger by so much. */
type Attempt = (store: AnyStore, above: 0 | 1) => unknown;

const text = (length: number) => 'x'.repeat(length);

/** Everything that a refused call must leave as it is. */
function picture(store: AnyStore): unknown {
  const { revision, compactRevision } = store;
  const { keys, logEntries, storedVersions, watchers, leases, pins } = store.stats();
  return [revision, compactRevision, keys, logEntries, storedVersions, watchers, leases, pins];
}

describe('limits of a store', () => {
  it.each([
    [5, TypeError, 'limits is not an object'],
    [[], TypeError, 'limits is not an object'],
    [null, TypeError, 'limits is not an object'],
    [{ keys: 5 }, TypeError, 'unknown option limits.keys'],
    [{ keyBytes: 0 }, RangeError, 'limits.keyBytes is 0, allowed is an integer from 1 to 65535'],
    [{ keyBytes: 65_536 }, RangeError, 'limits.keyBytes is 65536, allowed is an integer from 1 to 65535'],
    [{ pins: -1 }, RangeError, 'limits.pins is -1, allowed is a safe integer from 1 on'],
    [{ pins: 1.5 }, RangeError, 'limits.pins is 1.5'],
    [{ pins: 2 ** 53 }, RangeError, 'limits.pins is 9007199254740992'],
    [{ leases: '7' }, TypeError, 'limits.leases is of type string, allowed is a safe integer from 1 on'],
    [{ leases: Number.POSITIVE_INFINITY }, RangeError, 'limits.leases is Infinity'],
  ])('%j is refused', async (limits, expected, message) => {
    const error = await errorOf(() => openTestStore({ limits: limits as never }));
    expect(error).toBeInstanceOf(expected);
    expect((error as Error).message).toContain(`Cannot open a store: ${message}`);
  });

  it('the smallest and the largest work, and one that is undefined is the default', async () => {
    const { store } = await openTestStore({ limits: { keyBytes: 65_535, pins: 1, leases: undefined as never } });
    await store.put('k', 1);
    expect(store.get('k')?.value).toBe(1);
  });
});

const put = (key: string, value: unknown) => ({ type: 'put', key, value }) as const;
/** `n` operations that change nothing. */
const idle = (n: number) => Array.from({ length: n }, () => ({ type: 'range', key: 'k', countOnly: true }) as const);
const compares = (n: number) =>
  Array.from({ length: n }, () => ({ key: 'k', target: 'version', result: '=', value: 0 }) as const);

const TABLE: readonly [string, Limits, Attempt][] = [
  ['keyBytes: a key', { keyBytes: 8 }, (store, above) => store.put(text(8 + above), 1)],
  ['keyBytes: in UTF-8', { keyBytes: 9 }, (store, above) => store.put('\u20ac\u20ac\u20ac'.padEnd(3 + above, 'x'), 1)],
  ['keyBytes: of a read', { keyBytes: 8 }, (store, above) => store.get(text(8 + above))],
  ['keyBytes: a prefix', { keyBytes: 8 }, (store, above) => store.range({ prefix: text(8 + above) })],
  ['keyBytes: an end', { keyBytes: 8 }, (store, above) => store.delete({ start: 'a', end: text(8 + above) })],
  ['keyBytes: of the whole key', { keyBytes: 8 }, (store, above) => store.prefix('jobs/').put(text(3 + above), 1)],
  ['valueBytes: a string', { valueBytes: 9 }, (store, above) => store.put('k', text(9 + above))],
  [
    'valueBytes: in UTF-8',
    { valueBytes: 9 },
    (store, above) => store.put('k', '\u20ac\u20ac\u20ac'.padEnd(3 + above, 'x')),
  ],
  [
    'valueBytes: a pair of surrogates',
    { valueBytes: 8 },
    (store, above) => store.put('k', '\u{1f600}\u{1f600}'.padEnd(4 + above, 'x')),
  ],
  ['valueBytes: bytes', { valueBytes: 9 }, (store, above) => store.put('k', new Uint8Array(9 + above))],
  ['valueBytes: data', { valueBytes: 9 }, (store, above) => store.put('k', { a: text(1 + above) })],
  ['valueBytes: an array', { valueBytes: 9 }, (store, above) => store.put('k', [1, 2, 3, above === 0 ? 4 : 44])],
  ['valueBytes: a number', { valueBytes: 3 }, (store, above) => store.put('k', above === 0 ? 999 : 1000)],
  ['valueBytes: false', { valueBytes: 4 }, (store, above) => store.put('k', above === 0)],
  ['valueBytes: escapes', { valueBytes: 10 }, (store, above) => store.put('k', ['\u0001'.padEnd(1 + above, 'x')])],
  [
    'valueBytes: names',
    { valueBytes: 12 },
    (store, above) => store.put('k', { ['\n'.repeat(3)]: above === 0 ? 1 : 11 }),
  ],
  [
    'valueBytes: in a txn',
    { valueBytes: 9 },
    (store, above) => store.txn({ then: [put('a', '1')], else: [put('b', text(9 + above))] }),
  ],
  [
    'valueBytes: in putAll',
    { valueBytes: 9 },
    (store, above) =>
      store.putAll([put('a', '1'), put('b', text(9 + above))].map(({ key, value }) => ({ key, value }))),
  ],
  ['valueBytes: in update', { valueBytes: 9 }, (store, above) => store.update((txn) => txn.put('k', text(9 + above)))],
  [
    'valueBytes: of a compare',
    { valueBytes: 9 },
    (store, above) =>
      store.txn({
        compare: [{ key: 'k', target: 'value', result: '=', value: text(9 + above) }],
        then: [put('a', '1')],
      }),
  ],
  ['txnOperations: then', { txnOperations: 3 }, (store, above) => store.txn({ then: idle(3 + above) })],
  ['txnOperations: else', { txnOperations: 3 }, (store, above) => store.txn({ else: idle(3 + above) })],
  ['txnOperations: compare', { txnOperations: 3 }, (store, above) => store.txn({ compare: compares(3 + above) })],
  [
    'txnOperations: nested',
    { txnOperations: 3 },
    (store, above) => store.txn({ then: [{ type: 'txn', else: idle(2 + above) }] }),
  ],
  [
    'txnBytes: a txn',
    { txnBytes: 20 },
    (store, above) => store.txn({ then: [put('a', text(9)), put('b', text(9 + above))] }),
  ],
  [
    'txnBytes: both branches',
    { txnBytes: 20 },
    (store, above) => store.txn({ then: [put('a', text(9))], else: [put('b', text(9 + above))] }),
  ],
  [
    'txnBytes: nested',
    { txnBytes: 20 },
    (store, above) => store.txn({ else: [put('a', text(9)), { type: 'txn', then: [put('b', text(9 + above))] }] }),
  ],
  [
    'txnBytes: keys',
    { txnBytes: 20 },
    (store, above) => store.txn({ then: [put(text(9), 'a'), put(text(10 + above).replace('x', 'y'), '')] }),
  ],
  [
    'txnBytes: keys in UTF-8',
    { txnBytes: 20 },
    (store, above) => store.txn({ then: [put('\u20ac'.repeat(6), new Uint8Array(2 + above))] }),
  ],
  [
    'txnBytes: in UTF-8',
    { txnBytes: 20 },
    (store, above) => store.txn({ then: [put('\u20ac', '\u20ac\u20ac\u20ac\u20ac'), put('b', text(4 + above))] }),
  ],
  [
    'txnBytes: data and bytes',
    { txnBytes: 20 },
    (store, above) => store.txn({ then: [put('a', { a: 'b' }), put('b', new Uint8Array(9 + above))] }),
  ],
  [
    'txnBytes: compares',
    { txnBytes: 20 },
    (store, above) =>
      store.txn({
        compare: [
          { key: 'kkk', target: 'value', result: '=', value: text(5 + above) },
          { prefix: 'kk', target: 'mod', result: '>', value: 1 },
        ],
        else: [put('a', text(9))],
      }),
  ],
  [
    'txnBytes: ranges',
    { txnBytes: 20 },
    (store, above) =>
      store.txn({
        then: [
          { type: 'delete', prefix: 'zzz' },
          { type: 'range', start: 'aaa', end: 'bbbb' },
          put('a', text(9 + above)),
        ],
      }),
  ],
  [
    'txnBytes: putAll',
    { txnBytes: 20 },
    (store, above) =>
      store.putAll([
        { key: 'a', value: text(9) },
        { key: 'b', value: text(9 + above) },
      ]),
  ],
  [
    'txnBytes: whole keys',
    { txnBytes: 20 },
    (store, above) => store.prefix('jobs/').putAll([{ key: 'a', value: text(14 + above) }]),
  ],
  [
    'txnBytes: update',
    { txnBytes: 20 },
    (store, above) =>
      store.update((txn) => {
        txn.put('a', text(9));
        txn.put('b', text(9 + above));
      }),
  ],
  [
    'leases: grant',
    { leases: 2 },
    async (store, above) => {
      for (let count = 0; count < 2 + above; count++) await store.grantLease({ ttlMs: 1000, id: `${count + 1}` });
    },
  ],
  [
    'watches: watch',
    { watches: 2 },
    (store, above) => {
      for (let count = 0; count < 2 + above; count++) store.watch({ prefix: '' });
    },
  ],
  [
    'pins: pin',
    { pins: 2 },
    (store, above) => {
      for (let count = 0; count < 2 + above; count++) store.pin(1, { owner: 'test' });
    },
  ],
];

describe('at each limit', () => {
  it.each(TABLE)('%s', async (title, limits, attempt) => {
    const name = title.split(':')[0] as keyof Limits;
    const max = limits[name] as number;
    const { store } = await openTestStore<unknown>({ limits });
    await attempt(store, 0);
    // Leases, watches and pins that fit stay; the one that does not is nowhere.
    const { store: other } = await openTestStore<unknown>({ limits });
    const isCount = name === 'leases' || name === 'watches' || name === 'pins';
    const before = picture(isCount ? store : other);
    const error = await errorOf(() => attempt(other, 1));
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: name, max });
    expect((error as LimitExceededError).actual).toBeGreaterThan(max);
    expect(picture(other)).toEqual(before);
    expect([other.revision, other.range({ prefix: '' }).count]).toEqual([1, 0]);
  });

  it.each<[keyof Limits, Attempt]>([
    ['keyBytes', (store, above) => store.put(text(65_535 + above), 1)],
    ['valueBytes', (store, above) => store.put('k', text(1_572_864 + above))],
    ['txnOperations', (store, above) => store.txn({ then: idle(128 + above) })],
    [
      'txnBytes',
      (store, above) =>
        store.putAll(
          Array.from({ length: 16 }, (_, index) => ({
            key: `k${index}`.padEnd(4, '.'),
            value: text(1_048_572 + (index === 15 ? above : 0)),
          })),
        ),
    ],
    [
      'pins',
      (store, above) => {
        for (let count = 0; count < 1000 + above; count++) store.pin(1, { owner: 'test' });
      },
    ],
  ])('the default of %s is what it is said to be', async (name, attempt) => {
    const { store } = await openTestStore<unknown>();
    await attempt(store, 0);
    const { store: other } = await openTestStore<unknown>();
    const max = DEFAULT_LIMITS[name];
    expect(await errorOf(() => attempt(other, 1))).toMatchObject({ limit: name, max, actual: max + 1 });
  });
});

describe('what a value is measured as', () => {
  const bound = (max: number, options: OpenStoreOptions<unknown> = {}) =>
    openTestStore<unknown>({ ...options, limits: { valueBytes: max } });

  it('a codec of the store: its bytes', async () => {
    const { store } = await bound(9, { codec: jsonCodec() });
    await store.put('k', 'x'.repeat(7));
    await expect(store.put('k', 'x'.repeat(8))).rejects.toMatchObject({ limit: 'valueBytes', actual: 10 });
  });

  it('a codec of a prefix: its bytes, whatever the store has', async () => {
    for (const options of [{}, { values: 'trusted' as const }, { codec: jsonCodec() }]) {
      const { store } = await bound(4, options);
      const part = store.prefix('p/', { codec: textCodec() });
      await part.put('k', '\u20acx');
      await expect(part.put('k', '\u20acxx')).rejects.toMatchObject({ limit: 'valueBytes', max: 4, actual: 5 });
      expect(part.get('k')?.value).toBe('\u20acx');
    }
  });

  it('trusted values: strings and bytes only', async () => {
    const { store } = await bound(4, { values: 'trusted' });
    await store.put('k', { large: text(100), toJSON: () => expect.fail('nobody looks into it') });
    await store.put('k', text(4));
    for (const value of [text(5), new Uint8Array(5)]) {
      await expect(store.put('k', value)).rejects.toMatchObject({ limit: 'valueBytes', actual: 5 });
    }
    expect(store.revision).toBe(3);
  });

  it('a codec of a prefix, in a transaction: its bytes, and those of ranges', async () => {
    const { store } = await openTestStore({ limits: { txnBytes: 29 } });
    const view = store.prefix('j/', { codec: textCodec() });
    const then = (above: number) => [
      { type: 'put', key: 'k', value: 'x'.repeat(10 + above) } as const,
      { type: 'delete', start: 'l', end: 'm' } as const,
      { type: 'range', start: 'n', countOnly: true } as const,
      { type: 'range', prefix: 'o' } as const,
    ];
    // j/k and 10 of its value; j/l, j/m; j/n and the end of the part, which is j0; j/o.
    await view.txn({ then: then(2) });
    const error = await errorOf(() => view.txn({ then: then(3) }));
    expect(error).toMatchObject({ limit: 'txnBytes', max: 29, actual: 30 });
    expect(view.get('k')?.value).toBe('x'.repeat(12));
  });

  it('a value that is put back as it was read: not again, but counted in a transaction', async () => {
    const { store } = await openTestStore<unknown>({ limits: { valueBytes: 9, txnBytes: 20 } });
    await store.put('a', { a: 'b' });
    const value = store.get('a')?.value;
    expect((await store.putAll(['b', 'c'].map((key) => ({ key, value })))).revision).toBe(3);
    await expect(store.putAll(['b', 'c', 'd'].map((key) => ({ key, value })))).rejects.toMatchObject({ actual: 30 });
  });

  it('ignoreValue brings none', async () => {
    const { store } = await openTestStore<unknown>({ limits: { txnBytes: 10 } });
    await store.put('k', text(100));
    await store.txn({ then: [{ type: 'put', key: 'k', value: undefined, ignoreValue: true }, put('b', text(8))] });
    expect(store.get('k')).toMatchObject({ version: 2, value: text(100) });
  });

  it('a request is measured only if it might be too large', async () => {
    for (const [value, isMeasured] of [
      // A unit may be 3 bytes: 3 of the key and 9 of the value, and 3 more.
      ['xxx', false],
      ['xxxx', true],
    ] as const) {
      const size = vi.spyOn(PlainValues.prototype, 'size');
      const { store } = await openTestStore<unknown>({ limits: { txnBytes: 12 } });
      await store.txn({ then: [put('k', value)] });
      expect(size.mock.calls.length > 0, value).toBe(isMeasured);
      size.mockRestore();
    }
  });

  it('the error of a large request has its whole size', async () => {
    const { store } = await openTestStore<unknown>({ limits: { txnBytes: 10 } });
    const then = [put('a', text(100)), put('b', '\u20ac'), put('c', { a: [1] })];
    await expect(store.txn({ then })).rejects.toMatchObject({ actual: 101 + 4 + 10 });
  });

  it('what is refused for more than its size is refused as ever', async () => {
    const { store } = await bound(4);
    await expect(store.put('k', `${text(9)}\ud800`)).rejects.toMatchObject({ code: 'VALUE' });
    await expect(store.put('k', { a: Number.NaN, b: text(9) })).rejects.toMatchObject({ code: 'VALUE' });
  });

  it('the bound from the copying walk is never below the size', () => {
    const random = createSeededRandom(testSeed());
    const below = (n: number) => Math.floor(random() * n);
    const string = () =>
      Array.from(
        { length: below(6) },
        () => ['a', '"', '\\', '\n', '\u0001', '\u00e9', '\u20ac', '\u{1f600}'][below(8)],
      ).join('');
    const value = (depth: number): unknown => {
      const kind = below(depth > 3 ? 5 : 7);
      if (kind === 0) return string();
      if (kind === 1) return [-1.2345678901234568e-300, -0, 1e21, -(2 ** 53), 0.1, -5e-324][below(6)];
      if (kind === 2) return random() < 0.5;
      if (kind < 5) return null;
      const parts = Array.from({ length: below(5) }, () => value(depth + 1));
      return kind === 5 ? parts : Object.fromEntries(parts.map((part, index) => [`${string()}${index}`, part]));
    };
    for (let round = 0; round < 2000; round++) {
      const { copy, bytesMost } = measuredCopy(value(0), 'measure');
      const size = new TextEncoder().encode(JSON.stringify(copy)).length;
      expect(bytesMost, `${reproduce('unit')}: ${JSON.stringify(copy)}`).toBeGreaterThanOrEqual(size);
    }
  });
});

describe('limits.storeBytes', () => {
  const open = (max: number, options: OpenStoreOptions<unknown> = {}) =>
    openTestStore<unknown>({ ...options, limits: { storeBytes: max } });
  const full = { code: 'STORE_FULL', limit: 'storeBytes', memoryBytesMax: undefined };

  it('counts every retained version; deletes go on, compaction makes room at once', async () => {
    const { store } = await open(100);
    await store.put('k', text(60));
    await store.put('k', text(40));
    const before = picture(store);
    await expect(store.put('k', 'x')).rejects.toMatchObject({ ...full, max: 100 });
    await expect(store.put('k', 'x')).rejects.toThrow('Cannot put a key: the retained values may use 100 bytes');
    await expect(
      store.putAll([
        { key: 'a', value: '' },
        { key: 'b', value: 'x' },
      ]),
    ).rejects.toThrow(StoreFullError);
    expect(picture(store)).toEqual(before);
    expect((await store.delete('k')).deleted).toBe(1);
    await expect(store.put('k', 'x')).rejects.toThrow(StoreFullError);
    await store.put('k', '');
    await store.compact(store.revision);
    // The timer of the physical part has not run.
    await store.put('k', text(100));
    await expect(store.put('k', 'x')).rejects.toThrow(StoreFullError);
  });

  it('stats say what the values take, where it is counted', async () => {
    const { store, clock } = await open(100);
    expect(store.stats().valueBytes).toBe(0);
    await store.put('k', text(60));
    await store.put('k', text(40));
    expect(store.stats()).toMatchObject({ keys: 1, storedVersions: 2, logEntries: 2, valueBytes: 100 });
    await store.compact(store.revision);
    while (await clock.advanceToNext());
    expect(store.stats()).toMatchObject({ keys: 1, storedVersions: 1, valueBytes: 40 });
    await store.close();
    const { store: unbounded } = await openTestStore<unknown>();
    expect('valueBytes' in unbounded.stats()).toBe(false);
    await unbounded.close();
  });

  it('each version of a commit gives back what is its own', async () => {
    const { store } = await open(100);
    await store.putAll([
      { key: 'a', value: text(60) },
      { key: 'b', value: text(10) },
    ]);
    await store.put('a', '');
    await store.compact(3);
    await store.put('c', text(90));
    await expect(store.put('c', 'x')).rejects.toMatchObject(full);
  });

  it('a pin that holds the room back is named', async () => {
    const { store } = await open(10);
    await store.put('k', text(5));
    const pin = store.pin(2, { owner: 'backup' });
    await store.put('k', text(5));
    expect((await store.compact(3)).compactRevision).toBe(2);
    await expect(store.put('k', 'x')).rejects.toMatchObject({ ...full, pin: { owner: 'backup', revision: 2 } });
    pin.release();
    await store.put('k', text(5));
    await expect(store.put('k', 'x')).rejects.toMatchObject({ ...full, pin: undefined });
  });

  it('retention makes room before the next put', async () => {
    const { store } = await open(100, { retention: { events: 1 } });
    for (let index = 0; index < 1000; index++) await store.put('k', text(50));
    await expect(store.put('k', text(51))).rejects.toThrow(StoreFullError);
  });

  it('measures as valueBytes does, and a version that kept its value has one of its own', async () => {
    const { store } = await open(30, { values: 'trusted' });
    await store.put('data', { large: text(100) });
    await store.put('k', '\u20ac\u20ac\u20ac\u20ac\u20ac');
    await store.put('k', undefined, { ignoreValue: true });
    await expect(store.put('k', 'x')).rejects.toMatchObject(full);
    const encoded = await open(7, { codec: jsonCodec() });
    await encoded.store.put('k', 'x'.repeat(5));
    await expect(encoded.store.put('k', 1)).rejects.toMatchObject(full);
  });

  it('a lease that a refused put would have had is not there', async () => {
    const { store } = await open(10);
    await expect(store.put('k', text(11), { ttlMs: 1000 })).rejects.toMatchObject(full);
    expect(store.stats().leases).toBe(0);
  });

  it('agrees with a sum over what is stored, in random programs', async () => {
    const random = createSeededRandom(testSeed());
    const below = (n: number) => Math.floor(random() * n);
    for (let round = 0; round < 10; round++) {
      const { store, clock } = await open(200, { retention: { events: 1000 } });
      /** Versions by key, oldest first; -1 is a tombstone. */
      const stored = new Map<string, [revision: number, bytes: number][]>();
      for (let step = 0; step < 300; step++) {
        const key = `k${below(5)}`;
        const what = `${reproduce('unit')}, round ${round}, step ${step}`;
        const total = [...stored.values()].flat().reduce((sum, [, bytes]) => sum + Math.max(bytes, 0), 0);
        const kind = below(10);
        if (kind < 7) {
          const bytes = below(30);
          if (total + bytes > 200) {
            expect(await errorOf(() => store.put(key, text(bytes))), what).toBeInstanceOf(StoreFullError);
          } else {
            await store.put(key, text(bytes));
            stored.set(key, [...(stored.get(key) ?? []), [store.revision, bytes]]);
          }
        } else if (kind < 8) {
          if ((await store.delete(key)).deleted > 0) stored.get(key)?.push([store.revision, -1]);
        } else if (store.revision > store.compactRevision) {
          const at = store.compactRevision + 1 + below(store.revision - store.compactRevision);
          await store.compact(at);
          for (const [name, versions] of stored) {
            const newest = versions.filter(([revision]) => revision <= at).at(-1);
            const kept = versions.filter(
              (version) => version[0] > at || (version === newest && (version[1] >= 0 || version[0] === at)),
            );
            stored.set(name, kept);
          }
        }
        if (below(3) === 0) await clock.advanceToNext();
      }
    }
  });

  it('what a replica is sent is not bounded: its data are its backend\u2019s', async () => {
    const { store, history, clock } = await openRig({ limits: { valueBytes: 5 } });
    history.commit([{ key: 'k', value: text(100) }]);
    await clock.settle();
    expect(store.get('k')?.value).toBe(text(100));
    await expect(store.put('k', text(6))).rejects.toMatchObject({ limit: 'valueBytes' });
  });
});
