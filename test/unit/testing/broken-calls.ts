import { byteText, compareBytes } from '../../../src/core/key-order.ts';
import type { Backend, BackendKeyValue, BackendOperation, BackendTxnRequest } from '../../../src/types/backend.ts';
import { CompactedError, DuplicateKeyError, FutureRevisionError } from '../../../src/types/errors.ts';
import { type BrokenBackend, wrap } from './broken-backend.ts';

const NO_BYTES = new Uint8Array(0);

export const BROKEN_CALLS: readonly BrokenBackend[] = [
  {
    fault: 'status is one answer behind',
    rule: 'B2',
    caughtBy: 'status and range are not older',
    make: (backend) => {
      let last = 0;
      const status: Backend['status'] = async (request) => {
        const answer = await backend.status(request);
        const stale = { ...answer, revision: last === 0 ? answer.revision : last };
        last = answer.revision;
        return stale;
      };
      return wrap(backend, { status });
    },
  },
  {
    fault: 'each of several ranges is read at a revision of its own',
    rule: 'B2',
    caughtBy: 'several ranges are one list',
    make: (backend) =>
      wrap(backend, {
        range: async (request) => {
          let answer = await backend.range({ ...request, ranges: [] });
          for (const range of request.ranges) {
            const part = await backend.range({ ...request, ranges: [range] });
            answer = { ...part, count: answer.count + part.count, kvs: [...answer.kvs, ...part.kvs] };
          }
          return answer;
        },
      }),
  },
  {
    fault: 'a transaction names other data than status',
    rule: 'M24',
    caughtBy: 'every answer names the same data',
    make: (backend) =>
      wrap(backend, { txn: async (request) => ({ ...(await backend.txn(request)), identity: 'another' }) }),
  },
  {
    fault: 'a transaction is acknowledged at the revision before',
    rule: 'B1',
    caughtBy: 'each commit has a revision of its own',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          const answer = await backend.txn(request);
          return { ...answer, revision: answer.revision - 1 };
        },
      }),
  },
  {
    fault: 'a transaction is acknowledged before it is committed',
    rule: 'B3',
    caughtBy: 'a transaction is acknowledged when nothing',
    make: (backend, data) => {
      let next = 0;
      return wrap(backend, {
        txn: async (request) => {
          next = Math.max(next, data.revision) + 1;
          const late = async (): Promise<void> => {
            for (let turn = 0; turn < 50; turn++) await Promise.resolve();
            await backend.txn(request);
          };
          void late();
          const responses = request.then.map(() => ({ type: 'put' }) as const);
          return { identity: data.identity, revision: next, succeeded: true, responses };
        },
      });
    },
  },
  {
    fault: 'what changes nothing uses a revision',
    rule: 'store:R4',
    caughtBy: 'what changes nothing',
    make: (backend, data) =>
      wrap(backend, {
        txn: async (request) => {
          const before = data.revision;
          const answer = await backend.txn(request);
          return { ...answer, revision: answer.revision === before ? before + 1 : answer.revision };
        },
      }),
  },
  {
    fault: 'a signal that has aborted is not looked at',
    rule: 'B11',
    caughtBy: 'a call whose signal has aborted',
    make: (backend) => wrap(backend, { txn: ({ signal: _, ...request }) => backend.txn(request) }),
  },
  {
    fault: 'answers share their bytes',
    rule: 'store:R38',
    caughtBy: "answers are the caller's",
    make: (backend) => {
      const rows = new Map<string, BackendKeyValue>();
      const shared = (row: BackendKeyValue): BackendKeyValue => {
        const name = `${byteText(row.key)} ${row.modRevision}`;
        const known = rows.get(name) ?? row;
        rows.set(name, known);
        return known;
      };
      return wrap(backend, {
        range: async (request) => {
          const answer = await backend.range(request);
          return { ...answer, kvs: answer.kvs.map(shared) };
        },
      });
    },
  },
  {
    fault: 'rows are sorted as UTF-8 text',
    rule: 'B8',
    caughtBy: 'keys are bytes',
    make: (backend) => {
      const textOf = (row: BackendKeyValue) => new TextDecoder().decode(row.key);
      return wrap(backend, {
        range: async (request) => {
          const answer = await backend.range(request);
          return { ...answer, kvs: [...answer.kvs].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1)) };
        },
      });
    },
  },
  {
    fault: 'a version goes on across a delete',
    rule: 'store:R3',
    caughtBy: 'rows carry',
    make: (backend) =>
      changeRows(backend, (row) => (row.createRevision > 5 ? { ...row, version: row.version + 3 } : row)),
  },
  {
    fault: 'start >= end selects everything behind',
    rule: 'store:R7',
    caughtBy: 'a range is half open',
    make: (backend) =>
      wrap(backend, {
        range: (request) => {
          const isEmpty = (start: Uint8Array, end: Uint8Array) => end.length > 0 && compareBytes(start, end) >= 0;
          const ranges = request.ranges.map(({ start, end }) =>
            end !== undefined && isEmpty(start, end) ? { start, end: NO_BYTES } : { start, ...(end && { end }) },
          );
          return backend.range({ ...request, ranges });
        },
      }),
  },
  {
    fault: 'a revision in the future is the newest',
    rule: 'store:R13',
    caughtBy: 'a revision that cannot be read',
    make: (backend) =>
      wrap(backend, {
        range: async ({ revision, ...request }) => {
          try {
            return await backend.range(revision === undefined ? request : { ...request, revision });
          } catch (error) {
            if (error instanceof FutureRevisionError) return backend.range(request);
            throw error;
          }
        },
      }),
  },
  {
    fault: 'a revision is not looked at',
    rule: 'store:R13',
    caughtBy: 'a list at a revision',
    make: (backend) => wrap(backend, { range: ({ revision: _, ...request }) => backend.range(request) }),
  },
  {
    fault: 'count is taken after the limit',
    rule: 'store:R9',
    caughtBy: 'count is taken before limit',
    make: (backend) =>
      wrap(backend, {
        range: async (request) => {
          const answer = await backend.range(request);
          return { ...answer, count: request.countOnly === true ? answer.count : answer.kvs.length };
        },
      }),
  },
  {
    fault: 'minModRevision is exclusive',
    rule: 'store:R9',
    caughtBy: 'count is taken before limit',
    make: (backend) =>
      wrap(backend, {
        range: ({ minModRevision = -1, ...request }) =>
          backend.range({ ...request, minModRevision: minModRevision + 1 }),
      }),
  },
  {
    fault: 'keysOnly brings values',
    rule: 'store:R12',
    caughtBy: 'keysOnly leaves values out',
    make: (backend) => wrap(backend, { range: ({ keysOnly: _, ...request }) => backend.range(request) }),
  },
  {
    fault: 'a missing key differs from every value',
    rule: 'store:R17',
    caughtBy: 'a missing key counts as 0',
    make: (backend, data) =>
      withTxn(backend, (request) => ({
        ...request,
        compare: request.compare.filter(
          ({ key, target, result }) =>
            key === undefined || target !== 'value' || result !== '!=' || data.get(key) !== undefined,
        ),
      })),
  },
  {
    fault: 'a compare over a range looks at its first key only',
    rule: 'store:R18',
    caughtBy: 'a compare over a range',
    make: (backend, data) =>
      withTxn(backend, (request) => ({
        ...request,
        compare: request.compare.map((compare) => {
          if (compare.range === undefined) return compare;
          const { start, end } = compare.range;
          const range = end === undefined ? { key: start } : end.length === 0 ? { start } : { start, end };
          const first = data.range(range).kvs[0]?.key ?? start;
          const { target, result, value } = compare;
          return { key: first, target, result, value };
        }),
      })),
  },
  {
    fault: 'an empty range satisfies everything',
    rule: 'store:R18',
    caughtBy: 'an empty range is compared',
    make: (backend, data) =>
      withTxn(backend, (request) => ({
        ...request,
        compare: request.compare.filter(({ range }) => {
          if (range?.end === undefined) return true;
          const { start, end } = range;
          return data.range(end.length === 0 ? { start } : { start, end }).count > 0;
        }),
      })),
  },
  {
    fault: 'one compare that holds is enough',
    rule: 'store:R19',
    caughtBy: 'all compares must hold',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          for (const compare of request.compare) {
            const { succeeded } = await backend.txn({ compare: [compare], then: [], else: [] });
            if (succeeded) return backend.txn({ ...request, compare: [] });
          }
          return backend.txn(request);
        },
      }),
  },
  {
    fault: 'every operation is a commit of its own',
    rule: 'store:R2',
    caughtBy: 'all changes of a transaction',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          if (request.then.length < 2 || request.compare.length > 0) return backend.txn(request);
          let answer = await backend.txn({ ...request, then: [] });
          for (const operation of request.then) {
            const part = await backend.txn({ ...request, then: [operation] });
            answer = { ...part, responses: [...answer.responses, ...part.responses] };
          }
          return answer;
        },
      }),
  },
  {
    fault: 'nested transactions are judged behind the writes before them',
    rule: 'store:R19',
    caughtBy: 'nested compares see the state before',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          const index = request.then.findIndex(({ type }) => type === 'txn');
          if (index < 1) return backend.txn(request);
          const first = await backend.txn({ ...request, then: request.then.slice(0, index) });
          const rest = await backend.txn({ ...request, then: request.then.slice(index) });
          return { ...rest, responses: [...first.responses, ...rest.responses] };
        },
      }),
  },
  {
    fault: 'the last of two puts of a key wins',
    rule: 'store:R20',
    caughtBy: 'a branch that writes a key twice',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          try {
            return await backend.txn(request);
          } catch (error) {
            if (!(error instanceof DuplicateKeyError)) throw error;
            const responses = request.then.map(() => ({ type: 'put' }) as const);
            return { ...(await backend.status({})), succeeded: true, responses };
          }
        },
      }),
  },
  {
    fault: 'duplicates are looked for in the branch that runs only',
    rule: 'store:R20',
    caughtBy: 'a branch that writes a key twice',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          const { succeeded } = await backend.txn({ compare: request.compare, then: [], else: [] });
          return backend.txn(succeeded ? { ...request, else: [] } : { ...request, then: [] });
        },
      }),
  },
  {
    fault: 'ranges see the state before the transaction',
    rule: 'store:R20',
    caughtBy: 'operations run in order',
    make: (backend, data) =>
      withOperations(backend, (operation) =>
        operation.type === 'range' ? { ...operation, revision: operation.revision || data.revision } : operation,
      ),
  },
  {
    fault: 'a range of a transaction reads the newest whatever it is asked',
    rule: 'store:R13',
    caughtBy: 'a range of a transaction reads at a revision',
    make: (backend) =>
      withOperations(backend, (operation) => {
        if (operation.type !== 'range') return operation;
        const { revision: _, ...rest } = operation;
        return rest;
      }),
  },
  {
    fault: 'rows are not sorted by what was asked',
    rule: 'store:R8',
    caughtBy: 'a range of a transaction selects',
    make: (backend) =>
      withOperations(backend, (operation) => {
        if (operation.type !== 'range') return operation;
        const { sortTarget: _, ...rest } = operation;
        return rest;
      }),
  },
  {
    fault: 'more is told when bounds left rows out',
    rule: 'store:R8',
    caughtBy: 'a range of a transaction selects',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          const answer = await backend.txn(request);
          const responses = answer.responses.map((response) =>
            response.type === 'range' ? { ...response, more: response.kvs.length < response.count } : response,
          );
          return { ...answer, responses };
        },
      }),
  },
  {
    fault: 'ignoreValue writes the empty value that it is given',
    rule: 'store:R15',
    caughtBy: 'a put that ignores the value',
    make: (backend) =>
      withOperations(backend, (operation) => {
        if (operation.type !== 'put') return operation;
        const { ignoreValue: _, ...rest } = operation;
        return rest;
      }),
  },
  {
    fault: '100 operations are the most, the rest is cut off',
    rule: 'store:R21',
    caughtBy: '128 compares and operations',
    make: (backend) => withTxn(backend, (request) => ({ ...request, then: request.then.slice(0, 100) })),
  },
  {
    fault: 'what is refused has run as far as it came',
    rule: 'B12',
    caughtBy: 'what is refused has written nothing',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          try {
            return await backend.txn(request);
          } catch (error) {
            await backend.txn({ compare: [], then: request.then.slice(0, 1), else: [] });
            throw error;
          }
        },
      }),
  },
  {
    fault: 'compaction twice at one revision is taken',
    rule: 'store:R22',
    caughtBy: 'compaction goes forward',
    make: (backend) =>
      wrap(backend, {
        compact: async (request) => {
          try {
            await backend.compact(request);
          } catch (error) {
            if (!(error instanceof CompactedError)) throw error;
          }
        },
      }),
  },
  {
    fault: 'compaction goes one revision too far',
    rule: 'store:R24',
    caughtBy: 'compaction changes no list',
    make: (backend, data) =>
      wrap(backend, {
        compact: (request) => backend.compact({ revision: Math.min(request.revision + 1, data.revision) }),
      }),
  },
  {
    fault: 'long values are cut',
    rule: 'store:R21',
    caughtBy: 'keys and values of any length',
    make: (backend) =>
      withOperations(backend, (operation) =>
        operation.type === 'put' ? { ...operation, value: operation.value.slice(0, 65_536) } : operation,
      ),
  },
  {
    fault: 'then runs whatever the compares say',
    rule: 'store:R19',
    caughtBy: 'then runs when the compares hold',
    make: (backend) => withTxn(backend, (request) => ({ ...request, compare: [] })),
  },
  {
    fault: 'states before are never told',
    rule: 'store:R20',
    caughtBy: 'states before are told',
    make: (backend) =>
      withOperations(backend, (operation) =>
        operation.type === 'put' || operation.type === 'delete' ? { ...operation, prevKv: false } : operation,
      ),
  },
  {
    fault: 'two branches of which one runs may not put one key',
    rule: 'store:R20',
    caughtBy: 'branches that exclude each other',
    make: (backend) =>
      withOperations(backend, (operation) => {
        if (operation.type !== 'txn') return operation;
        const keys = operation.then.flatMap((one) => (one.type === 'put' ? [byteText(one.key)] : []));
        for (const one of operation.else) {
          if (one.type === 'put' && keys.includes(byteText(one.key))) throw new DuplicateKeyError('txn', one.key);
        }
        return operation;
      }),
  },
  {
    fault: 'the mod revision is compared where the create revision should be',
    rule: 'store:R17',
    caughtBy: 'the numbers of a key',
    make: (backend) =>
      withTxn(backend, (request) => ({
        ...request,
        compare: request.compare.map((one) => (one.target === 'create' ? { ...one, target: 'mod' } : one)),
      })),
  },
  {
    fault: 'values are compared as signed bytes',
    rule: 'store:R17',
    caughtBy: 'values are compared as unsigned',
    make: (backend) =>
      withTxn(backend, (request) => ({
        ...request,
        compare: request.compare.map((one) => {
          const { target, result, value } = one;
          const isHigh = target === 'value' && value instanceof Uint8Array && (value[0] ?? 0) >= 0x80;
          if (!isHigh || result === '=' || result === '!=') return one;
          return { ...one, result: result === '<' ? '>' : '<' };
        }),
      })),
  },
  {
    fault: 'a list tells the revision of when it is sent',
    rule: 'B6',
    caughtBy: 'a list and the changes behind it',
    make: (backend, data) =>
      wrap(backend, {
        range: async (request) => {
          const answer = await backend.range(request);
          for (let turn = 0; turn < 100; turn++) await Promise.resolve();
          return { ...answer, revision: data.revision };
        },
      }),
  },
];

function withTxn(backend: Backend, change: (request: BackendTxnRequest) => BackendTxnRequest): Backend {
  return wrap(backend, { txn: (request) => backend.txn(change(request)) });
}

export function withOperations(backend: Backend, change: (operation: BackendOperation) => BackendOperation): Backend {
  return withTxn(backend, (request) => ({
    ...request,
    then: request.then.map(change),
    else: request.else.map(change),
  }));
}

function changeRows(backend: Backend, change: (row: BackendKeyValue) => BackendKeyValue): Backend {
  return wrap(backend, {
    range: async (request) => {
      const answer = await backend.range(request);
      return { ...answer, kvs: answer.kvs.map(change) };
    },
  });
}
