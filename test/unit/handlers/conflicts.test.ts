import { describe, expect, it } from 'vitest';
import { type DocumentVersion, emptyDocument, versionOf } from '../../../src/handlers/document-version.ts';
import { UidMemory } from '../../../src/handlers/object-memory.ts';
import type { ProgressStore } from '../../../src/handlers/progress.ts';
import type { ProgressDocument } from '../../../src/handlers/record.ts';
import { createWorld, type World } from './harness.ts';
import { meddled } from './own-write-rig.ts';

/** The world's progress store, in which somebody else writes once, just before a write of ours. */
function interrupted(
  { progress }: World,
  when: (next: ProgressDocument) => boolean,
  change: (doc: DocumentVersion) => DocumentVersion,
): ProgressStore {
  let isDone = false;
  return {
    ...progress,
    async compareAndSet(uid, gen, next) {
      if (!isDone && when(next)) {
        isDone = true;
        const doc = versionOf((await progress.get(uid)) ?? emptyDocument(uid, '').toDocument());
        await progress.compareAndSet(uid, gen, change(doc).written('other', '').toDocument());
      }
      return progress.compareAndSet(uid, gen, next);
    },
  };
}

describe("writes of somebody else (A12')", () => {
  it('an outcome is done over on the document that is there now', async () => {
    const world = createWorld();
    let calls = 0;
    world.source.put('o', { spec: { n: 1 } });
    const progress = interrupted(
      world,
      ({ records }) => records.h?.attempt?.state === 'ok',
      (doc) => doc.openAttempt('foreign', 'F').markDone('foreign', 'F', 'view'),
    );
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', field: 'spec.n' }, () => {
          calls++;
        }),
      { progress },
    );
    await life.settle();
    const document = await world.progress.get('uid-1');
    expect(document?.records).toMatchObject({ h: { attempt: { state: 'ok' } }, foreign: { done: 'F' } });
    expect(Object.values(document?.bases ?? {}).sort()).toEqual([1, 'view']);
    expect([calls, document?.gen]).toEqual([1, 3]);
    await life.stop();
  });

  it.each<[string, 'progress' | 'source', string]>([
    ['records', 'progress', 'Cannot write progress: somebody changed the progress of "o" 16 times in a row'],
    ['the object', 'source', 'Cannot patch an object: somebody changed the object "o" 16 times in a row'],
  ])('that never end, to %s, are a failure of the store or source, and no bug', async (_what, where, message) => {
    const world = createWorld();
    const errors: unknown[] = [];
    let writes = 1;
    world.source.put('o', { spec: { n: writes } });
    const broken =
      where === 'source'
        ? { source: meddled(world, () => void world.source.put('o', { spec: { n: ++writes } })) }
        : { progress: { ...world.progress, compareAndSet: async () => false } };
    const life = await world.start(
      (controller) => controller.on('change', { id: 'h', field: 'status' }, (ctx) => ctx.patch({ spec: { own: 1 } })),
      { ...broken, logger: { debug() {}, info() {}, warn() {}, error: (...entry) => errors.push(entry) } },
    );
    await world.clock.settle();
    expect(errors).toMatchObject([
      ['Cannot work on an object', { error: { code: 'BACKEND', message: expect.stringContaining(message) } }],
    ]);
    await life.stop();
  });

  it('row 30: a record that was cleared without a call: the stored one counts, and nothing of ours is merged into it', async () => {
    const world = createWorld();
    const attempts: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const progress = interrupted(
      world,
      ({ records }) => records.h?.attempt?.state === 'ok',
      (doc) => doc.mark('h'),
    );
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'h', field: 'spec.n' }, (ctx) => {
          attempts.push(`${ctx.cause} ${ctx.attempt} ${ctx.idempotencyKey}`);
        }),
      { progress },
    );
    await life.settle();
    expect(attempts).toHaveLength(2);
    expect(new Set(attempts).size).toBe(2);
    expect(life.controller.state('o')).toMatchObject({ settled: true, succeeded: true });
    await life.stop();
  });

  it('a sub that has left the plan meanwhile is not called, and gets no record', async () => {
    const world = createWorld();
    const calls: string[] = [];
    world.source.put('o', { spec: { n: 1 } });
    const progress = interrupted(
      world,
      ({ records }) => records['p/b']?.attempt?.state === 'open',
      (doc) => doc.adoptPlan('p', [{ id: 'a' }], false),
    );
    const life = await world.start(
      (controller) =>
        controller.on('change', { id: 'p', field: 'spec.n' }, (ctx) => {
          for (const id of ['a', 'b']) {
            ctx.sub(id, {}, () => {
              calls.push(id);
            });
          }
        }),
      { progress },
    );
    await life.settle();
    expect(calls).toEqual(['a']);
    const document = await world.progress.get('uid-1');
    expect(Object.keys(document?.records ?? {}).sort()).toEqual(['p', 'p/a']);
    expect(document?.records).toMatchObject({ p: { done: document?.records.p?.attempt?.digest } });
    await life.stop();
  });
});

describe('the memory of a uid', () => {
  it('forgets what belongs to records that have left with their plan', () => {
    const memory = new UidMemory('u');
    const doc = emptyDocument('u', 'o')
      .openAttempt('p', 'D')
      .adoptPlan('p', [{ id: 'a' }, { id: 'b' }], false);
    const jobs = ['p', 'p/a', 'p/b'].map((id) => ({ id, retires: false }));
    for (const job of jobs) memory.wrote(doc, { outcomes: [], jobs: [job] });
    memory.deadlines.set('p/a', { wakeAtWallMs: 1, deadlineClockMs: 1 });
    memory.spared.add('p/a');
    const outcome = { apply: (before: DocumentVersion) => before, replans: true };
    memory.push(outcome);
    memory.wrote(doc.adoptPlan('p', [{ id: 'b' }], false), { outcomes: [outcome], jobs: [] });
    expect([[...memory.opened.keys()], memory.deadlines.size, memory.spared.size]).toEqual([['p', 'p/b'], 0, 0]);
    expect(memory.outcomes).toEqual([]);
  });
});
