import { describe, expect, it } from 'vitest';
import type { EssenceHasherOptions } from '../../../src/core/essence-hasher.ts';
import { createHasher } from './support.ts';

const idOf = (options?: EssenceHasherOptions): string => createHasher(options).schemaId;
const same = (object: unknown): unknown => object;

describe('schemaId (E15)', () => {
  it('is the same for rules that are the same, however they are said', () => {
    const rules: EssenceHasherOptions = {
      ignore: ['/a', '/b'],
      keep: ['/status'],
      lists: { '/l': { key: 'n' }, '/m': 'set' },
    };
    const other: EssenceHasherOptions = {
      lists: { '/m': 'set', '/l': { key: ['n'] } },
      keep: ['/status', '/status'],
      ignore: ['/b', '/a', '/a'],
    };
    expect(idOf(other)).toBe(idOf(rules));
    expect(idOf({ ...rules, defaults: true, nullIsAbsent: false, kinds: {}, algorithm: 'xxh3-128' })).toBe(idOf(rules));
  });

  it('does not depend on what makes no other digest', () => {
    for (const options of [
      { duplicates: 'reject' },
      { checkNormalise: 'always' },
      { onUnmatched: () => {} },
    ] as const) {
      expect(idOf(options)).toBe(idOf());
    }
  });

  it('is another one for every other rule', () => {
    const all: readonly EssenceHasherOptions[] = [
      {},
      { defaults: false },
      { ignore: ['/a'] },
      { ignore: ['/a', '/b'] },
      { keep: ['/status'] },
      { lists: { '/a': 'set' } },
      { lists: { '/a': { key: 'n' } } },
      { lists: { '/a': { key: ['n', 'm'] } } },
      { lists: { '/a': { key: ['m', 'n'] } } },
      { kinds: { 'v1/D': {} } },
      { kinds: { 'v1/D': { ignore: ['/a'] } } },
      { kinds: { 'v1/E': { ignore: ['/a'] } } },
      { kinds: { 'v1/D': { normalise: same } } },
      { nullIsAbsent: true },
      { normalise: same },
      { normalise: same, version: '2' },
      { alsoCompare: same },
      { version: '2' },
      { algorithm: 'sha256' },
      { seed: 1n },
      { seed: 2n },
    ];
    expect(new Set(all.map(idOf)).size).toBe(all.length);
  });

  it('is that of the defaults of this version: another list has to be another one', () => {
    // Records without a schema are those of the default rules. Whoever changes these has to see this line.
    expect(idOf()).toBe('xxh3-128:d9ef8f46e7bfb353e19273077bb1f660');
  });
});
