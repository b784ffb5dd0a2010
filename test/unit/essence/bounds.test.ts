import { describe, expect, it } from 'vitest';
import { STATUS_FULL } from '../../../src/core/abi.ts';
import { EssenceCore } from '../../../src/core/essence-core.ts';
import { compileRules } from '../../../src/core/essence-rules.ts';
import { CoreInstance } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import { JsonSyntaxError } from '../../../src/types/errors.ts';
import { testSeed } from '../../support/size.ts';
import { createHasher, PLAIN, refusal, utf8 } from './support.ts';

const TEXT_SLACK = 128;
const PATTERN = 0xa5;
const REGION = { text: 0, members: 1, membersEnd: 2 };

/** Bytes that look like JSON at every place, and are not. */
function hostile(random: () => number): Uint8Array {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u',
    'd83d',
    '😂',
    'é',
    '1',
    '-0',
    'e',
    '.',
    'true',
    ' ',
    '\u0000',
  ];
  const length = Math.floor(random() * 120);
  let text = random() < 0.5 ? '{"metadata":{"b":1,"a":{},"a":[' : '';
  for (let piece = 0; piece < length; piece++) text += pieces[Math.floor(random() * pieces.length)];
  const bytes = utf8(text);
  return bytes.subarray(0, Math.floor(random() * (bytes.length + 1)));
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('essence bounds: memory', () => {
  it(`writes nothing outside its regions (seed ${testSeed()})`, () => {
    const core = new CoreInstance(coreModule());
    const random = seeded(testSeed());
    // Regions for the largest text, so that none moves later.
    const warm = utf8(`{${Array.from({ length: 300 }, (_, index) => `"${(index * 7919) % 300}":[{}]`).join(',')}}`);
    core.bytes().set(warm, core.exports.inputRegion(warm.length));
    expect(core.exports.essenceScan(warm.length, 0)).toBeGreaterThan(0);
    const region = (which: number): number => core.exports.essenceRegion(which);
    const claimed = core.exports.claimedBytes();
    const pattern = Buffer.alloc(core.bytes().length, PATTERN);
    for (let run = 0; run < 1500; run++) {
      const text = run % 10 === 0 ? warm.subarray(0, Math.floor(random() * warm.length)) : hostile(random);
      const input = core.exports.inputRegion(text.length);
      const from = region(REGION.text);
      const writable: [number, number][] = [
        [from, from + 2 * text.length + TEXT_SLACK],
        [region(REGION.members), region(REGION.membersEnd)],
      ];
      const lowest = Math.min(input, ...writable.map(([start]) => start));
      const memory = core.bytes();
      // Everything from the first region on that may not be written gets the pattern; below it are the statics.
      memory.fill(PATTERN, lowest);
      memory.set(text, input);
      core.exports.essenceScan(text.length, run % 2);
      expect(core.exports.claimedBytes()).toBe(claimed);
      const guarded = core.bytes();
      for (const [start, end] of writable) guarded.fill(PATTERN, start, end);
      expect(Buffer.compare(guarded.subarray(input, input + text.length), text)).toBe(0);
      guarded.fill(PATTERN, input, input + text.length + 64);
      const clean = Buffer.compare(guarded.subarray(lowest), pattern.subarray(lowest)) === 0;
      const strange = clean ? -1 : guarded.subarray(lowest).findIndex((byte) => byte !== PATTERN);
      expect(strange, `run ${run}: ${JSON.stringify(new TextDecoder().decode(text))}`).toBe(-1);
    }
  });

  it(`escapes strings in place and writes nothing outside the room they need (seed ${testSeed()})`, () => {
    const core = new CoreInstance(coreModule());
    const random = seeded(testSeed());
    const region = core.input(8192, 'test');
    const pieces = ['"', '\\', '\n', '\u0001', 'a', 'b', 'plain text, no more', 'é', '😂', '\ufffd'];
    for (let run = 0; run < 3000; run++) {
      let text = '';
      const count = Math.floor(random() * 40);
      for (let piece = 0; piece < count; piece++) text += pieces[Math.floor(random() * pieces.length)];
      const bytes = utf8(text);
      const start = region + 64 + Math.floor(random() * 16);
      core.bytes().fill(PATTERN, region, region + 8192);
      core.bytes().set(bytes, start);
      const counted = core.exports.essenceEscapes(start, bytes.length);
      expect(counted >= 2 ** 30, JSON.stringify(text)).toBe(text.includes('\ufffd'));
      const extra = counted % 2 ** 30;
      core.exports.essenceEscape(start, bytes.length, extra);
      const memory = core.bytes();
      const end = start + bytes.length + extra;
      expect(JSON.parse(`"${new TextDecoder().decode(memory.subarray(start, end))}"`)).toBe(text);
      const outside = [...memory.subarray(region, start), ...memory.subarray(end + 32, region + 8192)];
      expect(
        outside.every((byte) => byte === PATTERN),
        `run ${run}`,
      ).toBe(true);
    }
  });

  it('does not read what an earlier, longer text left behind', () => {
    const hasher = createHasher(PLAIN);
    hasher.digest(utf8('{"a":[1,2,3,4,5,6,7,8,9,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]}'));
    for (const text of ['{"a":[1', '"x', 'tru', '12.', '"\\u00', '{"a"']) {
      expect(refusal(hasher, utf8(text)), text).not.toBe('accepted');
    }
    expect(hasher.canonicalize(utf8('12'))).toBe('12');
  });

  it('does not change the bytes it is given', () => {
    const bytes = utf8(' {"b":1, "a":1e3} ');
    const before = bytes.slice();
    createHasher().digest(bytes);
    expect(bytes).toEqual(before);
  });
});

describe('essence bounds: time', () => {
  const MEGABYTES = 10 * 2 ** 20;
  const fill = (piece: (index: number) => string, between: string): string => {
    const parts: string[] = [];
    for (let size = 0, index = 0; size < MEGABYTES; index++) {
      const part = piece(index);
      parts.push(part);
      size += part.length + 1;
    }
    return parts.join(between);
  };
  const long = 'x'.repeat(MEGABYTES / 2);
  const shared = 'k'.repeat(1000);

  it.each<[string, () => string]>([
    ['descending names', () => `{${fill((index) => `"${9_999_999 - index}":0`, ',')}}`],
    ['one name again and again', () => `{${fill(() => '"a":0', ',')}}`],
    ['names with a long common prefix', () => `{${fill((index) => `"${shared}${(index * 7919) % 10007}":0`, ',')}}`],
    ['names that need units compared', () => `{${fill((index) => `"\\u0000😂${(index * 7919) % 1_000_003}":0`, ',')}}`],
    [
      'a long string inside 999 objects in the wrong order',
      () => `${'{"b":'.repeat(999)}"${long}"${',"a":0}'.repeat(999)}`,
    ],
    [
      'a marker for every annotation',
      () => `{"metadata":{"annotations":{${fill((index) => `"p${index}/plimsoll-managed":0`, ',')}}}}`,
    ],
    ['dots in an annotation prefix', () => `{"metadata":{"annotations":{"${'.'.repeat(MEGABYTES)}/a":0}}}`],
    ['escapes', () => `"${'\\u0001'.repeat(MEGABYTES / 6)}"`],
    ['a number', () => `[1${'0'.repeat(MEGABYTES)}e-${MEGABYTES}]`],
  ])(
    '10 MB of %s end soon',
    (_name, build) => {
      const hasher = createHasher();
      expect(hasher.digest(utf8(build()))).toMatch(/^xxh3-128:/);
    },
    15_000,
  );

  it('text is not moved level by level without end: the scan gives up, and the value path decides', () => {
    const core = new EssenceCore(coreModule(), compileRules({ ignore: [], defaults: false }));
    const nested = (depth: number): Uint8Array => {
      return utf8(['{"b":'.repeat(depth), `"${'x'.repeat(100_000)}"`, ',"a":0}'.repeat(depth)].join(''));
    };
    expect(core.scan(nested(10), false, 'digest the value')).toBe(nested(10).length);
    expect(core.scan(nested(100), false, 'digest the value')).toBeUndefined();
    const hasher = createHasher(PLAIN);
    const bytes = nested(100);
    expect(hasher.digest(bytes)).toBe(hasher.digest(JSON.parse(new TextDecoder().decode(bytes))));
  });

  it('10 MB of opening brackets are refused at the bound', () => {
    expect(refusal(createHasher(), utf8('['.repeat(MEGABYTES)))).toBe('1000: nested more than 1000 levels deep');
  });
});

describe('essence bounds: after a refusal', () => {
  it('works on, with its rules', () => {
    const core = new EssenceCore(coreModule(), compileRules({ ignore: ['/a'], defaults: true }));
    expect(() => core.scan(utf8('{"a":'), false, 'digest the value')).toThrow(JsonSyntaxError);
    expect(core.text(core.scan(utf8('{"b":1,"a":2}'), false, 'digest the value') ?? 0)).toBe('{"b":1}');
  });

  it('refuses what does not fit into the memory and works on', () => {
    const core = new CoreInstance(coreModule(), { memoryBytesMax: 2 ** 20 });
    core.bytes().set(utf8('[1]'), core.exports.inputRegion(3));
    expect(core.exports.essenceScan(3, 0)).toBe(3);
    // Room for the input, none for its canonical text.
    core.exports.inputRegion(400_000);
    expect(core.exports.essenceScan(400_000, 0)).toBe(STATUS_FULL);
    core.bytes().set(utf8('[1]'), core.exports.inputRegion(3));
    expect(core.exports.essenceScan(3, 0)).toBe(3);
  });
});
