import fc from 'fast-check';
import { createXXHash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { coreModule } from '../../src/core/module.ts';
import { JsonSyntaxError } from '../../src/types/errors.ts';
import { sized } from '../support/size.ts';
import { oracleText } from '../unit/essence/oracle.ts';
import { jsonDocument, pointerSet, spell, spelling } from './essence-documents.ts';

const encoder = new TextEncoder();
const module = coreModule();
const xxh3 = await createXXHash128();

describe('essence against the oracle', () => {
  it('gives one text and one digest for bytes, value and oracle', () => {
    const property = fc.property(
      jsonDocument(),
      spelling(),
      pointerSet(),
      fc.boolean(),
      (document, style, ignore, defaults) => {
        const hasher = createEssenceHasherWith(module, { ignore, defaults });
        const text = spell(document, style);
        const bytes = encoder.encode(text);
        const value: unknown = JSON.parse(text);
        const expected = oracleText(value, { ignore, defaults });
        expect(hasher.canonicalize(value)).toBe(expected);
        expect(hasher.canonicalize(bytes)).toBe(expected);
        const digest = `xxh3-128:${xxh3.init().update(expected).digest('hex')}`;
        expect(hasher.digest(bytes)).toBe(digest);
        expect(hasher.digest(value)).toBe(digest);
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      },
    );
    fc.assert(property, { numRuns: sized({ smoke: 3_000, full: 100_000 }) });
  });

  it('is stable: the essence of an essence is itself (E10)', () => {
    const property = fc.property(jsonDocument(), spelling(), (document, style) => {
      const hasher = createEssenceHasherWith(module);
      const once = hasher.canonicalize(encoder.encode(spell(document, style)));
      expect(hasher.canonicalize(encoder.encode(once))).toBe(once);
      expect(hasher.canonicalize(JSON.parse(once))).toBe(once);
    });
    fc.assert(property, { numRuns: sized({ smoke: 1_000, full: 30_000 }) });
  });

  it('refuses a second member of one name anywhere, when told to', () => {
    const strict = createEssenceHasherWith(module, { duplicates: 'reject' });
    const property = fc.property(jsonDocument(), spelling(), (document, style) => {
      const digest = (): string => strict.digest(encoder.encode(spell(document, style)));
      if (style.duplicates && hasMember(document)) {
        expect(digest).toThrow(JsonSyntaxError);
        expect(digest).toThrow('the member name was used before');
      } else {
        expect(digest()).toBe(createEssenceHasherWith(module).digest(document));
      }
    });
    fc.assert(property, { numRuns: sized({ smoke: 1_000, full: 30_000 }) });
  });
});

function hasMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasMember);
  return Object.keys(value).length > 0;
}

describe('essence of damaged bytes', () => {
  it('accepts what JSON.parse and a strict UTF-8 decoder accept, and nothing else', () => {
    const hasher = createEssenceHasherWith(module, { defaults: false });
    const damage = fc.array(
      fc.record({ place: fc.nat(), byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...TELLING)) }),
      { minLength: 0, maxLength: 3 },
    );
    const cut = fc.option(fc.nat(), { freq: 4 });
    const property = fc.property(jsonDocument(), spelling(), damage, cut, (document, style, changes, end) => {
      const whole = encoder.encode(spell(document, style));
      const bytes = end === null ? whole : whole.subarray(0, end % (whole.length + 1));
      for (const { place, byte } of changes) if (bytes.length > 0) bytes[place % bytes.length] = byte;
      const expected = verdict(bytes);
      const actual = verdictOf(() => hasher.canonicalize(bytes), bytes.length);
      expect(actual).toBe(expected);
    });
    fc.assert(property, { numRuns: sized({ smoke: 10_000, full: 300_000 }) });
  });
});

const TELLING = [...'"\\{}[],:-+.eE0123456789tfnu/ \n'].map((character) => character.charCodeAt(0));

/** The canonical text, or `refused`. What has no canonical form (RFC 8785) is refused wherever it stands. */
function verdict(bytes: Uint8Array): string {
  try {
    const source = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(source);
    return tokens(source).every(hasCanonicalForm) ? oracleText(value, { defaults: false }) : 'refused';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return 'refused';
    throw error;
  }
}

/** Strings and everything between punctuation, of a text that is known to be JSON: shadowed duplicates included. */
function tokens(source: string): readonly string[] {
  return source.match(/"(?:[^"\\]|\\.)*"|[^\s"[\]{}:,]+/g) ?? [];
}

function hasCanonicalForm(token: string): boolean {
  const value: unknown = JSON.parse(token);
  return typeof value === 'string'
    ? !/\p{Surrogate}/u.test(value)
    : typeof value !== 'number' || Number.isFinite(value);
}

function verdictOf(run: () => string, length: number): string {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    if (error.offset < 0 || error.offset > length)
      throw new Error(`offset ${error.offset} of ${length}`, { cause: error });
    return 'refused';
  }
}
