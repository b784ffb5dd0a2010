import type { ProgressDocument } from '../handlers/record.ts';
import { PlimsollError } from '../types/errors.ts';
import { documentOf, type ProgressSession, recordOf, type Target } from './progress-session.ts';

/** One case of the suite, before it has a store. */
export interface ProgressCaseSpec {
  readonly name: string;
  readonly rule: string;
  /** What it cannot do without. */
  readonly needs?: 'loseAnswer' | 'uids';
  readonly run: (session: ProgressSession) => Promise<void>;
}

/** Uids that are hard to tell apart, or to write down. */
const ODD_UIDS: readonly string[] = [
  '',
  ' ',
  '/',
  'a/b',
  'a%2Fb',
  'a%2fb',
  '%',
  '%%',
  '..',
  '../a',
  'a\u0000b',
  'a\nb',
  '"quoted"',
  '__proto__',
  'constructor',
  '\u00e9',
  'e\u0301',
  '\u{1f4a1}',
  'jobs/1@7@0123',
  'x'.repeat(5000),
  `${'x'.repeat(5000)}y`,
  'X',
  'x',
];

/** Writers that always lose against somebody do not come to this. */
const TRIES_MAX = 500;

/** Names that objects may have. */
const ODD_NAMES: readonly string[] = ['a', 'A', 'ns/a', 'ns/b', 'a.b-c', 'x'.repeat(253), '\u00e9', '__proto__'];

const READS: readonly ProgressCaseSpec[] = [
  {
    name: 'what was never written is not there',
    rule: "A40'a",
    async run(session) {
      await session.holds('the document of a new object', await session.target(), undefined);
    },
  },
  {
    name: 'a read sees every write that was answered',
    rule: "A40'a",
    async run(session) {
      const target = await session.target();
      for (let gen = 1; gen <= 12; gen++) {
        const document = await session.stored(documentOf(target, gen));
        await session.holds(`a read after the write of generation ${gen}`, target, document);
      }
    },
  },
  {
    name: 'a read sees the writes of another process',
    rule: "A40'a",
    async run(session) {
      const target = await session.target();
      for (let gen = 1; gen <= 12; gen++) {
        const [writer, reader] = gen % 2 === 0 ? [session.progress, session.other] : [session.other, session.progress];
        const document = documentOf(target, gen);
        session.equal(`a write of generation ${gen} in turn`, await session.write(document, writer), true);
        await session.holds(`a read by another process after generation ${gen}`, target, document, reader);
      }
    },
  },
];

const WRITES: readonly ProgressCaseSpec[] = [
  {
    name: 'a write needs the generation before it',
    rule: "A40'b",
    async run(session) {
      const target = await session.target();
      session.equal('generation 6 where there is none', await session.write(documentOf(target, 6)), false);
      await session.holds('after it was refused', target, undefined);
      await session.stored(documentOf(target, 1));
      const second = await session.stored(documentOf(target, 2));
      for (const gen of [1, 2, 4, 9]) {
        const late = documentOf(target, gen, { writeId: 'late' });
        session.equal(`generation ${gen} where there is 2`, await session.write(late), false);
        session.equal(`the same of another process`, await session.write(late, session.other), false);
      }
      await session.holds('after they were refused', target, second);
    },
  },
  {
    name: 'of many writers of one generation one is told yes, and its document is there',
    rule: "A40'b",
    async run(session) {
      const target = await session.target();
      for (let gen = 1; gen <= 4; gen++) {
        const documents = Array.from({ length: 8 }, (_, n) => documentOf(target, gen, { writeId: `${gen} by ${n}` }));
        const writes = documents.map((document, n) => session.write(document, n % 2 ? session.other : undefined));
        const taken = await Promise.all(writes);
        const winners = documents.filter((_, n) => taken[n]);
        session.equal(`writers of generation ${gen} that were told yes`, winners.length, 1);
        await session.holds('the document there', target, winners[0]);
      }
    },
  },
  {
    name: 'no write gets lost between writers that read, write and try again',
    rule: "A40'b",
    async run(session) {
      const target = await session.target();
      let taken = 0;
      const work = async (writer: number): Promise<void> => {
        const store = writer % 2 === 0 ? session.progress : session.other;
        for (let done = 0, tries = 0; done < 6; tries++) {
          if (tries === TRIES_MAX)
            session.fail('a write on what was read', 'to be taken', `refused ${TRIES_MAX} times`);
          const found = await session.get(target, store);
          if (found !== undefined) checkWhole(session, found);
          const next = documentOf(target, (found?.gen ?? 0) + 1, { writeId: `${writer}/${done}` });
          if (!(await session.write(next, store))) continue;
          taken++;
          done++;
        }
      };
      await Promise.all([0, 1, 2, 3].map(work));
      session.equal('the generation after all writes', (await session.get(target))?.gen, taken);
    },
  },
  {
    name: 'documents of several objects have nothing to do with each other',
    rule: "A40'b",
    async run(session) {
      const [a, b] = [await session.target(), await session.target()];
      const first = await session.stored(documentOf(a, 1));
      session.equal('generation 2 of an object without', await session.write(documentOf(b, 2)), false);
      const other = await session.stored(documentOf(b, 1, { writeId: 'b' }));
      await session.holds('the one', a, first);
      await session.holds('the other', b, other);
    },
  },
];

const DOCUMENTS: readonly ProgressCaseSpec[] = [
  {
    name: 'a document comes back as it was written, to the last member',
    rule: "A40'c",
    async run(session) {
      const target = await session.target();
      await session.holds('a full document', target, await session.stored(fullDocument(target)));
    },
  },
  {
    name: 'a write replaces the whole document',
    rule: "A40'c",
    async run(session) {
      const target = await session.target();
      await session.stored(fullDocument(target));
      const empty = documentOf(target, 2, { records: {}, bases: {} });
      await session.holds('a document without records', target, await session.stored(empty));
      await session.holds('one with others', target, await session.stored(documentOf(target, 3)));
    },
  },
  {
    name: 'a large document is kept as a whole or refused with a typed error, which changes nothing',
    rule: "A40'c",
    async run(session) {
      const target = await session.target();
      let last = await session.stored(documentOf(target, 1));
      for (const bytes of [10_000, 300_000, 1_800_000]) {
        for (const large of [largeBase, manyRecords]) {
          const next = large(target, last.gen + 1, bytes);
          const end = await session.outcome(
            'a large write',
            session.progress.compareAndSet(target.uid, last.gen, next),
          );
          if ('error' in end && !(end.error instanceof PlimsollError)) {
            session.fail(`the refusal of ${bytes} bytes`, 'an error of Plimsoll', end.error, { cause: end.error });
          }
          if ('value' in end) session.equal(`the answer to a write of ${bytes} bytes`, end.value, true);
          if ('value' in end) last = next;
          await session.holds(`what is there after ${bytes} bytes`, target, last);
        }
      }
      await session.holds('a small one after them', target, await session.stored(documentOf(target, last.gen + 1)));
    },
  },
  {
    name: 'any text will do as a uid, and each has a document of its own',
    rule: "A40'c",
    needs: 'uids',
    async run(session) {
      const documents: [Target, ProgressDocument][] = [];
      for (const [n, uid] of ODD_UIDS.entries()) {
        const target = await session.target(`object ${n}`, uid);
        documents.push([target, await session.stored(documentOf(target, 1, { writeId: `of ${n}` }))]);
      }
      for (const [n, [target, document]] of documents.entries()) {
        await session.holds(`the document of odd uid ${n}`, target, document);
      }
      const listed = await session.within('list', session.progress.list());
      session.equal('the number of uids in the list', new Set(listed.map(({ uid }) => uid)).size, ODD_UIDS.length);
    },
  },
  {
    name: 'any name of an object will do',
    rule: "A40'c",
    async run(session) {
      for (const name of ODD_NAMES) {
        const target = await session.target(name);
        await session.holds(`the document of ${name}`, target, await session.stored(documentOf(target, 1)));
      }
    },
  },
];

const ENDS: readonly ProgressCaseSpec[] = [
  {
    name: 'a document that was dropped, or whose object is gone, is not there; all others stay',
    rule: "A40'd",
    async run(session) {
      const [gone, stays] = [await session.target(), await session.target()];
      await session.stored(documentOf(gone, 1));
      await session.stored(documentOf(gone, 2));
      const other = await session.stored(documentOf(stays, 1));
      await session.subject.deleteObject?.(gone.name);
      await session.within('delete', session.progress.delete(gone.uid));
      await session.within('a second delete', session.other.delete(gone.uid));
      await session.holds('the one that was dropped', gone, undefined);
      await session.holds('the other', stays, other);
      const late = await session.write(documentOf(gone, 3));
      session.equal('a late write of the next generation', late, false);
      const heads = await session.within('list', session.progress.list());
      session.equal('the dropped one in the list', heads.filter(({ uid }) => uid === gone.uid).length, 0);
    },
  },
  {
    name: 'the list has every document once, in short, however many there are',
    rule: "A40'd",
    needs: 'uids',
    async run(session) {
      session.equal('the list of nothing', await session.within('list', session.progress.list()), []);
      const expected: unknown[] = [];
      for (let n = 0; n < 230; n++) {
        const target = await session.target();
        const { uid, name, resourceVersion } = await session.stored(documentOf(target, 1, { resourceVersion: `${n}` }));
        expected.push({ uid, name, resourceVersion });
      }
      const heads = await session.within('list', session.progress.list());
      const sorted = heads.map(({ uid, name, resourceVersion }) => ({ uid, name, resourceVersion }));
      sorted.sort((a, b) => Number(a.resourceVersion) - Number(b.resourceVersion));
      session.equal('the list of 230', sorted, expected);
    },
  },
];

const LOST: readonly ProgressCaseSpec[] = [true, false].map((isApplied) => ({
  name: `a write whose answer was lost, ${isApplied ? 'applied' : 'and that was not applied'}: a read tells`,
  rule: "A40'e",
  needs: 'loseAnswer',
  async run(session) {
    const target = await session.target();
    const first = await session.stored(documentOf(target, 1));
    const second = documentOf(target, 2, { writeId: 'in doubt' });
    session.subject.loseAnswer?.(isApplied);
    const end = await session.outcome('a write', session.progress.compareAndSet(target.uid, 1, second));
    if ('value' in end) session.fail('a write without an answer', 'a rejection', end.value);
    await session.holds('a read after it', target, isApplied ? second : first);
    const again = await session.write(documentOf(target, 2, { writeId: 'again' }));
    session.equal('the same generation again', again, !isApplied);
    const last = documentOf(target, 3);
    await session.holds('the next one', target, await session.stored(last));
  },
}));

export const PROGRESS_CASES: readonly ProgressCaseSpec[] = [...READS, ...WRITES, ...DOCUMENTS, ...ENDS, ...LOST];

/** All parts of a document are of one write. */
function checkWhole(session: ProgressSession, { writeId, records, bases }: ProgressDocument): void {
  const digest = `digest of ${writeId}`;
  session.equal('the record in a document that was read meanwhile', records.handler?.done, digest);
  session.equal('the base in it', bases, { [digest]: { by: writeId } });
}

/** Every member that a document can have, and values that are easily lost. */
function fullDocument(target: Target): ProgressDocument {
  const values = [
    null,
    false,
    0,
    '',
    [],
    {},
    [null],
    { a: null },
    'line\nline',
    '\u2028"\\',
    1e21,
    { '': { __proto: 1 } },
  ];
  const digests = values.map((_, n) => `xxh3-128:${String(n).padStart(32, '0')}`);
  const attempt = { digest: 'sub:x@1', state: 'open', failures: 3, wakeAtWallMs: 1.5e12, delayMs: 0.5 } as const;
  return documentOf(target, 1, {
    records: {
      ...Object.fromEntries(digests.map((digest, n) => [`handler ${n}`, recordOf(digest)])),
      toString: { attempt: null, done: null, at: 0, episode: 0 },
      'parent/a ~1"\u00e9': {
        attempt: { ...attempt, opened: 'sub:w' },
        done: null,
        at: 9,
        episode: 8,
        tried: [{}, { args: null }, { args: { zone: 'a' } }],
        retirement: { episode: 7, failures: 1, wakeAtWallMs: 5, delayMs: 2 },
        absentSinceWallMs: 1,
      },
      parent: {
        ...recordOf('absent'),
        plan: [{ id: 'a' }, { id: 'b', args: null, field: '/x', selected: 'sub:y' }],
        schema: 'field:/spec',
      },
    },
    bases: Object.fromEntries(values.map((value, n) => [digests[n] ?? '', value])),
  });
}

function largeBase(target: Target, gen: number, bytes: number): ProgressDocument {
  const digest = `digest of ${gen}`;
  return documentOf(target, gen, {
    records: { handler: recordOf(digest) },
    bases: { [digest]: { text: '\u00e9x'.repeat(bytes / 3) } },
  });
}

function manyRecords(target: Target, gen: number, bytes: number): ProgressDocument {
  const ids = Array.from({ length: bytes / 200 }, (_, n) => `parent/sub ${n}`);
  return documentOf(target, gen, {
    records: Object.fromEntries(ids.map((id) => [id, recordOf(`digest of ${gen}`)])),
    bases: { [`digest of ${gen}`]: gen },
  });
}
