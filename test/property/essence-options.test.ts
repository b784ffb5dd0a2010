import fc from 'fast-check';
import { createXXHash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { coreModule } from '../../src/core/module.ts';
import { sized } from '../support/size.ts';
import { oracleText } from '../unit/essence/oracle.ts';
import { jsonDocument, spell, spelling } from './essence-documents.ts';
import { essenceOptions, keyedList } from './essence-options.ts';

const encoder = new TextEncoder();
const module = coreModule();
const xxh3 = await createXXHash128();

describe('essence with all options', () => {
  it('gives one text and one digest for bytes, value and oracle', () => {
    const property = fc.property(jsonDocument(), spelling(), essenceOptions(), (document, style, options) => {
      const hasher = createEssenceHasherWith(module, options);
      const text = spell(document, style);
      const value: unknown = JSON.parse(text);
      const before = JSON.stringify(value);
      const expected = oracleText(value, options);
      const digest = `xxh3-128:${xxh3.init().update(expected).digest('hex')}`;
      for (const input of [value, encoder.encode(text)]) {
        expect(hasher.canonicalize(input)).toBe(expected);
        expect(hasher.digest(input)).toBe(digest);
      }
      expect(JSON.stringify(value)).toBe(before);
    });
    fc.assert(property, { numRuns: sized({ smoke: 3_000, full: 100_000 }) });
  });

  it('gives the rules of a kind to objects of the kind, and to no others', () => {
    const kinds = fc.constantFrom('apps/v1/D', 'apps/v1/*', 'apps/*/D', '*/D', 'apps/*/*', '*/*', 'v1/D', 'v1/*');
    const object = fc.tuple(
      jsonDocument(),
      fc.constantFrom('v1', 'apps/v1', 'apps/v2', 'x/v1', 7, undefined),
      fc.constantFrom('D', 'E', null),
    );
    const property = fc.property(
      object,
      kinds,
      essenceOptions(),
      essenceOptions(),
      ([document, apiVersion, kind], pattern, own, all) => {
        const value = { ...(typeof document === 'object' ? document : { document }), apiVersion, kind };
        const { defaults: _defaults, nullIsAbsent: _nulls, ...rules } = own;
        const hasher = createEssenceHasherWith(module, { ...all, kinds: { [pattern]: rules } });
        const isOfKind = matches(pattern, apiVersion, kind);
        const merged = {
          ...all,
          ignore: [...(rules.ignore ?? []), ...(all.ignore ?? [])],
          keep: [...(rules.keep ?? []), ...(all.keep ?? [])],
          lists: { ...all.lists, ...rules.lists },
        };
        const json: unknown = JSON.parse(JSON.stringify(value));
        const expected = oracleText(json, isOfKind ? merged : all);
        expect(hasher.canonicalize(value)).toBe(expected);
        expect(hasher.canonicalize(encoder.encode(JSON.stringify(value)))).toBe(expected);
        expect(hasher.digest(encoder.encode(JSON.stringify(value)))).toBe(hasher.digest(value));
      },
    );
    fc.assert(property, { numRuns: sized({ smoke: 1_500, full: 30_000 }) });
  });

  it('takes a keyed list for the same in another order, but for the order of equal keys (E7)', () => {
    const hasher = createEssenceHasherWith(module, { lists: { '/list': { key: 'name' } } });
    const property = fc.property(keyedList(), ({ list, other }) => {
      expect(hasher.digest({ list }) === hasher.digest({ list: other })).toBe(byName(list) === byName(other));
    });
    fc.assert(property, { numRuns: sized({ smoke: 1_000, full: 30_000 }) });
  });

  it('takes two sets for the same if their elements are, however often and in whatever order (E7)', () => {
    const hasher = createEssenceHasherWith(module, { lists: { '/list': 'set' } });
    const few = fc.array(fc.oneof(fc.nat(3), fc.constantFrom('a', '1', null), fc.record({ x: fc.nat(1) })), {
      maxLength: 6,
    });
    const property = fc.property(few, few, (list, other) => {
      expect(hasher.digest({ list }) === hasher.digest({ list: other })).toBe(members(list) === members(other));
    });
    fc.assert(property, { numRuns: sized({ smoke: 2_000, full: 30_000 }) });
  });

  it('is stable: the essence of an essence is itself, where no pointer has an index (E10)', () => {
    const property = fc.property(jsonDocument(), essenceOptions(), (document, options) => {
      const named = ([pointer]: readonly [string, unknown]): boolean => !/\/\d+(?:\/|$)/.test(pointer);
      const hasher = createEssenceHasherWith(module, {
        ...options,
        ignore: (options.ignore ?? []).filter((pointer) => named([pointer, undefined])),
        lists: Object.fromEntries(Object.entries(options.lists ?? {}).filter(named)),
      });
      const once = hasher.canonicalize(document);
      expect(hasher.canonicalize(JSON.parse(once))).toBe(once);
    });
    fc.assert(property, { numRuns: sized({ smoke: 2_000, full: 30_000 }) });
  });
});

/** By the book: for every name the elements that have it, in their order. */
function byName(list: readonly unknown[]): string {
  const names = ['a', 'b', 'c', 'd', 'é', '😂', undefined];
  return JSON.stringify(
    names.map((name) =>
      list
        .filter((element) => (element as { name?: string }).name === name)
        .map((element) => (element as { x?: number }).x ?? -1),
    ),
  );
}

function members(list: readonly unknown[]): string {
  return [...new Set(list.map((element) => JSON.stringify(element)))].sort().join();
}

function matches(pattern: string, apiVersion: unknown, kind: unknown): boolean {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false;
  const expression = pattern.replaceAll('*', '[^/]+').replace(/^\[\^\/\]\+(?=\/)/, '.+');
  return new RegExp(`^${expression}$`).test(`${apiVersion}/${kind}`);
}
