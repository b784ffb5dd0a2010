import type { Dice } from '../etcd/dice.ts';

/**
 * Bytes that a hostile writer could send: documents in every spelling, documents with damage, pieces of JSON in no
 * order, and bytes without any sense.
 */
export function makeBytes(dice: Dice): Uint8Array {
  return dice.weighted<Uint8Array>([
    [3, () => makeDocument(dice)],
    [6, () => damage(makeDocument(dice), dice)],
    [2, () => cut(makeDocument(dice), dice)],
    [3, () => pieces(dice)],
    [1, () => Uint8Array.from({ length: dice.upTo(100) }, () => dice.upTo(256))],
    [0.1, () => deep(dice)],
    [1, () => wide(dice)],
  ]);
}

/** A valid text, white space and all; numbers and strings of every shape; some have the shape that the rules know. */
export function makeDocument(dice: Dice): Uint8Array {
  const budget = { left: dice.pick([3, 10, 40, 150]) };
  const whole = dice.chance(0.75) ? value(dice, budget, 0) : kubernetes(dice, budget);
  return encoder.encode(`${space(dice)}${whole}${space(dice)}`);
}

const encoder = new TextEncoder();

/** An object with metadata and annotations, in any order, and sometimes something else in their place. */
function kubernetes(dice: Dice, budget: Budget): string {
  const object = (names: readonly string[], part: (name: string) => string): string => {
    const members = dice.shuffled(names.filter(() => dice.chance(0.6)));
    return `{${members.map((name) => `"${name}":${space(dice)}${part(name)}`).join(',')}}`;
  };
  const any = (): string => value(dice, budget, 4);
  const annotations = (): string => (dice.chance(0.9) ? object(ANNOTATIONS, any) : any());
  const metadata = (): string => object(METADATA, (name) => (name === 'annotations' ? annotations() : any()));
  return object(TOP, (name) => (name === 'metadata' && dice.chance(0.9) ? metadata() : any()));
}

const TOP = ['apiVersion', 'kind', 'status', 'spec', 'data', 'metadata', 'metadata', 'metadata'];
const METADATA = ['name', 'uid', 'labels', 'annotations', 'annotations', 'annotations', 'managedFields', 'finalizers'];
const ANNOTATIONS = [
  ...['a/plimsoll-managed', 'a/b', 'a/', 'a', 'b/c', 'b/plimsoll-managed', 'plimsoll.dev/x', 'plimsoll.dev', '/'],
  ...['cattle.io/x', 'field.cattle.io/x', 'acattle.io/x', 'kubectl.kubernetes.io/last-applied-configuration', ''],
];

interface Budget {
  left: number;
}

function value(dice: Dice, budget: Budget, depth: number): string {
  budget.left--;
  if (depth > 7 || budget.left < 0 || dice.chance(0.4)) {
    return dice.weighted<string>([
      [3, () => string(dice)],
      [3, () => number(dice)],
      [2, () => dice.pick(['true', 'false', 'null'])],
      [1, () => dice.pick(['{}', '[]', '{ }', '[\n]'])],
    ]);
  }
  const count = dice.chance(0.1) ? dice.upTo(40) : dice.upTo(6);
  const part = (): string => `${space(dice)}${value(dice, budget, depth + 1)}${space(dice)}`;
  if (dice.chance(0.4)) return `[${Array.from({ length: count }, part).join(',')}]`;
  const names = dice.pick([NAMES, NAMES, ['k'.repeat(20 + dice.upTo(20)), 'k'.repeat(20), 'k'.repeat(21)]]);
  const member = (): string => {
    const name = dice.chance(0.6) ? `"${dice.pick(names)}"` : string(dice);
    return `${space(dice)}${name}${space(dice)}:${part()}`;
  };
  return `{${Array.from({ length: count }, member).join(',')}}`;
}

/** Names in canonical and in other spellings; two of them are one name. */
const NAMES = ['a', '\\u0061', 'b', 'metadata', 'annotations', 'a/plimsoll-managed', '', 'é', '😂', '\\ud83d\\ude02'];

function string(dice: Dice): string {
  let text = '';
  for (let left = dice.pick([0, 1, 3, 15, 16, 17, 40]); left > 0; left--) text += dice.pick(CHARACTERS);
  return `"${text}"`;
}

const CHARACTERS = [
  ...'abc ~0/{}[]:,',
  ...['\\n', '\\"', '\\\\', '\\/', '\\u0000', '\\u001F', '\\u007f', '\\u20AC', '\\ud83d\\uDE02', '\\uFFFF'],
  ...['é', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}', '\u007f'],
];

function number(dice: Dice): string {
  const sign = dice.chance(0.3) ? '-' : '';
  const digits = (most: number): string => Array.from({ length: 1 + dice.upTo(most) }, () => dice.upTo(10)).join('');
  const whole = dice.chance(0.3) ? '0' : `${1 + dice.upTo(9)}${dice.chance(0.5) ? '' : digits(17)}`;
  const fraction = dice.chance(0.4) ? `.${dice.chance(0.3) ? '00000' : ''}${digits(12)}${dice.pick(['', '000'])}` : '';
  const exponent = dice.chance(0.15) ? `${dice.pick(['e', 'E'])}${dice.pick(['', '+', '-'])}${digits(3)}` : '';
  return `${sign}${whole}${fraction}${exponent}`;
}

function space(dice: Dice): string {
  return dice.chance(0.85) ? '' : dice.pick([' ', '\n', '\t', '\r\n', ' '.repeat(15), ' '.repeat(16), ' '.repeat(33)]);
}

/** One to four changes, of a kind that a parser might overlook. */
function damage(document: Uint8Array, dice: Dice): Uint8Array {
  let bytes = [...document];
  for (let left = 1 + dice.upTo(4); left > 0; left--) {
    const place = dice.upTo(bytes.length + 1);
    bytes = dice.weighted<number[]>([
      [3, () => bytes.with(Math.min(place, bytes.length - 1), dice.pick(TELLING))],
      [1, () => bytes.with(Math.min(place, bytes.length - 1), dice.upTo(256))],
      [2, () => bytes.toSpliced(place, 0, dice.pick(TELLING))],
      [2, () => bytes.toSpliced(place, 1 + dice.upTo(3))],
      [1, () => bytes.toSpliced(place, 0, ...bytes.slice(dice.upTo(place + 1), place))],
      [2, () => bytes.toSpliced(place, 0, ...dice.pick(ODD_BYTES))],
    ]);
    if (bytes.length === 0) break;
  }
  return Uint8Array.from(bytes);
}

function cut(document: Uint8Array, dice: Dice): Uint8Array {
  return document.slice(0, dice.upTo(document.length + 1));
}

function pieces(dice: Dice): Uint8Array {
  const bytes: number[] = dice.chance(0.5) ? [...encoder.encode('{"metadata":{"b":1,"a":{},"a":[')] : [];
  for (let left = dice.upTo(60); left > 0; left--) bytes.push(...dice.pick(PIECES));
  return Uint8Array.from(bytes);
}

/** One object with many members, of few names: in order, out of order, and the same again and again. */
function wide(dice: Dice): Uint8Array {
  const names = 1 + dice.upTo(dice.pick([2, 20, 300]));
  const common = dice.pick(['', 'k', 'k'.repeat(8), 'k'.repeat(19), 'é', '\\u0000', '😂']);
  const members = Array.from({ length: 17 + dice.upTo(80) }, (_, index) => `"${common}${dice.upTo(names)}":${index}`);
  return encoder.encode(`{${members.join(',')}}`);
}

/** As deep as is allowed, and a little more or less. */
function deep(dice: Dice): Uint8Array {
  const levels = 998 + dice.upTo(5);
  const open = dice.pick(['[', '{"a":', '{"b":0,"a":']);
  const close = (open === '[' ? ']' : '}').repeat(dice.chance(0.8) ? levels : dice.upTo(levels));
  return encoder.encode(`${open.repeat(levels)}${dice.pick(['0', '""', '{}'])}${close}`);
}

const TELLING = [...encoder.encode('"\\{}[],:-+.eE0123456789tfnu/ \n'), 0x00, 0x1f, 0x7f, 0x80, 0xc3, 0xff];

/** Not UTF-8, each in its own way: overlong, half of a pair, beyond the last point, without a lead, without a tail. */
export const ODD_BYTES: readonly (readonly number[])[] = [
  [0x80],
  [0xbf],
  [0xc0, 0xaf],
  [0xc1, 0xbf],
  [0xc3],
  [0xe0, 0x80, 0xaf],
  [0xe0, 0x9f, 0xbf],
  [0xe2, 0x82],
  [0xe2, 0x28, 0xa1],
  [0xed, 0xa0, 0x80],
  [0xed, 0xbf, 0xbf],
  [0xf0, 0x80, 0x80, 0xaf],
  [0xf0, 0x8f, 0xbf, 0xbf],
  [0xf0, 0x9f, 0x98],
  [0xf0, 0x9f, 0x98, 0x22],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80],
  [0xfe],
  [0xff],
  [0xef, 0xbb, 0xbf],
];

const PIECES = [
  ...['{', '}', '[', ']', ',', ':', '"', '""', '"a"', '\\', '\\u', '\\ud83d', '\\ude02', '\\u00e9', 'd83d', '😂', 'é'],
  ...[
    '1',
    '-0',
    '-',
    'e',
    '.',
    '0',
    '01',
    '1e5',
    '1e400',
    'true',
    'tru',
    'null',
    'fals',
    ' ',
    '\u0000',
    '{"a":1}',
    '[]',
  ],
]
  .map((piece): readonly number[] => [...encoder.encode(piece)])
  .concat(ODD_BYTES);
