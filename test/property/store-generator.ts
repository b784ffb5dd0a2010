import type { Key, KeyRange } from '../../src/types/revision.ts';
import type {
  BoundSketch,
  CompareSketch,
  Expect,
  LeasePick,
  OperationSketch,
  Program,
  PutSketch,
  RangeSketch,
  Settings,
  Step,
  TxnSketch,
  WatchSketch,
} from './store-program.ts';

/** Few keys, many of them prefixes of one another, and the ones whose order JavaScript gets wrong. */
const TEXT_KEYS = [
  'a',
  'a/',
  'a/b',
  'a/bc',
  'a/b/c',
  'a\0',
  'ab',
  'b',
  '\u00e9',
  '\ue000',
  '\uffff',
  '\u{1f600}',
  '\u{1f600}x',
];
const BYTE_KEYS = [
  [0],
  [0, 0],
  [97],
  [97, 0],
  [97, 255],
  [97, 255, 255],
  [98],
  [128],
  [255],
  [255, 255],
  [255, 1, 2, 3, 4],
].map((bytes) => Uint8Array.from(bytes));

/** Ids whose order as text is not that as numbers. */
const LEASE_IDS = ['1', '2', '9', '10', '100', '9223372036854775807'];

const SMALL_LIMITS = { keyBytes: 4, valueBytes: 24, txnOperations: 5, txnBytes: 30, leases: 3, pins: 1 };

/** How many kinds of wrong calls there are; `store-wrong.ts` has them. */
const WRONG_CALLS = 16;

/** Makes one program; the same `random` makes the same one. */
export function createProgram(random: () => number): Program {
  const { chance, pick, upTo } = dice(random);
  const values = pick(['plain', 'plain', 'json', 'trusted'] as const);
  const settings: Settings = {
    keys: chance(0.7) ? 'utf8' : 'bytes',
    values,
    retentionEvents: chance(0.5) ? undefined : 1 + upTo(chance(0.5) ? 4 : 30),
    sliceEntries: pick([1, 1, 2, 5, 4096]),
    timers: chance(0.5) ? 'prompt' : 'late',
    limits: values !== 'trusted' && chance(0.25) ? SMALL_LIMITS : undefined,
  };
  const generator = new StepGenerator(random, settings);
  return { settings, steps: Array.from({ length: 40 + upTo(60) }, () => generator.step()) };
}

class StepGenerator {
  readonly #dice: ReturnType<typeof dice>;
  readonly #keys: readonly Key[];
  readonly #settings: Settings;
  /** Kinds of steps with what each weighs. */
  readonly #kinds: readonly (readonly [weight: number, make: () => Step])[];
  #serial = 0;

  constructor(random: () => number, settings: Settings) {
    this.#dice = dice(random);
    this.#settings = settings;
    this.#keys = settings.keys === 'utf8' ? TEXT_KEYS : BYTE_KEYS;
    this.#kinds = [...this.#writes(), ...this.#reads(), ...this.#others()];
  }

  step(): Step {
    const total = this.#kinds.reduce((sum, [weight]) => sum + weight, 0);
    let roll = this.#dice.upTo(total);
    for (const [weight, make] of this.#kinds) {
      if (roll < weight) return make();
      roll -= weight;
    }
    throw new RangeError('the weights do not add up');
  }

  #writes(): [number, () => Step][] {
    const { chance, pick, upTo } = this.#dice;
    const ttlMs = () => pick([1, 2, 5, 10, 20, 50, 200, 1000, 1000]);
    return [
      [22, () => ({ op: 'put', key: this.#key(), ...this.#put(), expect: this.#expect(0.7), prevKv: chance(0.3) })],
      [5, () => ({ op: 'putAll', entries: this.#list(5, () => ({ key: this.#key(), ...this.#put(false) })) })],
      [7, () => ({ op: 'delete', range: this.#key(), expect: this.#expect(0.7), prevKv: chance(0.3) })],
      [2, () => ({ op: 'delete', range: this.#range(), expect: this.#expect(0.95), prevKv: chance(0.5) })],
      [14, () => ({ op: 'txn', request: this.#txn(chance(0.6) ? 0 : 1 + upTo(2)) })],
      [6, () => ({ op: 'grant', ttlMs: chance(0.04) ? 9e12 + 1 : ttlMs(), id: this.#optional(0.7, pick(LEASE_IDS)) })],
      [2, () => ({ op: 'revoke', lease: this.#lease(), byHandle: chance(0.4) })],
      [3, () => ({ op: 'keepAlive', lease: this.#lease(), byHandle: chance(0.4) })],
    ];
  }

  #reads(): [number, () => Step][] {
    const { chance, upTo } = this.#dice;
    return [
      [3, () => ({ op: 'get', key: this.#key(), back: this.#back() })],
      [8, () => ({ op: 'range', request: this.#rangeRequest(), back: this.#back() })],
      [
        3,
        () => ({
          op: 'page',
          pick: upTo(100),
          back: chance(0.1) ? this.#back() : undefined,
          other: chance(0.15) ? this.#rangeRequest() : undefined,
        }),
      ],
      [6, () => ({ op: 'watch', range: this.#range(), options: this.#watchOptions(), back: this.#start() })],
      [24, () => ({ op: 'read', pick: upTo(100), ...(chance(0.25) ? { all: true } : {}) })],
      [3, () => ({ op: 'progress', pick: upTo(100) })],
      [1, () => ({ op: chance(0.5) ? 'return' : 'abort', pick: upTo(100) })],
      [2, () => ({ op: 'timeToLive', lease: this.#lease(), byHandle: chance(0.4), keys: chance(0.7) })],
      [1, () => ({ op: 'leases' })],
      [1, () => ({ op: 'stats' })],
    ];
  }

  #others(): [number, () => Step][] {
    const { chance, pick, upTo } = this.#dice;
    const isPrompt = this.#settings.timers === 'prompt';
    return [
      [4, () => ({ op: 'compact', back: chance(0.8) ? upTo(12) : upTo(60) - 3 })],
      [
        2,
        () => ({
          op: 'pin',
          back: chance(0.8) ? upTo(10) : upTo(60) - 3,
          ttlMs: isPrompt ? this.#optional(0.5, pick([1, 3, 10])) : 1e9,
        }),
      ],
      [2, () => ({ op: 'release', pick: upTo(100) })],
      [7, () => ({ op: 'advance', ms: pick([1, 1, 2, 4, 5, 10, 30]) })],
      [5, () => ({ op: 'tick' })],
      [1, () => (this.#settings.values === 'trusted' ? { op: 'stats' } : { op: 'snapshot' })],
      [1, () => ({ op: 'wrong', what: upTo(WRONG_CALLS) })],
    ];
  }

  #key(): Key {
    const { chance, pick } = this.#dice;
    if (chance(0.005)) return this.#settings.keys === 'utf8' ? '' : new Uint8Array(0);
    return pick(this.#keys);
  }

  #value(): unknown {
    const { chance, pick } = this.#dice;
    const serial = this.#serial++;
    const values: unknown[] = [
      `v${serial}`,
      'same',
      serial,
      { serial, list: [1, null, { x: 'y' }] },
      null,
      true,
      ['\u{1f600}', ''],
    ];
    if (this.#settings.values !== 'json') values.push(Uint8Array.of(serial & 255, 0, 255));
    return chance(0.3) ? 'same' : pick(values);
  }

  /** A value and a lease, or what is there. */
  #put(mayKeepValue = true): PutSketch {
    const { chance, pick } = this.#dice;
    const value = mayKeepValue && chance(0.04) ? ({ ignoreValue: true } as const) : { value: this.#value() };
    const attachment = (): PutSketch => {
      if (chance(0.65)) return {};
      if (chance(0.5)) return { lease: this.#lease() };
      if (chance(0.3)) return { ignoreLease: true };
      return chance(0.02) ? { lease: '1', ttlMs: 5 } : { ttlMs: pick([1, 3, 10, 20, 100, 1000, 1000]) };
    };
    return { ...value, ...attachment() };
  }

  #lease(): LeasePick {
    const { chance, pick, upTo } = this.#dice;
    if (chance(0.02)) return '999';
    return chance(0.1) ? pick(LEASE_IDS) : upTo(100);
  }

  #expect(nothing: number): Expect {
    const { chance, pick } = this.#dice;
    return chance(nothing) ? 'nothing' : pick(['absent', 'current', 'current', 'other']);
  }

  #range(): KeyRange<Key> {
    const { chance, pick } = this.#dice;
    const none = this.#settings.keys === 'utf8' ? '' : new Uint8Array(0);
    const key = pick(this.#keys);
    if (chance(0.2)) return { key: this.#key() };
    if (chance(0.5)) return { prefix: chance(0.5) ? none : key };
    const start = chance(0.15) ? none : key;
    return chance(0.3) ? { start } : { start, end: pick(this.#keys) };
  }

  #rangeRequest(): RangeSketch {
    const { chance, pick } = this.#dice;
    const none = this.#settings.keys === 'utf8' ? '' : new Uint8Array(0);
    return {
      ...(chance(0.4) ? { prefix: none } : this.#range()),
      ...(chance(0.6) ? { limit: pick([-1, 0, 1, 1, 2, 3, 100, ...(chance(0.05) ? [1.5] : [])]) } : {}),
      ...(chance(0.2) ? { keysOnly: true } : {}),
      ...(chance(0.1) ? { countOnly: true } : {}),
      ...(chance(0.3) ? { sortTarget: pick(['key', 'version', 'create', 'mod', 'value'] as const) } : {}),
      ...(chance(0.25) ? { sortOrder: pick(['ascend', 'descend', 'descend'] as const) } : {}),
      ...this.#bounds(),
    };
  }

  #bounds(): BoundSketch {
    const { chance, upTo } = this.#dice;
    const names = ['minModBack', 'maxModBack', 'minCreateBack', 'maxCreateBack'] as const;
    return Object.fromEntries(names.filter(() => chance(0.08)).map((name) => [name, upTo(12)]));
  }

  #back(): number | undefined {
    const { chance, upTo } = this.#dice;
    if (chance(0.35)) return undefined;
    return chance(0.8) ? upTo(15) : upTo(60) - 4;
  }

  #start(): number | undefined {
    const { chance, upTo } = this.#dice;
    if (chance(0.3)) return undefined;
    return chance(0.8) ? upTo(12) - 2 : upTo(60) - 8;
  }

  #watchOptions(): WatchSketch {
    const { chance, pick, upTo } = this.#dice;
    return {
      ...(chance(0.15) ? { initial: true } : {}),
      ...(chance(0.5) ? { prevKv: true } : {}),
      ...(chance(0.3) ? { filter: pick(['noput', 'nodelete'] as const) } : {}),
      ...(chance(0.5)
        ? { onSlow: pick(['lag', 'coalesce', 'coalesce', 'close'] as const), lagEventsMax: 1 + upTo(6) }
        : {}),
    };
  }

  /** `depth` levels of transactions may be inside. */
  #txn(depth: number): TxnSketch {
    const { chance, upTo } = this.#dice;
    if (chance(0.01)) return { compare: [], then: Array.from({ length: 129 }, () => this.#pointRange()), else: [] };
    const compare = Array.from({ length: chance(0.3) ? 0 : 1 + upTo(2) }, () => this.#compare());
    const branch = () => this.#list(depth > 0 ? 4 : 5, () => this.#operation(depth));
    return { compare, then: branch(), else: branch() };
  }

  #pointRange(): OperationSketch {
    return { type: 'range', key: this.#keys[0] as Key };
  }

  #compare(): CompareSketch {
    const { chance, pick, upTo } = this.#dice;
    const range = chance(0.6) ? { key: this.#key() } : this.#range();
    const result = pick(['=', '=', '!=', '<', '>']);
    const target = pick(['value', 'create', 'mod', 'version', 'lease']);
    if (target === 'value') return { ...range, target, result, value: pick(['same', 'v1', this.#value()]) };
    if (target === 'lease') return { ...range, target, result, lease: chance(0.3) ? '0' : this.#lease() };
    if (target === 'version') return { ...range, target, result, value: upTo(4) - 1 };
    return { ...range, target, result, ...(chance(0.3) ? { value: 0 } : { back: upTo(10) }) };
  }

  #operation(depth: number): OperationSketch {
    const { chance, upTo } = this.#dice;
    const roll = upTo(10);
    const prevKv = chance(0.4) ? ({ prevKv: true } as const) : {};
    if (depth > 0 && roll < 4) return { type: 'txn', ...this.#txn(depth - 1) };
    if (roll < 6) return { type: 'put', key: this.#key(), ...this.#put(), ...prevKv };
    if (roll < 7) return { type: 'delete', ...this.#narrowRange(), ...prevKv };
    return { type: 'range', ...this.#rangeRequest(), ...(chance(0.2) ? { back: upTo(12) - 1 } : {}) };
  }

  /** Mostly one key: a delete of a wide range makes duplicates of nearly everything else. */
  #narrowRange(): KeyRange<Key> {
    return this.#dice.chance(0.85) ? { key: this.#key() } : this.#range();
  }

  #list<T>(lengthMax: number, make: () => T): T[] {
    return Array.from({ length: this.#dice.upTo(lengthMax + 1) }, make);
  }

  #optional<T>(probability: number, value: T): T | undefined {
    return this.#dice.chance(probability) ? value : undefined;
  }
}

function dice(random: () => number) {
  const upTo = (max: number) => Math.floor(random() * max);
  return {
    /** An integer from 0 to max - 1. */
    upTo,
    chance: (probability: number) => random() < probability,
    pick: <T>(list: readonly T[]): T => list[upTo(list.length)] as T,
  };
}
