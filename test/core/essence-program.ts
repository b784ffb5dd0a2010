import fc from 'fast-check';
import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { JsonSyntaxError } from '../../src/types/errors.ts';
import { jsonDocument, pointerSet, spell, spelling } from '../property/essence-documents.ts';
import { oracleText } from '../unit/essence/oracle.ts';

const encoder = new TextEncoder();
const documents = fc.tuple(jsonDocument(), spelling(), pointerSet(), fc.boolean());

/**
 * One document in one spelling under one set of rules: bytes, value and oracle have one canonical text and one digest,
 * the value is left as it was, and a strict hasher refuses what names a member twice. fast-check makes it and cuts it
 * down when it fails.
 */
export function runEssenceProgram(module: WebAssembly.Module, seed: number): void {
  const property = fc.property(documents, ([document, style, ignore, defaults]) => {
    const text = spell(document, style);
    const bytes = encoder.encode(text);
    const value: unknown = JSON.parse(text);
    const before = JSON.stringify(value);
    const expected = oracleText(value, { ignore, defaults });
    const hasher = createEssenceHasherWith(module, { ignore, defaults });
    same('text of the bytes', hasher.canonicalize(bytes), expected);
    same('text of the value', hasher.canonicalize(value), expected);
    same('digest', hasher.digest(bytes), hasher.digest(value));
    same('the value itself', JSON.stringify(value), before);
    const strict = createEssenceHasherWith(module, { ignore, defaults, duplicates: 'reject' });
    if (style.duplicates && hasMember(document)) {
      same(
        'a member named twice',
        refusal(() => strict.digest(bytes)),
        'the member name was used before',
      );
    } else {
      same('strict digest', strict.digest(bytes), hasher.digest(bytes));
    }
  });
  fc.assert(property, { seed, numRuns: 1, endOnFailure: false });
}

function hasMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.some(hasMember) : Object.keys(value).length > 0;
}

function refusal(digest: () => string): string {
  try {
    return digest();
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.reason;
    throw error;
  }
}

function same(what: string, actual: string, expected: string): void {
  if (actual !== expected) throw new Error(`${what}: got ${actual}, expected ${expected}`);
}
