import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { WatchOptions } from '../../src/types/store.ts';

/** A step of a random program: plain data, so that a failing program can be printed, cut down and run again. */
export type Step =
  | {
      readonly op: 'put';
      readonly key: Key;
      readonly value: unknown;
      readonly expect: Expect;
      readonly prevKv: boolean;
    }
  | { readonly op: 'delete'; readonly range: Key | KeyRange<Key>; readonly expect: Expect; readonly prevKv: boolean }
  | { readonly op: 'txn'; readonly request: TxnSketch }
  | { readonly op: 'get'; readonly key: Key; readonly back: number | undefined }
  | { readonly op: 'range'; readonly request: RangeSketch; readonly back: number | undefined }
  | {
      readonly op: 'page';
      readonly pick: number;
      readonly back: number | undefined;
      readonly other: KeyRange<Key> | undefined;
    }
  | {
      readonly op: 'watch';
      readonly range: KeyRange<Key>;
      readonly options: WatchSketch;
      readonly back: number | undefined;
    }
  | { readonly op: 'read' | 'return' | 'abort'; readonly pick: number; readonly all?: true }
  | { readonly op: 'compact'; readonly back: number }
  | { readonly op: 'tick' };

/** What a write expects of the key's mod revision; worked out when the step runs. */
export type Expect = 'nothing' | 'absent' | 'current' | 'other';

export type RangeSketch = KeyRange<Key> & { limit?: number; keysOnly?: boolean; countOnly?: boolean };
export type WatchSketch = Pick<WatchOptions, 'initial' | 'prevKv' | 'filter' | 'onSlow' | 'lagEventsMax'>;

/** As a transaction, but numbers to compare with are relative to the store's revision. */
export interface TxnSketch {
  readonly compare: readonly Record<string, unknown>[];
  readonly then: readonly Record<string, unknown>[];
  readonly else: readonly Record<string, unknown>[];
}

export interface Settings {
  readonly keys: 'utf8' | 'bytes';
  readonly values: 'plain' | 'json' | 'trusted';
  readonly retentionEvents: number | undefined;
  /** Log entries that a slice of physical compaction does at most. */
  readonly sliceEntries: number;
}

export interface Program {
  readonly settings: Settings;
  readonly steps: readonly Step[];
}

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
const BYTE_KEYS = [[0], [0, 0], [97], [97, 0], [97, 255], [97, 255, 255], [98], [128], [255], [255, 255]].map((bytes) =>
  Uint8Array.from(bytes),
);

/** Makes one program; the same `random` makes the same one. */
export function createProgram(random: () => number): Program {
  const { chance, pick, upTo } = dice(random);
  const settings: Settings = {
    keys: chance(0.7) ? 'utf8' : 'bytes',
    values: pick(['plain', 'plain', 'json', 'trusted']),
    retentionEvents: chance(0.5) ? undefined : 1 + upTo(chance(0.5) ? 4 : 30),
    sliceEntries: pick([1, 1, 2, 5, 4096]),
  };
  const generator = new StepGenerator(random, settings);
  return { settings, steps: Array.from({ length: 40 + upTo(60) }, () => generator.step()) };
}

class StepGenerator {
  readonly #dice: ReturnType<typeof dice>;
  readonly #keys: readonly Key[];
  readonly #settings: Settings;
  #serial = 0;

  constructor(random: () => number, settings: Settings) {
    this.#dice = dice(random);
    this.#settings = settings;
    this.#keys = settings.keys === 'utf8' ? TEXT_KEYS : BYTE_KEYS;
  }

  step(): Step {
    const { chance, upTo } = this.#dice;
    const roll = upTo(100);
    if (roll < 26)
      return { op: 'put', key: this.#key(), value: this.#value(), expect: this.#expect(), prevKv: chance(0.3) };
    if (roll < 34) return { op: 'delete', range: this.#key(), expect: this.#expect(), prevKv: chance(0.3) };
    if (roll < 37)
      return { op: 'delete', range: this.#range(), expect: chance(0.05) ? 'absent' : 'nothing', prevKv: chance(0.5) };
    if (roll < 46) return { op: 'txn', request: this.#txn() };
    if (roll < 49) return { op: 'get', key: this.#key(), back: this.#back() };
    if (roll < 56) return { op: 'range', request: this.#rangeRequest(), back: this.#back() };
    if (roll < 59)
      return {
        op: 'page',
        pick: upTo(100),
        back: chance(0.1) ? this.#back() : undefined,
        other: chance(0.1) ? this.#range() : undefined,
      };
    if (roll < 65) return { op: 'watch', range: this.#range(), options: this.#watchOptions(), back: this.#start() };
    if (roll < 89) return { op: 'read', pick: upTo(100), ...(chance(0.25) ? { all: true } : {}) };
    if (roll < 90) return { op: chance(0.5) ? 'return' : 'abort', pick: upTo(100) };
    if (roll < 94) return { op: 'compact', back: chance(0.8) ? upTo(12) : upTo(60) - 3 };
    return { op: 'tick' };
  }

  #key(): Key {
    const { chance, pick } = this.#dice;
    if (chance(0.005)) return this.#settings.keys === 'utf8' ? '' : new Uint8Array(0);
    return pick(this.#keys);
  }

  #value(): unknown {
    const { pick } = this.#dice;
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
    return pick(values);
  }

  #expect(): Expect {
    const { chance, pick } = this.#dice;
    return chance(0.7) ? 'nothing' : pick(['absent', 'current', 'current', 'other']);
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
    return {
      ...this.#range(),
      ...(chance(0.6) ? { limit: pick([-1, 0, 1, 1, 2, 3, 100, 1.5]) } : {}),
      ...(chance(0.2) ? { keysOnly: true } : {}),
      ...(chance(0.15) ? { countOnly: true } : {}),
    };
  }

  /** How far back from the newest revision: `undefined` is "no revision given", below 0 is the future. */
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

  #txn(): TxnSketch {
    const { chance, upTo } = this.#dice;
    if (chance(0.01)) {
      return {
        compare: [],
        then: Array.from({ length: 129 }, () => ({ type: 'range', key: this.#keys[0] })),
        else: [],
      };
    }
    const compare = Array.from({ length: chance(0.3) ? 0 : 1 + upTo(2) }, () => this.#compare());
    const branch = () => Array.from({ length: upTo(5) }, () => this.#operation());
    return { compare, then: branch(), else: branch() };
  }

  #compare(): Record<string, unknown> {
    const { pick, upTo } = this.#dice;
    const key = this.#key();
    const result = pick(['=', '!=', '<', '>']);
    const target = pick(['value', 'create', 'mod', 'version', 'lease']);
    if (target === 'value') return { key, target, result, value: pick(['same', 'v1', this.#value()]) };
    if (target === 'lease') return { key, target, result, value: pick(['0', '7']) };
    if (target === 'version') return { key, target, result, value: upTo(3) };
    return { key, target, result, back: upTo(10) };
  }

  #operation(): Record<string, unknown> {
    const { chance, upTo } = this.#dice;
    const roll = upTo(10);
    const prevKv = chance(0.4) ? { prevKv: true } : {};
    if (roll < 5) return { type: 'put', key: this.#key(), value: this.#value(), ...prevKv };
    if (roll < 7) return { type: 'delete', ...this.#range(), ...prevKv };
    return { type: 'range', ...this.#rangeRequest(), ...(chance(0.95) ? { limit: upTo(4) } : {}) };
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
