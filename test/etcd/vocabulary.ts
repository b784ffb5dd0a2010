import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { Dice } from './dice.ts';
import { UNKNOWN_LEASE } from './lease-names.ts';
import type { LeaseName } from './program.ts';
import { type At, type Attachment, BOUNDS, type Place, type Selection, type Settings } from './program.ts';

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
/**
 * So many keys at most, and two of long transactions and one of a barrier: etcd sorts ranges of up to 12 rows so that
 * ties stay in key order, larger ones in any order.
 */
const KEYS_MAX = 9;
/** Ids whose order as text is another one than as numbers, and the largest one. */
const OWN_LEASES: readonly LeaseName[] = ['5', '7', '10', '9223372036854775807'];

/** Keys, ranges, values, places and leases of one program. */
export class Vocabulary {
  readonly keys: readonly Key[];
  /** A key or prefix of no bytes. */
  readonly none: Key;
  /** A key that is never written, so no value or lease of it can be kept. */
  readonly missing: Key;
  /** Names of leases that were granted, or would have been. */
  readonly leases: LeaseName[] = [];
  readonly #dice: Dice;
  readonly #settings: Settings;
  #values = 0;
  #generated = 0;

  constructor(dice: Dice, settings: Settings) {
    this.#dice = dice;
    this.#settings = settings;
    const isText = settings.keys === 'utf8';
    const alphabet: readonly Key[] = isText ? TEXT_KEYS : BYTE_KEYS;
    // Not all of them, so that steps meet.
    this.keys = dice.shuffled(alphabet).slice(0, 3 + dice.upTo(KEYS_MAX - 2));
    this.none = isText ? '' : new Uint8Array(0);
    this.missing = isText ? 'missing' : Uint8Array.of(77);
  }

  key(emptyChance = 0): Key {
    return this.#dice.chance(emptyChance) ? this.none : this.#dice.pick(this.keys);
  }

  /** One of two more keys, for lists that are longer than the alphabet. */
  numbered(index: 0 | 1): Key {
    return this.#settings.keys === 'utf8' ? `a/${index}` : Uint8Array.of(97, index + 1);
  }

  value(): unknown {
    const serial = this.#values++;
    if (this.#settings.values === 'json')
      return this.#dice.pick([`v${serial}`, 'same', serial, { serial, list: [null, true] }, '', '\uffff', '\u{1f6a2}']);
    const bytes = [Uint8Array.of(serial & 255, 0, 255), new Uint8Array(0), Uint8Array.of(0x7f), Uint8Array.of(0x80)];
    return this.#dice.pick([`v${serial}`, 'same', 'same', '', '\uffff', '\u{1f6a2}', ...bytes]);
  }

  range(): KeyRange<Key> {
    const dice = this.#dice;
    if (dice.chance(0.2)) return { key: dice.pick(this.keys) };
    if (dice.chance(0.45)) return { prefix: dice.chance(0.45) ? this.none : dice.pick(this.keys) };
    const start = dice.chance(0.15) ? this.none : dice.pick(this.keys);
    const end = dice.chance(0.04) ? this.none : dice.pick(this.keys);
    // Between no byte and one zero byte there is no key, but the two stores may think of such a range as they like.
    const isBelowAll = start.length === 0 && end.length === 1 && (end === '\0' || end[0] === 0);
    return dice.chance(0.3) || isBelowAll ? { start } : { start, end };
  }

  at(): At {
    const dice = this.#dice;
    if (dice.chance(0.35)) return undefined;
    if (dice.chance(0.05)) return { raw: dice.pick([0, -1]) };
    if (dice.chance(0.05)) return { back: -1 - dice.upTo(2) };
    return { back: dice.upTo(dice.chance(0.85) ? 12 : 40) };
  }

  selection(): Selection<Place> {
    const dice = this.#dice;
    const isSorted = dice.chance(0.45);
    return {
      limit: dice.chance(0.5) ? dice.pick([-1, 0, 1, 1, 2, 2, 3, 100]) : undefined,
      keysOnly: dice.chance(0.15),
      countOnly: dice.chance(0.1),
      sortTarget: isSorted ? dice.pick(['key', 'version', 'create', 'mod', 'value'] as const) : undefined,
      sortOrder: isSorted ? dice.pick([undefined, 'ascend', 'descend', 'descend'] as const) : undefined,
      bounds: this.#bounds(0.3),
    };
  }

  /** Short, in the order of pages, so that there are more to come. */
  pageSelection(): Selection<Place> {
    const dice = this.#dice;
    return {
      limit: 1 + dice.upTo(2),
      keysOnly: dice.chance(0.2),
      countOnly: false,
      sortTarget: dice.chance(0.2) ? 'key' : undefined,
      sortOrder: dice.chance(0.2) ? 'ascend' : undefined,
      bounds: this.#bounds(0.15),
    };
  }

  #bounds(chance: number): Selection<Place>['bounds'] {
    const dice = this.#dice;
    if (!dice.chance(chance)) return {};
    const names = dice.shuffled(BOUNDS).slice(0, dice.chance(0.7) ? 1 : 2);
    return Object.fromEntries(names.map((name) => [name, { back: dice.upTo(14) - 1 }]));
  }

  /** What a put says of value and lease: mostly nothing. Also tells whether a value must go with it. */
  attachment(): Attachment & { readonly hasValue: boolean } {
    const dice = this.#dice;
    const nothing = { lease: undefined, ignoreValue: false, ignoreLease: false, hasValue: true };
    // Where leases are to expire, a put without one is the exception: it detaches the key.
    const isExpiry = this.#settings.expiry;
    return dice.weighted<Attachment & { hasValue: boolean }>([
      [isExpiry ? 12 : 60, () => nothing],
      [isExpiry ? 60 : 26, () => ({ ...nothing, lease: this.lease() })],
      [5, () => ({ ...nothing, ignoreLease: true })],
      [3, () => ({ ...nothing, ignoreValue: true, hasValue: false })],
      [2, () => ({ ...nothing, ignoreValue: true, ignoreLease: true, hasValue: false })],
      [2, () => ({ ...nothing, lease: this.lease(), ignoreValue: true, hasValue: false })],
      // Each of these is refused, and nothing else is wrong with it.
      [1, () => ({ ...nothing, ignoreValue: true })],
      [1, () => ({ ...nothing, lease: this.lease(0), ignoreLease: true })],
    ]);
  }

  /** A value that is not empty: etcd cannot tell an empty one from none. */
  fullValue(): unknown {
    return `v${this.#values++}`;
  }

  lease(noneChance = 0.1): LeaseName {
    const dice = this.#dice;
    if (dice.chance(noneChance)) return '0';
    return this.leases.length === 0 || dice.chance(0.05) ? UNKNOWN_LEASE : dice.pick(this.leases);
  }

  /** A lease to grant: often one that there is. */
  newLease(): LeaseName {
    const name = this.#dice.chance(0.4) ? `g${++this.#generated}` : this.#dice.pick(OWN_LEASES);
    if (!this.leases.includes(name)) this.leases.push(name);
    return name;
  }
}
