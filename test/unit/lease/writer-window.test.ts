import { describe, expect, it } from 'vitest';
import { Estimates } from '../../../src/lease/writer-estimates.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { COLD_MS, HIGH_MS, LOW_MS, writerRig } from './writer-rig.ts';

describe('how a lease starts', () => {
  it.each([
    [0, 250],
    [0.5, 500],
    [0.999, 749.5],
  ])('WL1 the first window of a cold group is the floor and a share of the spread: %f', async (share, expected) => {
    const rig = writerRig();
    const spread = writerRig({ random: () => share });
    expect(rig.lease.role).toBe('follower');
    spread.ask('a');
    await spread.clock.advance(expected - 1);
    expect(spread.keys()).toEqual([]);
    await spread.clock.advance(1);
    expect(spread.keys()).toEqual(['a']);
  });

  it('WL1 one key that is right in the first list means that somebody leads', async () => {
    const rig = writerRig();
    rig.lease.observe('a', { revision: 3, satisfied: false, changed: false });
    rig.ask('a', 3);
    rig.lease.observe('b', { revision: 4, satisfied: true, changed: false });
    await rig.clock.advance(LOW_MS - 1);
    expect(rig.keys()).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.keys()).toEqual(['a']);
  });

  it('WL1 a first list in which nothing is right leaves the group cold', async () => {
    const rig = writerRig();
    rig.lease.observe('a', { revision: 3, satisfied: false, changed: false });
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    expect(rig.keys()).toEqual(['a']);
  });

  it('WL1 a single replica that says so waits for nobody', async () => {
    const rig = writerRig({ expectPeers: false });
    rig.lease.observe('b', { revision: 4, satisfied: true, changed: false });
    rig.ask('a');
    await rig.clock.settle();
    expect(rig.keys()).toEqual(['a']);
  });
});

describe('the timer', () => {
  it('WL2 is not set without a wish, and is one for all keys', async () => {
    const rig = writerRig();
    expect(rig.clock.pending).toBe(0);
    for (let index = 0; index < 50; index++) rig.ask(`k${index}`);
    expect(rig.clock.pending).toBe(1);
    for (let index = 0; index < 50; index++) rig.lease.remove(`k${index}`);
    expect(rig.clock.pending).toBe(0);
  });

  it('WL2 runs from the oldest wish, if that is younger than the last evidence', async () => {
    const rig = writerRig();
    rig.mate('z', 5);
    await rig.clock.advance(100_000);
    rig.ask('a');
    await rig.clock.advance(1000);
    rig.ask('b');
    await rig.clock.advance(LOW_MS - 1001);
    expect(rig.keys()).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.keys()).toHaveLength(1);
  });

  it('WL2 a wish that goes takes its deadline with it', async () => {
    const rig = writerRig();
    rig.mate('z', 5);
    rig.ask('a');
    await rig.clock.advance(4000);
    rig.ask('b');
    rig.lease.remove('a');
    await rig.clock.advance(LOW_MS - 1);
    expect(rig.keys()).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.keys()).toEqual(['b']);
  });

  it('WL2 stands still while a write is under way and while a conflict is open', async () => {
    const rig = writerRig();
    rig.ask('a');
    rig.ask('b');
    await rig.clock.advance(COLD_MS);
    await rig.clock.advance(9000);
    expect(rig.attempts).toHaveLength(1);
    await rig.answer('conflict');
    await rig.clock.advance(14_000);
    expect(rig.attempts).toHaveLength(1);
  });
});

const settings = { capMs: 15_000, floorMs: 250, priorMs: 6000, driftMax: 0.05 };

function withSamples(idle: readonly number[], latency: readonly number[] = []): Estimates {
  const estimates = new Estimates(settings);
  for (const sample of idle) estimates.sampleGap(sample, true);
  for (const sample of latency) estimates.sampleLatency(sample);
  return estimates;
}

describe('the window', () => {
  it.each([
    ['nothing is known', withSamples([]), 6000],
    ['four samples', withSamples([10, 10, 10, 10]), 6000],
    ['five samples', withSamples([10, 10, 10, 10, 10]), 250],
    ['a slow leader', withSamples([2000, 2000, 2000, 2000, 2000]), 3000],
    ['a slow watch', withSamples([10, 10, 10, 10, 10], [2000]), 5000],
  ])('WL3 the smallest silence: %s', (_, estimates, expected) => {
    expect(estimates.minimumMs).toBeCloseTo(expected);
  });

  it.each([
    ['the watch is not measured', withSamples([]), 6000, 11_200],
    ['a fast watch', withSamples([10, 10, 10, 10, 10], [40, 40, 40, 40, 40]), 250, 14_150],
    ['a fast watch by four samples', withSamples([10, 10, 10, 10, 10], [40, 40, 40, 40]), 250, 11_200],
    ['a slow watch', withSamples([10, 10, 10, 10, 10], [3000]), 6270, 10_450],
    ['the cap wins over the minimum', withSamples([9000, 9000, 9000, 9000, 9000]), 6720, 11_200],
  ])('WL4, WL5 is drawn evenly between minimum and cap: %s', (_, estimates, low, high) => {
    expect(estimates.draw(() => 0)).toBeCloseTo(low);
    expect(estimates.draw(() => 0.5)).toBeCloseTo((low + high) / 2);
    expect(estimates.draw(() => 0.999999999)).toBeCloseTo(high, 3);
  });

  it('WL4 a watch that stood still for a minute leaves a window', () => {
    const estimates = withSamples([], [60_000]);
    expect(estimates.draw(() => 0)).toBeGreaterThan(1000);
    expect(estimates.draw(() => 0.99)).toBeLessThan(15_000);
  });

  it('WL4 a clock that is five per cent slow still acts within the cap', async () => {
    const real = createVirtualClock();
    const slow = {
      ...real,
      now: () => real.now() * 0.95,
      after: (ms: number, fn: () => void) => real.after(ms / 0.95, fn),
    };
    const rig = writerRig({ clock: slow, random: () => 0.999999 });
    rig.mate('z', 5);
    rig.ask('a');
    await real.advance(HIGH_MS / 0.95);
    expect(rig.keys()).toEqual(['a']);
    expect(real.now()).toBeLessThan(15_000);
  });

  it('WL5 chance that fails or lies is no reason to stop', async () => {
    for (const random of [
      () => Number.NaN,
      () => 7,
      (): number => {
        throw new Error('no chance');
      },
    ]) {
      const rig = writerRig({ random });
      rig.mate('z', 5);
      rig.ask('a');
      await rig.clock.advance(15_000);
      expect(rig.keys()).toEqual(['a']);
    }
  });
});
