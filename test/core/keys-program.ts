import type { CoreExports } from '../../src/core/abi.ts';
import { STATUS_FULL, STATUS_INVALID, STATUS_NOT_FOUND, STATUS_OK } from '../../src/core/abi.ts';
import type { Dice } from '../etcd/dice.ts';
import { compareBytes, isInRange } from '../support/naive-core.ts';
import { GuardedMemory } from './guarded-memory.ts';

/** A program for the key index by itself, without versions; indexes of keys are taken modulo their number. */
export interface KeysProgram {
  readonly keys: readonly string[];
  readonly steps: readonly KeysStep[];
}

export type KeysStep =
  | { readonly do: 'insert'; readonly key: number; readonly at: number }
  /** So many keys from one on, in order: only so does a page become full. */
  | { readonly do: 'fill'; readonly from: number; readonly count: number }
  | { readonly do: 'remove'; readonly key: number; readonly count: number }
  | { readonly do: 'wrong remove'; readonly keyId: number }
  | { readonly do: 'list'; readonly start: number; readonly end: number; readonly kind: number; readonly limit: number }
  | { readonly do: 'rank'; readonly key: number; readonly rank: number; readonly at: number }
  | { readonly do: 'limit'; readonly spare: number };

export function makeKeysProgram(dice: Dice): KeysProgram {
  const space = dice.pick([3, 12, 60, 700]);
  const prefix = dice.pick(['', '/registry/pods/ns/', 'a/', '\u00ff', 'long/'.repeat(40)]);
  const keys = Array.from({ length: space }, (_, index) => {
    return dice.chance(0.8) ? `${prefix}${String(index).padStart(4, '0')}` : `${prefix}${'k'.repeat(dice.upTo(20))}`;
  }).sort();
  const isTight = dice.chance(0.3);
  const key = (): number => dice.upTo(space);
  const at = (): number => dice.pick([0, 1, 13, 8191]);
  const makeStep = (): KeysStep =>
    dice.weighted<KeysStep>([
      [6, () => ({ do: 'insert', key: key(), at: at() })],
      [1, () => ({ do: 'fill', from: key(), count: dice.pick([5, 30, 400, 700]) })],
      [3, () => ({ do: 'remove', key: key(), count: dice.pick([1, 1, 1, 10, 500]) })],
      [1, () => ({ do: 'wrong remove', keyId: dice.pick([-1, 0, 1, 9, 255, 256, 0x7fffffff, -0x80000000]) })],
      [
        5,
        () => ({ do: 'list', start: key(), end: key(), kind: dice.upTo(4), limit: dice.pick([0, 0, 1, 3, 4, 5, 100]) }),
      ],
      [4, () => ({ do: 'rank', key: key(), rank: dice.pick([0, 1, 2, 50, 0xffffffff]), at: at() })],
      [isTight ? 2 : 0, () => ({ do: 'limit', spare: dice.pick([0, 16, 5000, 40_000, 2e6]) })],
    ]);
  return { keys, steps: Array.from({ length: dice.pick([5, 15, 40]) }, makeStep) };
}

/** Runs a program on a new core and beside it on a plain map, with every answer compared and every guard looked at. */
export function runKeysProgram(core: CoreExports, program: KeysProgram): void {
  const runner = new KeysRunner(core, program.keys);
  for (const [index, step] of program.steps.entries()) {
    try {
      runner.step(step);
    } catch (error) {
      throw new Error(`step ${index + 1}, ${step.do}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  runner.end();
}

class KeysRunner {
  readonly #e: CoreExports;
  readonly #memory: GuardedMemory;
  readonly #keys: readonly Buffer[];
  /** Position in `#keys` of a key that is there, and its id. Equal keys have one position. */
  readonly #ids = new Map<string, number>();
  #isLimited = false;

  constructor(core: CoreExports, keys: readonly string[]) {
    this.#e = core;
    this.#memory = new GuardedMemory(core);
    this.#keys = keys.map((key) => Buffer.from(key, 'latin1'));
  }

  step(step: KeysStep): void {
    if (step.do === 'insert') this.#insert(step.key, step.at);
    else if (step.do === 'fill')
      for (let offset = 0; offset < step.count; offset++) this.#insert(step.from + offset, 0);
    else if (step.do === 'remove') for (let offset = 0; offset < step.count; offset++) this.#remove(step.key + offset);
    else if (step.do === 'wrong remove') this.#wrongRemove(step.keyId);
    else if (step.do === 'list') this.#list(step);
    else if (step.do === 'rank') this.#rank(step);
    else {
      this.#e.setMemoryLimit(Math.min(0x7fff0000, this.#e.claimedBytes() + step.spare));
      this.#isLimited = true;
    }
    this.#memory.check();
  }

  end(): void {
    same('verify', this.#e.verify(), 0);
    same('keyCount', this.#e.keyCount(), this.#ids.size);
    same('liveKeyCount', this.#e.liveKeyCount(), this.#ids.size);
    for (const [name, id] of this.#ids) {
      const stored = this.#memory.bytes(this.#e.keyPointer(id), this.#e.keyLength(id));
      same('key bytes', stored.toString('latin1'), name);
      // It is there without a version, and cannot get one.
      same('headSlot', this.#e.headSlot(id), STATUS_NOT_FOUND);
      same('append', this.#e.append(id, 1, 1, 1, 1, 0, 0), STATUS_INVALID);
    }
    this.#memory.check();
  }

  #insert(index: number, at: number): void {
    const key = this.#key(index);
    const pointer = this.#memory.put(key, at);
    const known = this.#ids.get(key.toString('latin1'));
    const id = this.#e.insertKey(pointer, key.length);
    if (known !== undefined) {
      same('insertKey of a known key', id, known);
      return;
    }
    if (id === STATUS_FULL && this.#isLimited) {
      same('findKey after a refusal', this.#e.findKey(pointer, key.length), STATUS_NOT_FOUND);
      same('keyCount after a refusal', this.#e.keyCount(), this.#ids.size);
      return;
    }
    if (id < 0 || [...this.#ids.values()].includes(id)) throw new Error(`insertKey answered ${id}`);
    this.#ids.set(key.toString('latin1'), id);
  }

  #remove(index: number): void {
    const name = this.#key(index).toString('latin1');
    const id = this.#ids.get(name);
    if (id === undefined) return;
    same('removeKey', this.#e.removeKey(id), STATUS_OK);
    this.#ids.delete(name);
    same('removeKey again', this.#e.removeKey(id), STATUS_INVALID);
  }

  #wrongRemove(keyId: number): void {
    if ([...this.#ids.values()].includes(keyId)) return;
    same('removeKey', this.#e.removeKey(keyId), STATUS_INVALID);
    same('keyCount', this.#e.keyCount(), this.#ids.size);
  }

  #list({ start, end, kind, limit }: Extract<KeysStep, { do: 'list' }>): void {
    const first = kind === 3 ? Buffer.alloc(0) : this.#key(start);
    const last = kind === 2 ? this.#key(end) : Buffer.alloc(0);
    const range = kind === 0 ? { start: first } : { start: first, end: last };
    const pointer = this.#memory.put(Buffer.concat([first, last]), 7);
    const endLength = kind === 0 ? -1 : last.length;
    const ids = this.#sorted().filter(([key]) => isInRange(key, range));
    const most = limit === 0 ? ids.length : limit;
    const pages: number[] = [];
    for (let count = this.#e.listKeys(pointer, first.length, endLength, limit); ; count = this.#e.listKeysMore()) {
      pages.push(...this.#memory.output(count));
      if (count < this.#e.outputWords()) break;
    }
    same(
      'listKeys',
      pages.join(),
      ids
        .slice(0, most)
        .map(([, id]) => id)
        .join(),
    );
    same('count', this.#e.count(pointer, first.length, endLength, Number.POSITIVE_INFINITY), ids.length);
  }

  #rank({ key: index, rank, at }: Extract<KeysStep, { do: 'rank' }>): void {
    const key = this.#key(index);
    const pointer = this.#memory.put(key, at);
    const sorted = this.#sorted();
    same(
      'rankOf',
      this.#e.rankOf(pointer, key.length),
      sorted.filter(([other]) => compareBytes(other, key) < 0).length,
    );
    same('keyAtRank', this.#e.keyAtRank(rank), sorted[rank]?.[1] ?? STATUS_NOT_FOUND);
    same('findKey', this.#e.findKey(pointer, key.length), this.#ids.get(key.toString('latin1')) ?? STATUS_NOT_FOUND);
  }

  #sorted(): readonly (readonly [key: Buffer, id: number])[] {
    const all = [...this.#ids].map(([name, id]) => [Buffer.from(name, 'latin1'), id] as const);
    return all.sort(([left], [right]) => compareBytes(left, right));
  }

  #key(index: number): Buffer {
    return this.#keys[index % this.#keys.length] ?? Buffer.alloc(0);
  }
}

function same(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: got ${String(actual)}, expected ${String(expected)}`);
}
