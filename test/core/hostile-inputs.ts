import type { CoreExports } from '../../src/core/abi.ts';

/** Texts of about so many bytes, each meant to make a parser slow, deep or large. */
type MakeText = (bytes: number) => Uint8Array;

const encoder = new TextEncoder();

/** `piece` again and again, joined, in brackets. */
function repeated(open: string, piece: (index: number) => string, close: string, joined = ','): MakeText {
  return (bytes) => {
    const parts: string[] = [];
    for (let size = open.length, index = 0; size < bytes; index++) {
      const part = piece(index);
      parts.push(part);
      size += part.length + joined.length;
    }
    return encoder.encode(`${open}${parts.join(joined)}${close}`);
  };
}

const COMMON = 'k'.repeat(40);

export const HOSTILE_TEXTS: Readonly<Record<string, MakeText>> = {
  'one string': (bytes) => encoder.encode(`"${'x'.repeat(bytes)}"`),
  'one string without an end': (bytes) => encoder.encode(`"${'x'.repeat(bytes)}`),
  quotes: (bytes) => encoder.encode('"'.repeat(bytes)),
  backslashes: (bytes) => encoder.encode(`"${'\\\\'.repeat(bytes / 2)}"`),
  'backslashes without an end': (bytes) => encoder.encode(`"${'\\'.repeat(bytes - 1 - (bytes % 2))}`),
  escapes: repeated('"', () => '\\u0001', '"', ''),
  'escaped pairs': repeated('"', () => '\\ud83d\\ude02', '"', ''),
  'characters of four bytes': (bytes) => encoder.encode(`"${'😂'.repeat(bytes / 4)}"`),
  'bytes that are not UTF-8': (bytes) => new Uint8Array(bytes).fill(0xff, 1).fill(0x22, 0, 1),
  'white space': (bytes) => encoder.encode(`${' \n\t\r'.repeat(bytes / 8)}1${' '.repeat(bytes / 2)}`),
  'white space between single bytes': repeated('[', () => ' 1 ', ']'),
  'opening brackets': (bytes) => encoder.encode('['.repeat(bytes)),
  'opening braces with names': (bytes) => encoder.encode('{"a":'.repeat(bytes / 5)),
  'pairs of brackets': repeated('[', () => '[]', ']'),
  'brackets a thousand deep': repeated('[', () => `${'['.repeat(999)}${']'.repeat(999)}`, ']'),
  commas: (bytes) => encoder.encode(`[${','.repeat(bytes)}`),
  'short numbers': repeated('[', (index) => `${index % 10}`, ']'),
  'numbers with exponents': repeated('[', (index) => `${index}.5e-7`, ']'),
  'one number': (bytes) => encoder.encode(`[1${'0'.repeat(bytes)}e-${bytes}]`),
  'one number of zeros': (bytes) => encoder.encode(`[0.${'0'.repeat(bytes)}1]`),
  'members in reverse order': repeated('{', (index) => `"${9_999_999 - index}":0`, '}'),
  'members in no order': repeated('{', (index) => `"${(index * 7_368_787) % 9_999_991}":0`, '}'),
  'members with one common prefix': repeated('{', (index) => `"${COMMON}${(index * 7919) % 1_000_003}":0`, '}'),
  'members with one common prefix, in reverse order': repeated(
    '{',
    (index) => `"${COMMON}${9_999_999 - index}":0`,
    '}',
  ),
  'members that need units compared': repeated('{', (index) => `"\\u0000😂${(index * 7919) % 1_000_003}":0`, '}'),
  'one name again and again': repeated('{', () => '"a":0', '}'),
  'two names in turn': repeated('{', (index) => (index % 2 === 0 ? '"b":0' : '"a":0'), '}'),
  'small objects in the wrong order': repeated('[', () => '{"b":1,"a":{"d":1,"c":2}}', ']'),
  'a long string in 999 objects in the wrong order': (bytes) =>
    encoder.encode(`${'{"b":'.repeat(999)}"${'x'.repeat(bytes)}"${',"a":0}'.repeat(999)}`),
  'a marker for every annotation': repeated(
    '{"metadata":{"annotations":{',
    (index) => `"p${index}/plimsoll-managed":0`,
    '}}}',
  ),
  'dots in the prefix of an annotation': (bytes) =>
    encoder.encode(`{"metadata":{"annotations":{"${'.'.repeat(bytes)}/a":0}}}`),
};

/** Writes or reads `count` times and answers the steps that took; what prepares for it is not counted. */
type Write = (core: CoreExports, count: number, steps: () => number) => number;

const EVERYTHING = [0, 0] as const;

function intern(core: CoreExports, key: string): number {
  const pointer = core.keyRegion();
  new Uint8Array(core.memory.buffer).set(encoder.encode(key), pointer);
  return core.internKey(pointer, key.length);
}

function append(core: CoreExports, keyId: number, commit: number, tombstone = 0): void {
  const slot = core.append(keyId, commit, commit, tombstone === 0 ? commit : 0, 1, 0, tombstone);
  if (slot < 0) throw new Error(`append answered ${slot}`);
}

/** Counts from here on. */
function counting(steps: () => number, run: () => void): number {
  const before = steps();
  run();
  return steps() - before;
}

function inserting(key: (index: number, count: number) => string): Write {
  return (core, count, steps) =>
    counting(steps, () => {
      for (let index = 0; index < count; index++) append(core, intern(core, key(index, count)), index + 1);
    });
}

const padded = (index: number): string => `${index}`.padStart(9, '0');

function hotKey(core: CoreExports, count: number): number {
  const keyId = intern(core, 'hot');
  for (let commit = 1; commit <= count; commit++) append(core, keyId, commit);
  return keyId;
}

function compacting(prepare: (core: CoreExports, count: number) => void): Write {
  return (core, count, steps) => {
    prepare(core, count);
    return counting(steps, () => {
      for (;;) {
        core.compactStep(count + 1, 500);
        if (new Uint32Array(core.memory.buffer, core.outputPointer(), 3)[2] === 1) break;
      }
    });
  };
}

export const HOSTILE_WRITES: Readonly<Record<string, Write>> = {
  'keys in order': inserting(padded),
  'keys in reverse order': inserting((index, count) => padded(count - index)),
  'keys in no order': inserting((index) => padded((index * 7_368_787) % 9_999_991)),
  'keys with one common prefix of 1000 bytes': inserting(
    (index) => `${'p'.repeat(1000)}${padded((index * 7919) % 1_000_003)}`,
  ),
  'one key again and again': inserting(() => 'hot'),
  'keys deleted in order': (core, count, steps) => {
    inserting(padded)(core, count, steps);
    return counting(steps, () => {
      for (let index = 0; index < count; index++) append(core, intern(core, padded(index)), count + index + 1, 1);
    });
  },
  'looks into the history of one key': (core, count, steps) => {
    const keyId = hotKey(core, count);
    return counting(steps, () => {
      for (let commit = 1; commit <= count; commit++) core.slotAt(keyId, commit);
    });
  },
  'counts of everything': (core, count, steps) => {
    inserting(padded)(core, count, steps);
    return counting(steps, () => {
      for (let turn = 0; turn < count; turn++) core.count(core.keyRegion(), ...EVERYTHING, Number.POSITIVE_INFINITY);
    });
  },
  'compaction of one key': compacting(hotKey),
  'compaction of many keys': compacting((core, count) => {
    for (let commit = 1; commit <= count; commit++) append(core, intern(core, padded(commit % (count / 4))), commit);
  }),
  'compaction of deleted keys': compacting((core, count) => {
    for (let commit = 1; commit <= count / 2; commit++) append(core, intern(core, padded(commit)), commit);
    for (let commit = 1; commit <= count / 2; commit++)
      append(core, intern(core, padded(commit)), count / 2 + commit, 1);
  }),
};
