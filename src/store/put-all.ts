import type { PutAllResult, PutEntry } from '../types/requests.ts';
import type { Key } from '../types/revision.ts';
import type { TxnResult } from '../types/txn.ts';
import { checkMembers, ENTRY_NAMES } from './checks.ts';
import { checkDuplicates } from './duplicates.ts';
import { lengthOf, mapList } from './list.ts';
import type { Mvcc } from './mvcc.ts';
import { preparePut } from './prepare-put.ts';
import type { PreparedPut, PreparedTxn } from './prepared.ts';
import { checkTxnBytes } from './size-checks.ts';

/** A transaction of puts alone. */
type PreparedPuts = Omit<PreparedTxn, 'then'> & { readonly then: readonly PreparedPut[] };

/** The transaction of a `putAll`; `limits.txnOperations` does not hold for it. Throws as `prepareTxn` does. */
export function preparePutAll<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  entries: readonly PutEntry<V, K>[],
  txnBytes: number,
  action: string,
): PreparedPuts {
  const then = mapList(entries, lengthOf(entries, 'the entries are', action), (entry) => {
    checkMembers(entry, ENTRY_NAMES, action, 'an entry is not an object', 'member of an entry');
    return preparePut(mvcc, entry.key, entry.value, entry, action);
  });
  const txn = { compare: [], then, else: [] };
  checkDuplicates(txn, mvcc.keys, action);
  checkTxnBytes(mvcc, txn, txnBytes, action);
  return txn;
}

/** What a `putAll` says of the answer to its transaction: `leases` only where any put makes one. */
export function putAllResult({ then }: PreparedPuts, { revision, responses }: TxnResult<unknown, Key>): PutAllResult {
  if (!then.some(({ lease }) => lease.type === 'own')) return { revision };
  return { revision, leases: responses.map((one) => (one.type === 'put' ? one.lease : undefined)) };
}
