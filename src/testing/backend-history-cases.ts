import type { ByteRange } from '../types/backend.ts';
import { CompactedError, FutureRevisionError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { history } from './backend-range-cases.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { ALL, itemText, point, rowText, span } from './backend-terms.ts';

/** Compaction: what it refuses, what it takes away, and what it must leave. */
export const HISTORY_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'compaction goes forward, and not into the future',
    rule: 'store:R22',
    async run(session) {
      const revisions: Revision[] = [];
      for (const value of ['1', '2', '3']) revisions.push(await session.write({ k: value }));
      const [first = 0, second = 0, third = 0] = revisions;
      const compact = (revision: Revision) => session.backend.compact({ revision });
      await session.refused('compact above the newest', compact(third + 1_000_000), FutureRevisionError);
      await session.within('compact', compact(second));
      await session.refused('compact at the same', compact(second), CompactedError);
      await session.refused('compact below', compact(first), CompactedError);
      await session.within('compact at the newest', compact(third));
      session.equal('the revision behind it', (await session.status()).revision, third);
      session.equal('the row behind it', (await session.rows()).map(rowText), [`k=3 (${first},${third},3)`]);
    },
  },
  {
    name: 'compaction changes no list and no change at or above it',
    rule: 'store:R24',
    async run(session) {
      const states = await history(session);
      const revisions = [...states.keys()];
      const [first = 0] = revisions;
      const last = revisions.at(-1) ?? 0;
      const before = session.watch(first);
      await session.seen(before, last);
      const items = before.items.slice(1);
      for (const floor of revisions) {
        await session.within('compact', session.backend.compact({ revision: floor }));
        for (const [revision, rows] of states) {
          if (revision < floor) continue;
          const list = await session.range([ALL], { revision });
          session.equal(`the rows at ${revision}, compacted at ${floor}`, list.kvs.map(rowText), rows);
        }
        const after = session.watch(floor);
        await session.seen(after, last);
        const expected = items.filter(({ revision }) => revision >= floor).map(itemText);
        session.equal(`the changes from ${floor} on, compacted there`, after.items.slice(1).map(itemText), expected);
      }
    },
  },
  {
    name: 'a delete at the compacted revision is still told',
    rule: 'store:R23',
    async run(session) {
      await session.write({ k: '1' });
      const deleted = await session.write({ k: undefined });
      await session.within('compact', session.backend.compact({ revision: deleted }));
      const reader = session.watch(deleted);
      await session.seen(reader, deleted);
      session.equal('the changes', reader.items.slice(1).map(itemText), [`change ${deleted} delete k (${deleted})`]);
      session.equal('the rows', await session.rows(), []);
    },
  },
  {
    name: 'a start below the compacted revision ends with CompactedError, and brings nothing',
    rule: 'B6',
    async run(session) {
      const revisions: Revision[] = [];
      for (let count = 0; count < 10; count++) revisions.push(await session.write({ k: `${count}` }));
      const [first = 0, , , low = 0, floor = 0] = revisions;
      await session.within('compact', session.backend.compact({ revision: floor }));
      const last = revisions.at(-1) ?? 0;
      // Of any number of ranges, also where there is nothing to tell.
      const selections = [
        [ALL],
        [point('k')],
        [span('a', 'b')],
        [span('a', 'b'), point('k')],
        [point('a'), span('l', '')],
      ];
      for (const ranges of selections) {
        for (const from of [0, first, low, floor - 1]) await refusedStart(session, from, floor, ranges);
      }
      const legal = session.watch(floor);
      await session.seen(legal, last);
      session.equal(
        'the changes from there on',
        legal.changes.map(({ revision }) => revision),
        revisions.slice(4),
      );
    },
  },
];

async function refusedStart(
  session: BackendSession,
  from: Revision,
  floor: Revision,
  ranges: readonly ByteRange[],
): Promise<void> {
  const reader = session.watch(from, { ranges });
  const state = () => reader.items.map(itemText);
  await session.until(`a stream from ${from}`, () => reader.end !== undefined, 'CompactedError', state);
  const { error } = reader.end ?? {};
  session.check(`the end of a stream from ${from}`, error instanceof CompactedError, 'CompactedError', error);
  session.equal('its changes', reader.changes.length, 0);
  const { minRevision } = error as CompactedError;
  session.equal('the smallest legal start', minRevision, floor);
}
