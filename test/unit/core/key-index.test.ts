import { describe, expect, it } from 'vitest';
import { KeyIndex } from '../../../src/core/key-index.ts';
import { coreModule } from '../../../src/core/module.ts';
import { StoreFullError } from '../../../src/types/errors.ts';

describe.each([
  ['with a Map', false],
  ['lean', true],
])('the key index by itself, %s', (_, lean) => {
  const create = (memoryBytesMax = 1 << 26): KeyIndex => new KeyIndex(coreModule(), { lean, memoryBytesMax });

  it('repeats the drawing of key-index.ts', () => {
    const index = create();
    expect(['b', 'a', 'c'].map((key) => index.insert(key))).toEqual([0, 1, 2]);
    expect([...index.list('a', 'c')]).toEqual([1, 0]);
    expect([index.count('a', 'c'), index.rank('c'), index.at(1)]).toEqual([2, 2, 0]);
  });

  it('keeps one id a key, and gives the id of a deleted key to the next new one', () => {
    const index = create();
    expect([index.insert('a'), index.insert('b'), index.insert('a')]).toEqual([0, 1, 0]);
    expect([index.delete('a'), index.get('a'), index.delete('a')]).toEqual([0, -1, -1]);
    expect([index.insert('c'), index.keyOf(0), index.size]).toEqual([0, 'c', 2]);
    index.verify();
  });

  it('lists by the bytes of keys: text outside ASCII, no end, an empty range, an end before the start', () => {
    const index = create();
    // In UTF-16 the emoji comes before U+E000; in bytes it comes last.
    for (const key of ['é', 'z', '\u{1f600}', '\ue000', 'a']) index.insert(key);
    const texts = (start: string, end: string): string =>
      [...index.list(start, end)].map((id) => index.keyOf(id)).join();
    expect(texts('', '')).toBe('a,z,é,\ue000,\u{1f600}');
    expect(texts('é', '\u{1f600}')).toBe('é,\ue000');
    expect([texts('b', 'b'), texts('z', 'a'), texts('z', '')]).toEqual(['', '', 'z,é,\ue000,\u{1f600}']);
    expect([index.count('é', ''), index.count('', 'é'), index.rank('\uffff')]).toEqual([3, 2, 4]);
  });

  it('answers keys and ranges that are too long for the key region', () => {
    const index = create();
    const long = 'x'.repeat(5000);
    index.insert(long);
    index.insert('y');
    expect([index.get(long), index.get(`${long}x`), index.count(long, `${long}0`)]).toEqual([0, -1, 1]);
    expect([...index.list(long, 'z'.repeat(9000))]).toEqual([0, 1]);
  });

  it('turns pages whose last key was deleted, and sees what was written behind it', () => {
    const index = create();
    for (let place = 0; place < 1000; place++) index.insert(`key${String(place).padStart(4, '0')}`);
    const seen: string[] = [];
    for (const page of index.pages('key', 'kez', 100)) {
      const keys = [...page].map((id) => index.keyOf(id));
      seen.push(...keys);
      for (const key of keys) index.delete(key);
      index.insert(`${keys.at(-1)}-new`);
    }
    expect(seen.filter((key) => !key.endsWith('-new'))).toHaveLength(1000);
    // What was written behind the last key is the first of the next page.
    expect(seen.filter((key) => key.endsWith('-new'))).toHaveLength(10);
    expect(index.size).toBe(1);
    index.verify();
  });

  const key = (place: number): string => `key${String(place).padStart(4, '0')}`;

  it.each<[string, (index: KeyIndex, page: readonly string[]) => void]>([
    ['grows the memory', (index, page) => void index.insert(`${page[0]}${'x'.repeat(300_000)}`)],
    [
      'deletes the page and the key behind it',
      (index, page) => {
        for (const text of page) index.delete(text);
        index.delete(key(Number(page.at(-1)?.slice(3)) + 1));
      },
    ],
    [
      'deletes all that was seen and inserts before it',
      (index, page) => {
        for (const text of page) index.delete(text);
        index.insert(`a${page[0]}`);
      },
    ],
    [
      'inserts around the last key',
      (index, page) => {
        index.insert(`${page.at(-1)?.slice(0, -1)}`);
        index.insert(`${page.at(-1)}\0`);
        index.insert(`${page.at(-1)}-`);
      },
    ],
    [
      'deletes everything',
      (index) => {
        for (const id of [...index.list('', '')]) index.delete(index.keyOf(id));
      },
    ],
  ])('turns pages to the end when what happens between them %s', (_, between) => {
    const index = create();
    const keys = Array.from({ length: 20 }, (_, place) => key(place));
    // What a list of everything behind the last key had said, one page at a time.
    const expected: string[][] = [];
    const pages: string[][] = [];
    for (const text of keys) index.insert(text);
    const rest = (start: string): string[] => [...index.list(start, '', 5)].map((id) => index.keyOf(id));
    let wanted = rest('');
    for (const page of index.pages('', '', 5)) {
      pages.push([...page].map((id) => index.keyOf(id)));
      expected.push(wanted);
      between(index, pages.at(-1) ?? []);
      wanted = rest(`${pages.at(-1)?.at(-1)}\0`);
    }
    expect(pages).toEqual(expected);
    // The last one was not full, or nothing was left behind it.
    expect((pages.at(-1)?.length ?? 0) < 5 || wanted.length === 0).toBe(true);
    index.verify();
  });

  it.each([600, 1700, 2900])(
    'refuses a key of %i bytes wherever its memory ends, whatever a page needs then',
    (length) => {
      // A leaf is split after each 102 of these keys, which takes a page and a separator as long as they are.
      const common = 'x'.repeat(length - 8);
      const step = length >> 1;
      for (let limit = 1 << 18; limit < (1 << 18) + 120 * length; limit += step) {
        const index = create(limit);
        let size = 0;
        const fill = (): void => {
          for (;;) {
            index.insert(`${common}${String(9_000_000 - size)}`);
            size++;
          }
        };
        expect(fill).toThrow(StoreFullError);
        expect(index.size).toBe(size);
        expect(index.get(`${common}${String(9_000_000 - size)}`)).toBe(-1);
        if (limit % 5 === 0) index.verify();
      }
    },
  );

  it('answers about keys longer than any it has, of any length, when the memory is full', () => {
    const index = create(1 << 18);
    let size = 0;
    const fill = (): void => {
      for (;;) {
        index.insert(key(size));
        size++;
      }
    };
    expect(fill).toThrow(StoreFullError);
    const { claimedBytes } = index;
    for (const length of [3, 20, 2800, 9000, 3_000_000]) {
      const tail = 'x'.repeat(length);
      for (const place of [0, 7, size - 1]) {
        const text = `${key(place)}${tail}`;
        expect([index.get(text), index.delete(text), index.rank(text)]).toEqual([-1, -1, place + 1]);
        expect([index.count('', text), index.list(text, '').length]).toEqual([place + 1, size - place - 1]);
      }
      expect([index.rank(`a${tail}`), index.rank(`z${tail}`)]).toEqual([0, size]);
    }
    expect([index.claimedBytes, index.size]).toEqual([claimedBytes, size]);
    index.verify();
  });

  it('takes a limit of more than 32 bits for one that nothing reaches', () => {
    const index = create();
    for (let place = 0; place < 9000; place++) index.insert(key(place));
    for (const limit of [0, 9000, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 3, 2 ** 53, Number.POSITIVE_INFINITY]) {
      expect(index.list('', '', limit).length, String(limit)).toBe(9000);
      expect([...index.pages('', '', limit === 0 ? 7000 : limit)].flatMap((page) => [...page]).length).toBe(9000);
    }
  });

  it('a key that begins with a byte order mark keeps it, and pages go on behind it', () => {
    const index = create();
    const keys = ['a', '\ufeff', '\ufeffa', '\ufeff\ufeff', '\uffff'];
    for (const text of keys) index.insert(text);
    expect([...index.list('', '')].map((id) => index.keyOf(id))).toEqual(keys);
    const pages = index.pages('', '', 1);
    const seen = keys.map(() => pages.next().value?.[0] ?? -1).map((id) => index.keyOf(id));
    expect([seen, pages.next().done]).toEqual([keys, true]);
  });

  it('has no rank below zero, above its size or between', () => {
    const index = create();
    for (let place = 0; place < 600; place++) index.insert(String(place).padStart(4, '0'));
    const ids = [...index.list('', '')];
    expect(ids.map((_, rank) => index.at(rank))).toEqual(ids);
    expect([-1, 600, 601, Number.NaN].map((rank) => index.at(rank))).toEqual([-1, -1, -1, -1]);
  });

  it('refuses a key that no memory is left for, with nothing changed, and takes it when others are gone', () => {
    const index = create(1 << 18);
    let written = 0;
    const fill = (): void => {
      for (;;) {
        index.insert(`key-${String(written).padStart(6, '0')}`);
        written++;
      }
    };
    expect(fill).toThrow(StoreFullError);
    const refused = `key-${String(written).padStart(6, '0')}`;
    expect([index.size, index.get(refused), index.list('', '').length]).toEqual([written, -1, written]);
    index.verify();
    for (let place = 0; place < 500; place++) index.delete(`key-${String(place).padStart(6, '0')}`);
    for (let place = 0; place < 400; place++) index.insert(`new-${String(place).padStart(6, '0')}`);
    expect(index.size).toBe(written - 100);
    index.verify();
  });
});
