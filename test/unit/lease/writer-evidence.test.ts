import { describe, expect, it } from 'vitest';
import { Estimates } from '../../../src/lease/writer-estimates.ts';
import { HIGH_MS, LOW_MS, writerRig } from './writer-rig.ts';

const settings = { capMs: 15_000, floorMs: 250, priorMs: 6000, driftMax: 0.05 };

describe('evidence', () => {
  it.each([
    ['changed to what is wanted', { satisfied: true, changed: true }, 1],
    ['changed to what was wanted', { satisfied: false, changed: true, satisfiedBefore: true }, 1],
    ['changed to something else', { satisfied: false, changed: true }, 0],
    ['right, and not changed', { satisfied: true, changed: false }, 0],
    ['an edit of something else', { satisfied: false, changed: false }, 0],
  ])('WL6 what counts, without the name of a writer: %s', (_, flags, count) => {
    const rig = writerRig();
    rig.lease.observe('a', { revision: 5, ...flags });
    expect(rig.lease.stats().evidence).toBe(count);
  });

  it('WL6 values are compared with the wish, with the one before, and with the last view', () => {
    const rig = writerRig();
    const { lease } = rig;
    lease.observe('a', { revision: 1, value: { ready: false }, wanted: { ready: true } });
    lease.observe('a', { revision: 2, value: { ready: true }, wanted: { ready: true } });
    expect(lease.stats().evidence).toBe(1);
    // The wish changed, and a mate's write of the old one comes with it.
    lease.observe('b', { revision: 3, value: 0, wanted: 1 });
    lease.observe('b', { revision: 4, value: 1, wanted: 2 });
    expect(lease.stats().evidence).toBe(2);
    lease.observe('b', { revision: 5, value: 7, wanted: 2 });
    expect(lease.stats().evidence).toBe(2);
  });

  it('WL7 drops the key and begins a new window, again and again, and never a longer one', async () => {
    const rig = writerRig();
    for (let index = 0; index < 20; index++) rig.ask(`k${index}`);
    rig.ask('last');
    for (let index = 0; index < 20; index++) {
      rig.mate(`k${index}`, 100 + index);
      await rig.clock.advance(LOW_MS - 1);
      expect(rig.lease.stats().windowMs).toBe(Math.min(rig.lease.stats().windowMs, HIGH_MS));
    }
    expect(rig.keys()).toEqual([]);
    expect(rig.lease.stats().pending).toBe(1);
    await rig.clock.advance(HIGH_MS - LOW_MS + 1);
    expect(rig.keys()).toEqual(['last']);
  });

  it('WL7 evidence while a candidate waits for its read takes the turn away', async () => {
    const reads: ((found: { revision: number; satisfied: boolean; changed: boolean }) => void)[] = [];
    const rig = writerRig({ read: () => new Promise((resolve) => reads.push(resolve)) });
    rig.ask('a');
    rig.ask('b');
    await rig.clock.advance(250);
    expect(reads).toHaveLength(1);
    rig.mate('c', 50);
    reads[0]?.({ revision: 1, satisfied: false, changed: false });
    await rig.clock.settle();
    expect(rig.keys()).toEqual([]);
    expect(rig.lease.stats().pending).toBe(2);
  });
});

describe('estimates', () => {
  it('WL8 the gap jumps up, sinks slowly, and only by samples from idle', () => {
    const estimates = new Estimates(settings);
    estimates.sampleGap(1000, true);
    estimates.sampleGap(0, true);
    expect(estimates.gapMs).toBeCloseTo(900);
    estimates.sampleGap(10, false);
    expect(estimates.gapMs).toBeCloseTo(900);
    estimates.sampleGap(5000, false);
    expect(estimates.gapMs).toBe(5000);
  });

  it('WL8 is measured from the wish, or from the evidence before it; five samples from idle end the prior', async () => {
    const rig = writerRig();
    for (let index = 0; index < 5; index++) {
      expect(rig.lease.stats().minimumMs).toBe(6000);
      await rig.clock.advance(1_000_000);
      rig.ask('a', 10 * index);
      rig.ask('b', 10 * index);
      await rig.clock.advance(100);
      rig.mate('a', 10 * index + 1);
      await rig.clock.advance(40);
      rig.mate('b', 10 * index + 2);
    }
    const { gapMs, minimumMs } = rig.lease.stats();
    expect(gapMs).toBe(100);
    expect(minimumMs).toBe(250);
    await rig.clock.advance(100_000_000);
    expect(rig.lease.stats().gapMs).toBe(100);
  });

  it('WL9 the watch is measured by own echoes', async () => {
    const rig = writerRig();
    await rig.lead(10);
    expect(rig.lease.stats().watchLatencyMs).toBeUndefined();
    await rig.clock.advance(700);
    rig.mate('first', 10);
    expect(rig.lease.stats().watchLatencyMs).toBe(700);
    expect(rig.lease.stats().stale).toBe(0);
    rig.mate('first', 10);
    expect(rig.lease.stats().stale).toBe(1);
    expect(rig.lease.stats().watchLatencyMs).toBe(700);
  });

  it('WL9 and by the event that explains a conflict', async () => {
    const rig = writerRig();
    rig.ask('a', 1);
    await rig.clock.advance(250);
    await rig.answer('conflict');
    await rig.clock.advance(300);
    rig.mate('a', 2);
    expect(rig.lease.stats().watchLatencyMs).toBe(300);
  });

  it('WL9 a write that made no new revision is waited for by no sample', async () => {
    const rig = writerRig();
    rig.edit('a', 7);
    rig.ask('a', 7);
    await rig.clock.advance(250);
    await rig.answer({ revision: 7 });
    await rig.clock.advance(9000);
    rig.edit('a', 8);
    expect(rig.lease.stats().watchLatencyMs).toBeUndefined();
  });
});

describe('an overtaken key', () => {
  it('WL10 has a deadline that evidence of others does not move, and is tried itself', async () => {
    const rig = writerRig();
    rig.chance(0.9);
    rig.mate('x', 1);
    await rig.clock.advance(60_000);
    rig.ask('hidden', 1);
    let revision = 100;
    // Its leader answers every other key, twice a second, for a long time.
    for (let step = 0; step < 60 && rig.attempts.length === 0; step++) {
      rig.ask(`busy${step % 7}`, revision);
      await rig.clock.advance(100);
      rig.mate(`busy${step % 7}`, ++revision);
      await rig.clock.advance(400);
    }
    expect(rig.keys()).toEqual(['hidden']);
    expect(rig.clock.now()).toBeLessThan(60_000 + 2 * 15_000);
  });

  it('WL10 keys that were asked for at about the same time do not overtake each other', async () => {
    const rig = writerRig();
    rig.mate('x', 1);
    rig.ask('a', 1);
    await rig.clock.advance(100);
    for (let index = 0; index < 10; index++) rig.ask(`b${index}`, 1);
    for (let index = 0; index < 10; index++) {
      await rig.clock.advance(3000);
      rig.mate(`b${index}`, 10 + index);
    }
    expect(rig.keys()).toEqual([]);
  });
});
