import { checkInteger } from '../types/check-integer.ts';
import { LimitExceededError } from '../types/errors.ts';
import { parseLeaseId } from '../types/lease-id.ts';
import type { Key } from '../types/revision.ts';
import type { Compare, Operation, TxnRequest } from '../types/txn.ts';
import { checkFlag, checkMembers, LEASE_NAMES, RANGE_NAMES, SELECTION_NAMES } from './checks.ts';
import { checkDuplicates } from './duplicates.ts';
import type { Mvcc } from './mvcc.ts';
import { checkValue, preparePut } from './prepare-put.ts';
import type { PreparedCompare, PreparedOperation, PreparedRange, PreparedTxn } from './prepared.ts';
import { prepareSelection } from './selection.ts';

const ACTION = 'run a transaction';

const TXN_NAMES: ReadonlySet<string> = new Set<keyof TxnRequest<unknown>>(['compare', 'then', 'else']);
const COMPARE_NAMES: ReadonlySet<string> = new Set([...RANGE_NAMES, 'target', 'result', 'value']);
const OPERATION_NAMES: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  put: new Set(['type', 'key', 'value', 'prevKv', 'ignoreValue', ...LEASE_NAMES]),
  delete: new Set(['type', ...RANGE_NAMES, 'prevKv']),
  range: new Set(['type', ...RANGE_NAMES, 'revision', ...SELECTION_NAMES]),
  txn: new Set(['type', 'compare', 'then', 'else']),
};

/**
 * Checks a transaction and admits its values, before anything happens. Throws TypeError, RangeError, `InvalidKeyError`,
 * `LimitExceededError`, `DuplicateKeyError`, `ValueError`, and what a codec throws.
 */
export function prepareTxn<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  request: TxnRequest<V, K>,
  operationsMax: number,
): PreparedTxn {
  const prepared = prepareLevel(mvcc, request, operationsMax, operationsMax, TXN_NAMES);
  checkDuplicates(prepared, mvcc.keys, ACTION);
  return prepared;
}

/** One level; those below have to do with what it leaves of the budget (store:R21). */
function prepareLevel<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  request: TxnRequest<V, K>,
  budget: number,
  operationsMax: number,
  names: ReadonlySet<string>,
): PreparedTxn {
  checkMembers(request, names, ACTION, 'it is not an object', 'member');
  const { compare = [], then = [], else: otherwise = [] } = request;
  for (const [name, list] of Object.entries({ compare, then, else: otherwise })) {
    if (!Array.isArray(list)) throw new TypeError(`Cannot ${ACTION}: ${name} is not an array`);
  }
  const size = Math.max(compare.length, then.length, otherwise.length);
  if (size > budget) {
    const actual = operationsMax - budget + size;
    throw new LimitExceededError(ACTION, { limit: 'txnOperations', max: operationsMax, actual });
  }
  const operation = (one: Operation<V, K>) => prepareOperation(mvcc, one, budget - size, operationsMax);
  return {
    // `from` also visits holes.
    compare: Array.from(compare, (one) => prepareCompare(mvcc, one)),
    then: Array.from(then, operation),
    else: Array.from(otherwise, operation),
  };
}

function prepareCompare<V, K extends Key>(mvcc: Mvcc<V, K>, compare: Compare<V, K>): PreparedCompare {
  checkMembers(compare, COMPARE_NAMES, ACTION, 'a compare is not an object', 'member of a compare');
  const { target, result } = compare;
  const range = mvcc.resolve(compare, ACTION);
  if (!['=', '!=', '<', '>'].includes(result)) {
    throw new TypeError(`Cannot ${ACTION}: compare.result is ${String(result)}, allowed are =, !=, < and >`);
  }
  switch (compare.target) {
    case 'value':
      checkValue(compare.value, ACTION);
      return { range, target, result, value: mvcc.values.bytes(mvcc.values.admit(compare.value, ACTION)) };
    case 'lease':
      return { range, target, result, value: parseLeaseId(compare.value, ACTION, 'compare.value') ?? '0' };
    case 'create':
    case 'mod':
    case 'version':
      checkInteger('compare.value', compare.value, ACTION);
      return { range, target, result, value: compare.value };
    default:
      throw new TypeError(
        `Cannot ${ACTION}: compare.target is ${String(target)}, allowed are value, create, mod, version and lease`,
      );
  }
}

function prepareOperation<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operation: Operation<V, K>,
  budget: number,
  operationsMax: number,
): PreparedOperation {
  if (typeof operation !== 'object' || operation === null) {
    throw new TypeError(`Cannot ${ACTION}: an operation is not an object`);
  }
  const names = Object.hasOwn(OPERATION_NAMES, operation.type) ? OPERATION_NAMES[operation.type] : undefined;
  if (names !== undefined) checkMembers(operation, names, ACTION, '', `member of a ${operation.type}`);
  switch (operation.type) {
    case 'put':
      return preparePut(mvcc, operation.key, operation.value, operation, ACTION);
    case 'delete':
      return {
        type: 'delete',
        range: mvcc.resolve(operation, ACTION),
        prevKv: checkFlag('prevKv', operation.prevKv, ACTION),
      };
    case 'range':
      return prepareRange(mvcc, operation);
    case 'txn':
      return {
        type: 'txn',
        ...prepareLevel(mvcc, operation, budget, operationsMax, OPERATION_NAMES.txn as ReadonlySet<string>),
      };
    default:
      throw new TypeError(
        `Cannot ${ACTION}: an operation has the type ${String((operation as Operation<V>).type)}, ` +
          'allowed are put, delete, range and txn',
      );
  }
}

function prepareRange<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operation: Extract<Operation<V, K>, { type: 'range' }>,
): PreparedRange {
  const { revision = 0 } = operation;
  checkInteger('the revision', revision, ACTION);
  return {
    type: 'range',
    range: mvcc.resolve(operation, ACTION),
    revision: Math.max(revision, 0),
    selection: prepareSelection(operation, ACTION),
  };
}
