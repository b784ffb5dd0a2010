import type { Key, KeyRange } from '../../src/types/revision.ts';
import type { Dice } from './dice.ts';
import type { At, CompareStep, OperationStep, TxnStep } from './program.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The most operations that etcd takes in one branch, nested ones on top (store:R21); one more is refused. */
const TXN_OPERATIONS_MAX = 128;
const DEPTH_MAX = 3;
/** Two keys and no more: see the vocabulary. */
const NUMBERED = [0, 1] as const;

/** Makes transactions. */
export class TxnGenerator {
  readonly #dice: Dice;
  readonly #words: Vocabulary;

  constructor(dice: Dice, words: Vocabulary) {
    this.#dice = dice;
    this.#words = words;
  }

  txn(): TxnStep {
    const dice = this.#dice;
    if (dice.chance(0.02)) return this.#long();
    if (dice.chance(0.03)) return this.#ofEmptyKey();
    if (dice.chance(0.04)) return this.#refusedPut();
    // With a pool no key is written twice; without one it often is.
    const pool = dice.chance(0.7) ? dice.shuffled(this.#words.keys) : undefined;
    return this.#nested(1, pool, pool?.slice());
  }

  /** The two branches take keys from the same pool, or each from its own. */
  #nested(depth: number, thenPool: Key[] | undefined, elsePool: Key[] | undefined): TxnStep {
    const dice = this.#dice;
    const compare = Array.from({ length: dice.chance(0.3) ? 0 : 1 + dice.upTo(2) }, () => this.#compare());
    return { compare, then: this.#branch(depth, thenPool), else: this.#branch(depth, elsePool) };
  }

  #branch(depth: number, pool: Key[] | undefined): OperationStep[] {
    const length = this.#dice.upTo(depth === 1 ? 5 : 4);
    return Array.from({ length }, () => this.#operation(depth, pool));
  }

  #operation(depth: number, pool: Key[] | undefined): OperationStep {
    const dice = this.#dice;
    return dice.weighted<OperationStep>([
      [48, () => this.#put(pool === undefined ? this.#words.key() : pool.pop())],
      [18, () => this.#delete(pool)],
      [26, () => this.#range()],
      [depth < DEPTH_MAX ? 18 : 0, () => this.#child(depth + 1, pool)],
    ]);
  }

  #child(depth: number, pool: Key[] | undefined): OperationStep {
    // Then and else of one nested transaction may write the same keys.
    if (pool === undefined || this.#dice.chance(0.5)) return { type: 'txn', ...this.#nested(depth, pool, pool) };
    const other = pool.slice();
    const step = this.#nested(depth, pool, other);
    const left = Math.min(pool.length, other.length);
    pool.length = left;
    return { type: 'txn', ...step };
  }

  /** A range instead when no key is left. */
  #put(key: Key | undefined): OperationStep {
    if (key === undefined) return this.#range();
    const { hasValue, ...attachment } = this.#words.attachment();
    const isRefused = attachment.ignoreValue && hasValue;
    // Those have a place of their own: nobody promises which of two faults is told.
    if (isRefused || (attachment.ignoreLease && attachment.lease !== undefined)) {
      return this.#plainPut(key);
    }
    const value = hasValue ? this.#words.value() : undefined;
    return { type: 'put', key, value, prevKv: this.#dice.chance(0.4), ...attachment };
  }

  #plainPut(key: Key): OperationStep {
    const nothing = { lease: undefined, ignoreValue: false, ignoreLease: false };
    return { type: 'put', key, value: this.#words.value(), prevKv: this.#dice.chance(0.2), ...nothing };
  }

  #delete(pool: Key[] | undefined): OperationStep {
    const key = pool?.pop();
    const range: KeyRange<Key> = pool === undefined ? this.#words.range() : { key: key ?? this.#words.missing };
    return { type: 'delete', range, prevKv: this.#dice.chance(0.4) };
  }

  #range(): OperationStep {
    return { type: 'range', range: this.#words.range(), at: this.#at(), ...this.#words.selection() };
  }

  /** Mostly the state that the transaction sees. */
  #at(): At {
    return this.#dice.chance(0.7) ? undefined : this.#words.at();
  }

  #compare(): CompareStep {
    const dice = this.#dice;
    const range = dice.chance(0.35) ? this.#words.range() : { key: dice.pick(this.#words.keys) };
    const result = dice.pick(['=', '!=', '<', '>'] as const);
    const target = dice.pick(['value', 'create', 'mod', 'version', 'lease'] as const);
    switch (target) {
      case 'value':
        return { range, target, result, value: dice.chance(0.5) ? 'same' : this.#words.value() };
      case 'lease':
        return this.#compareLease(range, result);
      case 'version':
        return { range, target, result, value: dice.upTo(3) };
      default:
        return { range, target, result, at: dice.chance(0.3) ? 'absent' : { back: dice.upTo(8) } };
    }
  }

  /** Ids that the stores make are told apart by `=` and `!=` alone: their order is not the same on both. */
  #compareLease(range: KeyRange<Key>, result: CompareStep['result']): CompareStep {
    const dice = this.#dice;
    const isEquality = result === '=' || result === '!=';
    return { range, target: 'lease', result, value: isEquality ? this.#words.lease(0.4) : dice.pick(['0', '7', '10']) };
  }

  /**
   * So many operations as are taken, or one more, in a transaction or on the way down in nested ones:
   *
   * ```text
   *   { then: [range x 60, txn { else: [range x 67] }] }     61 of 128, which leaves 67
   * ```
   */
  #long(): TxnStep {
    const dice = this.#dice;
    const total = TXN_OPERATIONS_MAX + (dice.chance(0.5) ? 1 : 0);
    const depth = 1 + dice.upTo(DEPTH_MAX);
    const outer = Array.from({ length: depth - 1 }, () => 1 + dice.upTo(Math.floor(TXN_OPERATIONS_MAX / DEPTH_MAX)));
    let txn = this.#wide(total - outer.reduce((sum, size) => sum + size, 0), undefined);
    for (const size of outer) txn = this.#wide(size, txn);
    return txn;
  }

  #wide(size: number, inner: TxnStep | undefined): TxnStep {
    const { pick, chance } = {
      pick: <T>(list: readonly T[]) => this.#dice.pick(list),
      chance: this.#dice.chance.bind(this.#dice),
    };
    const key = pick(this.#words.keys);
    const compare: CompareStep = { range: { key }, target: 'version', result: '>', value: 0 };
    const place = inner === undefined ? pick(['compare', 'then', 'else'] as const) : pick(['then', 'else'] as const);
    const selection = { limit: undefined, keysOnly: false, sortTarget: undefined, sortOrder: undefined, bounds: {} };
    const read: OperationStep = { type: 'range', range: { key }, at: undefined, countOnly: true, ...selection };
    const isWriting = inner === undefined && chance(0.5);
    const writes = isWriting ? NUMBERED.map((index) => this.#plainPut(this.#words.numbered(index))) : [];
    const last: OperationStep[] = inner === undefined ? writes : [{ type: 'txn', ...inner }];
    const reads = Array.from({ length: Math.max(0, size - last.length) }, () => read);
    const long = [...reads, ...last].slice(0, Math.max(size, last.length));
    return {
      compare: place === 'compare' ? Array.from({ length: size }, () => compare) : [compare],
      then: place === 'then' ? long : [],
      else: place === 'else' ? long : [],
    };
  }

  /** Nothing else is wrong with it: which of two faults is told is nobody's promise. */
  #ofEmptyKey(): TxnStep {
    const key = this.#words.none;
    const compare = this.#dice.chance(0.5) ? [this.#compare()] : [];
    if (this.#dice.chance(0.3)) {
      const missing: CompareStep = { range: { key }, target: 'version', result: '=', value: 0 };
      return { compare: [...compare, missing], then: [], else: [] };
    }
    return this.#somewhere(this.#plainPut(key), compare);
  }

  /** A put with both a value and `ignoreValue`, with both leases, or that keeps something of a key that is not there. */
  #refusedPut(): TxnStep {
    const dice = this.#dice;
    const nothing = { lease: undefined, ignoreValue: false, ignoreLease: false };
    const common = { type: 'put', prevKv: false } as const;
    const [key, value] = [this.#words.key(), this.#words.fullValue()];
    const put = dice.pick<OperationStep>([
      { ...common, ...nothing, key, value, ignoreValue: true },
      { ...common, ...nothing, key, value, ignoreLease: true, lease: this.#words.lease(0) },
      { ...common, ...nothing, key: this.#words.missing, value: undefined, ignoreValue: true },
      { ...common, ...nothing, key: this.#words.missing, value, ignoreLease: true },
    ]);
    return this.#somewhere(put, dice.chance(0.7) ? [this.#compare()] : []);
  }

  /** In one of the branches, or in a nested transaction there. */
  #somewhere(step: OperationStep, compare: readonly CompareStep[]): TxnStep {
    const place = (inner: OperationStep): Pick<TxnStep, 'then' | 'else'> =>
      this.#dice.chance(0.5) ? { then: [inner], else: [] } : { then: [], else: [inner] };
    if (this.#dice.chance(0.5)) return { compare, ...place(step) };
    return { compare, ...place({ type: 'txn', compare: [this.#compare()], ...place(step) }) };
  }
}
