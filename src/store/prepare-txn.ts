import { rangeHas } from '../core/key-order.ts';
import { DuplicateKeyError, LimitExceededError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key } from '../types/revision.ts';
import type { Compare, Operation, TxnRequest } from '../types/store.ts';
import { checkMembers } from './checks.ts';
import type { Mvcc } from './mvcc.ts';
import { checkLimit } from './read.ts';

/** Most compares, and most operations of a branch, in one transaction (store:R21). */
export const TXN_OPERATIONS_MAX = 128;

const ACTION = 'run a transaction';

const TXN_NAMES: ReadonlySet<string> = new Set<keyof TxnRequest<unknown>>(['compare', 'then', 'else']);
const COMPARE_NAMES: ReadonlySet<string> = new Set<keyof Compare<unknown>>(['key', 'target', 'result', 'value']);
const OPERATION_NAMES: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  put: new Set(['type', 'key', 'value', 'prevKv']),
  delete: new Set(['type', 'key', 'prefix', 'start', 'end', 'prevKv']),
  range: new Set(['type', 'key', 'prefix', 'start', 'end', 'limit', 'keysOnly', 'countOnly']),
};

/** A transaction checked and encoded: nothing in it can fail any more, but for memory. */
export interface PreparedTxn {
  readonly compare: readonly PreparedCompare[];
  readonly then: readonly PreparedOperation[];
  readonly else: readonly PreparedOperation[];
}

export interface PreparedCompare {
  readonly text: string;
  readonly target: Compare<unknown>['target'];
  readonly result: Compare<unknown>['result'];
  readonly value: number | string | Uint8Array;
}

export type PreparedOperation =
  | { readonly type: 'put'; readonly text: string; readonly cell: unknown; readonly prevKv: boolean }
  | { readonly type: 'delete'; readonly range: ResolvedRange; readonly prevKv: boolean }
  | {
      readonly type: 'range';
      readonly range: ResolvedRange;
      readonly limit: number;
      readonly keysOnly: boolean;
      readonly countOnly: boolean;
    };

/**
 * Checks a transaction and admits its values, before anything happens. Throws TypeError, RangeError, `InvalidKeyError`,
 * `LimitExceededError`, `DuplicateKeyError`, `ValueError`, and what a codec throws.
 */
export function prepareTxn<V, K extends Key>(mvcc: Mvcc<V, K>, request: TxnRequest<V, K>): PreparedTxn {
  checkMembers(request, TXN_NAMES, ACTION, 'it is not an object', 'member');
  const { compare = [], then = [], else: otherwise = [] } = request;
  for (const [name, list] of Object.entries({ compare, then, else: otherwise })) {
    if (!Array.isArray(list)) throw new TypeError(`Cannot ${ACTION}: ${name} is not an array`);
  }
  const sizes = [compare.length, then.length, otherwise.length];
  if (Math.max(...sizes) > TXN_OPERATIONS_MAX) {
    throw new LimitExceededError(ACTION, {
      limit: 'txnOperationsMax',
      max: TXN_OPERATIONS_MAX,
      actual: Math.max(...sizes),
    });
  }
  return {
    compare: compare.map((one) => prepareCompare(mvcc, one)),
    then: prepareBranch(mvcc, then),
    else: prepareBranch(mvcc, otherwise),
  };
}

function prepareCompare<V, K extends Key>(mvcc: Mvcc<V, K>, compare: Compare<V, K>): PreparedCompare {
  checkMembers(compare, COMPARE_NAMES, ACTION, 'a compare is not an object', 'member of a compare');
  const { target, result } = compare;
  const text = mvcc.keys.text(compare.key, ACTION);
  if (!['=', '!=', '<', '>'].includes(result)) {
    throw new TypeError(`Cannot ${ACTION}: compare.result is ${String(result)}, allowed are =, !=, < and >`);
  }
  switch (compare.target) {
    case 'value':
      return { text, target, result, value: mvcc.values.bytes(mvcc.values.admit(compare.value, ACTION)) };
    case 'lease':
      if (typeof compare.value !== 'string' || !/^\d{1,19}$/.test(compare.value)) {
        throw new TypeError(`Cannot ${ACTION}: compare.value is not a decimal lease id`);
      }
      return { text, target, result, value: compare.value };
    case 'create':
    case 'mod':
    case 'version':
      if (!Number.isSafeInteger(compare.value)) {
        throw new RangeError(`Cannot ${ACTION}: compare.value is not a safe integer`);
      }
      return { text, target, result, value: compare.value };
    default:
      throw new TypeError(`Cannot ${ACTION}: compare.target is ${String(target)}`);
  }
}

function prepareBranch<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operations: readonly Operation<V, K>[],
): PreparedOperation[] {
  const prepared = operations.map((operation) => prepareOperation(mvcc, operation));
  checkDuplicates(mvcc, prepared);
  return prepared;
}

function prepareOperation<V, K extends Key>(mvcc: Mvcc<V, K>, operation: Operation<V, K>): PreparedOperation {
  if (typeof operation !== 'object' || operation === null) {
    throw new TypeError(`Cannot ${ACTION}: an operation is not an object`);
  }
  const names = OPERATION_NAMES[operation.type];
  if (names !== undefined) checkMembers(operation, names, ACTION, '', `member of a ${operation.type}`);
  switch (operation.type) {
    case 'put': {
      const text = mvcc.keys.text(operation.key, ACTION);
      return { type: 'put', text, cell: mvcc.values.admit(operation.value, ACTION), prevKv: operation.prevKv === true };
    }
    case 'delete':
      return { type: 'delete', range: mvcc.resolve(operation, ACTION), prevKv: operation.prevKv === true };
    case 'range':
      return {
        type: 'range',
        range: mvcc.resolve(operation, ACTION),
        limit: checkLimit(operation.limit, ACTION),
        keysOnly: operation.keysOnly === true,
        countOnly: operation.countOnly === true,
      };
    default:
      throw new TypeError(`Cannot ${ACTION}: an operation has the type ${String((operation as Operation<V>).type)}`);
  }
}

/** One branch may not write a key twice: two puts, or a put of a key that a delete of the same branch covers (store:R20). */
function checkDuplicates<V, K extends Key>(mvcc: Mvcc<V, K>, operations: readonly PreparedOperation[]): void {
  const puts = new Set<string>();
  for (const operation of operations) {
    if (operation.type !== 'put') continue;
    if (puts.has(operation.text)) throw new DuplicateKeyError(ACTION, mvcc.keys.key(operation.text));
    puts.add(operation.text);
  }
  for (const operation of operations) {
    if (operation.type !== 'delete' || operation.range.empty) continue;
    for (const text of puts) {
      if (rangeHas(operation.range, text)) throw new DuplicateKeyError(ACTION, mvcc.keys.key(text));
    }
  }
}
