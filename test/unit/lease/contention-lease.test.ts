import { describe, expect, it } from 'vitest';
import { createContentionTracker } from '../../../src/lease/contention-tracker.ts';
import { stableShare } from '../../../src/lease/writer-hash.ts';
import type { ContentionTrackerOptions } from '../../../src/types/writer-lease.ts';
import { COLD_MS, type Rig, writerRig } from './writer-rig.ts';

const INTERVAL_MS = 180_000;

/** A lease with a tracker that leads, and has written `ours` to key `k` at revision 20. */
async function contended(options: ContentionTrackerOptions = {}) {
  // The tracker needs the clock of the lease, which comes later.
  const time = { now: () => 0 };
  const tracker = createContentionTracker({ clock: { now: () => time.now() }, ...options });
  const rig = writerRig({ tracker });
  time.now = () => rig.clock.now();
  const see = (value: string, revision: number, key = 'k', wanted = 'ours') =>
    rig.lease.observe(key, { revision, value, wanted });
  const ask = (revision: number, key = 'k', wanted = 'ours') => rig.ask(key, revision, { wanted });
  see('', 1);
  ask(1);
  await rig.clock.advance(COLD_MS);
  await rig.answer({ revision: 20 });
  return { rig, tracker, see, ask };
}

/** Brings `k` into a hold: theirs at 21, ours at 22, theirs at 23. */
async function hold(at: Awaited<ReturnType<typeof contended>>): Promise<void> {
  at.see('theirs', 21);
  at.ask(21);
  await at.rig.clock.settle();
  await at.rig.answer({ revision: 22 });
  at.see('theirs', 23);
  at.ask(23);
  await at.rig.clock.settle();
}

const counts = ({ lease }: Rig) => {
  const { attempts, parked, pending, refusals, role } = lease.stats();
  return { attempts, parked, pending, refusals, role };
};

describe('a lease with a tracker', () => {
  it('CT2 the own echo is nobody else, also when it is faster than the answer', async () => {
    const { rig, see, ask, tracker } = await contended();
    for (let round = 0; round < 20; round++) {
      const revision = 100 + 10 * round;
      see(round === 0 ? 'ours' : `ours${round}`, revision, 'k', `ours${round + 1}`);
      ask(revision, 'k', `ours${round + 1}`);
      await rig.clock.settle();
      see(`ours${round + 1}`, revision + 1, 'k', `ours${round + 1}`);
      await rig.answer({ revision: revision + 1 });
      await rig.clock.advance(1000);
    }
    expect(rig.lease.role).toBe('leader');
    expect(rig.lease.stats()).toMatchObject({ refusals: 0, writes: 21, evidence: 0 });
    expect(tracker.stats()).toMatchObject({ held: 0, contestedWrites: 0 });
  });

  it('CT2 repeated old events count once', async () => {
    const { rig, see, tracker } = await contended();
    for (let time = 0; time < 10; time++) see('theirs', 21);
    for (let time = 0; time < 10; time++) see('theirs', 7);
    expect(tracker.stats().held).toBe(0);
    expect(rig.lease.stats().stale).toBe(19);
  });

  it('CT2 what a read finds is not told to the tracker', async () => {
    const seen: unknown[] = [];
    const inner = createContentionTracker();
    const tracker = {
      equal: inner.equal.bind(inner),
      observe: (key: string) => void seen.push(key),
      wrote: inner.wrote.bind(inner),
      wants: inner.wants.bind(inner),
      refusedMs: () => 0,
      stats: inner.stats.bind(inner),
    };
    const rig = writerRig({ tracker, read: async () => ({ revision: 9, value: 'theirs' }) });
    rig.lease.observe('a', { revision: 3, value: '', wanted: 'ours' });
    rig.ask('a', 3, { wanted: 'ours' });
    await rig.clock.advance(COLD_MS);
    expect(rig.lease.stats().reads).toBe(1);
    expect(seen).toEqual([]);
    rig.lease.observe('a', { revision: 9, value: 'theirs', wanted: 'ours' });
    expect(seen).toEqual(['a']);
  });

  it('CT4, CT7 refused work is parked, not dropped, and costs no leadership', async () => {
    const at = await contended();
    await hold(at);
    expect(counts(at.rig)).toEqual({ attempts: 2, parked: 1, pending: 0, refusals: 1, role: 'leader' });
    const holdMs = INTERVAL_MS * (1 + 0.25 * stableShare('k'));
    await at.rig.clock.advance(holdMs - 1);
    expect(at.rig.attempts).toHaveLength(2);
    await at.rig.clock.advance(1);
    expect(at.rig.attempts).toHaveLength(3);
    expect(at.rig.attempts[2]?.context).toMatchObject({ key: 'k', revision: 23 });
  });

  it('CT7 an observation with the wanted value frees it at once', async () => {
    const at = await contended();
    await hold(at);
    at.see('ours', 24);
    expect(counts(at.rig)).toMatchObject({ parked: 0, pending: 0 });
    await at.rig.clock.advance(10 * INTERVAL_MS);
    expect(at.rig.attempts).toHaveLength(2);
  });

  it('CT2, WL20 an own write whose answer comes late counts as any other', async () => {
    const at = await contended();
    at.see('theirs', 21);
    at.ask(21);
    await at.rig.clock.advance(10_000);
    await at.rig.answer({ revision: 22 });
    at.see('ours', 22);
    expect(at.rig.lease.stats()).toMatchObject({ unknownOutcomes: 1, lateAnswers: 1 });
    expect(at.tracker.stats().contestedWrites).toBe(1);
    at.see('theirs', 23);
    expect(at.tracker.stats().held).toBe(1);
  });

  it('CT3 a new wish of a key that is held is written once', async () => {
    const at = await contended();
    await hold(at);
    at.ask(23, 'k', 'other');
    await at.rig.clock.settle();
    expect(at.rig.attempts).toHaveLength(3);
    await at.rig.answer({ revision: 24 });
    at.see('theirs', 25, 'k', 'other');
    at.ask(25, 'k', 'other');
    await at.rig.clock.settle();
    expect(at.rig.attempts).toHaveLength(3);
    expect(at.rig.lease.stats().parked).toBe(1);
  });

  it('CT6 other keys go on while one is held, in their order and at once', async () => {
    const at = await contended();
    await hold(at);
    for (const key of ['a', 'b', 'c']) at.ask(1, key);
    await at.rig.clock.settle();
    await at.rig.answer({ revision: 30 });
    await at.rig.answer({ revision: 31 });
    expect(at.rig.keys().slice(2)).toEqual(['a', 'b', 'c']);
    expect(at.rig.clock.now()).toBe(COLD_MS);
  });

  it('CT6 without budget a contended key waits for the next interval', async () => {
    const at = await contended({ budget: 1 });
    at.see('theirs', 21);
    at.ask(21);
    await at.rig.clock.settle();
    await at.rig.answer({ revision: 22 });
    at.see('x', 30, 'l');
    at.see('theirs', 31, 'l');
    at.ask(31, 'l');
    await at.rig.clock.advance(INTERVAL_MS - 1);
    expect(at.rig.keys()).toEqual(['k', 'k']);
    await at.rig.clock.advance(1);
    expect(at.rig.keys()).toEqual(['k', 'k', 'l']);
  });

  it('CT7 a follower that holds a key neither takes over for it nor keeps the others waiting', async () => {
    const at = await contended();
    await hold(at);
    at.rig.mate('z', 90);
    expect(at.rig.lease.role).toBe('follower');
    await at.rig.clock.advance(60_000);
    expect(at.rig.attempts).toHaveLength(2);
    at.ask(1, 'a');
    await at.rig.clock.advance(12_000);
    expect(at.rig.keys().slice(2)).toEqual(['a']);
  });
});
