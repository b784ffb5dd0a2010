import { compareBytes } from '../core/key-order.ts';
import { KeyNotFoundError } from '../types/errors.ts';
import { compareLeaseIds } from '../types/lease-id.ts';
import type { Key } from '../types/revision.ts';
import type { CompareResult } from '../types/txn.ts';
import type { Mvcc } from './mvcc.ts';
import type { PreparedCompare, PreparedOperation, PreparedPut, PreparedTxn } from './prepared.ts';
import { bytesOf } from './values.ts';

/** Which branch each transaction takes, those that are nested on the path included. */
export type TxnPath = ReadonlyMap<PreparedTxn, boolean>;

/**
 * Evaluates every compare on the path against the state before the transaction, nested ones too (store:R19). Compares are a
 * conjunction; none at all is true. Throws `ValueError` for a shared value that has no bytes to compare.
 */
export function choosePath<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn, action: string): TxnPath {
  const path = new Map<PreparedTxn, boolean>();
  const choose = (one: PreparedTxn) => {
    const succeeded = one.compare.every((compare) => holds(mvcc, compare, action));
    path.set(one, succeeded);
    for (const operation of succeeded ? one.then : one.else) if (operation.type === 'txn') choose(operation);
  };
  choose(txn);
  return path;
}

/** The operations of a transaction that run. */
export function branchOf(txn: PreparedTxn, path: TxnPath): readonly PreparedOperation[] {
  return path.get(txn) === true ? txn.then : txn.else;
}

/**
 * Checks what the operations on the path need, in the state before the transaction: the keys of puts that keep something,
 * leases, the revisions of ranges. Throws `KeyNotFoundError`, `CompactedError`, `FutureRevisionError`, and what
 * `requireLease` throws.
 */
export function checkPath<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  txn: PreparedTxn,
  path: TxnPath,
  requireLease: (id: string) => void,
  action: string,
): void {
  for (const operation of branchOf(txn, path)) {
    if (operation.type === 'txn') checkPath(mvcc, operation, path, requireLease, action);
    else if (operation.type === 'range') mvcc.window.readable(operation.revision, action);
    else if (operation.type === 'put') checkPut(mvcc, operation, requireLease, action);
  }
}

/** The same for one put. */
export function checkPut<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  put: PreparedPut,
  requireLease: (id: string) => void,
  action: string,
): void {
  const { lease, text } = put;
  if (lease.type === 'id' && lease.id !== '0') requireLease(lease.id);
  if (!put.ignoreValue && lease.type !== 'keep') return;
  if (mvcc.state.slotOf(text, mvcc.window.revision) < 0) throw new KeyNotFoundError(action, mvcc.keys.key(text));
}

/** Of a range: for every key in it; one without a key is as a missing key (store:R18). */
function holds<V, K extends Key>(mvcc: Mvcc<V, K>, compare: PreparedCompare, action: string): boolean {
  const { range } = compare;
  const { revision } = mvcc.window;
  const isTrue = (slot: number) => slotHolds(mvcc, compare, slot, action);
  if (range.kind === 'point') return isTrue(mvcc.state.slotOf(range.text, revision));
  const slots = mvcc.state.slots(range, revision, 0);
  return slots.length === 0 ? isTrue(-1) : slots.every(isTrue);
}

function slotHolds<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  compare: PreparedCompare,
  slot: number,
  action: string,
): boolean {
  const { state, core, values, keys } = mvcc;
  switch (compare.target) {
    case 'value':
      // A missing key's value satisfies nothing, not even `!=` (store:R17).
      if (slot < 0) return false;
      return outcome(
        compareBytes(
          bytesOf(values, state.cellAt(slot), action, () => keys.key(state.textAt(slot))),
          compare.value as Uint8Array,
        ),
        compare.result,
      );
    case 'lease':
      return outcome(compareLeaseIds(slot < 0 ? '0' : state.leaseAt(slot), compare.value as string), compare.result);
    case 'create':
      return outcome((slot < 0 ? 0 : core.createRevision(slot)) - (compare.value as number), compare.result);
    case 'mod':
      return outcome((slot < 0 ? 0 : core.modRevision(slot)) - (compare.value as number), compare.result);
    case 'version':
      return outcome((slot < 0 ? 0 : core.version(slot)) - (compare.value as number), compare.result);
  }
}

function outcome(difference: number, result: CompareResult): boolean {
  if (result === '=') return difference === 0;
  if (result === '!=') return difference !== 0;
  return result === '<' ? difference < 0 : difference > 0;
}
