import { createHash } from 'node:crypto';
import { createEssenceHasherWith, type EssenceHasher } from '../../src/core/essence-hasher.ts';
import type { Dice } from '../etcd/dice.ts';
import { errorOf, messageOf } from './shrink.ts';

/**
 * Parsed values, JSON and not: what `digest` answers, which writes them into the core, is the digest of the text that
 * `canonicalize` makes of them in JavaScript; and what one refuses the other refuses in the same words.
 */
export class ValueChecker {
  readonly #hashers: readonly EssenceHasher[];

  constructor(module: WebAssembly.Module) {
    this.#hashers = [{ defaults: false }, {}, { ignore: ['/a/*/b', '/0', '/spec', '/metadata/annotations/a~1b'] }].map(
      (options) => createEssenceHasherWith(module, { ...options, algorithm: 'sha256' }),
    );
  }

  check(value: unknown): void {
    for (const hasher of this.#hashers) {
      const expected = told(() => `sha256:${createHash('sha256').update(hasher.canonicalize(value)).digest('hex')}`);
      const got = told(() => hasher.digest(value));
      // Of two things that are wrong either may be met first; only a getter's own error says so.
      if ([got, expected].includes(GETTER) && !`${got}${expected}`.includes('sha256:')) continue;
      if (got !== expected) throw new Error(`digest: ${got}; of what canonicalize makes: ${expected}`);
    }
  }
}

const GETTER = 'a getter fails';

function told(run: () => string): string {
  let answer = '';
  const error = errorOf(() => {
    answer = run();
  });
  // The two name themselves in the message.
  return error === undefined
    ? answer
    : messageOf(error).replace(/^Cannot (?:digest|canonicalize) the value/, 'refused');
}

/** A value with some things in it that are not JSON, or are not plain. */
export function makeValue(dice: Dice): unknown {
  const odds = dice.pick([0, 0.02, 0.2]);
  const budget = { left: dice.pick([2, 10, 60]) };
  return part(dice, budget, 0, odds);
}

function part(dice: Dice, budget: { left: number }, depth: number, odds: number): unknown {
  if (dice.chance(odds)) return dice.pick(ODD)(dice);
  if (budget.left-- < 0 || depth > 6 || dice.chance(0.3)) return leaf(dice);
  const count = dice.upTo(dice.pick([3, 6, 30]));
  if (dice.chance(0.4)) return Array.from({ length: count }, () => part(dice, budget, depth + 1, odds));
  const object: Record<string, unknown> = dice.chance(0.1) ? Object.create(null) : {};
  for (let left = count; left > 0; left--) {
    const name = dice.chance(0.8) ? dice.pick(NAMES) : text(dice);
    // Defined, not set: so that `__proto__` is a member like any other.
    const value = part(dice, budget, depth + 1, odds);
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

const NAMES = [
  'a',
  'b',
  '0',
  '1',
  'spec',
  'metadata',
  'annotations',
  'a/b',
  'a/plimsoll-managed',
  '__proto__',
  'é',
  '',
];

function leaf(dice: Dice): unknown {
  return dice.weighted<unknown>([
    [3, () => text(dice)],
    [2, () => dice.pick([0, -0, 1, -1.5, 1e21, 1e-7, 2 ** 53, 5e-324, Number.MAX_VALUE, 0.1, 123456789012345680])],
    [1, () => dice.pick([true, false, null])],
    [1, () => dice.pick([{}, []])],
  ]);
}

/** Lengths around those at which the writer takes another way; every kind of character in every place. */
function text(dice: Dice): string {
  const length = dice.pick([0, 1, 3, 4, 5, 15, 16, 17, 31, 63, 64, 65, 130]);
  const plain = dice.chance(0.5);
  return Array.from({ length }, () => (plain || dice.chance(0.8) ? 'x' : dice.pick(CHARACTERS))).join('');
}

const CHARACTERS = [
  ...['"', '\\', '/', '\n', '\t', '\b', '\f', '\r', '\u0000', '\u001f', '\u007f', '\u0080', 'é', '\u07ff', '\u0800'],
  ...['\u2028', '\ud7ff', '\ue000', '\ufffd', '\uffff', '😂', '\u{10ffff}'],
];

class Point {
  readonly x = 1;
}

/** Each made anew: some are of one time only. */
const ODD: readonly ((dice: Dice) => unknown)[] = [
  () => undefined,
  () => () => 1,
  () => Symbol('s'),
  () => 10n,
  () => Number.NaN,
  () => Number.NEGATIVE_INFINITY,
  () => new Date(0),
  () => new Map([['a', 1]]),
  () => new Point(),
  () => Object(1),
  () => Object('s'),
  () => new Uint8Array(2),
  () => ({ toJSON: () => 1 }),
  () => ({ a: undefined, b: 1 }),
  () => [undefined],
  () => Object.assign(new Array(3), { 0: 1, 2: 2 }),
  () => Object.assign([1], { extra: 2 }),
  () => ({ [Symbol('s')]: 1, a: 2 }),
  () => Object.defineProperty({ a: 1 }, 'hidden', { value: 2, enumerable: false }),
  () => Object.create({ inherited: 1 }),
  (dice) => `${'x'.repeat(dice.upTo(70))}\ud800${'x'.repeat(dice.upTo(3))}`,
  (dice) => `${'x'.repeat(dice.upTo(70))}\udc00\ud800`,
  () => ({ '\ud800': 1 }),
  () => ({
    get a() {
      return 1;
    },
  }),
  () => ({
    get a(): never {
      throw new RangeError(GETTER);
    },
  }),
  () => {
    const loop: unknown[] = [];
    loop.push(loop);
    return loop;
  },
  () => {
    let deep: unknown = 0;
    for (let level = 0; level < 1001; level++) deep = level % 2 === 0 ? [deep] : { a: deep };
    return deep;
  },
  () => new Proxy({ a: 1 }, {}),
  () => Object.freeze({ b: 1, a: 2 }),
];
