import { describe, expect, it } from 'vitest';
import { type DocumentVersion, emptyDocument, versionOf } from '../../../src/handlers/document-version.ts';
import { type Attempt, type HandlerRecord, isSettled } from '../../../src/handlers/record.ts';

/** The document that src/handlers/record.ts draws, built by the steps that lead to it. */
function drawn(): DocumentVersion {
  return emptyDocument('u', 'o')
    .openAttempt('deploy', 'C')
    .settleAttempt('deploy', 1, 'C', ok('C'))
    .adoptPlan('deploy', [{ id: 'a', args: 1 }], false)
    .markDone('deploy', 'C', 'view C')
    .openAttempt('scale', 'A')
    .settleAttempt('scale', 2, 'A', ok('A'))
    .markDone('scale', 'A', 'view A')
    .openAttempt('scale', 'B');
}

function ok(digest: string): Attempt {
  return { digest, state: 'ok', failures: 0, wakeAtWallMs: 0, delayMs: 0 };
}

/** All that a record may have beside what every record has; the last one is of a later version of the program. */
const OTHERS: Required<Omit<HandlerRecord, 'attempt' | 'done' | 'at' | 'episode'>> & { readonly later: unknown } = {
  plan: [{ id: 'x' }],
  tried: [{ args: 1 }],
  schema: 'v2',
  doneSchema: 'v1',
  absentSinceWallMs: 5,
  retirement: { episode: 1, failures: 0, wakeAtWallMs: 0, delayMs: 0 },
  later: { any: 'thing' },
};

describe('the versions of a document', () => {
  it('are as drawn', () => {
    expect(drawn().toDocument()).toEqual({
      uid: 'u',
      name: 'o',
      gen: 0,
      writeId: '',
      tick: 3,
      resourceVersion: '',
      records: {
        deploy: { attempt: ok('C'), done: 'C', at: 1, episode: 1, plan: [{ id: 'a', args: 1 }] },
        'deploy/a': { attempt: null, done: null, at: 1, episode: 0 },
        scale: { attempt: { ...ok('B'), state: 'open' }, done: 'A', at: 3, episode: 3 },
      },
      bases: { C: 'view C', A: 'view A' },
    });
  });

  it('are the same with a plan that is equal to the one they have: nothing is made of it again', () => {
    const doc = drawn();
    expect(doc.adoptPlan('deploy', [{ id: 'a', args: 1 }], false)).toBe(doc);
    const others = [
      [{ id: 'a', args: 2 }],
      [{ id: 'a' }],
      [{ id: 'b', args: 1 }],
      [{ id: 'a', args: 1, field: 'x' }],
      [],
    ];
    for (const plan of others) {
      const next = doc.adoptPlan('deploy', plan, false);
      expect(next.record('deploy')?.plan).toEqual(plan.length === 0 ? undefined : plan);
    }
  });

  it.each(Object.entries(OTHERS))('keep %s of a record in each step that moves something else', (name, value) => {
    const { records, ...rest } = drawn().toDocument();
    const scale = { ...records.scale, [name]: value };
    const doc = versionOf({ ...rest, records: { ...records, scale } as never });
    const steps = [
      // What is noted anew with each attempt is not kept, and what is of one success no longer than that.
      ...(name === 'schema' || name === 'absentSinceWallMs' || name === 'doneSchema'
        ? []
        : [doc.openAttempt('scale', 'B')]),
      ...(name === 'doneSchema'
        ? []
        : [
            doc.settleAttempt('scale', 3, 'B', ok('B'), { tried: undefined, seen: { view: 'view B' } }),
            doc.markDone('scale', 'C', 'view C'),
          ]),
      doc.settleAttempt('scale', 3, 'B', ok('B')),
      doc.openAttempt('deploy', 'D').stamp('scale', 3),
    ];
    for (const step of steps) expect(step.record('scale')).toMatchObject({ [name]: value });
  });

  it("are settled by the last opened attempt, not by the last success (A3')", () => {
    const [scale, deploy] = ['scale', 'deploy'].map((id) => drawn().record(id));
    expect([isSettled(scale, 'A'), isSettled(scale, 'B'), isSettled(deploy, 'C'), isSettled(undefined, 'A')]).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("keep the episode and the count of an open attempt that is opened again, and begin anew otherwise (A4', A13')", () => {
    const failed: Attempt = { digest: 'B', state: 'open', failures: 2, wakeAtWallMs: 9, delayMs: 9 };
    const doc = drawn().settleAttempt('scale', 3, failed.digest, failed);
    expect(doc.openAttempt('scale', 'B').record('scale')).toEqual({ attempt: failed, done: 'A', at: 4, episode: 3 });
    expect(doc.openAttempt('scale', 'A').record('scale')).toMatchObject({
      attempt: { digest: 'A', failures: 0 },
      at: 4,
      episode: 4,
    });
    expect(doc.openAttempt('deploy', 'C').record('deploy')).toMatchObject({ attempt: { state: 'open' }, episode: 4 });
  });

  it('take an outcome only for the attempt it belongs to, and twice is once', () => {
    const doc = drawn();
    expect(doc.settleAttempt('scale', 2, 'B', ok('B'))).toBe(doc);
    expect(doc.settleAttempt('scale', 3, 'A', ok('A'))).toBe(doc);
    expect(doc.settleAttempt('gone', 3, 'B', ok('B'))).toBe(doc);
    const once = doc.settleAttempt('scale', 3, 'B', ok('B'));
    expect(once.settleAttempt('scale', 3, 'B', ok('B')).toDocument()).toEqual(once.toDocument());
  });

  it("count a retry without an intent as a turn (A5')", () => {
    const later = drawn().openAttempt('other', 'X');
    expect(later.settleAttempt('scale', 3, 'B', ok('B')).record('scale')).toMatchObject({ at: 5, episode: 3 });
  });

  it("have the subs of the plan; new ones stand at the tick of their adoption (A5', A9'e)", () => {
    const doc = drawn().adoptPlan('deploy', [{ id: 'b' }], false);
    expect(Object.keys(doc.toDocument().records).sort()).toEqual(['deploy', 'deploy/b', 'scale']);
    expect(doc.record('deploy/b')).toEqual({ attempt: null, done: null, at: 3, episode: 0 });
    expect(doc.adoptPlan('deploy', [], false).record('deploy')).not.toHaveProperty('plan');
    expect(doc.adoptPlan('gone', [{ id: 'b' }], false)).toBe(doc);
    expect(doc.adoptPlan('scale', [], false)).toBe(doc);
  });

  it("keep a base for as long as a `done` refers to it (A6', I18')", () => {
    const doc = drawn().markDone('scale', 'C', 'another view of C');
    expect(doc.toDocument().bases).toEqual({ C: 'view C' });
    expect(doc.baseOf(doc.record('scale'))?.view).toBe('view C');
    expect(doc.baseOf(doc.record('deploy/a'))).toBe(undefined);
    const single = doc.markDone('deploy', 'D', null);
    expect(single.toDocument().bases).toEqual({ C: 'view C', D: null });
    expect(single.markDone('scale', 'E', undefined).toDocument().bases).toEqual({ D: null });
    const planned = drawn().markDone('deploy/a', 'S', 'view of a');
    expect(planned.adoptPlan('deploy', [], false).toDocument().bases).toEqual({ A: 'view A', C: 'view C' });
  });

  it('take a base again that a store has lost, and give it to nobody else', () => {
    const doc = versionOf({ ...drawn().toDocument(), bases: {} });
    expect(doc.baseOf(doc.record('scale'))).toBe(undefined);
    for (const found of [
      doc.markDone('scale', 'A', 'view A'),
      doc
        .openAttempt('scale', 'A')
        .settleAttempt('scale', 4, 'A', ok('A'), { tried: undefined, seen: { view: 'view A' } }),
    ]) {
      expect(found.baseOf(found.record('scale'))?.view).toBe('view A');
      expect(found.toDocument().bases).toEqual({ A: 'view A' });
      expect(found.markDone('scale', 'B', 'view B').toDocument().bases).toEqual({ B: 'view B' });
    }
    const again = doc.markDone('deploy/a', 'C', 'view C').markDone('scale', 'B', 'view B');
    expect(again.toDocument().bases).toEqual({ B: 'view B', C: 'view C' });
  });

  it("know how the view of their `done` was defined, until there is another `done` (A14')", () => {
    const schemas = (doc: DocumentVersion): unknown => {
      const { schema, doneSchema } = doc.record('h') ?? {};
      return { schema, doneSchema };
    };
    const done = (doc: DocumentVersion, digest: string): DocumentVersion =>
      doc.settleAttempt('h', doc.record('h')?.episode ?? 0, digest, ok(digest), {
        tried: undefined,
        seen: { view: 1 },
      });
    const none = { schema: undefined, doneSchema: undefined };
    const first = emptyDocument('u', 'o').openAttempt('h', 'A', { schema: '["a"]' });
    expect(schemas(first)).toEqual({ ...none, schema: '["a"]' });
    const handled = done(first, 'A');
    expect(schemas(handled.openAttempt('h', 'B', { schema: '["a"]' }))).toEqual({ ...none, schema: '["a"]' });
    const other = handled.openAttempt('h', 'B', { schema: '["b"]' });
    expect(schemas(other)).toEqual({ schema: '["b"]', doneSchema: '["a"]' });
    expect(schemas(other.openAttempt('h', 'C'))).toEqual({ ...none, doneSchema: '["a"]' });
    expect(schemas(other.openAttempt('h', 'C', { schema: '["a"]' }))).toEqual({ ...none, schema: '["a"]' });
    expect(schemas(done(other, 'B'))).toEqual({ ...none, schema: '["b"]' });
    expect(schemas(other.markDone('h', 'A', 1))).toEqual({ ...none, schema: '["b"]' });
    expect(schemas(other.adopt('h', 'B', 1, '["c"]'))).toEqual({ ...none, schema: '["c"]' });
    const byDefault = done(emptyDocument('u', 'o').openAttempt('h', 'A'), 'A');
    expect(schemas(byDefault.openAttempt('h', 'B', { schema: '["b"]' }))).toEqual({
      schema: '["b"]',
      doneSchema: '["default"]',
    });
    expect(schemas(byDefault.openAttempt('h', 'B', { schema: '["b"]' }).openAttempt('h', 'C'))).toEqual(none);
  });

  it('give a base no view but that of its own digest', () => {
    const both = drawn().markDone('scale', 'C', 'view C');
    const lost = versionOf({ ...both.toDocument(), bases: {} });
    const settled = lost
      .openAttempt('deploy', 'D')
      .settleAttempt('deploy', 4, 'D', ok('D'), { tried: undefined, seen: { view: 'view D' } });
    expect(settled.toDocument().bases).toEqual({});
    expect(settled.adoptPlan('deploy', [], false).markDone('deploy', 'D', 'view D').toDocument().bases).toEqual({
      D: 'view D',
    });
  });

  it('are never changed by later ones, however they are read', () => {
    const versions = [drawn()];
    const texts: string[] = [];
    for (let step = 0; step < 50; step++) {
      const last = versions.at(-1) ?? drawn();
      texts.push(sorted(last));
      versions.push(
        step % 7 === 3
          ? last.adoptPlan('deploy', [{ id: `s${step}` }], false)
          : last.openAttempt(`h${step % 5}`, `${step}`).markDone(`h${step % 5}`, `${step}`, step),
      );
    }
    for (const [place, text] of [...texts.entries()].reverse()) expect(sorted(versions[place])).toBe(text);
    for (const [place, text] of texts.entries()) expect(sorted(versions[place])).toBe(text);
  });

  it('are stored as plain data, which is read back as what it was', () => {
    const version = drawn().written('w', '41');
    const document = version.toDocument();
    expect(document).toMatchObject({ gen: 1, writeId: 'w', resourceVersion: '41', tick: 3 });
    for (const copy of [structuredClone(document), JSON.parse(JSON.stringify(document)), { ...document }]) {
      expect(copy).toEqual(document);
      expect(versionOf(copy).toDocument()).toEqual(document);
    }
    expect(Object.getPrototypeOf(document)).toBe(Object.prototype);
    expect(() => Object.assign(document.records, { x: 1 })).toThrow(TypeError);
    expect([version.isStoredAs(document), version.isStoredAs({ ...document })]).toEqual([true, false]);
  });

  it('have records under any name', () => {
    let doc = emptyDocument('u', 'o');
    for (const id of ['constructor', 'toString', '__proto__']) {
      expect(doc.record(id)).toBe(undefined);
      doc = doc.openAttempt(id, 'D').markDone(id, id, id);
    }
    const stored = versionOf(JSON.parse(JSON.stringify(doc.toDocument())));
    for (const id of ['constructor', 'toString', '__proto__']) {
      expect(stored.record(id)).toMatchObject({ done: id, attempt: { digest: 'D' } });
      expect(stored.baseOf(stored.record(id))?.view).toBe(id);
    }
  });
});

/** A document as text, whatever the order of its members. */
function sorted(version: DocumentVersion | undefined): string {
  const { records, bases, ...header } = version?.toDocument() ?? drawn().toDocument();
  const entries = (table: object): unknown => Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([header, entries(records), entries(bases)]);
}
