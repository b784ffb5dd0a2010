import type { Fault } from '../fault.ts';

const TESTS = ['test/unit/adapters/', 'test/property/sqlite-backend'];

/** SQLite as a backend: what of a commit, of history and of leases has to be in the file, and when. */
export const SQLITE_FAULTS: readonly Fault[] = (
  [
    {
      id: 'sqlite-revision-not-kept',
      file: 'src/backends/sqlite/txn.ts',
      find: 'if (this.#hasWritten) this.#tables.setRevision(this.#next);',
      replace: '',
      why: 'B1: the revision is committed with the change',
    },
    {
      id: 'sqlite-refused-too-late',
      file: 'src/backends/sqlite/txn.ts',
      find: '    this.#check(txn);\n    const responses = this.#branch(txn).map((operation) => this.#run(operation));',
      replace:
        '    const responses = this.#branch(txn).map((operation) => this.#run(operation));\n    this.#check(txn);',
      why: 'B12: what is refused has written nothing, also in a commit that it shares',
    },
    {
      id: 'sqlite-nested-compares-see-writes',
      file: 'src/backends/sqlite/txn.ts',
      find: "for (const operation of this.#branch(txn)) if (operation.type === 'txn') this.#choose(operation);",
      replace: '',
      why: 'store:R19: every compare is judged on the state before the transaction',
    },
    {
      id: 'sqlite-history-by-revision-alone',
      file: 'src/backends/sqlite/tables.ts',
      find: 'n.revision <= ? AND n.id > e.id)',
      replace: 'n.revision <= ? AND n.revision > e.revision)',
      why: 'a key that nested transactions put and delete in one revision would be live in it',
    },
    {
      id: 'sqlite-compaction-keeps-replaced',
      file: 'src/backends/sqlite/backend.ts',
      find: 'tables.setCleaned(to === compacted ? compacted : to + 1);',
      replace: 'tables.setCleaned(to + 1);',
      why: 'store:R23: the delete at one compacted revision goes with the next compaction',
    },
    {
      id: 'sqlite-compaction-brings-back',
      file: 'src/backends/sqlite/tables.ts',
      find: "'DELETE FROM plimsoll_event WHERE revision BETWEEN ? AND ? AND deleted = 1',",
      replace: "'DELETE FROM plimsoll_event WHERE revision >= ? AND revision < ? AND deleted = 0',",
      why: 'store:R24, U23: live rows stay',
    },
    {
      id: 'sqlite-start-below-compacted',
      file: 'src/backends/sqlite/stream.ts',
      find: 'if (next < compacted) throw',
      replace: 'if (next < compacted - 1) throw',
      why: 'B6: a start below the compacted revision is no silent gap',
    },
    {
      id: 'sqlite-progress-too-early',
      file: 'src/backends/sqlite/stream.ts',
      find: 'if (found.length >= EVENTS_MAX) continue;',
      replace: '',
      why: 'B5: progress behind all that it proves',
    },
    {
      id: 'sqlite-ttl-begins-anew',
      file: 'src/backends/sqlite/tables.ts',
      find: 'return { id: row.id as string, ttlMs: row.ttl_ms as number, deadlineMs: row.deadline_ms as number };',
      replace:
        'return { id: row.id as string, ttlMs: row.ttl_ms as number, deadlineMs: (row.deadline_ms as number) + 1000 };',
      why: 'store:R45, U25: a deadline is absolute',
    },
    {
      id: 'sqlite-reads-do-not-expire',
      file: 'src/backends/sqlite/file.ts',
      find: 'if (isDue) await this.write(action, signal, () => undefined);',
      replace: '',
      why: 'M33: what is due is expired before an answer of the backend',
    },
    {
      id: 'sqlite-expiry-in-one-revision',
      file: 'src/backends/sqlite/tables.ts',
      find: 'ORDER BY deadline_ms, length(id), id LIMIT 1',
      replace: 'ORDER BY id LIMIT 1',
      why: 'M31, store:R41: in the order of deadlines, then of ids as numbers',
    },
    {
      id: 'sqlite-lost-answer-is-certain',
      file: 'src/backends/sqlite/file.ts',
      find: 'const maybeCommitted = after !== undefined && after !== before && !this.#isStillAt(before);',
      replace: 'const maybeCommitted = false;',
      why: 'M4: a commit whose answer got lost may have happened',
    },
    {
      id: 'sqlite-aborted-is-written',
      file: 'src/backends/sqlite/file.ts',
      find: 'group.filter((one) => isWanted(one))',
      replace: 'group',
      why: 'B11: aborted before its turn, a write has no effect',
    },
    {
      id: 'sqlite-foreign-file-is-taken',
      file: 'src/backends/sqlite/schema.ts',
      find: 'if (!driver.isShared || tables.length === 0) return undefined;',
      replace: 'return undefined;',
      why: 'a file of another program is left as it is',
    },
  ] as const
).map((fault) => ({ ...fault, tests: TESTS }));
