import fc from 'fast-check';
import type { EssenceHasherOptions, EssenceList } from '../../src/core/essence-options.ts';
import { SOFT_POINTERS, SOFT_PREFIXES } from '../../src/core/essence-rules.ts';
import { pointerSet } from './essence-documents.ts';

/** Options of which every one has a chance to matter for a `jsonDocument`. */
export type RandomOptions = Pick<EssenceHasherOptions, 'ignore' | 'defaults' | 'keep' | 'lists' | 'nullIsAbsent'>;

export function essenceOptions(): fc.Arbitrary<RandomOptions> {
  return fc.record(
    {
      ignore: pointerSet(),
      defaults: fc.boolean(),
      keep: fc.subarray([...SOFT_POINTERS, ...SOFT_PREFIXES]),
      lists: listSet(),
      nullIsAbsent: fc.boolean(),
    },
    { requiredKeys: [] },
  );
}

function listSet(): fc.Arbitrary<Record<string, EssenceList>> {
  const name = fc.constantFrom('a', 'b', 'name', 'kind', '__proto__', '');
  const list = fc.oneof(
    fc.constant<EssenceList>('set'),
    name.map((key): EssenceList => ({ key })),
    fc.array(name, { minLength: 1, maxLength: 3 }).map((key): EssenceList => ({ key })),
  );
  const pointers = fc.oneof(pointerSet(), fc.constant(['/a', '/*', '/a/*', '/spec', '/metadata/a', '/status']));
  return fc
    .tuple(pointers, fc.array(list, { minLength: 6, maxLength: 6 }))
    .map(([all, lists]) => Object.fromEntries(all.map((pointer, place) => [pointer, lists[place] ?? 'set'])));
}

/** A document in which arrays hold things that can be told apart by a member, in two orders. */
export function keyedList(): fc.Arbitrary<{ readonly list: readonly unknown[]; readonly other: readonly unknown[] }> {
  const element = fc.record(
    { name: fc.constantFrom('a', 'b', 'c', 'd', 'é', '😂'), x: fc.nat(3) },
    { requiredKeys: [] },
  );
  return fc
    .array(element, { maxLength: 8 })
    .chain((list) =>
      fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }).map((other) => ({ list, other })),
    );
}
