import type {
  BackendCompare,
  BackendOperation,
  BackendOperationResponse,
  BackendTxnRequest,
} from '../types/backend.ts';
import type { Compare, Operation, OperationResult, TxnRequest } from '../types/txn.ts';
import { backendKv, keyRange } from './memory-backend-terms.ts';

/** Transactions in the terms of the store, and its answers in those of the backend. */

export function txnOf(request: Omit<BackendTxnRequest, 'signal'>): TxnRequest<Uint8Array, Uint8Array> {
  return {
    compare: request.compare.map(compareOf),
    then: request.then.map(operationOf),
    else: request.else.map(operationOf),
  };
}

function compareOf({ key, range, ...condition }: BackendCompare): Compare<Uint8Array, Uint8Array> {
  const selected = range === undefined ? { key } : keyRange(range);
  return { ...selected, ...condition } as Compare<Uint8Array, Uint8Array>;
}

function operationOf(operation: BackendOperation): Operation<Uint8Array, Uint8Array> {
  switch (operation.type) {
    case 'put': {
      const { value, ignoreValue, ...rest } = operation;
      return ignoreValue === true ? { ...rest, ignoreValue } : { ...rest, value };
    }
    case 'txn':
      return { type: 'txn', ...txnOf(operation) };
    default: {
      const { range, ...rest } = operation;
      return { ...rest, ...keyRange(range) };
    }
  }
}

export function responseOf(response: OperationResult<Uint8Array, Uint8Array>): BackendOperationResponse {
  switch (response.type) {
    case 'range':
      return {
        type: 'range',
        count: response.count,
        kvs: response.kvs.map(backendKv),
        more: response.more,
      };
    case 'put':
      return response.prevKv === undefined ? { type: 'put' } : { type: 'put', prevKv: backendKv(response.prevKv) };
    case 'txn':
      return { type: 'txn', succeeded: response.succeeded, responses: response.responses.map(responseOf) };
    case 'delete': {
      const { deleted, prevKvs } = response;
      if (prevKvs === undefined) return { type: 'delete', deleted };
      return { type: 'delete', deleted, prevKvs: prevKvs.map(backendKv) };
    }
  }
}
