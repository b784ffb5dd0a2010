import { describe, expect, it } from 'vitest';
import { generateKeys, listQueries, prefixQuery } from '../../../bench/data/keys.mjs';
import { createRandom, shuffled } from '../../../bench/data/random.mjs';
import { indexFindings } from '../../../bench/index/checks.mjs';
import { CoreIndex } from '../../../bench/index/core-index.mjs';
import { createKeyIndex } from '../../../bench/index/key-index.mjs';
import { createChunkedArray } from '../../../bench/index/sorted-array.mjs';
import { Core } from '../../../src/core/core.ts';
import { KeyIndex } from '../../../src/core/key-index.ts';
import { coreModule } from '../../../src/core/module.ts';

const SIZE = 5000;
const keys = generateKeys(SIZE * 2);
const queries = [...listQueries(keys.slice(0, SIZE), 20), prefixQuery('/registry/pods/', 0), prefixQuery('/none/', 5)];

type Answers = ReturnType<typeof createChunkedArray>;

async function wrongAnswers(
  index: Answers,
  present: readonly string[],
  absent: readonly string[],
): Promise<readonly string[]> {
  const findings = await indexFindings(index, { present, absent, queries });
  return findings
    .filter(({ actual, expected }) => JSON.stringify(actual) !== JSON.stringify(expected))
    .map(({ what }) => what);
}

function filled(create: (keys: readonly string[]) => Answers): Answers {
  const index = create(keys);
  for (let id = 0; id < SIZE; id++) index.insert(keys[id] as string, id);
  return index;
}

describe.each<[string, (keys: readonly string[]) => Answers]>([
  ['the chunked sorted array', createChunkedArray],
  ['the core as the store uses it', () => new CoreIndex(new Core(coreModule()))],
  ['the key index by itself', () => createKeyIndex(new KeyIndex(coreModule()))],
  ['the lean key index', () => createKeyIndex(new KeyIndex(coreModule(), { lean: true }))],
])('%s', (_, create) => {
  it('answers as a sorted array does, before and after every key was replaced', async () => {
    const index = filled(create);
    const before = keys.slice(0, SIZE);
    const after = keys.slice(SIZE);
    expect(await wrongAnswers(index, before, after)).toEqual([]);
    for (const place of shuffled(createRandom(3), [...before.keys()])) {
      index.remove(before[place] as string);
      index.insert(after[place] as string, SIZE + place);
    }
    expect(await wrongAnswers(index, after, before)).toEqual([]);
    for (const key of after) index.remove(key);
    expect(await wrongAnswers(index, [], after)).toEqual([]);
  });
});

describe('indexFindings', () => {
  const present = keys.slice(0, SIZE);
  const absent = keys.slice(SIZE);

  it.each<[string, (index: Answers) => Partial<Answers>]>([
    ['forgets a key', (index) => ({ get: (key) => (key === keys[0] ? undefined : index.get(key)) })],
    ['finds what is not there', (index) => ({ get: (key) => index.get(key) ?? 0 })],
    ['mixes up ids', (index) => ({ get: (key) => (index.get(key) ?? 0) ^ 1 })],
    ['drops the last id of a list', (index) => ({ list: (query) => Array.from(index.list(query)).slice(0, -1) })],
    ['lists in no order', (index) => ({ list: (query) => Array.from(index.list(query)).reverse() })],
    ['ignores the limit', (index) => ({ list: (query) => index.list({ ...query, limit: 0 }) })],
    ['counts one too many', (index) => ({ count: (query) => index.count(query) + 1 })],
  ])('catch an index that %s', async (_, breakIt) => {
    const index = filled(createChunkedArray);
    const whole: Answers = {
      insert: (key, id) => index.insert(key, id),
      remove: (key) => index.remove(key),
      get: (key) => index.get(key),
      list: (query) => index.list(query),
      count: (query) => index.count(query),
      keyOf: (id) => index.keyOf(id),
    };
    expect(await wrongAnswers(whole, present, absent)).toEqual([]);
    expect(await wrongAnswers({ ...whole, ...breakIt(whole) }, present, absent)).not.toEqual([]);
  });
});

describe('generateKeys', () => {
  it('makes distinct keys of about 47 bytes, 40 % of them pods, smaller counts being beginnings of larger ones', () => {
    expect(new Set(keys).size).toBe(keys.length);
    const bytes = keys.reduce((sum, key) => sum + key.length, 0) / keys.length;
    expect(bytes).toBeGreaterThan(44);
    expect(bytes).toBeLessThan(50);
    const pods = keys.slice(0, SIZE).filter((key) => key.startsWith('/registry/pods/'));
    expect(pods.length).toBe(SIZE * 0.4);
    expect(generateKeys(SIZE)).toEqual(keys.slice(0, SIZE));
  });
});
