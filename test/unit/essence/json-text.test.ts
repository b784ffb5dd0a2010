import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEPTH_MAX } from '../../../src/core/canonical-text.ts';
import { FAULT_REASONS } from '../../../src/core/essence-core.ts';
import { createHasher, PLAIN, refusal, utf8 } from './support.ts';

const hasher = createHasher(PLAIN);

describe('JSON text: grammar', () => {
  it('is refused where the buffer of its bytes is detached', () => {
    const bytes = utf8('[1]');
    structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
    for (const how of [PLAIN, { nullIsAbsent: true }, { kinds: { 'v1/Pod': {} } }]) {
      const other = createHasher(how);
      for (const call of [() => other.digest(bytes), () => other.canonicalize(bytes)]) {
        expect(call).toThrow(expect.objectContaining({ code: 'VALUE', reason: 'is bytes whose buffer is detached' }));
      }
    }
  });

  it.each([
    // text, where and why it is refused
    ['', '0: the text ends too early'],
    [' \n', '2: the text ends too early'],
    ['{', '1: the text ends too early'],
    ['{"a"', '4: the text ends too early'],
    ['{"a":', '5: the text ends too early'],
    ['{"a":1', '6: the text ends too early'],
    ['{"a":1,', '7: the text ends too early'],
    ['[1', '2: the text ends too early'],
    ['"abc', '4: the text ends too early'],
    ['tru', '0: a value was expected'],
    ['nul l', '0: a value was expected'],
    ['falsy', '0: a value was expected'],
    ['[1,]', '3: a value was expected'],
    ['[,1]', '1: a value was expected'],
    ['{a:1}', '1: a member name in quotes was expected'],
    ['{"a":1,}', '7: a member name in quotes was expected'],
    ['{"a" 1}', '5: ":" was expected'],
    ['{"a":1 "b":2}', '7: "," or "}" was expected'],
    ['{"a":1]', '6: "," or "}" was expected'],
    ['[1 2]', '3: "," or "]" was expected'],
    ['[1}', '2: "," or "]" was expected'],
    ['{"a":1}x', '7: the end of the text was expected'],
    ['1 2', '2: the end of the text was expected'],
    ['{}\u0000', '2: the end of the text was expected'],
    ['\ufeff{}', '0: a byte order mark is not part of JSON'],
    ['01', '1: the number is malformed'],
    ['-', '1: the text ends too early'],
    ['-a', '1: the number is malformed'],
    ['[1.]', '3: the number is malformed'],
    ['[1e]', '3: the number is malformed'],
    ['[1e+]', '4: the number is malformed'],
    ['.5', '0: a value was expected'],
    ['+1', '0: a value was expected'],
    ['NaN', '0: a value was expected'],
    ['[1e400]', '1: the number is larger than any double'],
    ['"\u0001"', '1: a control character must be escaped'],
    ['"a\nb"', '2: a control character must be escaped'],
    ['"\\q"', '1: the escape is malformed'],
    ['"\\u12g4"', '1: the escape is malformed'],
    ['"\\u123"', '1: the escape is malformed'],
    ['"x\\ud800"', '2: half of a surrogate pair is not a character'],
    ['"\\udc00"', '1: half of a surrogate pair is not a character'],
    ['"\\ud800\\u0041"', '1: half of a surrogate pair is not a character'],
    ['\u00a0{}', '0: a value was expected'],
    ['// c\n1', '0: a value was expected'],
  ])('%j is refused at byte %s', (text, expected) => {
    expect(refusal(hasher, utf8(text))).toBe(expected);
  });

  it.each([
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong three-byte form', [0xe0, 0x9f, 0xbf]],
    ['an overlong four-byte form', [0xf0, 0x8f, 0xbf, 0xbf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a lead that does not exist', [0xf5, 0x80, 0x80, 0x80]],
    ['a tail without a lead', [0x80]],
    ['a lead without a tail', [0xc3, 0x22]],
    ['a cut sequence', [0xe2, 0x82]],
  ])('%s is not UTF-8', (_name, bytes) => {
    const text = Uint8Array.of(0x22, 0x61, ...bytes, 0x22);
    expect(refusal(hasher, text)).toBe('2: the bytes are not UTF-8');
  });

  it('names the bytes from the start of the view, not of its buffer', () => {
    expect(refusal(hasher, utf8('xxx[1 2]').subarray(3))).toBe('3: "," or "]" was expected');
  });

  it('allows as many levels as it says and not one more', () => {
    const nested = (depth: number): Uint8Array =>
      utf8(['[{"a":'.repeat(depth / 2), '1', '}]'.repeat(depth / 2)].join(''));
    expect(refusal(hasher, nested(DEPTH_MAX))).toBe('accepted');
    expect(refusal(hasher, nested(DEPTH_MAX + 2))).toBe(`${3 * DEPTH_MAX}: nested more than ${DEPTH_MAX} levels deep`);
  });

  it('refuses a repeated name only when told to, after unescaping, in excluded parts too', () => {
    const strict = createHasher({ duplicates: 'reject', ignore: ['/x'] });
    expect(refusal(hasher, utf8('{"a":1,"\\u0061":2}'))).toBe('accepted');
    expect(hasher.canonicalize(utf8('{"b":0,"a":1,"\\u0061":2}'))).toBe('{"a":2,"b":0}');
    expect(refusal(strict, utf8('{"a":1,"\\u0061":2}'))).toBe('7: the member name was used before');
    expect(refusal(strict, utf8('{"x":{"c":1,"b":0,"c":2}}'))).toBe('18: the member name was used before');
    expect(refusal(strict, utf8('{"x":1,"x":2}'))).toBe('7: the member name was used before');
  });

  it('asks an excluded part for its grammar only', () => {
    const some = createHasher({ ignore: ['/x'] });
    expect(some.canonicalize(utf8('{"x":[1e400,"\\ud800",{"\\udfff":1}],"y":1}'))).toBe('{"y":1}');
    expect(refusal(some, utf8('{"x":[1e400,"\\ud800"}'))).toBe('20: "," or "]" was expected');
  });
});

describe('JSON text: canonical form', () => {
  it.each([
    // spelling, canonical
    ['-0', '0'],
    ['-0.0', '0'],
    ['0.000', '0'],
    ['1.0', '1'],
    ['-1.50', '-1.5'],
    ['100', '100'],
    ['1e2', '100'],
    ['1E-7', '1e-7'],
    ['0.000001', '0.000001'],
    ['0.0000010', '0.000001'],
    ['0.0000001', '1e-7'],
    ['999999999999999', '999999999999999'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740993', '9007199254740992'],
    ['123456789012345678901', '123456789012345680000'],
    ['1000000000000000000000', '1e+21'],
    ['0.12345678901234567', '0.12345678901234566'],
    ['123456789012.345', '123456789012.345'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['4.9e-324', '5e-324'],
    ['1e-400', '0'],
    ['-1e-400', '0'],
    ['"\\/\\u0041\\u00e9\\u20ac\\ud83d\\ude02"', '"/Aé€😂"'],
    ['"\\u0008\\u0009\\u000A\\u000c\\u000D\\u001F\\u0000\\u007f"', '"\\b\\t\\n\\f\\r\\u001f\\u0000\u007f"'],
    ['"\\u0022\\u005c\\"\\\\"', '"\\"\\\\\\"\\\\"'],
    [' [ ] ', '[]'],
    ['{"b":{ },"a":[ 1 , 2 ]}', '{"a":[1,2],"b":{}}'],
    ['{"a!":1,"a":2,"a\\u0000":3,"":4}', '{"":4,"a":2,"a\\u0000":3,"a!":1}'],
    // UTF-16 order: the pair of U+1F602 begins with D83D, below U+E000 and above U+20AC
    ['{"\ue000":1,"😂":2,"€":3,"\uffff":4,"𐀀":5}', '{"€":3,"𐀀":5,"😂":2,"\ue000":1,"\uffff":4}'],
    ['{"\\\\":1,"[":2,"]":3,"\\"":4,"!":5,"#":6}', '{"!":5,"\\"":4,"#":6,"[":2,"\\\\":1,"]":3}'],
    ['{"__proto__":{"b":1,"a":2},"a":0}', '{"__proto__":{"a":2,"b":1},"a":0}'],
    ['{"__proto__":1e2}', '{"__proto__":100}'],
  ])('%s becomes %s', (text, expected) => {
    expect(hasher.canonicalize(utf8(text))).toBe(expected);
    expect(hasher.canonicalize(JSON.parse(text))).toBe(expected);
    expect(hasher.digest(utf8(text))).toBe(hasher.digest(JSON.parse(text)));
  });

  it('writes every number as ECMAScript does, and refuses just those that are infinite', () => {
    const edge = 2n ** 1024n - 2n ** 970n;
    const texts = [
      `${edge}`,
      `${edge - 1n}`,
      `${edge}.0`,
      `-${edge}`,
      `${edge - 1n}.9`,
      `0.00${edge}e2`,
      `0.${edge}e309`,
    ];
    texts.push(
      '1e308',
      '1e309',
      '17.976931348623159e307',
      '17976931348623157e292',
      `${'9'.repeat(308)}`,
      '0e999999999999',
    );
    texts.push(
      `1${'0'.repeat(400)}e-400`,
      `0.${'0'.repeat(400)}1e401`,
      '1e-99999999999999999999',
      '1e99999999999999999999',
    );
    for (const text of texts) {
      const expected = Number.isFinite(Number(text)) ? 'accepted' : '1: the number is larger than any double';
      expect(refusal(hasher, utf8(`[${text}]`)), text).toBe(expected);
    }
  });

  it('keeps plain numbers with the core and agrees with JavaScript on all of them', () => {
    for (let whole = 0; whole < 12; whole++) {
      for (let fraction = 0; fraction < 20; fraction++) {
        for (const digit of ['1', '9', '0', '5']) {
          const text = `${whole === 0 ? '0' : digit.replace('0', '7').repeat(whole)}.0${'0'.repeat(fraction)}${digit}`;
          expect(hasher.canonicalize(utf8(text)), text).toBe(String(Number(text)));
        }
      }
    }
  });
});

describe('JSON text: both sides of the ABI', () => {
  it('has a reason for every fault of the core, and the same bound of depth', () => {
    const source = (name: string): string =>
      readFileSync(new URL(`../../../assembly/${name}`, import.meta.url), 'utf8');
    const faults = [...source('json-fault.ts').matchAll(/^ {2}[A-Z]\w+ = ([0-9]+),$/gm)].map(([, code]) =>
      Number(code),
    );
    expect(Object.keys(FAULT_REASONS).map(Number)).toEqual(faults.filter((code) => code > 1));
    expect(source('json-mode.ts')).toContain(`DEPTH_MAX: i32 = ${DEPTH_MAX};`);
  });
});
