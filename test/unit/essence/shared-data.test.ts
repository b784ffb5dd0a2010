import { describe, expect, it } from 'vitest';
import { JsonSyntaxError } from '../../../src/types/errors.ts';
import { oracleText } from './oracle.ts';
import { createHasher, PLAIN, refusal, sharedData, utf8 } from './support.ts';

/** Real and published inputs. Where the shared data is not installed these tests have nothing to look at, and pass. */
const hasher = createHasher(PLAIN);

function json(name: string): Record<string, unknown> {
  const bytes = sharedData(`json-edge/${name}`);
  return bytes === undefined ? {} : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>);
}

type Case = { readonly class?: string; readonly base64: string };

function cases(name: string, member: string): readonly (readonly [string, Case])[] {
  return Object.entries((json(name)[member] ?? {}) as Record<string, Case>);
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** A value of valid text, or `undefined` when JavaScript refuses it too. */
function parse(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Parsed by JavaScript, but without a canonical form. */
const NO_CANONICAL_FORM = /half of a surrogate pair|larger than any double|levels deep/;

describe('essence of shared data', () => {
  it('decides JSONTestSuite as its file names do', () => {
    for (const [name, file] of cases('jsontestsuite-parsing.json', 'files')) {
      const bytes = bytesOf(file.base64);
      const outcome = refusal(hasher, bytes);
      if (file.class === 'reject') expect(outcome, name).not.toBe('accepted');
      const parsed = parse(bytes);
      if (file.class === 'accept') expect(outcome, name).toBe('accepted');
      if (outcome === 'accepted') {
        expect(parsed, name).toBeDefined();
        expect(hasher.digest(bytes), name).toBe(hasher.digest(parsed?.value));
      } else if (parsed !== undefined) {
        expect(outcome, name).toMatch(NO_CANONICAL_FORM);
      }
    }
  });

  it('agrees with the parsed value on texts that parsers differ on', () => {
    const texts = [
      ...cases('jsontestsuite-transform.json', 'files'),
      ...cases('nativejson-small.json', 'jsonchecker'),
      ...cases('nativejson-small.json', 'roundtrip'),
    ];
    for (const [name, file] of texts) {
      const bytes = bytesOf(file.base64);
      const parsed = parse(bytes);
      const outcome = refusal(hasher, bytes);
      if (outcome === 'accepted') expect(hasher.digest(bytes), name).toBe(hasher.digest(parsed?.value));
      else if (parsed !== undefined) expect(outcome, name).toMatch(NO_CANONICAL_FORM);
    }
  });

  it('gives the published output of RFC 8785', () => {
    const pairs = (json('jcs-pairs.json').pairs ?? {}) as Record<
      string,
      { input_base64: string; output_base64: string }
    >;
    for (const [name, pair] of Object.entries(pairs)) {
      const expected = new TextDecoder().decode(bytesOf(pair.output_base64));
      expect(hasher.canonicalize(bytesOf(pair.input_base64)), name).toBe(expected);
    }
  });

  it('writes the published numbers of RFC 8785, spelled in more ways than one', () => {
    const csv = sharedData('json-edge/jcs-numbers-10000.csv');
    const lines = csv === undefined ? [] : new TextDecoder().decode(csv).trim().split('\n');
    const view = new DataView(new ArrayBuffer(8));
    for (const line of lines) {
      const [hex = '', expected = ''] = line.split(',');
      view.setBigUint64(0, BigInt(`0x${hex}`));
      const number = view.getFloat64(0);
      for (const text of [expected, number.toPrecision(17), number.toExponential()]) {
        expect(hasher.canonicalize(utf8(text)), `${hex} as ${text}`).toBe(expected);
      }
    }
  });

  it.each(['canada.json.gz', 'citm_catalog.json.gz'])('%s has one digest', (name) => {
    const bytes = sharedData(`json-edge/${name}`) ?? utf8('{}');
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    expect(hasher.digest(bytes)).toBe(hasher.digest(value));
    expect(hasher.canonicalize(bytes)).toBe(oracleText(value, { defaults: false }));
  });

  it.each([
    ['defaults', {}],
    ['plain', PLAIN],
    ['rules', { ignore: ['/spec/template/spec/containers/*/image', '/metadata/labels', '/items/0'] }],
  ])('Kubernetes objects, %s: bytes, value and oracle agree', (name, options) => {
    const lines = ['k8s-objects.ndjson', 'k8s-objects-large.ndjson'].flatMap((file) => {
      const bytes = sharedData(file);
      return bytes === undefined ? [] : new TextDecoder().decode(bytes).trim().split('\n');
    });
    const chosen = createHasher(options);
    for (const [index, line] of lines.entries()) {
      // All lines once, a sample for the others: the oracle is slow, and the machine of the gate is small.
      if (name !== 'defaults' && index % 7 > 0) continue;
      const value: unknown = JSON.parse(line);
      const bytes = utf8(line);
      if (chosen.digest(bytes) !== chosen.digest(value)) throw new Error(`digests differ in line ${index + 1}`);
      if (index % 14 > 0) continue;
      const expected = oracleText(value, options);
      if (chosen.canonicalize(bytes) !== expected) throw new Error(`texts differ in line ${index + 1}`);
    }
  });

  it('puts the offset of a fault inside the text', () => {
    for (const [name, file] of cases('jsontestsuite-parsing.json', 'files')) {
      const bytes = bytesOf(file.base64);
      try {
        hasher.digest(bytes);
      } catch (error) {
        expect(error, name).toBeInstanceOf(JsonSyntaxError);
        const { offset } = error as JsonSyntaxError;
        expect(offset >= 0 && offset <= bytes.length, `${name}: ${offset}`).toBe(true);
      }
    }
  });
});
