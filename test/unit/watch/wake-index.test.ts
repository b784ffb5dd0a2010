import { describe, expect, it, vi } from 'vitest';
import { KeySpace } from '../../../src/store/keyspace.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import type { ResolvedRange } from '../../../src/types/resolved-range.ts';
import type { KeyRange } from '../../../src/types/revision.ts';
import { WakeIndex } from '../../../src/watch/wake-index.ts';
import { Watcher } from '../../../src/watch/watcher.ts';
import { openTestStore, Parts, Reader } from '../store/fixture.ts';

/** Who is woken by a change, and what waking costs (M27). Costs are counted in visits, not in time. */
const keys = new KeySpace<string>('utf8');
const resolve = (range: KeyRange) => keys.resolve(range, 'test');

function visited(index: WakeIndex<string>, text: string): string[] {
  const names: string[] = [];
  index.visit(text, (name) => names.push(name));
  return names.sort();
}

/** Whether a range holds a key of ASCII. */
function covers(range: ResolvedRange, key: string): boolean {
  if (range.kind === 'point') return range.text === key;
  if (range.kind === 'prefix') return key.startsWith(range.text);
  return range.text <= key && (range.endText === undefined || key < range.endText);
}

describe('WakeIndex', () => {
  it('finds points, prefixes and intervals that hold the key, each once', () => {
    const index = new WakeIndex<string>();
    const ranges: Record<string, KeyRange> = {
      point: { key: 'a/b' },
      other: { key: 'a/' },
      all: { prefix: '' },
      short: { prefix: 'a' },
      long: { prefix: 'a/b/c' },
      exact: { prefix: 'a/b' },
      interval: { start: 'a', end: 'b' },
      endsThere: { start: 'a', end: 'a/b' },
      startsThere: { start: 'a/b', end: 'z' },
      open: { start: 'a/' },
    };
    for (const [name, range] of Object.entries(ranges)) index.add(resolve(range), name);
    expect(visited(index, 'a/b')).toEqual(['all', 'exact', 'interval', 'open', 'point', 'short', 'startsThere']);
    for (const [name, range] of Object.entries(ranges)) index.remove(resolve(range), name);
    expect(visited(index, 'a/b')).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5, 6])('finds what a list finds, and keeps no more than what is there: seed %i', (seed) => {
    const random = createSeededRandom(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    const text = () => 'abcabc'.slice(0, 1 + below(6)).slice(below(3));
    const all = Array.from({ length: 60 }, (_, name) => {
      const [kind, start] = [below(3), text()];
      const range: KeyRange =
        kind === 0
          ? { key: start === '' ? 'a' : start }
          : kind === 1
            ? { prefix: start }
            : { start, end: `${start}${text()}c` };
      return { range: resolve(range), name: `${name}` };
    });
    const index = new WakeIndex<string>();
    const present = new Set<(typeof all)[number]>();
    for (let step = 0; step < 2000; step++) {
      const one = all[below(all.length)] as (typeof all)[number];
      if (random() < (Math.floor(step / 200) % 2 === 0 ? 0.7 : 0.3)) {
        index.add(one.range, one.name);
        present.add(one);
      } else {
        index.remove(one.range, one.name);
        present.delete(one);
      }
      const held = [...present].map(({ range }) => range);
      const prefixes = new Set(held.filter(({ kind }) => kind === 'prefix').map((range) => range.text));
      const points = new Set(held.filter(({ kind }) => kind === 'point').map((range) => range.text));
      const { texts, lengths } = index.held;
      expect([texts, lengths]).toEqual([
        prefixes.size + points.size,
        new Set([...prefixes].map((prefix) => prefix.length)).size,
      ]);
      const key = text();
      const expected = [...present].filter(({ range }) => covers(range, key)).map(({ name }) => name);
      expect(visited(index, key)).toEqual(expected.sort());
    }
  });

  it('10,000 prefixes, points and intervals: a change visits those that hold it and no other', () => {
    const index = new WakeIndex<string>();
    for (let number = 0; number < 10_000; number++) {
      index.add(resolve({ prefix: `p${number}/` }), `prefix ${number}`);
      index.add(resolve({ key: `p${number}/x` }), `point ${number}`);
      index.add(resolve({ start: `p${number}/`, end: `p${number}/z` }), `interval ${number}`);
    }
    expect(visited(index, 'p77/x')).toEqual(['interval 77', 'point 77', 'prefix 77']);
    expect(visited(index, 'q')).toEqual([]);
  });

  it('a visited entry may leave while the visit goes on', () => {
    const index = new WakeIndex<string>();
    for (const range of [{ prefix: 'a' }, { key: 'ab' }, { start: 'a', end: 'b' }]) {
      for (const name of ['x', 'y', 'z']) index.add(resolve(range), `${name} ${JSON.stringify(range)}`);
    }
    const seen: string[] = [];
    index.visit('ab', (name) => {
      seen.push(name);
      if (!name.startsWith('y')) index.remove(resolve(JSON.parse(name.slice(2)) as KeyRange), name);
    });
    expect(new Set(seen).size).toBe(9);
    expect(seen.length).toBe(9);
    expect(visited(index, 'ab').map((name) => name[0])).toEqual(['y', 'y', 'y']);
  });

  it('an interval is sorted a few times, however often one comes between two visits', () => {
    const index = new WakeIndex<string>();
    let sorted = 0;
    const sort = vi.spyOn(Array.prototype, 'sort').mockImplementation(function (this: unknown[], compare) {
      sorted += this.length;
      const copy = this.toSorted(compare);
      for (const [place, item] of copy.entries()) this[place] = item;
      return this;
    });
    try {
      for (let number = 0; number < 4000; number++) {
        index.add(resolve({ start: `k${number}/`, end: `k${number}/z` }), `${number}`);
        index.visit('q', () => {});
      }
      expect(sorted).toBeLessThan(4000 * 20);
      for (let number = 0; number < 1000; number++) {
        const range = resolve({ start: 'a', end: 'b' });
        index.add(range, 'guest');
        expect(visited(index, 'a').length).toBe(1);
        index.remove(range, 'guest');
      }
      expect(sorted).toBeLessThan(4000 * 22);
    } finally {
      sort.mockRestore();
    }
    expect(visited(index, 'k77/a')).toEqual(['77']);
  });

  it('intervals that left are swept, and the others still found', () => {
    const index = new WakeIndex<string>();
    for (let round = 0; round < 5; round++) {
      for (let number = 0; number < 200; number++)
        index.add(resolve({ start: `k${number}`, end: 'l' }), `${round} ${number}`);
      for (let number = 1; number < 200; number++)
        index.remove(resolve({ start: `k${number}`, end: 'l' }), `${round} ${number}`);
      expect(visited(index, 'k99999')).toEqual(Array.from({ length: round + 1 }, (_, made) => `${made} 0`));
    }
  });
});

describe('waking', () => {
  it('10,000 watches on distinct prefixes: one change wakes one', async () => {
    const { store } = await openTestStore();
    const watches = Array.from({ length: 10_000 }, (_, index) => store.watch({ prefix: `${index}/` }));
    await store.put('4711/a', 1);
    expect(store.stats().watchers).toEqual({ idle: 9999, pending: 1 });
    expect((await watches[4711]?.next())?.value?.revision).toBe(2);
    expect(store.stats().watchers).toEqual({ idle: 10_000, pending: 0 });
  });

  it('one commit wakes a watch once, and later ones not at all until it has read', async () => {
    const parts = new Parts();
    const reader = parts.watch({ prefix: '' });
    let wakes = 0;
    const { becamePending } = parts.hub;
    parts.hub.becamePending = function (watcher, before) {
      wakes++;
      becamePending.call(this, watcher, before);
    };
    parts.commit(2, ['put', 'a'], ['put', 'b'], ['delete', 'a']);
    parts.commit(3, ['put', 'a']);
    expect(wakes).toBe(1);
    expect((await reader.take()).length).toBe(2);
  });

  it('one that does not read is looked at once more, then by no commit until it has read', async () => {
    const parts = new Parts();
    const reader = parts.watch({ prefix: '' });
    parts.commit(2, ['put', 'a']);
    const looks = vi.spyOn(Watcher.prototype, 'state', 'get');
    try {
      parts.commit(3, ['put', 'a']);
      const first = looks.mock.calls.length;
      for (let revision = 4; revision < 50; revision++) parts.commit(revision, ['put', 'a']);
      expect([first, looks.mock.calls.length]).toEqual([1, 1]);
    } finally {
      looks.mockRestore();
    }
    expect((await reader.take()).length).toBe(48);
    parts.commit(50, ['put', 'a']);
    expect(await reader.take()).toEqual(['50: put a(2,50,49)']);
  });

  it('store:R37: a compaction looks at the watches that it ends, not at all that lag', () => {
    const parts = new Parts({ retention: { events: 1000 } });
    for (let index = 0; index < 900; index++) {
      parts.watch({ prefix: 'a' });
      parts.commit(index + 2, ['put', 'a']);
    }
    expect(parts.hub.stats).toEqual({ idle: 0, pending: 900 });
    const looks = vi.spyOn(Watcher.prototype, 'position', 'get');
    try {
      for (let revision = 3; revision < 103; revision++) parts.applier.compact(revision, 'compact');
      expect(looks.mock.calls.length).toBeLessThan(1000);
    } finally {
      looks.mockRestore();
    }
    expect(parts.hub.stats).toEqual({ idle: 0, pending: 800 });
  });

  it('filters count at the wake-up: what would be left out wakes nobody', async () => {
    const { store } = await openTestStore();
    const readers = [
      new Reader(store.watch({ prefix: '' }, { filter: 'noput' })),
      new Reader(store.watch({ prefix: '' }, { filter: 'nodelete' })),
    ];
    await store.put('a', 1);
    expect(store.stats().watchers).toEqual({ idle: 1, pending: 1 });
    await readers[1]?.drain();
    await store.delete('a');
    expect(store.stats().watchers).toEqual({ idle: 1, pending: 1 });
  });
});
