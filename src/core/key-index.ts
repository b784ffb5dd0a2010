import { InvariantError, StoreFullError } from '../types/errors.ts';
import { invariant } from '../types/invariant.ts';
import { STATUS_FULL, STATUS_OK, U32_MAX } from './abi.ts';
import { CoreInstance, type CoreOptions } from './instance.ts';
import { KeyWriter } from './key-writer.ts';

export interface KeyIndexOptions extends CoreOptions {
  /**
   * No `Map` of key texts in front. Exact reads then go to the core and take several times as long; a key costs about
   * 100 bytes and no string is kept. @default false
   */
  readonly lean?: boolean;
}

/**
 * An ordered set of keys by itself, without versions, values and log: the core's B+tree with subtree counts, in the
 * order of the keys' UTF-8 bytes. It has a core of its own.
 *
 * ```text
 *   insert "b" -> 0    insert "a" -> 1    insert "c" -> 2
 *   list ["a", "c") -> 1 0        count -> 2        rank "c" -> 2        at 1 -> 0
 * ```
 *
 * Ids are small integers; that of a deleted key is given out again. Lists are views on the core's memory, valid until
 * the next call, while they fit into one page of its output. Throws `StoreFullError`, with nothing changed, when a new
 * key would pass the memory limit; nothing else needs memory of the core. Keys are well-formed text.
 */
export class KeyIndex {
  readonly #instance: CoreInstance;
  readonly #keys: KeyWriter;
  readonly #ids: Map<string, number> | undefined;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(module: WebAssembly.Module, options: KeyIndexOptions = {}) {
    this.#instance = new CoreInstance(module, options);
    this.#keys = new KeyWriter(this.#instance);
    this.#ids = options.lean === true ? undefined : new Map();
  }

  get size(): number {
    return this.#instance.exports.liveKeyCount();
  }

  /** Puts a key into the index, if it is not there yet, and answers its id. */
  insert(key: string): number {
    const length = this.#keys.writeNew(key, 'store a key');
    const id = this.#instance.exports.insertKey(this.#keys.pointer, length);
    if (id < 0) {
      if (id === STATUS_FULL) throw new StoreFullError('store a key', this.#instance.memoryBytesMax);
      throw new InvariantError(`the core cannot store a key: status ${id}`);
    }
    this.#ids?.set(key, id);
    return id;
  }

  /** Takes a key out; the id it had, which is free now, or -1. */
  delete(key: string): number {
    const id = this.get(key);
    if (id < 0) return id;
    const status = this.#instance.exports.removeKey(id);
    invariant(status === STATUS_OK, `key ${id} is in the index without versions`);
    this.#ids?.delete(key);
    return id;
  }

  /** The id of a key, -1 when it is not there. */
  get(key: string): number {
    if (this.#ids !== undefined) return this.#ids.get(key) ?? -1;
    const length = this.#keys.write(key, 'look up a key');
    return this.#instance.exports.findKey(this.#keys.pointer, length);
  }

  /** Ids of the keys from `start` on and before `end` (empty: no upper bound), in order, at most `limit` (0: all). */
  list(start: string, end: string, limit = 0): Uint32Array {
    const length = this.#keys.writeText(start, end, 'list keys');
    const { exports } = this.#instance;
    const count = exports.listKeys(this.#keys.pointer, length, this.#keys.endLength, Math.min(limit, U32_MAX));
    return this.#instance.pages(count, () => exports.listKeysMore());
  }

  /**
   * The same in pages of at most `size` ids. The index may be written to between them: a page begins behind the last key
   * of the one before, whether that is still there or not, and has what is there then.
   */
  *pages(start: string, end: string, size: number): Generator<Uint32Array, void, void> {
    for (let from = start; ; ) {
      const page = this.list(from, end, size);
      const last = page.at(-1);
      if (last === undefined) return;
      // Read before the caller can write: a write that grows the memory leaves the page no length, and may take the key.
      const isLast = page.length < size;
      // The smallest text behind the last key.
      from = `${this.keyOf(last)}\0`;
      yield page;
      if (isLast) return;
    }
  }

  /** How many keys there are from `start` on and before `end` (empty: no upper bound), in O(log n). */
  count(start: string, end: string): number {
    const length = this.#keys.writeText(start, end, 'count keys');
    return this.#instance.exports.count(this.#keys.pointer, length, this.#keys.endLength, Number.POSITIVE_INFINITY);
  }

  /** How many keys come before this one, which need not be there, in O(log n). */
  rank(key: string): number {
    const length = this.#keys.write(key, 'find the rank of a key');
    return this.#instance.exports.rankOf(this.#keys.pointer, length);
  }

  /** The id of the key with so many keys before it, -1 when there are not so many, in O(log n). */
  at(rank: number): number {
    return rank >= 0 && rank < this.size ? this.#instance.exports.keyAtRank(rank) : -1;
  }

  /** The text of a key in the index. */
  keyOf(id: number): string {
    const { exports } = this.#instance;
    const pointer = exports.keyPointer(id);
    invariant(pointer !== 0, `no key has the id ${id}`);
    return this.#decoder.decode(this.#instance.bytes().subarray(pointer, pointer + exports.keyLength(id)));
  }

  /** Bytes handed out of the core's memory, free ones included. */
  get claimedBytes(): number {
    return this.#instance.exports.claimedBytes();
  }

  /** Checks every structure in full; for tests. Throws `InvariantError` with the number in `assembly/verify.ts`. */
  verify(): void {
    const statement = this.#instance.exports.verify();
    invariant(statement === 0, `statement ${statement} of the core does not hold`);
  }
}
