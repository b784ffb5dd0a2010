import { describe, expect, it } from 'vitest';
import { type RetainedLog, type Retention, RetentionKeeper } from '../../../src/store/retention.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Revision } from '../../../src/types/revision.ts';

/**
 * What retention decides (M18), by itself: `retention.test.ts` shows what comes of it. The store would take an answer that is
 * too low for "no change", so here each answer is looked at.
 */

/** A log that nobody compacts; it counts what it is asked to look for. */
class PlainLog implements RetainedLog {
  /** The commit of each entry, ascending. */
  readonly commits: Revision[] = [];
  searches = 0;

  entries(): number {
    return this.commits.length;
  }

  entriesFrom(revision: Revision): number {
    this.searches++;
    return this.commits.filter((commit) => commit >= revision).length;
  }

  commitFromEnd(entries: number): Revision {
    this.searches++;
    return this.commits.at(-entries) ?? 0;
  }

  commitFrom(revision: Revision): Revision {
    this.searches++;
    return this.commits.find((commit) => commit >= revision) ?? 0;
  }
}

interface Noted {
  readonly bytes?: number;
  /** @default 1 */
  readonly changes?: number;
  /** Something else than retention has compacted up to there. */
  readonly oldest?: Revision;
}

function createRig(retention: Retention) {
  const clock = createVirtualClock();
  const log = new PlainLog();
  const delays: number[] = [];
  const compacted: Revision[] = [];
  const keeper = new RetentionKeeper({
    retention,
    log,
    clock: {
      now: clock.now,
      after: (delayMs, fn) => {
        delays.push(delayMs);
        return clock.after(delayMs, fn);
      },
    },
    compactTo: (oldest) => compacted.push(oldest),
  });
  let kept: Revision = 0;
  const note = (revision: Revision, { bytes = 0, changes = 1, oldest = 0 }: Noted = {}): Revision => {
    for (let entry = 0; entry < changes; entry++) log.commits.push(revision);
    kept = Math.max(kept, oldest);
    const answer = keeper.note({ revision, changes: { length: changes } }, kept, bytes);
    kept = Math.max(kept, answer);
    return answer;
  };
  return { clock, log, delays, compacted, keeper, note };
}

describe('events', () => {
  it.each<[string, number, readonly [Revision, Noted][], Revision[]]>([
    [
      'as many as the bound says stay, whatever their numbers are',
      3,
      [
        [2, {}],
        [30, {}],
        [400, {}],
        [5000, {}],
        [5001, {}],
      ],
      [0, 0, 0, 30, 400],
    ],
    [
      'what somebody else has compacted counts no more',
      3,
      [
        [2, {}],
        [3, {}],
        [4, { oldest: 3 }],
        [5, {}],
        [6, {}],
      ],
      [0, 0, 0, 0, 4],
    ],
    [
      'a commit stays whole or not at all, the newest one always',
      4,
      [
        [2, { changes: 3 }],
        [3, { changes: 2 }],
        [4, { changes: 5 }],
        [5, {}],
      ],
      [0, 3, 4, 5],
    ],
    [
      'a commit without a change pushes nothing out',
      2,
      [
        [2, {}],
        [3, {}],
        [4, { changes: 0 }],
        [5, {}],
      ],
      [0, 0, 0, 3],
    ],
  ])('%s', (_, events, commits, expected) => {
    const { note } = createRig({ events });
    expect(commits.map(([revision, noted]) => note(revision, noted))).toEqual(expected);
  });

  it('up to the bound, a commit costs no search of the log; no bound but this one asks for the time', () => {
    const log = new PlainLog();
    const fail = () => {
      throw new Error('asked for the time');
    };
    const clock = { now: fail, after: fail };
    const keeper = new RetentionKeeper({ retention: { events: 3 }, log, clock, compactTo: fail });
    for (const revision of [2, 3, 4]) {
      log.commits.push(revision);
      expect(keeper.note({ revision, changes: { length: 1 } }, 0, 0)).toBe(0);
    }
    expect(log.searches).toBe(0);
    log.commits.push(5);
    expect(keeper.note({ revision: 5, changes: { length: 1 } }, 0, 0)).toBe(3);
  });
});

describe('bytes', () => {
  it.each<[string, readonly [Revision, Noted][], Revision[]]>([
    [
      'at the bound, and above',
      [
        [2, { bytes: 60 }],
        [3, { bytes: 40 }],
        [4, { bytes: 1 }],
        [5, { bytes: 59 }],
        [6, { bytes: 1 }],
      ],
      [0, 0, 3, 0, 4],
    ],
    [
      'several go at once, the newest one never',
      [
        [2, { bytes: 30 }],
        [3, { bytes: 30 }],
        [4, { bytes: 90 }],
        [5, { bytes: 1000 }],
      ],
      [0, 0, 4, 5],
    ],
    [
      'what somebody else has compacted counts no more, the oldest that is left does',
      [
        [2, { bytes: 90 }],
        [3, { bytes: 60, oldest: 3 }],
        [4, { bytes: 40 }],
        [5, { bytes: 1 }],
      ],
      [0, 0, 0, 4],
    ],
    [
      'a commit without a change does not take the place of the newest one',
      [
        [2, { bytes: 200 }],
        [3, { changes: 0 }],
        [4, {}],
      ],
      [0, 0, 4],
    ],
    [
      'what was compacted counts no more, also when that is all there is',
      [
        [30, { bytes: 90 }],
        [35, { changes: 0, oldest: 31 }],
        [36, { bytes: 95 }],
        [37, { bytes: 5 }],
        [38, { bytes: 1 }],
      ],
      [0, 0, 0, 0, 37],
    ],
  ])('%s', (_, commits, expected) => {
    const { note, delays } = createRig({ bytes: 100 });
    expect(commits.map(([revision, noted]) => note(revision, noted))).toEqual(expected);
    expect(delays).toEqual([]);
  });
});

describe('age', () => {
  it('a commit stays up to its age and goes above it, at the next commit or by a timer', async () => {
    const { note, clock, delays, compacted } = createRig({ ageMs: 1000 });
    note(2);
    await clock.advance(1000);
    expect([note(3), delays]).toEqual([0, [1]]);
    await clock.advance(1);
    expect(compacted).toEqual([3]);
    await clock.advance(1000);
    expect([note(4), compacted]).toEqual([4, [3]]);
  });

  it('one timer at a time, for the oldest commit; none when only the newest one is left', async () => {
    const { note, clock, delays, compacted } = createRig({ ageMs: 1000 });
    note(2);
    expect(delays).toEqual([]);
    await clock.advance(600);
    note(3);
    await clock.advance(100);
    note(4);
    expect(delays).toEqual([401]);
    await clock.advance(301);
    expect([compacted, delays]).toEqual([[3], [401, 600]]);
    await clock.advance(600);
    expect([compacted, delays, clock.pending]).toEqual([[3, 4], [401, 600], 0]);
  });

  it('a timer whose commit has gone meanwhile does nothing, or waits for the one that is the oldest now', async () => {
    for (const [later, expected] of [
      [[4], [1001]],
      [
        [4, 5],
        [1001, 900],
      ],
    ] as const) {
      const { note, clock, delays, compacted } = createRig({ ageMs: 1000 });
      note(2);
      note(3);
      await clock.advance(900);
      for (const revision of later) note(revision, { oldest: 4 });
      await clock.advance(101);
      expect([compacted, delays, clock.pending]).toEqual([[], expected, later.length - 1]);
    }
  });

  it('an infinite one is none: no timer', () => {
    const { note, delays } = createRig({ ageMs: Number.POSITIVE_INFINITY });
    expect([note(2), note(3), delays]).toEqual([0, 0, []]);
  });
});

describe('after its end', () => {
  it('it has no timer, and begins anew, as for other data', async () => {
    const { note, clock, delays, compacted, keeper, log } = createRig({ bytes: 100, ageMs: 1000 });
    note(700, { bytes: 50 });
    note(800, { bytes: 40 });
    expect(clock.pending).toBe(1);
    keeper.close();
    keeper.close();
    expect(clock.pending).toBe(0);
    log.commits.length = 0;
    const noteAnew = (revision: Revision, bytes: number) => {
      return keeper.note({ revision, changes: { length: 1 } }, 0, bytes);
    };
    expect([noteAnew(2, 60), noteAnew(3, 40), noteAnew(4, 1)]).toEqual([0, 0, 3]);
    expect(delays).toEqual([1001, 1001]);
    await clock.advance(1001);
    expect([compacted, clock.pending]).toEqual([[4], 0]);
  });
});
