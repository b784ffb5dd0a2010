import { byteText, compareBytes } from '../../../src/core/key-order.ts';
import type { Backend, BackendKeyValue } from '../../../src/types/backend.ts';
import { CompactedError, FutureRevisionError } from '../../../src/types/errors.ts';
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

function changeRows(backend: Backend, change: (row: BackendKeyValue) => BackendKeyValue): Backend {
  return wrap(backend, {
    range: async (request) => {
      const answer = await backend.range(request);
      return { ...answer, kvs: answer.kvs.map(change) };
    },
  });
}
