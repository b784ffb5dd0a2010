import { describe, expect, it } from 'vitest';
import {
  type Attempt,
  adoptPlan,
  baseOf,
  emptyDocument,
  isSettled,
  markDone,
  openAttempt,
  type ProgressDocument,
  settleAttempt,
} from '../../../src/handlers/record.ts';

/** The document that src/handlers/record.ts draws, built by the steps that lead to it. */
function drawn(): ProgressDocument {
  let doc = emptyDocument('u', 'o');
  doc = openAttempt(doc, 'deploy', 'C');
  doc = adoptPlan(settleAttempt(doc, 'deploy', 1, ok('C')), 'deploy', [{ id: 'a', args: 1 }]);
  doc = markDone(doc, 'deploy', 'C', 'view C');
  doc = openAttempt(doc, 'scale', 'A');
  doc = markDone(settleAttempt(doc, 'scale', 2, ok('A')), 'scale', 'A', 'view A');
  return openAttempt(doc, 'scale', 'B');
}

function ok(digest: string): Attempt {
  return { digest, state: 'ok', failures: 0, wakeAtWallMs: 0, delayMs: 0 };
}

describe('records', () => {
  it('are as drawn', () => {
    expect(drawn()).toEqual({
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

  it("are settled by the last opened attempt, not by the last success (A3')", () => {
    const { scale, deploy } = drawn().records;
    expect([isSettled(scale, 'A'), isSettled(scale, 'B'), isSettled(deploy, 'C'), isSettled(undefined, 'A')]).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("keep the episode and the count of an open attempt that is opened again, and begin anew otherwise (A4', A13')", () => {
    const failed: Attempt = { digest: 'B', state: 'open', failures: 2, wakeAtWallMs: 9, delayMs: 9 };
    const doc = settleAttempt(drawn(), 'scale', 3, failed);
    expect(openAttempt(doc, 'scale', 'B').records.scale).toEqual({ attempt: failed, done: 'A', at: 4, episode: 3 });
    expect(openAttempt(doc, 'scale', 'A').records.scale).toMatchObject({
      attempt: { digest: 'A', failures: 0 },
      at: 4,
      episode: 4,
    });
    expect(openAttempt(doc, 'deploy', 'C').records.deploy).toMatchObject({ attempt: { state: 'open' }, episode: 4 });
  });

  it('take an outcome only for the attempt it belongs to, and twice is once', () => {
    const doc = drawn();
    expect(settleAttempt(doc, 'scale', 2, ok('B'))).toBe(doc);
    expect(settleAttempt(doc, 'scale', 3, ok('A'))).toBe(doc);
    expect(settleAttempt(doc, 'gone', 3, ok('B'))).toBe(doc);
    const once = settleAttempt(doc, 'scale', 3, ok('B'));
    expect(settleAttempt(once, 'scale', 3, ok('B'))).toEqual(once);
  });

  it("count a retry without an intent as a turn (A5')", () => {
    const later = openAttempt(drawn(), 'other', 'X');
    expect(settleAttempt(later, 'scale', 3, ok('B')).records.scale).toMatchObject({ at: 5, episode: 3 });
  });

  it("of subs go and come with the plan; new ones stand at the tick of their adoption (A5', A9'e)", () => {
    const doc = adoptPlan(drawn(), 'deploy', [{ id: 'b' }]);
    expect(Object.keys(doc.records)).toEqual(['deploy', 'scale', 'deploy/b']);
    expect(doc.records['deploy/b']).toEqual({ attempt: null, done: null, at: 3, episode: 0 });
    expect(adoptPlan(doc, 'deploy', []).records.deploy).not.toHaveProperty('plan');
    expect(adoptPlan(doc, 'gone', [{ id: 'b' }])).toBe(doc);
  });

  it("keep a base for as long as a `done` refers to it (A6')", () => {
    const doc = markDone(drawn(), 'scale', 'C', 'view C');
    expect(doc.bases).toEqual({ C: 'view C' });
    expect(baseOf(doc, doc.records.scale)).toBe('view C');
    expect(baseOf({ ...doc, bases: {} }, doc.records.scale)).toBe(undefined);
    expect(baseOf(doc, doc.records['deploy/a'])).toBe(undefined);
  });

  it('are never changed in place', () => {
    const doc = drawn();
    const before = structuredClone(doc);
    adoptPlan(
      markDone(settleAttempt(openAttempt(doc, 'scale', 'D'), 'scale', 4, ok('D')), 'scale', 'D', 1),
      'deploy',
      [],
    );
    expect(doc).toEqual(before);
  });
});
