import type { Random } from '../../src/types/random.ts';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import type {
  At,
  CompareStep,
  Expect,
  OperationStep,
  Program,
  RangeOptions,
  Settings,
  Start,
  Step,
} from './program.ts';

/** Few keys, many of them prefixes of one another, and those whose order JavaScript or signed bytes get wrong. */
const TEXT_KEYS = [
  '\0',
  'a',
  'a\0',
  'a/',
  'a/b',
  'a/b/c',
  'a/bc',
  'ab',
  'b',
  '\u00fc',
  '\ue123',
  '\uffff',
  '\u{1f6a2}',
];
const BYTE_KEYS = ['00', '0000', '01', '61', '6100', '61ff', '61ffff', '62', '80', 'ff', 'ff00', 'ffff'].map((hex) =>
  Uint8Array.from(Buffer.from(hex, 'hex')),
);
/** The most operations that etcd takes in one branch (store:R21); one more is refused. */
const TXN_OPERATIONS_MAX = 128;

/** Makes one program; the same `random` makes the same one. */
export function createProgram(random: Random): Program {
  const dice = new Dice(random);
  const settings: Settings = {
    keys: dice.chance(0.6) ? 'utf8' : 'bytes',
    values: dice.chance(0.75) ? 'plain' : 'json',
    physical: dice.chance(0.7),
  };
  const generator = new Generator(dice, settings);
  return { settings, steps: Array.from({ length: 25 + dice.upTo(30) }, () => generator.step()) };
}

class Dice {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** An integer from 0 to max - 1. */
  upTo(max: number): number {
    return Math.floor(this.#random() * max);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.upTo(list.length)] as T;
  }
}

class Generator {
  readonly #dice: Dice;
  readonly #settings: Settings;
  readonly #keys: readonly Key[];
  /** A key or prefix of no bytes. */
  readonly #none: Key;
  #serial = 0;
  #ranges = 0;
  #watches = 0;
  #watched: KeyRange<Key> = { key: 'a' };

  constructor(dice: Dice, settings: Settings) {
    this.#dice = dice;
    this.#settings = settings;
    const alphabet: readonly Key[] = settings.keys === 'utf8' ? TEXT_KEYS : BYTE_KEYS;
    // Not all of them, so that steps meet.
    this.#keys = Array.from({ length: 3 + dice.upTo(7) }, () => dice.pick(alphabet));
    this.#none = settings.keys === 'utf8' ? '' : new Uint8Array(0);
  }

  step(): Step {
    const { chance, upTo } = this.#bound();
    const roll = upTo(100);
    if (roll < 30) {
      return { op: 'put', key: this.#key(0.01), value: this.#value(), prevKv: chance(0.3), expect: this.#expect() };
    }
    if (roll < 37) {
      return { op: 'delete', range: { key: this.#key(0.01) }, prevKv: chance(0.3), expect: this.#expect() };
    }
    if (roll < 40) return { op: 'delete', range: this.#range(), prevKv: chance(0.5), expect: 'nothing' };
    if (roll < 56) return this.#txn();
    if (roll < 61) return { op: 'get', key: this.#key(0.01), at: this.#at() };
    if (roll < 73) {
      const id = this.#ranges++;
      if (chance(0.7)) return { op: 'range', id, range: this.#range(), at: this.#at(), ...this.#rangeOptions() };
      // With pages to come.
      const options = { limit: 1 + upTo(2), keysOnly: chance(0.2), countOnly: false };
      return { op: 'range', id, range: { prefix: this.#none }, at: this.#at(), ...options };
    }
    if (roll < 78) return { op: 'page', pick: upTo(100) };
    if (roll < 89) return this.#watch();
    if (roll < 91) return { op: 'cancel', pick: upTo(100) };
    if (roll < 98) return { op: 'compact', back: chance(0.85) ? upTo(8) : upTo(40) - 3 };
    return { op: 'get', key: this.#key(0), at: undefined };
  }

  #bound() {
    const dice = this.#dice;
    return {
      chance: (probability: number) => dice.chance(probability),
      upTo: (max: number) => dice.upTo(max),
      pick: <T>(list: readonly T[]) => dice.pick(list),
    };
  }

  #key(emptyChance: number): Key {
    return this.#dice.chance(emptyChance) ? this.#none : this.#dice.pick(this.#keys);
  }

  #value(): unknown {
    const { pick } = this.#bound();
    const serial = this.#serial++;
    if (this.#settings.values === 'json')
      return pick([`v${serial}`, 'same', serial, { serial, list: [null, true] }, '']);
    return pick([
      `v${serial}`,
      'same',
      'same',
      '',
      '\u{1f6a2}',
      Uint8Array.of(serial & 255, 0, 255),
      new Uint8Array(0),
    ]);
  }

  #expect(): Expect {
    return this.#dice.chance(0.75) ? 'nothing' : this.#dice.pick(['absent', 'current', 'other'] as const);
  }

  #range(): KeyRange<Key> {
    const { chance, pick } = this.#bound();
    if (chance(0.2)) return { key: pick(this.#keys) };
    if (chance(0.45)) return { prefix: chance(0.35) ? this.#none : pick(this.#keys) };
    const start = chance(0.15) ? this.#none : pick(this.#keys);
    const end = chance(0.04) ? this.#none : pick(this.#keys);
    // Between no byte and one zero byte there is no key, but the two stores may think of such a range as they like.
    const isBelowAll = start.length === 0 && end.length === 1 && (end === '\0' || end[0] === 0);
    return chance(0.3) || isBelowAll ? { start } : { start, end };
  }

  #rangeOptions(): RangeOptions {
    const { chance, pick } = this.#bound();
    return {
      limit: chance(0.6) ? pick([-1, 0, 1, 1, 2, 2, 3, 100]) : undefined,
      keysOnly: chance(0.2),
      countOnly: chance(0.15),
    };
  }

  #at(): At {
    const { chance, pick, upTo } = this.#bound();
    if (chance(0.35)) return undefined;
    if (chance(0.05)) return { raw: pick([0, -1]) };
    if (chance(0.05)) return { back: -1 - upTo(2) };
    return { back: upTo(chance(0.85) ? 12 : 40) };
  }

  #watch(): Step {
    const { chance, pick } = this.#bound();
    const start = this.#start();
    // Often the range of the watch before: watches of one range share what they deliver.
    if (this.#watches === 0 || chance(0.6)) this.#watched = this.#range();
    return {
      op: 'watch',
      id: this.#watches++,
      range: this.#watched,
      start,
      prevKv: chance(0.5),
      filter: chance(0.25) ? pick(['noput', 'nodelete'] as const) : undefined,
      // The present state of an initial batch is that of the first read.
      lazy: start !== 'initial' && chance(0.4),
    };
  }

  #start(): Start {
    const { chance, upTo } = this.#bound();
    if (chance(0.3)) return undefined;
    if (chance(0.15)) return 'initial';
    if (chance(0.03)) return { raw: 0 };
    if (chance(0.2)) return 'compacted';
    if (chance(0.15)) return { back: -1 - upTo(4) };
    return { back: chance(0.9) ? upTo(8) : upTo(24) };
  }

  #txn(): Step {
    const { chance, upTo } = this.#bound();
    const compare = Array.from({ length: chance(0.3) ? 0 : 1 + upTo(2) }, () => this.#compare());
    if (chance(0.02)) return this.#longTxn();
    if (chance(0.03)) return this.#txnOfEmptyKey(compare);
    const branch = () => Array.from({ length: upTo(5) }, () => this.#operation());
    return { op: 'txn', compare, then: branch(), else: branch() };
  }

  /** At the limit of operations, or one above it in one of the three lists. */
  #longTxn(): Step {
    const { pick, chance } = this.#bound();
    const length = TXN_OPERATIONS_MAX + (chance(0.5) ? 1 : 0);
    const key = pick(this.#keys);
    const long: OperationStep[] = Array.from({ length }, (_, index) =>
      chance(0.5)
        ? { type: 'put', key: this.#numbered(index), value: this.#value(), prevKv: chance(0.2) }
        : { type: 'range', range: { key }, limit: undefined, keysOnly: false, countOnly: true },
    );
    const place = pick(['compare', 'then', 'else'] as const);
    const compares: CompareStep[] = long.map(() => ({ key, target: 'version', result: '>', value: 0 }));
    return {
      op: 'txn',
      compare: place === 'compare' ? compares : [{ key, target: 'version', result: '>', value: 0 }],
      then: place === 'then' ? long : [],
      else: place === 'else' ? long : [],
    };
  }

  /** Nothing else is wrong with it: which of two faults is told is nobody's promise. */
  #txnOfEmptyKey(compare: readonly CompareStep[]): Step {
    const { chance } = this.#bound();
    const key = this.#none;
    if (chance(0.3)) {
      const missing: CompareStep = { key, target: 'version', result: '=', value: 0 };
      return { op: 'txn', compare: [...compare, missing], then: [], else: [] };
    }
    const put: OperationStep = { type: 'put', key, value: this.#value(), prevKv: false };
    return { op: 'txn', compare, then: chance(0.5) ? [put] : [], else: [put] };
  }

  #numbered(index: number): Key {
    return this.#settings.keys === 'utf8' ? `a/${index}` : Uint8Array.of(97, index);
  }

  #compare(): CompareStep {
    const { chance, pick, upTo } = this.#bound();
    const key = pick(this.#keys);
    const result = pick(['=', '!=', '<', '>'] as const);
    const target = pick(['value', 'create', 'mod', 'version', 'lease'] as const);
    switch (target) {
      case 'value':
        return { key, target, result, value: chance(0.5) ? 'same' : this.#value() };
      case 'lease':
        return { key, target, result, value: pick(['0', '7']) };
      case 'version':
        return { key, target, result, value: upTo(3) };
      default:
        return { key, target, result, at: chance(0.3) ? 'absent' : { back: upTo(8) } };
    }
  }

  #operation(): OperationStep {
    const { chance, upTo } = this.#bound();
    const roll = upTo(10);
    if (roll < 5) return { type: 'put', key: this.#key(0), value: this.#value(), prevKv: chance(0.4) };
    if (roll < 7) return { type: 'delete', range: this.#range(), prevKv: chance(0.4) };
    return { type: 'range', range: this.#range(), ...this.#rangeOptions() };
  }
}
