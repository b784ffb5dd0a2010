import { beforeAll, describe, expect, it } from 'vitest';
import { Core } from '../../../src/core/core.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { compareBytes } from '../../support/naive-core.ts';
import { testSeed } from '../../support/size.ts';
import { compileTinyCore } from '../../support/tiny-core.ts';
import { between, bytes, CoreRig, EVERYTHING } from './core-rig.ts';

describe('ranges (store:R7)', () => {
  const rig = new CoreRig();
  let commit = 0;
  const keys = ['a', 'a\u0000', 'a/', 'a/b', 'a/bc', 'a/c', 'a0', 'b', '\u{10ffff}', '\u00ff'];
  for (const key of keys.toReversed()) rig.put(key, ++commit);
  const names = (start: string, end?: string): string[] =>
    [...rig.core.range(between(start, end), Number.POSITIVE_INFINITY, 0)].map((slot) => rig.key(slot));

  it.each([
    ['a point', 'a/b', undefined, ['a/b']],
    ['a point that is absent', 'a/', 'a/', []],
    ['half-open', 'a/b', 'a/c', ['a/b', 'a/bc']],
    ['start = end', 'a/b', 'a/b', []],
    ['start > end', 'b', 'a', []],
    ['a prefix', 'a/', 'a0', ['a/', 'a/b', 'a/bc', 'a/c']],
    ['no upper bound', 'b', '', ['b', '\u00ff', '\u{10ffff}']],
    ['between prefixes of one another', 'a', 'a/b', ['a', 'a\u0000', 'a/']],
    ['nothing in between', 'c', 'd', []],
    ['everything', '', '', ['a', 'a\u0000', 'a/', 'a/b', 'a/bc', 'a/c', 'a0', 'b', '\u00ff', '\u{10ffff}']],
  ])('%s', (_name, start, end, expected) => {
    expect(names(start, end)).toEqual(expected);
    expect(rig.core.count(between(start, end), Number.POSITIVE_INFINITY)).toBe(expected.length);
    expect(rig.core.count(between(start, end), commit - 1)).toBe(expected.filter((key) => key !== 'a').length);
  });

  it('C24: index level, revisions, limits and starts', () => {
    const { put, list, core } = rigOf24();
    put('foo2', 4);
    put('foo1', 5);
    put('foo', 6);
    expect(list('foo', 6)).toBe('foo@6 foo1@5 foo2@4');
    expect(list('foo', 6, 1)).toBe('foo@6');
    expect(core.count(between('foo', 'fop'), 6)).toBe(3);
    expect(list('foo', 3)).toBe('foo@1 foo1@2 foo2@3');
    expect([1, 2, 4, 5].map((revision) => list('foo1', revision))).toEqual([
      '',
      'foo1@2',
      'foo1@2 foo2@4',
      'foo1@5 foo2@4',
    ]);
  });

  it('counts live keys only, as the drawing of key-index.ts does', () => {
    const small = new CoreRig();
    for (const [index, key] of ['/pods/a/x', '/pods/a/z', '/pods/b/y', '/pods/c', '/svc/web'].entries()) {
      small.put(key, index + 1);
    }
    small.delete('/pods/c', 6);
    expect(small.core.count(between('/pods/', '/pods0'), 6)).toBe(3);
    expect(small.core.count(between('/pods/', '/pods0'), 5)).toBe(4);
    expect(small.core.stats()).toMatchObject({ keys: 5, liveKeys: 4 });
  });
});

function rigOf24(): { put: CoreRig['put']; list: (start: string, at: number, limit?: number) => string; core: Core } {
  const rig = new CoreRig();
  for (const [index, key] of ['foo', 'foo1', 'foo2'].entries()) rig.put(key, index + 1);
  return {
    put: (key, commit) => rig.put(key, commit),
    list: (start, at, limit) => rig.list(between(start, 'fop'), at, limit),
    core: rig.core,
  };
}

describe('keys of every kind', () => {
  const kinds: readonly (readonly [name: string, keys: readonly Uint8Array[]])[] = [
    ['one byte', Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))],
    ['zeros of every length', Array.from({ length: 700 }, (_, length) => new Uint8Array(length + 1))],
    ['0xff of every length', Array.from({ length: 700 }, (_, length) => new Uint8Array(length + 1).fill(0xff))],
    ['prefixes of one another', Array.from({ length: 700 }, (_, length) => bytes('ab'.repeat(length + 1)))],
    ['thousands with one head', Array.from({ length: 4000 }, (_, index) => bytes(`samehead${(index * 7919) % 4000}`))],
    ['ends that pad to one head', Array.from({ length: 1500 }, (_, index) => tail('head', index))],
    ['several KB', Array.from({ length: 400 }, (_, index) => bytes(`${'k'.repeat(5000)}${(index * 37) % 400}`))],
    ['the empty key', [new Uint8Array()]],
  ];

  it.each(kinds)('%s', (_name, keys) => {
    const { core } = new CoreRig();
    for (const [index, key] of keys.entries()) core.append(core.internKey(key), index + 1, index + 1, 1, 1, 0, false);
    core.verify();
    const order = keys.map((_, index) => index).sort((left, right) => compareBytes(at(keys, left), at(keys, right)));
    expect(core.stats().liveKeys).toBe(keys.length);
    expect([...core.range(EVERYTHING, Number.POSITIVE_INFINITY, 0)].map((slot) => core.modRevision(slot) - 1)).toEqual(
      order,
    );
    for (const key of keys) expect(compareBytes(core.keyBytes(core.findKey(key)), key)).toBe(0);
    const middle = at(keys, at(order, Math.floor(order.length / 2)));
    const from = { start: middle, end: new Uint8Array() };
    expect(core.count(from, Number.POSITIVE_INFINITY)).toBe(order.length - Math.floor(order.length / 2));
  });

  it('takes strings and bytes for the same key, short and long', () => {
    const { core } = new CoreRig();
    for (const key of ['a', '\u00e9\u20ac\u{1f600}', 'x'.repeat(2730), 'x'.repeat(2731), '\u20ac'.repeat(5000)]) {
      expect(core.internKey(bytes(key))).toBe(core.internKey(key));
      expect(core.findKey(bytes(key))).toBe(core.findKey(key));
      expect(new TextDecoder().decode(core.keyBytes(core.findKey(key)))).toBe(key);
    }
    expect(core.findKey('x'.repeat(2732))).toBe(-1);
  });
});

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}

/** `head`, then up to three bytes of which many are zero: equal heads, different keys. */
function tail(head: string, index: number): Uint8Array {
  const digits = [index % 3, Math.floor(index / 3) % 3, Math.floor(index / 9) % 3];
  return Uint8Array.of(...bytes(head), ...digits, ...new Uint8Array(Math.floor(index / 27)));
}

describe('splits and joins', () => {
  let tiny: WebAssembly.Module;
  beforeAll(async () => {
    tiny = await compileTinyCore();
  });

  /** Writes all, deletes all but every `keep`-th in the order given, and checks the tree on the way. */
  function growAndShrink(keys: readonly string[], doomed: readonly string[]): Core {
    const core = new Core(tiny);
    let commit = 0;
    for (const key of keys) core.append(core.internKey(key), ++commit, commit, commit, 1, 0, false);
    core.verify();
    for (const [index, key] of doomed.entries()) {
      core.append(core.internKey(key), ++commit, commit, 0, 0, 0, true);
      if (index % 50 === 0 || index + 1 === doomed.length) {
        while (!core.compactStep(commit + 1, 7).done) core.verify();
        core.verify();
      }
    }
    const left = keys.filter((key) => !doomed.includes(key));
    expect(core.stats()).toMatchObject({ keys: left.length, liveKeys: left.length, versions: left.length });
    for (const key of left) expect(core.findKey(key)).toBeGreaterThanOrEqual(0);
    return core;
  }

  const ascending = Array.from({ length: 900 }, (_, index) => `key/${String(index).padStart(4, '0')}`);
  const random = createSeededRandom(testSeed());
  const shuffled = ascending.map((key) => ({ key, rank: random() })).sort((a, b) => a.rank - b.rank);
  const mixed = shuffled.map(({ key }) => key);

  it.each([
    ['ascending, deleted ascending', ascending, ascending],
    ['ascending, deleted descending', ascending, ascending.toReversed()],
    ['descending, deleted ascending', ascending.toReversed(), ascending],
    ['at random, deleted at random', mixed, mixed.toReversed()],
    ['ascending, all but the ends', ascending, ascending.slice(1, -1)],
    ['ascending, the last half', ascending, ascending.slice(450)],
    ['at random, every second', mixed, mixed.filter((_, index) => index % 2 === 0)],
  ])('%s', (_name, keys, doomed) => {
    growAndShrink(keys, doomed);
  });

  it.each([
    ['left', 2, (name: string) => name >= '0224'],
    ['right', 2, (name: string) => name < '0224'],
    ['left', 3, (name: string) => name >= '0448'],
    ['right', 3, (name: string) => name < '0224'],
  ])(
    'an inner page with one child takes another from its full neighbour on the %s (%i inner pages)',
    (side, inner, goes) => {
      // Ascending: leaves of 8, inner pages of 7 leaves. Filling the gaps of one leaf then gives its inner page an eighth.
      const core = new Core(tiny);
      let commit = 0;
      const write = (key: string, tombstone: boolean): void => {
        core.append(core.internKey(key), ++commit, commit, 1, 1, 0, tombstone);
      };
      const names = Array.from({ length: 56 * inner + 17 }, (_, index) => String(index * 4).padStart(4, '0'));
      for (const name of names) write(name, false);
      const full =
        side === 'left' ? names.findIndex((name) => goes(name)) - 24 : names.findIndex((name) => !goes(name)) + 16;
      for (let index = full; index < full + 5; index++) write(`${names[index]}+`, false);
      core.verify();
      const doomed = names.filter((name) => goes(name));
      for (const name of side === 'left' ? doomed.toReversed() : doomed) {
        write(name, true);
        while (!core.compactStep(commit + 1, 100).done);
        core.verify();
      }
      expect(core.stats().keys).toBe(names.length + 5 - doomed.length);
    },
  );

  it('uses the pages and blocks of dropped keys again', () => {
    const core = growAndShrink(ascending, ascending);
    const before = core.stats().claimedBytes;
    let commit = 10_000;
    for (const key of ascending) core.append(core.internKey(key), ++commit, commit, commit, 1, 0, false);
    core.verify();
    expect(core.stats().claimedBytes - before).toBeLessThan(0.02 * before);
  });

  it('holds 100,000 keys in full-sized pages, counts and lists them, and drops them again', () => {
    const { core } = new CoreRig();
    const name = (index: number): string => `/registry/pods/ns-${index % 400}/app-${(index * 7919) % 100_000}`;
    for (let index = 0; index < 100_000; index++) {
      core.append(core.internKey(name(index)), index + 1, index + 1, index + 1, 1, 0, false);
    }
    core.verify();
    expect(core.count(between('/registry/pods/ns-7/', '/registry/pods/ns-70'), Number.POSITIVE_INFINITY)).toBe(250);
    expect(core.range(EVERYTHING, Number.POSITIVE_INFINITY, 0).length).toBe(100_000);
    for (let index = 0; index < 100_000; index++) {
      core.append(core.findKey(name(index)), 100_001 + index, 100_001 + index, 0, 0, 0, true);
    }
    while (!core.compactStep(200_001, 8192).done);
    core.verify();
    expect(core.stats()).toMatchObject({ keys: 0, liveKeys: 0, versions: 0, logEntries: 0 });
  });
});
