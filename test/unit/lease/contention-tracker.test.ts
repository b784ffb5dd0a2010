import { describe, expect, it } from 'vitest';
import { createContentionTracker } from '../../../src/lease/contention-tracker.ts';
import { stableShare } from '../../../src/lease/writer-hash.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { ContentionTrackerOptions, ContentionWarning } from '../../../src/types/writer-lease.ts';

const INTERVAL_MS = 180_000;

function trackerRig(options: ContentionTrackerOptions<string> = {}) {
  const clock = createVirtualClock();
  const warnings: ContentionWarning[] = [];
  const tracker = createContentionTracker<string>({
    clock,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  return {
    clock,
    tracker,
    warnings,
    see: (value: string, key = 'k', wanted = 'ours') => tracker.observe(key, { value, wanted }),
    refused: (key = 'k') => tracker.refusedMs(key),
    /** Somebody overwrites, and we write back, so often. */
    fight(times: number, key = 'k') {
      for (let time = 0; time < times; time++) {
        tracker.observe(key, { value: 'theirs', wanted: 'ours' });
        tracker.wrote(key);
      }
    },
    holdMs: (level: number, key = 'k') => INTERVAL_MS * 2 ** level * (1 + 0.25 * stableShare(key)),
  };
}

describe('what counts', () => {
  it('CT4 a value that was written before anything was seen can be overwritten as any other', () => {
    const { tracker, see, refused } = trackerRig();
    tracker.wrote('k');
    see('theirs');
    tracker.wrote('k');
    expect(refused()).toBe(0);
    see('theirs');
    expect(refused()).toBeGreaterThan(0);

    tracker.wrote('own');
    see('ours', 'own');
    expect(tracker.stats()).toMatchObject({ held: 1, contestedWrites: 1 });
  });

  it('CT1 changes to what is wanted, or was wanted before, never do', () => {
    const { see, refused, tracker } = trackerRig();
    for (let round = 0; round < 20; round++) {
      see(`v${round}`, 'k', `v${round}`);
      see(`v${round}`, 'k', `v${round + 1}`);
      see(`v${round + 1}`, 'k', `v${round + 1}`);
    }
    // A late write of a mate, for the wish before.
    for (let round = 0; round < 20; round++) {
      see('new', 'm', 'new');
      see('new', 'm', 'newer');
      see('newer', 'm', 'newer');
      see('new', 'm', 'newer');
    }
    expect(refused()).toBe(0);
    expect(refused('m')).toBe(0);
    expect(tracker.stats()).toMatchObject({ held: 0, contestedWrites: 0, refusals: 0 });
  });

  it('CT1 mates that write back are no rivals of each other', () => {
    const { see, tracker, refused } = trackerRig();
    see('ours');
    see('theirs');
    see('ours');
    expect(refused()).toBe(0);
    expect(tracker.stats().contestedWrites).toBe(1);
  });

  it('CT3 a new wish begins the count anew, but not that of writes', () => {
    const { see, refused, tracker } = trackerRig();
    see('ours');
    see('theirs');
    tracker.wrote('k');
    see('ours', 'k', 'ours2');
    tracker.wrote('k');
    see('theirs', 'k', 'ours2');
    expect(refused()).toBe(0);
    tracker.wrote('k');
    see('theirs', 'k', 'ours2');
    expect(refused()).toBeGreaterThan(0);
  });

  it('CT3 a key that is held has one half-open write for a new wish, below five in the interval', () => {
    const { see, refused, tracker, clock } = trackerRig();
    see('ours');
    see('theirs');
    tracker.wrote('k');
    see('theirs');
    expect(refused()).toBeGreaterThan(0);
    tracker.wants('k');
    expect(refused()).toBe(0);
    tracker.wrote('k');
    see('theirs');
    expect(refused()).toBeGreaterThan(0);
    tracker.wants('k');
    expect(refused()).toBeGreaterThan(0);
    expect(clock.now()).toBe(0);
  });
});

describe('a hold', () => {
  it.each<[string, (rig: ReturnType<typeof trackerRig>) => void, boolean]>([
    ['one flip', (rig) => ['ours', 'theirs'].forEach((value) => void rig.see(value)), false],
    ['two flips', (rig) => ['ours', 'theirs', 'ours', 'theirs'].forEach((value) => void rig.see(value)), true],
    ['three foreign values', (rig) => ['', 'a', 'b', 'c'].forEach((value) => void rig.see(value)), false],
    ['four foreign values', (rig) => ['', 'a', 'b', 'c', 'd'].forEach((value) => void rig.see(value)), true],
    ['four writes', (rig) => ['', 'a', 'b', 'ours', 'c'].forEach((value) => void rig.see(value)), false],
    ['five writes', (rig) => ['', 'a', 'b', 'c', 'ours'].forEach((value) => void rig.see(value)), false],
    [
      'five writes of three',
      (rig) => ['', 'a', 'b', 'ours', 'a', 'ours'].forEach((value) => void rig.see(value)),
      true,
    ],
  ])('CT4 begins with two flips, four foreign values, or five writes: %s', (_, bring, isHeld) => {
    const rig = trackerRig();
    bring(rig);
    expect(rig.refused() > 0).toBe(isHeld);
  });

  it('CT4 writes and flips of an interval that is over do not add up', async () => {
    const { see, refused, clock } = trackerRig();
    for (let round = 0; round < 5; round++) {
      see('ours');
      await clock.advance(INTERVAL_MS);
      see('theirs');
      await clock.advance(10);
    }
    expect(refused()).toBe(0);
  });

  it('CT5 lasts an interval, with a jitter that comes from the key, and doubles each time up to sixteenfold', async () => {
    const { see, refused, clock, fight, holdMs, warnings, tracker } = trackerRig();
    see('ours');
    fight(1);
    see('theirs');
    for (let round = 0; round < 7; round++) {
      expect(refused()).toBeCloseTo(holdMs(Math.min(round, 4)), 3);
      await clock.advance(refused());
      expect(refused()).toBe(0);
      // The half-open write, and what becomes of it.
      tracker.wrote('k');
      see('theirs');
    }
    expect(warnings.map(({ level }) => level)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(holdMs(0, 'k')).not.toBe(holdMs(0, 'other'));
  });

  it('CT5 the write of a mate whose hold ended earlier is that of all: what overwrites it holds the key anew', async () => {
    const { see, refused, clock, fight, holdMs, warnings } = trackerRig();
    see('ours');
    fight(1);
    see('theirs');
    // The mate's clock is faster by a twentieth.
    await clock.advance(0.95 * holdMs(0));
    see('ours');
    expect(refused()).toBeGreaterThan(0);
    see('theirs');
    expect(refused()).toBeCloseTo(holdMs(1), 3);
    see('others');
    expect(refused()).toBeCloseTo(holdMs(1), 3);
    await clock.settle();
    expect(warnings.map(({ level }) => level)).toEqual([0, 1]);
  });

  it('CT5 a whole interval with the wanted value ends it', async () => {
    for (const [quietMs, isForgiven] of [
      [INTERVAL_MS - 1, false],
      [INTERVAL_MS, true],
    ] as const) {
      const { see, refused, clock, fight, tracker } = trackerRig();
      see('ours');
      fight(1);
      see('theirs');
      await clock.advance(refused());
      tracker.wrote('k');
      await clock.advance(quietMs);
      see('theirs');
      expect(refused() === 0).toBe(isForgiven);
    }
  });
});

describe('the budget', () => {
  it('CT6 bounds writes over foreign values, by whomever, and nothing else', async () => {
    const { see, refused, tracker, clock } = trackerRig({ budget: 3 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) see('theirs', key, 'ours');
    for (const key of ['a', 'b', 'c', 'd']) see('foreign', key);
    for (const key of ['a', 'b', 'c']) {
      expect(refused(key)).toBe(0);
      see('ours', key);
      await clock.advance(1000);
    }
    expect(refused('d')).toBe(INTERVAL_MS - 3000);
    expect(refused('never contended')).toBe(0);
    expect(refused('e')).toBe(0);
    tracker.wants('d');
    expect(refused('d')).toBe(0);
    expect(tracker.stats()).toMatchObject({ contestedWrites: 3, budgetLeft: 0, refusals: 1 });
  });

  it('CT6 is there again an interval after its first write', async () => {
    const { see, refused, clock, tracker } = trackerRig({ budget: 1 });
    for (const key of ['a', 'b']) {
      see('', key);
      see('foreign', key);
    }
    await clock.advance(50_000);
    see('ours', 'a');
    await clock.advance(INTERVAL_MS - 1);
    expect(refused('b')).toBe(1);
    await clock.advance(1);
    expect(refused('b')).toBe(0);
    expect(tracker.stats().budgetLeft).toBe(1);
  });
});

describe('work that waits for the budget', () => {
  it('CT6, CT8 is not forgotten while it waits, however many intervals that takes', async () => {
    const { see, refused, clock, tracker } = trackerRig({ budget: 1 });
    const keys = Array.from({ length: 8 }, (_, index) => `k${index}`);
    for (const key of keys) {
      see('', key);
      see('theirs', key);
    }
    let writes = 0;
    const waiting = new Set(keys);
    for (let interval = 0; interval < 8; interval++) {
      for (const key of waiting) {
        if (refused(key) > 0) continue;
        tracker.wrote(key);
        waiting.delete(key);
        writes++;
      }
      expect(writes).toBe(interval + 1);
      await clock.advance(INTERVAL_MS);
    }
    see('', 'other');
    await clock.advance(3 * INTERVAL_MS);
    for (let count = 0; count < 20; count++) see(`${count}`, 'other', `${count}`);
    expect(tracker.stats().keys).toBe(1);
  });
});

describe('what it tells and remembers', () => {
  it('CT8 statistics, and one warning for each key and level', async () => {
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const rig = trackerRig({ logger: { debug: log, info: log, warn: log, error: log } });
    rig.see('ours');
    rig.fight(1);
    rig.see('theirs');
    expect(rig.warnings).toEqual([]);
    for (let count = 0; count < 5; count++) {
      rig.refused();
      rig.see(`other${count}`);
    }
    await rig.clock.settle();
    expect(rig.warnings).toEqual([{ key: 'k', level: 0, heldMs: rig.holdMs(0), flips: 2, foreign: 2, writes: 3 }]);
    expect(lines).toEqual(['a key is contended']);
    const { held, refusals, contestedWrites, budgetLeft, levels, keys } = rig.tracker.stats();
    expect({ held, refusals, contestedWrites, budgetLeft, keys }).toEqual({
      held: 1,
      refusals: 5,
      contestedWrites: 1,
      budgetLeft: 99,
      keys: 1,
    });
    expect(levels).toEqual([0, 1, 0, 0, 0, 0]);
  });

  it('CT8 a callback that throws is reported and breaks nothing', async () => {
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const onWarning = () => {
      throw new Error('not now');
    };
    const rig = trackerRig({ onWarning, logger: { debug: log, info: log, warn: log, error: log } });
    rig.see('ours');
    rig.fight(1);
    rig.see('theirs');
    await rig.clock.settle();
    expect(lines).toEqual(['a key is contended', 'onWarning failed']);
  });

  it('CT8 entries go two intervals after their last change, and not while they are held', async () => {
    const rig = trackerRig();
    for (let index = 0; index < 100; index++) rig.see('ours', `k${index}`);
    rig.fight(1, 'k0');
    rig.see('theirs', 'k0');
    await rig.clock.advance(2 * INTERVAL_MS);
    for (let index = 0; index < 60; index++) {
      rig.see('ours', 'busy', 'ours');
      rig.see('theirs', 'busy', 'theirs');
    }
    expect(rig.tracker.stats().keys).toBeLessThanOrEqual(2);
    expect(rig.tracker.stats().levels[1]).toBe(1);
  });

  it('keysMax: the one whose last change is longest ago is forgotten', () => {
    const rig = trackerRig({ keysMax: 2 });
    for (const key of ['a', 'b']) {
      rig.see('ours', key);
      rig.fight(1, key);
    }
    rig.see('theirs', 'a');
    rig.see('ours', 'c');
    expect(rig.tracker.stats().keys).toBe(2);
    expect(rig.refused('a')).toBeGreaterThan(0);
    rig.see('theirs', 'b');
    expect(rig.refused('b')).toBe(0);
  });

  it.each([
    [{ budget: 0 }, RangeError, /budget is 0/],
    [{ intervalMs: -1 }, RangeError, /intervalMs is -1/],
    [{ keysMax: 1.5 }, RangeError, /keysMax is 1.5/],
    [{ equal: true }, TypeError, /equal is of type boolean/],
    [{ interval: 1 }, TypeError, /unknown option interval/],
    [{ logger: {} }, TypeError, /logger has no method debug/],
  ])('options are refused in words: %o', (options, type, message) => {
    expect(() => createContentionTracker(options as ContentionTrackerOptions)).toThrow(type);
    expect(() => createContentionTracker(options as ContentionTrackerOptions)).toThrow(message);
  });
});
