import type { Backend, BackendLeases } from '../../../src/types/backend.ts';
import { LeaseExistsError, LeaseNotFoundError } from '../../../src/types/errors.ts';
import { type BrokenBackend, withOperations, withTxn, wrap } from './broken-backend.ts';

export const BROKEN_LEASES: readonly BrokenBackend[] = [
  {
    fault: 'a lease whose id is in use is granted again',
    rule: 'store:R39',
    caughtBy: 'a lease is granted',
    make: (backend, data) =>
      withLeases(backend, (leases) => ({
        grant: async (request) => {
          try {
            return await leases.grant(request);
          } catch (error) {
            if (!(error instanceof LeaseExistsError)) throw error;
            return { identity: data.identity, revision: data.revision, id: error.leaseId, ttlMs: request.ttlMs };
          }
        },
      })),
  },
  {
    fault: 'less is granted than was asked for',
    rule: 'store:R39',
    caughtBy: 'a lease is granted',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        grant: (request) => leases.grant({ ...request, ttlMs: Math.min(request.ttlMs, 60_000) }),
      })),
  },
  {
    fault: 'ids are listed in the order of text',
    rule: 'store:R39',
    caughtBy: 'a lease is granted',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        list: async (request) => {
          const answer = await leases.list(request);
          return { ...answer, leases: [...answer.leases].sort() };
        },
      })),
  },
  {
    fault: 'a put without a lease keeps the one that the key has',
    rule: 'store:R16',
    caughtBy: 'a put attaches, moves and detaches',
    make: (backend, data) =>
      withOperations(backend, (operation) => {
        if (operation.type !== 'put' || operation.lease !== undefined) return operation;
        return data.get(operation.key) === undefined ? operation : { ...operation, ignoreLease: true };
      }),
  },
  {
    fault: 'an unknown lease is none',
    rule: 'B12',
    caughtBy: 'an unknown lease is refused',
    make: (backend) => {
      const without = withOperations(backend, (operation) => {
        if (operation.type !== 'put') return operation;
        const { lease: _, ...rest } = operation;
        return rest;
      });
      return wrap(backend, {
        txn: async (request) => {
          try {
            return await backend.txn(request);
          } catch (error) {
            if (error instanceof LeaseNotFoundError) return without.txn(request);
            throw error;
          }
        },
      });
    },
  },
  {
    fault: 'a revoked lease deletes its keys one by one',
    rule: 'store:R41',
    caughtBy: 'a revoked lease takes its keys along',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        revoke: async ({ id }) => {
          const { status } = await leases.timeToLive({ id, keys: true });
          const keys = status?.keys ?? [];
          for (const start of keys) {
            await backend.txn({ compare: [], then: [{ type: 'delete', range: { start } }], else: [] });
          }
          return { ...(await leases.revoke({ id })), deleted: keys.length };
        },
      })),
  },
  {
    fault: 'a revoked lease deletes five keys in its commit, those before them one by one',
    rule: 'store:R41',
    caughtBy: 'a lease of many keys',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        revoke: async (request) => {
          const { status } = await leases.timeToLive({ id: request.id, keys: true });
          const before = status?.keys?.slice(0, -5) ?? [];
          for (const start of before) {
            await backend.txn({ compare: [], then: [{ type: 'delete', range: { start } }], else: [] });
          }
          const answer = await leases.revoke(request);
          return { ...answer, deleted: answer.deleted + before.length };
        },
      })),
  },
  {
    fault: 'the lease is dropped by a put of then that keeps the value too',
    rule: 'store:R15',
    caughtBy: 'a put that ignores value and lease',
    make: (backend) =>
      withTxn(backend, (request) => ({
        ...request,
        then: request.then.map((operation) => {
          if (operation.type !== 'put' || operation.ignoreValue !== true) return operation;
          const { ignoreLease: _, ...rest } = operation;
          return rest;
        }),
      })),
  },
  {
    fault: 'a key that was attached once dies with the lease',
    rule: 'store:R44',
    caughtBy: 'a key that left a lease survives',
    make: (backend) => {
      const attached = new Map<string, Uint8Array[]>();
      const noting = withOperations(backend, (operation) => {
        if (operation.type === 'put' && operation.lease !== undefined) {
          attached.set(operation.lease, [...(attached.get(operation.lease) ?? []), operation.key]);
        }
        return operation;
      });
      return withLeases(noting, (leases) => ({
        revoke: async ({ id }) => {
          const answer = await leases.revoke({ id });
          for (const start of attached.get(id) ?? []) {
            await backend.txn({ compare: [], then: [{ type: 'delete', range: { start } }], else: [] });
          }
          return answer;
        },
      }));
    },
  },
  {
    fault: 'the keys of a lease are told in the order of their attachment',
    rule: 'store:R43',
    caughtBy: 'what is left of a lease',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        timeToLive: async (request) => {
          const answer = await leases.timeToLive(request);
          const { status } = answer;
          if (status?.keys === undefined) return answer;
          return { ...answer, status: { ...status, keys: [...status.keys].reverse() } };
        },
      })),
  },
  {
    fault: 'what was granted is told as what is left',
    rule: 'store:R43',
    caughtBy: 'what a lease was granted stays the same',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        timeToLive: async (request) => {
          const answer = await leases.timeToLive(request);
          const { status } = answer;
          return status === undefined ? answer : { ...answer, status: { ...status, grantedTtlMs: status.remainingMs } };
        },
      })),
  },
  {
    fault: 'only the first renewal of a lease renews it',
    rule: 'store:R40',
    caughtBy: 'each renewal gives a lease its whole TTL',
    make: (backend) => {
      const renewed = new Set<string>();
      return withLeases(backend, (leases) => ({
        keepAlive: async (request) => {
          const { id } = request;
          const { status, ...position } = await leases.timeToLive({ id });
          if (status === undefined || !renewed.has(id)) {
            renewed.add(id);
            return leases.keepAlive(request);
          }
          return { ...position, id, ttlMs: status.grantedTtlMs };
        },
      }));
    },
  },
  {
    fault: 'a renewal renews nothing',
    rule: 'store:R42',
    caughtBy: 'a lease expires after its TTL',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        keepAlive: async ({ id }) => {
          const { status, ...position } = await leases.timeToLive({ id });
          if (status === undefined) throw new LeaseNotFoundError('keep a lease alive', id);
          return { ...position, id, ttlMs: status.grantedTtlMs };
        },
      })),
  },
  {
    fault: 'a lease never expires',
    rule: 'store:R42',
    caughtBy: 'a lease expires after its TTL',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        grant: async (request) => ({ ...(await leases.grant({ ...request, ttlMs: 9e12 })), ttlMs: request.ttlMs }),
      })),
  },
  {
    fault: 'a lease expires in half its time',
    rule: 'store:R42',
    caughtBy: 'a lease expires after its TTL',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        grant: async (request) => {
          const answer = await leases.grant({ ...request, ttlMs: request.ttlMs / 2 });
          return { ...answer, ttlMs: request.ttlMs };
        },
      })),
  },
  {
    fault: 'the revocation of a lease without keys uses a revision',
    rule: 'store:R4',
    caughtBy: 'a lease without keys',
    make: (backend) =>
      withLeases(backend, (leases) => ({
        revoke: async (request) => {
          const answer = await leases.revoke(request);
          return { ...answer, revision: answer.revision + Number(answer.deleted === 0) };
        },
      })),
  },
  {
    fault: 'lease ids are compared as text',
    rule: 'store:R17',
    caughtBy: 'leases are compared as numbers',
    make: (backend, data) =>
      wrap(backend, {
        txn: (request) => {
          const [one] = request.compare;
          if (one?.target !== 'lease' || one.key === undefined) return backend.txn(request);
          const lease = data.get(one.key)?.lease ?? '0';
          const order = lease < String(one.value) ? '<' : '>';
          const holds =
            one.result === (lease === one.value ? '=' : order) || (one.result === '!=' && lease !== one.value);
          const never = { key: Uint8Array.of(0), target: 'version', result: '<', value: 0 } as const;
          return backend.txn({ ...request, compare: holds ? [] : [never] });
        },
      }),
  },
];

function withLeases(backend: Backend, change: (leases: BackendLeases) => Partial<BackendLeases>): Backend {
  const { leases } = backend;
  if (leases === undefined) return backend;
  return wrap(backend, {
    leases: {
      grant: (request) => leases.grant(request),
      keepAlive: (request) => leases.keepAlive(request),
      revoke: (request) => leases.revoke(request),
      timeToLive: (request) => leases.timeToLive(request),
      list: (request) => leases.list(request),
      ...change(leases),
    },
  });
}
