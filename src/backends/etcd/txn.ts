import type {
  BackendCompare,
  BackendOperation,
  BackendOperationResponse,
  BackendTxnRequest,
  ByteRange,
} from '../../types/backend.ts';
import { BackendError } from '../../types/errors.ts';
import type { RangeSelection } from '../../types/requests.ts';
import { type Header, integerOf, rowOf, toBase64, type WireRange, type WireRow, wireRange } from './wire.ts';

/** Transactions in etcd's words, and its answers in those of the contract. */

export interface WireRangeAnswer {
  readonly header?: Header;
  readonly kvs?: readonly WireRow[];
  readonly count?: string;
  readonly more?: boolean;
}

export interface WireTxnAnswer {
  readonly header?: Header;
  readonly succeeded?: boolean;
  readonly responses?: readonly WireResponse[];
}

export interface WireResponse {
  readonly response_put?: { readonly prev_kv?: WireRow };
  readonly response_range?: WireRangeAnswer;
  readonly response_delete_range?: { readonly deleted?: string; readonly prev_kvs?: readonly WireRow[] };
  readonly response_txn?: WireTxnAnswer;
}

const RESULTS = { '=': 'EQUAL', '!=': 'NOT_EQUAL', '<': 'LESS', '>': 'GREATER' } as const;
const VALUE_FIELDS = {
  value: 'value',
  lease: 'lease',
  version: 'version',
  create: 'create_revision',
  mod: 'mod_revision',
} as const;

export function wireTxn({ compare, then, else: otherwise }: Omit<BackendTxnRequest, 'signal'>): object {
  return {
    compare: compare.map(wireCompare),
    success: then.map(wireOperation),
    failure: otherwise.map(wireOperation),
  };
}

function wireCompare({ key, range, target, result, value }: BackendCompare): object {
  const told = value instanceof Uint8Array ? toBase64(value) : String(value);
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
          key: toBase64(key),
          // With `ignore_value` any value, an empty one too, is an error of etcd.
          ...(ignoreValue ? { ignore_value: true } : { value: toBase64(value) }),
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
export function wireSelection(range: ByteRange, revision: number, selection: RangeSelection): WireRange {
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

export function responsesOf(
  answers: readonly WireResponse[] | undefined,
  operations: readonly BackendOperation[],
): BackendOperationResponse[] {
  if ((answers?.length ?? 0) !== operations.length) {
    const told = `${answers?.length ?? 0} responses to ${operations.length} operations`;
    throw new BackendError('read what etcd answered', told, { maybeCommitted: true });
  }
  return operations.map((operation, index) => responseOf(answers?.[index] ?? {}, operation));
}

function responseOf(answer: WireResponse, operation: BackendOperation): BackendOperationResponse {
  switch (operation.type) {
    case 'put': {
      const prevKv = answer.response_put?.prev_kv;
      return operation.prevKv === true && prevKv !== undefined
        ? { type: 'put', prevKv: rowOf(prevKv) }
        : { type: 'put' };
    }
    case 'delete': {
      const { deleted, prev_kvs = [] } = answer.response_delete_range ?? {};
      const count = integerOf(deleted, 'a number of keys');
      if (operation.prevKv !== true) return { type: 'delete', deleted: count };
      return { type: 'delete', deleted: count, prevKvs: prev_kvs.map(rowOf) };
    }
    case 'range': {
      const { count, kvs = [], more = false } = answer.response_range ?? {};
      return { type: 'range', count: integerOf(count, 'a count'), kvs: kvs.map(rowOf), more };
    }
    case 'txn': {
      const { succeeded = false, responses } = answer.response_txn ?? {};
      const branch = succeeded ? operation.then : operation.else;
      return { type: 'txn', succeeded, responses: responsesOf(responses, branch) };
    }
  }
}
