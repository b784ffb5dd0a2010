import { rangeHas } from '../core/key-order.ts';
import { DuplicateKeyError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key } from '../types/revision.ts';
import type { PreparedOperation, PreparedTxn } from './prepared.ts';

/** What one branch writes, nested transactions included: keys put, ranges deleted. */
interface Writes {
  readonly puts: Set<string>;
  readonly deletes: ResolvedRange[];
}

/**
 * No branch may write a key twice, whether it runs or not: two puts, or a put of a key that a delete covers (store:R20). The
 * order of checks is etcd's, and it shows: a nested put is held against the deletes of its level and of nested
 * transactions before it, not against those of nested ones behind it. `then` and `else` of one nested transaction
 * exclude each other and may both put a key.
 */
export function checkDuplicates(txn: PreparedTxn, keyOf: (text: string) => Key, action: string): void {
  const refuse = (text: string) => {
    throw new DuplicateKeyError(action, keyOf(text));
  };
  writesOf(txn.then, refuse);
  writesOf(txn.else, refuse);
}

function writesOf(operations: readonly PreparedOperation[], refuse: (text: string) => void): Writes {
  const puts = new Set<string>();
  const deletes: ResolvedRange[] = [];
  const checkDeletes = (text: string) => {
    if (deletes.some((range) => rangeHas(range, text))) refuse(text);
  };
  for (const one of operations) if (one.type === 'delete' && !one.range.empty) deletes.push(one.range);
  for (const one of operations) {
    if (one.type !== 'txn') continue;
    const then = writesOf(one.then, refuse);
    const otherwise = writesOf(one.else, refuse);
    for (const text of new Set([...then.puts, ...otherwise.puts])) {
      if (puts.has(text)) refuse(text);
      checkDeletes(text);
      puts.add(text);
    }
    deletes.push(...then.deletes, ...otherwise.deletes);
  }
  for (const one of operations) {
    if (one.type !== 'put') continue;
    if (puts.has(one.text)) refuse(one.text);
    checkDeletes(one.text);
    puts.add(one.text);
  }
  return { puts, deletes };
}
