import type {
  BackendCompare,
  BackendOperation,
  BackendOperationResponse,
  BackendTxnRequest,
  ByteRange,
} from '../../types/backend.ts';
import type { RangeSelection } from '../../types/requests.ts';
import { Unreadable } from './errors.ts';
import { flagOf, integerOf, listOf, objectOf, rowOf, type WireObject, wireRange } from './wire.ts';

/** Transactions in etcd's words, and its answers in those of the contract. */

const RESULTS = { '=': 'EQUAL', '!=': 'NOT_EQUAL', '<': 'LESS', '>': 'GREATER' } as const;
const VALUE_FIELDS = {
  value: 'value',
  lease: 'lease',
  version: 'version',
  create: 'create_revision',
  mod: 'mod_revision',
} as const;

export function wireTxn({ compare, then, else: otherwise }: Omit<BackendTxnRequest, 'signal'>): WireObject {
  return {
    compare: compare.map(wireCompare),
    success: then.map(wireOperation),
    failure: otherwise.map(wireOperation),
  };
}

function wireCompare({ key, range, target, result, value }: BackendCompare): object {
  const told = value instanceof Uint8Array ? value : String(value);
  return {
    ...wireRange(range ?? { start: key }),
    target: target.toUpperCase(),
    result: RESULTS[result],
    [VALUE_FIELDS[target]]: told,
  };
}

function wireOperation(operation: BackendOperation): object {
  switch (operation.type) {
    case 'put': {
      const { key, value, lease, ignoreValue = false, ignoreLease = false, prevKv = false } = operation;
      return {
        request_put: {
          key,
          // With `ignore_value` any value, an empty one too, is an error of etcd.
          ...(ignoreValue ? { ignore_value: true } : { value }),
          ...(ignoreLease ? { ignore_lease: true } : lease === undefined ? {} : { lease }),
          prev_kv: prevKv,
        },
      };
    }
    case 'delete':
      return { request_delete_range: { ...wireRange(operation.range), prev_kv: operation.prevKv ?? false } };
    case 'range': {
      const { range, revision = 0, ...selection } = operation;
      return { request_range: wireSelection(range, revision, selection) };
    }
    case 'txn':
      return { request_txn: wireTxn(operation) };
  }
}

/**
 * etcd's order NONE is the key's. With a limit and a target to sort by but no order it cuts before it sorts, so the order is
 * always said where there is a target.
 */
export function wireSelection(range: ByteRange, revision: number, selection: RangeSelection): WireObject {
  const { limit = 0, keysOnly = false, countOnly = false, sortTarget, sortOrder = 'ascend' } = selection;
  const { minModRevision = 0, maxModRevision = 0, minCreateRevision = 0, maxCreateRevision = 0 } = selection;
  const wire = {
    ...wireRange(range),
    ...(revision > 0 ? { revision: String(revision) } : {}),
    ...(limit > 0 ? { limit: String(limit) } : {}),
    keys_only: keysOnly,
    count_only: countOnly,
    ...(sortTarget === undefined && sortOrder === 'ascend'
      ? {}
      : { sort_target: (sortTarget ?? 'key').toUpperCase(), sort_order: sortOrder.toUpperCase() }),
    ...bound('min_mod_revision', minModRevision),
    ...bound('max_mod_revision', maxModRevision),
    ...bound('min_create_revision', minCreateRevision),
    ...bound('max_create_revision', maxCreateRevision),
  };
  return wire;
}

function bound(name: string, revision: number): object {
  return revision > 0 ? { [name]: String(revision) } : {};
}

/** A message that is empty is left out, or null. */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** What came of the branch that ran. */
export function outcomeOf(
  answer: WireObject,
  { then, else: otherwise }: Pick<BackendTxnRequest, 'then' | 'else'>,
): { readonly succeeded: boolean; readonly responses: readonly BackendOperationResponse[] } {
  const succeeded = flagOf(answer.succeeded, 'the outcome of the compares');
  const operations = succeeded ? then : otherwise;
  const answers = listOf(answer.responses, 'the responses');
  if (answers.length !== operations.length) {
    throw new Unreadable(`${answers.length} responses to ${operations.length} operations`);
  }
  const responses = operations.map((operation, index) => responseOf(objectOf(answers[index], 'a response'), operation));
  return { succeeded, responses };
}

function responseOf(answer: WireObject, operation: BackendOperation): BackendOperationResponse {
  switch (operation.type) {
    case 'put': {
      const { prev_kv } = objectOf(answer.response_put, 'the response to a put');
      return operation.prevKv === true && isThere(prev_kv) ? { type: 'put', prevKv: rowOf(prev_kv) } : { type: 'put' };
    }
    case 'delete': {
      const { deleted, prev_kvs } = objectOf(answer.response_delete_range, 'the response to a delete');
      const count = integerOf(deleted, 'a number of keys');
      if (operation.prevKv !== true) return { type: 'delete', deleted: count };
      return { type: 'delete', deleted: count, prevKvs: listOf(prev_kvs, 'the rows').map(rowOf) };
    }
    case 'range': {
      const { count, kvs, more } = objectOf(answer.response_range, 'the response to a range');
      return {
        type: 'range',
        count: integerOf(count, 'a count'),
        kvs: listOf(kvs, 'the rows').map(rowOf),
        more: flagOf(more, 'whether there is more'),
      };
    }
    case 'txn':
      return { type: 'txn', ...outcomeOf(objectOf(answer.response_txn, 'the response to a transaction'), operation) };
  }
}
