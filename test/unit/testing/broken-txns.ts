import { byteText } from '../../../src/core/key-order.ts';
import { DuplicateKeyError } from '../../../src/types/errors.ts';
import { type BrokenBackend, withOperations, withTxn, wrap } from './broken-backend.ts';

export const BROKEN_TXNS: readonly BrokenBackend[] = [
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
    fault: 'sorted ranges of a transaction see the state behind all of its branch',
    rule: 'store:R20',
    caughtBy: 'a range sees the writes before it',
    make: (backend) =>
      wrap(backend, {
        txn: async (request) => {
          const answer = await backend.txn(request);
          const branch = answer.succeeded ? request.then : request.else;
          const responses = [...answer.responses];
          for (const [index, operation] of branch.entries()) {
            if (operation.type !== 'range' || operation.sortTarget === undefined) continue;
            const late = await backend.txn({ compare: [], then: [operation], else: [] });
            responses.splice(index, 1, ...late.responses);
          }
          return { ...answer, responses };
        },
      }),
  },
  {
    fault: 'a delete without end leaves the keys from 0xff on',
    rule: 'store:R7',
    caughtBy: 'a delete takes what its range holds',
    make: (backend) =>
      withOperations(backend, (operation) =>
        operation.type === 'delete' && operation.range.end?.length === 0
          ? { ...operation, range: { start: operation.range.start, end: Uint8Array.of(0xff) } }
          : operation,
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
];
