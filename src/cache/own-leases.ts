import type { PreparedOperation, PreparedPut, PreparedTxn } from '../store/prepared.ts';
import type { LeaseId } from '../types/lease.ts';
import type { Key } from '../types/revision.ts';
import type { OperationResult, TxnResult } from '../types/txn.ts';

/**
 * Puts with a `ttlMs` in front of a backend: each needs a lease of its own, which has to be there before the transaction
 * that attaches it is sent.
 *
 * ```text
 *   put k, ttlMs 500   --grant-->  put k, lease 77   --txn-->  committed: the answer says lease 77
 *                                                       \--->  refused, or another branch ran: 77 is revoked
 * ```
 */
export interface OwnLeases {
  /** The transaction with ids in place of TTLs. */
  readonly txn: PreparedTxn;
  readonly granted: ReadonlyMap<PreparedPut, LeaseId>;
}

/** Grants a lease for each put that wants one, in both branches. Nothing is granted for a transaction without such puts. */
export async function grantOwnLeases(txn: PreparedTxn, grant: (ttlMs: number) => Promise<LeaseId>): Promise<OwnLeases> {
  const granted = new Map<PreparedPut, LeaseId>();
  if (!hasOwn(txn)) return { txn, granted };
  const operation = async (one: PreparedOperation): Promise<PreparedOperation> => {
    if (one.type === 'txn') return { type: 'txn', ...(await level(one)) };
    if (one.type !== 'put' || one.lease.type !== 'own') return one;
    const id = await grant(one.lease.ttlMs);
    const put: PreparedPut = { ...one, lease: { type: 'id', id } };
    granted.set(put, id);
    return put;
  };
  const branch = async (operations: readonly PreparedOperation[]): Promise<PreparedOperation[]> => {
    const done: PreparedOperation[] = [];
    for (const one of operations) done.push(await operation(one));
    return done;
  };
  const level = async (one: PreparedTxn): Promise<PreparedTxn> => ({
    compare: one.compare,
    then: await branch(one.then),
    else: await branch(one.else),
  });
  return { txn: await level(txn), granted };
}

/** The answer with the leases that its puts have got, and which of those granted are of no use. */
export function claimOwnLeases<V, K extends Key>(
  { txn, granted }: OwnLeases,
  result: TxnResult<V, K>,
): { readonly result: TxnResult<V, K>; readonly unused: readonly LeaseId[] } {
  const unused = new Set(granted.values());
  const responses = (
    one: PreparedTxn,
    succeeded: boolean,
    answers: readonly OperationResult<V, K>[],
  ): OperationResult<V, K>[] =>
    answers.map((answer, index) => {
      const operation = (succeeded ? one.then : one.else)[index];
      if (answer.type === 'txn' && operation?.type === 'txn') {
        return { ...answer, responses: responses(operation, answer.succeeded, answer.responses) };
      }
      const lease = operation?.type === 'put' ? granted.get(operation) : undefined;
      if (answer.type !== 'put' || lease === undefined) return answer;
      unused.delete(lease);
      return { ...answer, lease };
    });
  const claimed = { ...result, responses: responses(txn, result.succeeded, result.responses) };
  return { result: claimed, unused: [...unused] };
}

function hasOwn(txn: PreparedTxn): boolean {
  return [...txn.then, ...txn.else].some((one) =>
    one.type === 'txn' ? hasOwn(one) : one.type === 'put' && one.lease.type === 'own',
  );
}
