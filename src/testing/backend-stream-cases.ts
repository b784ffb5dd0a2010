import { BackendError, CompactedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { BackendCaseSpec, BackendSession } from './backend-session.ts';
import { itemText, point } from './backend-terms.ts';

type Reader = ReturnType<BackendSession['watch']>;

/** Commits of a burst; as many as a slow consumer finds waiting. */
const BURST = 60;

/** How a stream begins, goes on, proves and ends. */
export const STREAM_CASES: readonly BackendCaseSpec[] = [
  {
    name: 'a stream opens with the present position, before anything else',
    rule: 'B4',
    async run(session) {
      const { revision: empty } = await session.status();
      const quiet = session.watch(empty + 1);
      session.equal('the open item of empty data', await session.opened(quiet), empty);
      const revision = await session.write({ a: '1' });
      const behind = session.watch(revision);
      const readers = [behind, session.watch(revision + 1), session.watch(revision + 100)];
      for (const reader of readers) session.equal('the open item', await session.opened(reader), revision);
      // Each for itself: streams of one backend need not be equally far.
      for (const reader of [quiet, behind]) await session.seen(reader, revision);
      await session.quiet();
      const types = readers.map(({ items }) => items.map(({ type }) => type));
      session.equal('the items from a start behind, ahead, and far ahead', types, [
        ['open', 'change'],
        ['open'],
        ['open'],
      ]);
    },
  },
  {
    name: 'the start is inclusive',
    rule: 'B4',
    async run(session) {
      const revisions: Revision[] = [];
      for (const value of ['1', '2', '3', '4']) revisions.push(await session.write({ k: value }));
      for (const [index, from] of revisions.entries()) {
        const reader = session.watch(from);
        await session.seen(reader, revisions[3] ?? 0);
        session.equal(
          `the changes from ${from} on`,
          reader.changes.map(({ revision }) => revision),
          revisions.slice(index),
        );
      }
    },
  },
  {
    name: 'a start in the future waits, and brings nothing from before',
    rule: 'B4',
    async run(session) {
      const from = (await session.write({ k: '0' })) + 3;
      const reader = session.watch(from);
      await session.opened(reader);
      const revisions: Revision[] = [];
      while ((revisions.at(-1) ?? 0) < from + 1) revisions.push(await session.write({ k: `${revisions.length}` }));
      await session.seen(reader, from + 1);
      const expected = revisions.filter((revision) => revision >= from);
      session.equal(
        `the changes from ${from} on`,
        reader.changes.map(({ revision }) => revision),
        expected,
      );
    },
  },
  {
    name: 'changes come as they are made, each once, in order, none missing',
    rule: 'B4',
    async run(session) {
      const { revision: from } = await session.status();
      const live = session.watch(from + 1);
      await session.opened(live);
      const writes = Array.from({ length: BURST }, (_, index) => session.write({ [`k${index % 9}`]: `${index}` }));
      const midway = session.watch(from + 1);
      const revisions = (await Promise.all(writes)).sort((a, b) => a - b);
      const replay = session.watch(from + 1);
      for (const reader of [live, midway, replay]) {
        await session.seen(reader, revisions.at(-1) ?? 0);
        session.equal(
          'the revisions of a stream',
          reader.changes.map(({ revision }) => revision),
          revisions,
        );
        session.equal(
          'what it told',
          reader.changes.map(({ events }) => events.length),
          revisions.map(() => 1),
        );
      }
      session.equal('two streams', live.items.slice(1).map(itemText), replay.items.slice(1).map(itemText));
    },
  },
  {
    name: 'progress comes behind everything that it proves',
    rule: 'B5',
    needs: ['progress'],
    run: progressInOrder,
  },
  {
    name: 'progress that is asked for while the consumer is behind waits for what it has not pulled',
    rule: 'B5',
    needs: ['progress'],
    run: progressWhenBehind,
  },
  {
    name: 'progress comes on a quiet range too',
    rule: 'B5',
    needs: ['progress'],
    async run(session) {
      const { revision: from } = await session.status();
      const reader = session.watch(from + 1, { ranges: [point('quiet')] });
      await session.opened(reader);
      for (const value of ['1', '2']) {
        const revision = await session.write({ other: value });
        await progressTo(session, reader, revision);
      }
      session.equal('the changes of the quiet range', reader.changes.length, 0);
    },
  },
  {
    name: 'a stream that is not pulled goes on without a gap, or ends with an error',
    rule: 'B10',
    async run(session) {
      const { revision: from } = await session.status();
      const reader = session.watch(from + 1, { itemsMax: 1 });
      await session.opened(reader);
      const revisions: Revision[] = [];
      for (let count = 0; count < BURST; count++)
        revisions.push(await session.write({ [`k${count % 4}`]: `${count}` }));
      session.equal('the items of a stream that is not pulled', reader.items.length, 1);
      reader.resume();
      await session.seen(reader, revisions.at(-1) ?? 0);
      const told = reader.changes.map(({ revision }) => revision);
      const expected = reader.end === undefined ? revisions : revisions.slice(0, told.length);
      session.equal('the changes when it goes on', told, expected);
      checkEnd(session, reader);
    },
  },
  {
    name: 'compaction passes a stream that is not pulled without a silent gap',
    rule: 'B6',
    async run(session) {
      const { revision: from } = await session.status();
      const reader = session.watch(from + 1, { itemsMax: 1 });
      await session.opened(reader);
      const revisions: Revision[] = [];
      for (let count = 0; count < BURST; count++)
        revisions.push(await session.write({ [`k${count % 4}`]: `${count}` }));
      const last = revisions.at(-1) ?? 0;
      await session.within('compact', session.backend.compact({ revision: last }));
      reader.resume();
      await session.seen(reader, last);
      const told = reader.changes.map(({ revision }) => revision);
      const expected = reader.end === undefined ? revisions : revisions.slice(0, told.length);
      session.equal('the changes of a stream that compaction passed', told, expected);
      checkEnd(session, reader);
    },
  },
  {
    name: 'a stream ends with the reason of its signal',
    rule: 'B11',
    async run(session) {
      const revision = await session.write({ a: '1' });
      const [idle, busy] = [session.watch(revision + 1), session.watch(revision)];
      await session.seen(busy, revision);
      await session.opened(idle);
      for (const reader of [idle, busy]) {
        const reason = new Error('enough');
        reader.abort(reason);
        await session.until(
          'the end of a stream',
          () => reader.end !== undefined,
          'an end',
          () => 'none',
        );
        session.check('why it ended', reader.end?.error === reason, 'the reason of its signal', reader.end?.error);
      }
      const lengths = [idle.items.length, busy.items.length];
      await session.write({ a: '2' });
      await session.quiet();
      session.equal('the items after the end', [idle.items.length, busy.items.length], lengths);
    },
  },
  {
    name: 'a stream that is left ends quietly, and others go on',
    rule: 'B11',
    async run(session) {
      const revision = await session.write({ a: '1' });
      const [left, other] = [session.watch(revision, { itemsMax: 2 }), session.watch(revision)];
      await session.seen(left, revision);
      await session.within('leaving a stream', left.return());
      const next = await session.write({ a: '2' });
      await session.seen(other, next);
      session.equal('the items of the stream that was left', left.items.length, 2);
    },
  },
  {
    name: 'a stream does not outlive its data',
    rule: 'B7',
    needs: ['destroyData'],
    async run(session) {
      const revision = await session.write({ a: '1' });
      const reader = session.watch(revision);
      await session.seen(reader, revision);
      await session.destroyData();
      const state = () => reader.items.map(itemText);
      await session.until('the end of a stream whose data are gone', () => reader.end !== undefined, 'an end', state);
    },
  },
];

async function progressTo(session: BackendSession, reader: Reader, revision: Revision): Promise<void> {
  reader.requestProgress();
  const marks = () => reader.items.filter(({ type }) => type === 'progress').map((mark) => mark.revision);
  const isThere = () => (marks().at(-1) ?? 0) >= revision || reader.end !== undefined;
  await session.until('progress that was asked for', isThere, `progress ${revision} or above`, marks);
  session.check('the stream', reader.end === undefined, 'going on', reader.end?.error);
}

/** Asks at every distance from a commit, so that an answer that can overtake one does so once. */
async function progressInOrder(session: BackendSession): Promise<void> {
  const { revision: from } = await session.status();
  const reader = session.watch(from + 1);
  await session.opened(reader);
  for (let turns = 0; turns < 12; turns++) {
    const write = session.write({ k: `${turns}` });
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    reader.requestProgress();
    await progressTo(session, reader, await write);
  }
  const proven = checkProven(session, reader);
  const { revision: now } = await session.status();
  session.check('what was proven', proven <= now, `at most ${now}`, proven);
  session.equal('the number of changes', reader.changes.length, 12);
}

/**
 * The consumer has pulled a few items and stops; commits follow, then the question. What answers has to stand behind the
 * changes that wait: `open 1, progress 5, change 2` would prove what was not sent.
 */
async function progressWhenBehind(session: BackendSession): Promise<void> {
  for (const pulled of [1, 2, 4]) {
    for (const behind of [1, 2, 5, 20]) {
      const { revision: from } = await session.status();
      const reader = session.watch(from + 1, { itemsMax: pulled });
      await session.opened(reader);
      let last = from;
      for (let count = 0; count < pulled - 1 + behind; count++) last = await session.write({ k: `${count}` });
      await session.quiet();
      reader.requestProgress();
      await session.quiet();
      reader.resume();
      await session.seen(reader, last);
      // A stream may give up where it is behind, not where it is not.
      if (reader.end === undefined) await progressTo(session, reader, last);
      else checkEnd(session, reader);
      checkProven(session, reader);
    }
  }
}

/** No change is at or below what progress has proven before it. The highest that was proven. */
function checkProven(session: BackendSession, reader: Reader): Revision {
  let proven = 0;
  for (const { type, revision } of reader.items) {
    if (type === 'change') session.check('a change behind progress', revision > proven, `above ${proven}`, revision);
    if (type === 'progress') proven = Math.max(proven, revision);
  }
  return proven;
}

/** A stream may give up, by an error that says so. */
function checkEnd(session: BackendSession, { end }: Reader): void {
  if (end === undefined) return;
  const isTold = end.error instanceof CompactedError || end.error instanceof BackendError;
  session.check('the end of a stream', isTold, 'CompactedError or BackendError', end.error);
}
