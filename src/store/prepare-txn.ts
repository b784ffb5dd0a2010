import { checkInteger } from '../types/check-integer.ts';
import { LimitExceededError } from '../types/errors.ts';
import { parseLeaseId } from '../types/lease-id.ts';
import type { Key } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import type { Compare, Operation, TxnRequest } from '../types/txn.ts';
import { checkChoice, checkFlag, checkMembers, LEASE_NAMES, RANGE_NAMES, SELECTION_NAMES } from './checks.ts';
import { checkDuplicates } from './duplicates.ts';
import { lengthOf, mapList } from './list.ts';
import { checkValue, preparePut, type RequestTypes } from './prepare-put.ts';
import type { PreparedCompare, PreparedOperation, PreparedRange, PreparedTxn } from './prepared.ts';
import { prepareSelection } from './selection.ts';
import { bytesOf } from './values.ts';

const ACTION = 'run a transaction';

const RESULTS: readonly Compare<unknown>['result'][] = ['=', '!=', '<', '>'];
const TARGETS: readonly Compare<unknown>['target'][] = ['value', 'create', 'mod', 'version', 'lease'];

type OperationOf<V, K extends Key, T> = Extract<Operation<V, K>, { readonly type: T }>;

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
  types: RequestTypes<V, K>,
  request: TxnRequest<V, K>,
  operationsMax: number,
): PreparedTxn {
  const prepared = prepareLevel(types, request, operationsMax, operationsMax, TXN_NAMES);
  checkDuplicates(prepared, types.keys, ACTION);
  return prepared;
}

/** One level; those below have to do with what it leaves of the budget (store:R21). */
function prepareLevel<V, K extends Key>(
  types: RequestTypes<V, K>,
  request: TxnRequest<V, K>,
  budget: number,
  operationsMax: number,
  names: ReadonlySet<string>,
): PreparedTxn {
  checkMembers(request, names, ACTION, 'the request is not an object', 'member');
  const { compare = [], then = [], else: otherwise = [] } = request;
  const lengths = {
    compare: lengthOf(compare, 'compare is', ACTION),
    then: lengthOf(then, 'then is', ACTION),
    else: lengthOf(otherwise, 'else is', ACTION),
  };
  const size = Math.max(lengths.compare, lengths.then, lengths.else);
  if (size > budget) {
    const actual = operationsMax - budget + size;
    throw new LimitExceededError(ACTION, { limit: 'txnOperations', max: operationsMax, actual });
  }
  const operation = (one: Operation<V, K>) => prepareOperation(types, one, budget - size, operationsMax);
  return {
    compare: mapList(compare, lengths.compare, (one) => prepareCompare(types, one)),
    then: mapList(then, lengths.then, operation),
    else: mapList(otherwise, lengths.else, operation),
  };
}

function prepareCompare<V, K extends Key>(types: RequestTypes<V, K>, compare: Compare<V, K>): PreparedCompare {
  checkMembers(compare, COMPARE_NAMES, ACTION, 'a compare is not an object', 'member of a compare');
  // Each is read once, so the compiler does not know which value goes with which target: it is judged below.
  const { target, result, value } = compare;
  const range = types.keys.resolve(compare, ACTION);
  checkChoice('compare.result', result, ACTION, RESULTS);
  checkChoice('compare.target', target, ACTION, TARGETS);
  switch (target) {
    case 'value':
      checkValue(value, ACTION);
      return {
        range,
        target,
        result,
        value: bytesOf(types.values, types.values.admit(value as V, ACTION), ACTION, undefined),
      };
    case 'lease':
      return { range, target, result, value: parseLeaseId(value, ACTION, 'compare.value') ?? '0' };
    default:
      checkInteger('compare.value', value, ACTION);
      return { range, target, result, value };
  }
}

function prepareOperation<V, K extends Key>(
  types: RequestTypes<V, K>,
  operation: Operation<V, K>,
  budget: number,
  operationsMax: number,
): PreparedOperation {
  if (typeof operation !== 'object' || operation === null) {
    throw new TypeError(`Cannot ${ACTION}: an operation is not an object`);
  }
  const { type } = operation;
  const names = typeof type === 'string' && Object.hasOwn(OPERATION_NAMES, type) ? OPERATION_NAMES[type] : undefined;
  if (names === undefined) {
    const allowed = 'allowed are put, delete, range and txn';
    throw new TypeError(`Cannot ${ACTION}: the type of an operation is ${shown(type)}, ${allowed}`);
  }
  checkMembers(operation, names, ACTION, 'an operation is not an object', `member of a ${type}`);
  // The type is read once, so the compiler does not know that the operation is of it.
  switch (type) {
    case 'put': {
      const put = operation as OperationOf<V, K, 'put'>;
      return preparePut(types, put.key, put.value, put, ACTION);
    }
    case 'delete': {
      const one = operation as OperationOf<V, K, 'delete'>;
      return { type, range: types.keys.resolve(one, ACTION), prevKv: checkFlag('prevKv', one.prevKv, ACTION) };
    }
    case 'range':
      return prepareRange(types, operation as OperationOf<V, K, 'range'>);
    case 'txn':
      return { type, ...prepareLevel(types, operation as OperationOf<V, K, 'txn'>, budget, operationsMax, names) };
  }
}

function prepareRange<V, K extends Key>(
  types: RequestTypes<V, K>,
  operation: OperationOf<V, K, 'range'>,
): PreparedRange {
  const { revision = 0 } = operation;
  checkInteger('the revision', revision, ACTION);
  return {
    type: 'range',
    range: types.keys.resolve(operation, ACTION),
    revision: Math.max(revision, 0),
    selection: prepareSelection(operation, ACTION),
  };
}
