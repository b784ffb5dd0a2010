import { describe, expect, it } from 'vitest';
import { ClassicTracker } from '../../../sim/classic-tracker.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { entryEquality, type StatusEntry } from './classic-entry.ts';

const INTERVAL = 180_000;

function rig<V = string>(equal?: (a: V, b: V) => boolean) {
  const clock = createVirtualClock();
  const warnings: number[] = [];
  const onWarning = (contentions: number) => void warnings.push(contentions);
  const options = { clock, intervalMs: INTERVAL, onWarning };
  return { clock, warnings, tracker: new ClassicTracker<V>(equal === undefined ? options : { ...options, equal }) };
}

describe('the classic contention tracker', () => {
  it('T1, T4, S12: the first change makes a candidate, which may be written back', () => {
    const { tracker } = rig();
    tracker.changed('k', 'theirs');
    expect([tracker.stateOf('k'), tracker.isContended('k')]).toEqual(['candidate', false]);
  });

  it('T4, T7, S13: our own value after the write back is no contention', () => {
    const { tracker } = rig();
    tracker.changed('k', 'theirs');
    tracker.clear('k', 'ours');
    tracker.changed('k', 'ours');
    expect([tracker.stateOf('k'), tracker.contentions]).toEqual(['candidate', 0]);
  });

  it('S11, S14, T6: a second foreign value after our write is contention, even when ours is right again', () => {
    const { tracker } = rig();
    tracker.changed('k', 'theirs');
    tracker.clear('k', 'ours');
    tracker.changed('k', 'theirs');
    expect([tracker.stateOf('k'), tracker.isContended('k')]).toEqual(['contended', true]);
    tracker.changed('k', 'ours');
    expect(tracker.isContended('k')).toBe(true);
  });

  it('S15, T8: a flush within the interval keeps it', async () => {
    const { clock, tracker } = rig();
    tracker.changed('k', 'a');
    tracker.changed('k', 'b');
    await clock.advance(INTERVAL / 2);
    tracker.flush();
    expect(tracker.isContended('k')).toBe(true);
  });

  it('S16, T8: a flush three intervals later forgets it, and warns', async () => {
    const { clock, tracker, warnings } = rig();
    tracker.changed('k', 'a');
    tracker.changed('k', 'b');
    await clock.advance(3 * INTERVAL);
    tracker.flush();
    expect([tracker.stateOf('k'), tracker.isContended('k'), tracker.contentions]).toEqual([undefined, false, 0]);
    expect(warnings).toEqual([1]);
  });

  it('S17: our own five changes are never contention', () => {
    const { tracker } = rig();
    for (const value of ['1', '2', '3', '4', '5']) {
      tracker.clear('k', value);
      tracker.changed('k', value);
      expect(tracker.isContended('k')).toBe(false);
    }
    expect(tracker.contentions).toBe(0);
  });

  it('T5: more than five contentions stop the writes of every key', () => {
    const { tracker } = rig();
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      expect(tracker.isContended('healthy')).toBe(false);
      tracker.changed(key, '1');
      tracker.changed(key, '2');
    }
    expect([tracker.contentions, tracker.isContended('healthy')]).toEqual([6, true]);
    tracker.changed('late', '1');
    expect(tracker.stateOf('late')).toBe(undefined);
  });

  it('T4, T7: each further foreign value counts, and a write of ours does not lower the count', () => {
    const { tracker } = rig();
    tracker.changed('k', '1');
    for (const value of ['2', '3', '4']) tracker.changed('k', value);
    expect(tracker.contentions).toBe(3);
    tracker.clear('k', 'ours');
    expect([tracker.stateOf('k'), tracker.contentions]).toEqual(['candidate', 3]);
  });

  it('T6: a mark that is older than the interval counts no more', async () => {
    const { clock, tracker } = rig();
    tracker.changed('k', '1');
    tracker.changed('k', '2');
    await clock.advance(INTERVAL);
    expect(tracker.isContended('k')).toBe(true);
    await clock.advance(1);
    expect(tracker.isContended('k')).toBe(false);
  });

  it('T8: candidates are forgotten by the third interval, without a warning; close leaves no timer', async () => {
    const { clock, tracker, warnings } = rig();
    tracker.changed('k', '1');
    await clock.advance(2 * INTERVAL);
    expect(tracker.stateOf('k')).toBe('candidate');
    await clock.advance(2 * INTERVAL);
    expect([tracker.stateOf('k'), warnings]).toEqual([undefined, []]);
    tracker.close();
    expect(clock.pending).toBe(0);
  });
});

describe('what counts as a change', () => {
  const condition = { type: 'Admitted', status: 'False', reason: 'HostTaken', message: 'by b', transition: 1 };
  const other = { type: 'Sharded', status: 'True', reason: 'Selected', message: '', transition: 1 };
  const entry: StatusEntry = { host: 'a.example', conditions: [condition, other] };
  const count = (change: StatusEntry): number => {
    const { tracker } = rig(entryEquality(['Selected']));
    tracker.changed('k', entry);
    tracker.changed('k', change);
    return tracker.contentions;
  };

  it('S10, T3: the same rejection of another host is a change', () => {
    expect(count({ ...entry, host: 'b.example' })).toBe(1);
  });

  it('S18, T3: another order, another transition time, and an ignored reason are none', () => {
    expect(count({ ...entry, conditions: [other, condition] })).toBe(0);
    expect(count({ ...entry, conditions: [{ ...condition, transition: 2 }, other] })).toBe(0);
    expect(count({ ...entry, conditions: [condition] })).toBe(0);
  });

  it('T3: a condition that is added, removed, or differs in type, status, reason or message is one', () => {
    const changes = [
      [],
      [condition, { ...condition, type: 'Routed' }],
      ...(['type', 'status', 'reason', 'message'] as const).map((name) => [{ ...condition, [name]: 'x' }]),
    ];
    expect(changes.map((conditions) => count({ ...entry, conditions }))).toEqual(changes.map(() => 1));
  });
});
