import type { Dice } from '../etcd/dice.ts';

/**
 * A program for the exports of the core as they are, below the checks of `Core`: legal calls, calls that have to be
 * refused, numbers that no caller should pass, and a memory limit that comes and goes. Steps are plain data, so that a
 * failing program can be cut down and printed.
 */
export interface ExportProgram {
  /** Indexes in steps stand for these; taken modulo their number. */
  readonly keys: readonly string[];
  readonly steps: readonly Step[];
}

/** `key`, `start` and `end` are indexes of keys, `back` is subtracted from a revision, `at` is where bytes are put. */
export type Step =
  | { readonly do: 'intern'; readonly key: number; readonly at: number }
  | {
      readonly do: 'append';
      readonly key: number;
      readonly jump: number;
      readonly modBack: number;
      readonly create: number;
      readonly version: number;
      readonly lease: number;
      readonly tombstone: boolean;
    }
  | { readonly do: 'wrong append'; readonly keyId: number; readonly commit: number }
  | { readonly do: 'look'; readonly key: number; readonly back: number; readonly at: number }
  | { readonly do: 'number'; readonly of: number; readonly revision: number }
  | ({ readonly do: 'range'; readonly limit: number } & RangeStep)
  | ({ readonly do: 'events'; readonly filter: number; readonly most: number } & RangeStep)
  | { readonly do: 'log'; readonly back: number; readonly entries: number }
  | { readonly do: 'compact'; readonly back: number; readonly budget: number }
  | { readonly do: 'wrong compact'; readonly revision: number }
  | {
      readonly do: 'reserve';
      readonly events: number;
      readonly newKeys: number;
      readonly keyBytes: number;
      readonly longest: number;
    }
  | { readonly do: 'limit'; readonly spare: number }
  | { readonly do: 'input'; readonly bytes: number };

export interface RangeStep {
  readonly start: number;
  readonly end: number;
  /** Point, from, between, all. */
  readonly kind: number;
  readonly back: number;
  readonly at: number;
}

export function makeExportProgram(dice: Dice): ExportProgram {
  const space = 1 + dice.upTo(dice.pick([4, 12, 60]));
  const keys = Array.from({ length: space }, () => makeKey(dice, space));
  // Most programs have all the memory they want; the others live at their limit.
  const isTight = dice.chance(0.35);
  const steps: Step[] = [];
  for (let left = dice.pick([5, 15, 40, 90]); left > 0; left--) steps.push(makeStep(dice, isTight));
  return { keys, steps };
}

/** One character of the string for each byte of the key. */
function makeKey(dice: Dice, space: number): string {
  const edge = '\u0000\u0001a\u00fe\u00ff';
  return dice.weighted<string>([
    [4, () => `/registry/${dice.pick(['pods', 'services'])}/ns-${dice.upTo(4)}/app-${dice.upTo(space)}`],
    [3, () => Array.from({ length: dice.upTo(7) }, () => edge[dice.upTo(5)]).join('')],
    [2, () => `${'x'.repeat(8 * dice.upTo(4))}${dice.upTo(space)}`],
    // Beginnings of one another, of every length: what compares words of eight bytes must not compare a ninth.
    [3, () => `${'0123456789abcdef'.repeat(3).slice(0, dice.upTo(40))}${dice.pick(['', '', 'z', '\u0000'])}`],
    [1, () => `${'long/'.repeat(dice.upTo(2) * dice.pick([100, 1700]))}${dice.upTo(space)}`],
  ]);
}

/** Numbers that are no id, no slot and no revision, and some that might be. */
const STRANGE = [-1, -2, -3, 0, 1, 7, 255, 256, 4095, 1e6, 0x7fffffff, 0x80000000, 0xffffffff, -0x80000000];
const STRANGE_REVISIONS = [Number.NaN, Number.NEGATIVE_INFINITY, -1, -0.5, 0, 0.5, 2 ** 53, Number.POSITIVE_INFINITY];

function makeStep(dice: Dice, isTight: boolean): Step {
  const key = (): number => dice.upTo(1000);
  const at = (): number => dice.pick([0, 0, 1, 13, 5000, 8191]);
  const back = (): number => dice.pick([Number.NEGATIVE_INFINITY, -1, 0, 1, 2, 5, 20, 100]);
  const range = (): RangeStep => ({ start: key(), end: key(), kind: dice.upTo(4), back: back(), at: at() });
  return dice.weighted<Step>([
    [
      10,
      () => ({
        do: 'append',
        key: key(),
        jump: dice.chance(0.6) ? 1 : dice.pick([0, 0, 2, 2 ** 33]),
        modBack: dice.chance(0.8) ? 0 : dice.pick([1, 3, 0.5, 2 ** 32, 2 ** 34, -1]),
        create: dice.pick([-1, -1, 0, 1, 2 ** 52]),
        version: dice.pick([1, 2, 0xffffffff]),
        lease: dice.pick([0, 0, 1, 0xffffffff]),
        tombstone: dice.chance(0.35),
      }),
    ],
    [3, () => ({ do: 'intern', key: key(), at: at() })],
    [
      1.5,
      () => ({ do: 'wrong append', keyId: dice.pick(STRANGE), commit: dice.pick([...STRANGE_REVISIONS, 1, 2 ** 40]) }),
    ],
    [3, () => ({ do: 'look', key: key(), back: back(), at: at() })],
    [2, () => ({ do: 'number', of: dice.pick(STRANGE), revision: dice.pick(STRANGE_REVISIONS) })],
    [3, () => ({ do: 'range', limit: dice.pick([0, 0, 1, 2, 5, 0xffffffff]), ...range() })],
    [3, () => ({ do: 'events', filter: dice.upTo(4), most: dice.pick([0, 1, 3, 10, 0xffffffff]), ...range() })],
    [1, () => ({ do: 'log', back: back(), entries: dice.pick([0, 1, 2, 5, 50, 0xffffffff]) })],
    [1.5, () => ({ do: 'compact', back: back(), budget: dice.pick([0, 1, 3, 1000, 0xffffffff]) })],
    [0.7, () => ({ do: 'wrong compact', revision: dice.pick(STRANGE_REVISIONS) })],
    [isTight ? 2 : 0.4, () => makeReserve(dice)],
    [isTight ? 2.5 : 0, () => ({ do: 'limit', spare: dice.pick([-1e6, 0, 16, 300, 5000, 40_000, 2e6]) })],
    [0.3, () => ({ do: 'input', bytes: dice.pick([0, 1, 4096, 5000, 70_000, 0x40000001, 0xffffffff]) })],
  ]);
}

function makeReserve(dice: Dice): Step {
  const events = dice.pick([0, 1, 3, 60, 2000, 0x7fffffff, 0xffffffff]);
  const newKeys = dice.pick([0, 0, 1, 3, 50, 0xffffffff]);
  const longest = dice.pick([0, 10, 60, 9000, 0xffffffff]);
  return { do: 'reserve', events, newKeys, longest, keyBytes: Math.min(newKeys * longest, 0xffffffff) };
}
