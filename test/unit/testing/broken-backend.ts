import type {
  Backend,
  BackendOperation,
  BackendTxnRequest,
  BackendWatchItem,
  BackendWatchRequest,
  BackendWatchStream,
} from '../../../src/types/backend.ts';
import type { Store } from '../../../src/types/store.ts';

export type ByteStore = Store<Uint8Array, Uint8Array>;

/** A backend with one defect, and the case of the suite that has to find it. */
export interface BrokenBackend {
  readonly fault: string;
  readonly rule: string;
  /** Name of the case, or its beginning. */
  readonly caughtBy: string;
  readonly make: (backend: Backend, data: ByteStore) => Backend;
}

/** The same backend, but for some members. */
export function wrap(backend: Backend, members: Partial<Backend>): Backend {
  return {
    capabilities: backend.capabilities,
    leases: backend.leases,
    range: (request) => backend.range(request),
    status: (request) => backend.status(request),
    watch: (request) => backend.watch(request),
    txn: (request) => backend.txn(request),
    compact: (request) => backend.compact(request),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
    ...members,
  };
}

type Items = AsyncIterable<BackendWatchItem>;

/** The same backend, but for what its streams bring. */
export function withStreams(
  backend: Backend,
  change: (items: Items, request: BackendWatchRequest) => AsyncIterable<BackendWatchItem>,
  watched: (request: BackendWatchRequest) => BackendWatchRequest = (request) => request,
): Backend {
  return wrap(backend, {
    watch: (request) => {
      const stream = backend.watch(watched(request));
      const changed: BackendWatchStream = {
        requestProgress: () => stream.requestProgress?.(),
        [Symbol.asyncIterator]: () => change(stream, request)[Symbol.asyncIterator](),
      };
      return changed;
    },
  });
}

/** The same backend, which is sent other transactions. */
export function withTxn(backend: Backend, change: (request: BackendTxnRequest) => BackendTxnRequest): Backend {
  return wrap(backend, { txn: (request) => backend.txn(change(request)) });
}

/** The same for each operation of the outermost branches. */
export function withOperations(backend: Backend, change: (operation: BackendOperation) => BackendOperation): Backend {
  return withTxn(backend, (request) => ({
    ...request,
    then: request.then.map(change),
    else: request.else.map(change),
  }));
}
