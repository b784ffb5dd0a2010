import type { Random } from '../../src/types/random.ts';
import type { Key, KeyRange } from '../../src/types/revision.ts';
import { Dice } from './dice.ts';
import { TxnGenerator } from './generate-txn.ts';
import type { EntryStep, Expect, LeaseName, Program, Settings, Start, Step } from './program.ts';
import { Vocabulary } from './vocabulary.ts';

/** Above these etcd and the embedded store grant no lease (store:R39). */
const TTL_MS_MAX = 9_000_000_000_000;
/** etcd grants no less, with the timing that the server here is started with. */
const TTL_MS_MIN = 1000;

/** Makes one program; the same `random` makes the same one. */
export function createProgram(random: Random): Program {
  const dice = new Dice(random);
  const settings = createSettings(dice, false);
  const generator = new Generator(dice, settings);
  return { settings, steps: Array.from({ length: 25 + dice.upTo(30) }, () => generator.step()) };
}

/**
 * Makes a program in which leases expire: keys with leases of seconds, and in between all that a lease can go through.
 * Time goes on at the `sleep` steps alone.
 */
export function createExpiryProgram(random: Random): Program {
  const dice = new Dice(random);
  const settings = createSettings(dice, true);
  const generator = new Generator(dice, settings);
  const steps: Step[] = [...generator.grants(3)];
  if (dice.chance(0.8)) steps.push(generator.watchNow());
  steps.push(...generator.attachments());
  for (const ms of [0, 700, 900, 800]) {
    if (ms > 0) steps.push({ op: 'sleep', ms });
    for (let count = 4 + dice.upTo(6); count > 0; count--) steps.push(generator.step());
  }
  return { settings, steps: [...steps, { op: 'sleep', ms: 2000 }] };
}

function createSettings(dice: Dice, expiry: boolean): Settings {
  return {
    keys: dice.chance(0.6) ? 'utf8' : 'bytes',
    values: dice.chance(0.75) ? 'plain' : 'json',
    physical: dice.chance(expiry ? 0.5 : 0.7),
    expiry,
  };
}

class Generator {
  readonly #dice: Dice;
  readonly #settings: Settings;
  readonly #words: Vocabulary;
  readonly #txns: TxnGenerator;
  #ranges = 0;
  #watches = 0;
  #watched: KeyRange<Key> = { key: 'a' };

  constructor(dice: Dice, settings: Settings) {
    this.#dice = dice;
    this.#settings = settings;
    this.#words = new Vocabulary(dice, settings);
    this.#txns = new TxnGenerator(dice, this.#words);
  }

  step(): Step {
    const dice = this.#dice;
    const isExpiry = this.#settings.expiry;
    return dice.weighted<Step>([
      [isExpiry ? 34 : 27, () => this.#put()],
      [2, () => this.#putAll()],
      [
        7,
        () => ({
          op: 'delete',
          range: { key: this.#words.key(0.01) },
          prevKv: dice.chance(0.3),
          expect: this.#expect(),
        }),
      ],
      [3, () => ({ op: 'delete', range: this.#words.range(), prevKv: dice.chance(0.5), expect: 'nothing' })],
      [isExpiry ? 8 : 17, () => ({ op: 'txn', ...this.#txns.txn() })],
      [4, () => ({ op: 'get', key: this.#words.key(0.01), at: this.#words.at() })],
      [isExpiry ? 3 : 15, () => this.#range()],
      [isExpiry ? 0 : 5, () => ({ op: 'page', pick: dice.upTo(100) })],
      // In time that counts, no watch of the past: etcd begins with those a tenth of a second later.
      [isExpiry ? 0 : 11, () => this.#watch(this.#start())],
      [isExpiry ? 0 : 2, () => ({ op: 'cancel', pick: dice.upTo(100) })],
      [isExpiry ? 2 : 7, () => ({ op: 'compact', back: dice.chance(0.85) ? dice.upTo(8) : dice.upTo(40) - 3 })],
      [isExpiry ? 10 : 5, () => this.#grant()],
      [isExpiry ? 3 : 2.5, () => ({ op: 'revoke', lease: this.#words.lease(0) })],
      [isExpiry ? 9 : 2, () => ({ op: 'keepAlive', lease: this.#words.lease(0) })],
      [isExpiry ? 4 : 3, () => ({ op: 'timeToLive', lease: this.#words.lease(0), withKeys: dice.chance(0.7) })],
      [1, () => ({ op: 'leases' })],
    ]);
  }

  /** Leases to begin with. */
  grants(count: number): readonly Step[] {
    return Array.from({ length: count }, (_, index) => {
      return { op: 'grant', lease: this.#words.newLease(), ttlMs: (index + 1) * TTL_MS_MIN };
    });
  }

  /** Every key with one of these leases. */
  attachments(): readonly Step[] {
    const { keys, leases } = this.#words;
    return keys.map((key) => {
      const lease = this.#dice.pick(leases);
      const common = { value: this.#words.value(), prevKv: false, expect: 'nothing' } as const;
      return { op: 'put', key, lease, ignoreValue: false, ignoreLease: false, ...common };
    });
  }

  watchNow(): Step {
    return this.#watch(this.#dice.chance(0.7) ? undefined : 'initial', { prefix: this.#words.none });
  }

  #put(): Step {
    const dice = this.#dice;
    const { hasValue, ...attachment } = this.#words.attachment();
    const isKeeping = attachment.ignoreValue || attachment.ignoreLease;
    const isRefused =
      (attachment.ignoreValue && hasValue) || (attachment.ignoreLease && attachment.lease !== undefined);
    return {
      op: 'put',
      key: isKeeping && dice.chance(0.1) ? this.#words.missing : this.#words.key(isRefused ? 0 : 0.01),
      value: isRefused ? this.#words.fullValue() : hasValue ? this.#words.value() : undefined,
      prevKv: dice.chance(0.3),
      expect: isRefused ? 'nothing' : this.#expect(),
      ...attachment,
    };
  }

  #putAll(): Step {
    const dice = this.#dice;
    const count = dice.upTo(5);
    const keys = dice.chance(0.9)
      ? dice.shuffled(this.#words.keys).slice(0, count)
      : [this.#words.key(), this.#words.key()];
    const entries = keys.map((key): EntryStep => {
      const { lease, ignoreLease } = this.#words.attachment();
      return { key, value: this.#words.value(), lease: ignoreLease ? undefined : lease, ignoreLease };
    });
    return { op: 'putAll', entries };
  }

  #range(): Step {
    const common = { op: 'range', id: this.#ranges++, at: this.#words.at() } as const;
    if (this.#dice.chance(0.75)) return { ...common, range: this.#words.range(), ...this.#words.selection() };
    return { ...common, range: { prefix: this.#words.none }, ...this.#words.pageSelection() };
  }

  #grant(): Step {
    const dice = this.#dice;
    const lease: LeaseName = this.#words.newLease();
    if (dice.chance(0.04)) return { op: 'grant', lease, ttlMs: TTL_MS_MAX + 1000 };
    if (this.#settings.expiry && dice.chance(0.9))
      return { op: 'grant', lease, ttlMs: TTL_MS_MIN * (1 + dice.upTo(3)) };
    return { op: 'grant', lease, ttlMs: dice.chance(0.1) ? TTL_MS_MAX : 1000 * (600 + dice.upTo(100_000)) };
  }

  #expect(): Expect {
    return this.#dice.chance(0.75) ? 'nothing' : this.#dice.pick(['absent', 'current', 'other'] as const);
  }

  #watch(start: Start, range?: KeyRange<Key>): Step {
    const dice = this.#dice;
    // Often the range of the watch before: watches of one range share what they deliver.
    if (range !== undefined) this.#watched = range;
    else if (this.#watches === 0 || dice.chance(0.6)) this.#watched = this.#words.range();
    return {
      op: 'watch',
      id: this.#watches++,
      range: this.#watched,
      start,
      prevKv: dice.chance(0.5),
      filter: dice.chance(0.25) ? dice.pick(['noput', 'nodelete'] as const) : undefined,
      // The present state of an initial batch is that of the first read.
      lazy: start !== 'initial' && dice.chance(0.4),
    };
  }

  #start(): Start {
    const dice = this.#dice;
    if (dice.chance(0.3)) return undefined;
    if (dice.chance(0.15)) return 'initial';
    if (dice.chance(0.03)) return { raw: 0 };
    if (dice.chance(0.2)) return 'compacted';
    if (dice.chance(0.15)) return { back: -1 - dice.upTo(4) };
    return { back: dice.chance(0.9) ? dice.upTo(8) : dice.upTo(24) };
  }
}
