import { DuplicateKeyError } from '../types/errors.ts';
import type { Key } from '../types/revision.ts';
import type { KeySpace } from './keyspace.ts';
import type { PreparedOperation, PreparedTxn } from './prepared.ts';
import { WrittenKeys } from './written-keys.ts';

/** What one branch writes, nested transactions included: keys put, ranges deleted. */
interface Writes {
  readonly puts: Set<string>;
  readonly deletes: WrittenKeys;
}

/**
 * No branch may write a key twice, whether it runs or not: two puts, or a put of a key that a delete covers (store:R20). The
 * order of checks is etcd's, and it shows: a nested put is held against the deletes of its level and of nested
 * transactions before it, not against those of nested ones behind it. `then` and `else` of one nested transaction
 * exclude each other and may both put a key.
 *
 * Takes n log(n) steps a level for n operations; there are at most `limits.txnOperations` levels.
 */
export function checkDuplicates<K extends Key>(txn: PreparedTxn, keys: KeySpace<K>, action: string): void {
  const check = new DuplicateCheck(keys, action);
  check.writesOf(txn.then);
  check.writesOf(txn.else);
}

class DuplicateCheck<K extends Key> {
  readonly #keys: KeySpace<K>;
  readonly #action: string;

  constructor(keys: KeySpace<K>, action: string) {
    this.#keys = keys;
    this.#action = action;
  }

  /** Throws `DuplicateKeyError`. */
  writesOf(operations: readonly PreparedOperation[]): Writes {
    const puts = new Set<string>();
    const deletes = new WrittenKeys(this.#keys.mode);
    for (const one of operations) if (one.type === 'delete' && !one.range.empty) deletes.add(one.range);
    for (const one of operations) {
      if (one.type !== 'txn') continue;
      const then = this.writesOf(one.then);
      const otherwise = this.writesOf(one.else);
      const nested = new Set([...then.puts, ...otherwise.puts]);
      for (const text of nested) {
        if (puts.has(text) || deletes.has(text)) this.#refuse(text);
        puts.add(text);
      }
      deletes.take(then.deletes);
      deletes.take(otherwise.deletes);
    }
    for (const one of operations) {
      if (one.type !== 'put') continue;
      if (puts.has(one.text) || deletes.has(one.text)) this.#refuse(one.text);
      puts.add(one.text);
    }
    return { puts, deletes };
  }

  #refuse(text: string): never {
    throw new DuplicateKeyError(this.#action, this.#keys.key(text));
  }
}
