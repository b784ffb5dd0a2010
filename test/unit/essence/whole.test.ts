import { describe, expect, it } from 'vitest';
import { createEssenceHasher } from '../../../src/create-essence-hasher.ts';
import { valueAt } from '../../../src/handlers/path.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

type Options = Parameters<typeof createEssenceHasher>[0];
const PLAIN: Options = { defaults: false };
const SECRET = { apiVersion: 'v1', kind: 'Secret' };

describe('isWholeAt: what no rule is about', () => {
  it.each<[string, Options, string, boolean]>([
    ['what the defaults leave alone', {}, 'spec', true],
    ['what they leave out', {}, 'status', false],
    ['a part of that', {}, 'status.replicas', false],
    ['what they leave out a part of', {}, 'metadata', false],
    ['labels, which go when they are empty', {}, 'metadata.labels', false],
    ['a name that is only kept', { keep: ['/status'] }, 'status', true],
    ['anything, without rules', PLAIN, 'metadata.annotations', true],
    ['beside a pointer', { ...PLAIN, ignore: ['/spec/a'] }, 'spec.b', true],
    ['at a pointer', { ...PLAIN, ignore: ['/spec/a'] }, 'spec.a', false],
    ['above a pointer', { ...PLAIN, ignore: ['/spec/a/b'] }, 'spec', false],
    ['below a pointer', { ...PLAIN, ignore: ['/spec/a'] }, 'spec.a.b.c', false],
    ['behind every element', { ...PLAIN, ignore: ['/spec/*/x'] }, 'spec.0', false],
    ['an element that an index names', { ...PLAIN, ignore: ['/spec/1'] }, 'spec.1', false],
    ['an element behind one that is left out', { ...PLAIN, ignore: ['/spec/1'] }, 'spec.2', false],
    ['at a list whose order does not count', { ...PLAIN, lists: { '/spec/a': 'set' } }, 'spec.a', false],
    ['an element of it', { ...PLAIN, lists: { '/spec/a': 'set' } }, 'spec.a.0', false],
    ['where null is absent', { ...PLAIN, nullIsAbsent: true }, 'spec', false],
    ['where a function may do anything', { ...PLAIN, normalise: (object) => object }, 'spec', false],
    ['of another kind', { ...PLAIN, kinds: { 'v1/Secret': { ignore: ['/data'] } } }, 'spec', true],
    ['of a kind with rules', { ...PLAIN, kinds: { 'v1/Secret': { ignore: ['/data'] } } }, 'data', false],
    ['of a kind that others have rules for', { ...PLAIN, kinds: { 'v1/Pod': { ignore: ['/data'] } } }, 'data', true],
  ])('%s', (_what, options, path, expected) => {
    expect(createEssenceHasher(options).isWholeAt(SECRET, path.split('.'))).toBe(expected);
  });

  it('takes the kind of a text, too', () => {
    const hasher = createEssenceHasher({ ...PLAIN, kinds: { 'v1/Secret': { ignore: ['/data'] } } });
    const bytes = new TextEncoder().encode(JSON.stringify(SECRET));
    expect([hasher.isWholeAt(bytes, ['data']), hasher.isWholeAt(bytes, ['spec'])]).toEqual([false, true]);
  });

  it('is as it is in the essence, whatever the value', () => {
    const random = createSeededRandom(testSeed());
    const below = (count: number): number => Math.floor(random() * count);
    const NAMES = ['a', 'b', '0', '1', 'metadata', 'status', 'annotations'];
    const name = (): string => NAMES[below(NAMES.length)] ?? '';
    const pointer = (): string =>
      `/${Array.from({ length: 1 + below(3) }, () => (random() < 0.2 ? '*' : name())).join('/')}`;
    const value = (depth: number): unknown => {
      const kind = depth === 0 ? 0 : below(4);
      if (kind === 0) return [1, null, 'x', {}, []][below(5)];
      if (kind === 1) return Array.from({ length: below(3) }, () => value(depth - 1));
      return Object.fromEntries(Array.from({ length: below(4) }, () => [name(), value(depth - 1)]));
    };
    let whole = 0;
    for (let round = 0; round < 3000; round++) {
      const hasher = createEssenceHasher({
        defaults: random() < 0.3,
        ignore: Array.from({ length: below(3) }, pointer),
        ...(random() < 0.2 ? { lists: { [pointer()]: 'set' as const } } : {}),
        nullIsAbsent: random() < 0.1,
      });
      const object = Object.fromEntries(Array.from({ length: 3 }, () => [name(), value(3)]));
      const path = Array.from({ length: 1 + below(3) }, name);
      if (!hasher.isWholeAt(object, path)) continue;
      whole++;
      const essence: unknown = JSON.parse(hasher.canonicalize(object));
      const found = `${JSON.stringify(object)} at ${path.join('.')}: ${reproduce('unit')}`;
      expect(valueAt(essence, path), found).toEqual(valueAt(object, path));
    }
    expect(whole).toBeGreaterThan(300);
  });
});
