import type { Fault } from '../fault.ts';

const TESTS = ['test/unit/adapters/etcd'];

/** etcd as a backend: what may be sent twice, what a stream proves, what an answer means. */
export const ETCD_FAULTS: readonly Fault[] = (
  [
    {
      id: 'etcd-write-sent-twice',
      file: 'src/backends/etcd/gateway.ts',
      find: 'if (!isSafe) throw last;',
      replace: '',
      why: 'M4: a write whose answer got lost is told as such, and not made again',
    },
    {
      id: 'etcd-late-write-is-certain',
      file: 'src/backends/etcd/gateway.ts',
      find: '{ maybeCommitted: isWrite });\n    const cancel',
      replace: '{ maybeCommitted: false });\n    const cancel',
      why: 'M4: nobody knows what became of a write that was not answered in time',
    },
    {
      id: 'etcd-half-a-revision',
      file: 'src/backends/etcd/stream.ts',
      find: 'if (answer.fragment === true) continue;',
      replace: '',
      why: 'B9: a revision that comes in fragments is one item',
    },
    {
      id: 'etcd-starts-at-the-compacted-revision',
      file: 'src/backends/etcd/stream.ts',
      find: 'start_revision: String(Math.max(1, fromRevision - 1)),',
      replace: 'start_revision: String(fromRevision),',
      why: 'E2: etcd may have forgotten a delete there',
    },
    {
      id: 'etcd-events-before-the-start',
      file: 'src/backends/etcd/stream.ts',
      find: 'if (found.length > 0 && revision >= fromRevision) yield',
      replace: 'if (found.length > 0) yield',
      why: 'B4: changes from fromRevision on',
    },
    {
      id: 'etcd-truncated-stream-ends-well',
      file: 'src/backends/etcd/gateway.ts',
      find: "if (rest.trim() !== '') throw",
      replace: "if (rest === 'never') throw",
      why: 'what breaks off within a message says so',
    },
    {
      id: 'etcd-digits-lost',
      file: 'src/backends/etcd/wire.ts',
      find: 'if (Number.isSafeInteger(number)) return number;',
      replace: 'if (Number.isFinite(number)) return number;',
      why: 'D8: an int64 that does not fit is an error, never another number',
    },
    {
      id: 'etcd-token-for-ever',
      file: 'src/backends/etcd/gateway.ts',
      find: "if (!(error instanceof EtcdRefusal && error.is('tokenInvalid'))) throw error;",
      replace: 'throw error;',
      why: 'a token that etcd does not know any more is got anew',
    },
  ] as const
).map((fault) => ({ ...fault, tests: TESTS }));
