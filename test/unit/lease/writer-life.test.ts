import { describe, expect, it } from 'vitest';
import { createContentionTracker } from '../../../src/lease/contention-tracker.ts';
import { createWriterLeaseGroups } from '../../../src/lease/writer-groups.ts';
import { createWriterLease } from '../../../src/lease/writer-lease.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { ClosedError, LimitExceededError } from '../../../src/types/errors.ts';
import type { WriterLeaseOptions } from '../../../src/types/writer-lease.ts';
import { COLD_MS, type Rig, writerRig } from './writer-rig.ts';

describe('the fencing token', () => {
  it('WL23 is the revision of the takeover, and there from the second write of a term on', async () => {
    const rig = writerRig();
    rig.ask('a');
    await rig.clock.advance(COLD_MS);
    expect(rig.attempts[0]?.context.fencingToken).toBeUndefined();
    await rig.answer({ revision: 10 });
    rig.ask('b');
    await rig.clock.settle();
    expect(rig.attempts[1]?.context.fencingToken).toBe(10);
    await rig.answer({ revision: 11 });
    expect(rig.lease.fencingToken).toBe(10);
    rig.mate('c', 50);
    expect(rig.lease.fencingToken).toBeUndefined();
    rig.ask('d');
    await rig.clock.advance(6000);
    expect(rig.attempts[2]?.context.fencingToken).toBeUndefined();
    await rig.answer({ revision: 60 });
    expect(rig.lease.fencingToken).toBe(60);
  });
});

describe('waiting', () => {
  it.each<[string, (rig: Rig) => Promise<void> | void, string]>([
    ['a success', (rig) => rig.lead(), 'leader'],
    ['evidence', (rig) => rig.mate('x', 5), 'follower'],
    ['close', (rig) => rig.lease.close(), 'closed'],
  ])('WL24 ends with %s, for all who wait and all who come later', async (_, end, result) => {
    const rig = writerRig();
    const waits = [rig.lease.wait(), rig.lease.wait()];
    await end(rig);
    expect(await Promise.all(waits)).toEqual([result, result]);
    expect(await rig.lease.wait()).toBe(result);
  });

  it('WL24 ends for one whose signal aborts, and leaves nothing behind', async () => {
    const rig = writerRig();
    const gone = new AbortController();
    const waits = rig.lease.wait({ signal: gone.signal });
    gone.abort(new Error('enough'));
    await expect(waits).rejects.toThrow('enough');
    await expect(rig.lease.wait({ signal: gone.signal })).rejects.toThrow('enough');
    await rig.lead();
    expect(await rig.lease.wait()).toBe('leader');
  });
});

describe('close', () => {
  const states: [string, (rig: Rig) => Promise<void> | void][] = [
    ['nothing was asked', () => {}],
    ['a wish waits', (rig) => void rig.ask('a')],
    [
      'a write is under way',
      async (rig) => {
        rig.ask('a');
        await rig.clock.advance(COLD_MS);
      },
    ],
    [
      'a conflict is open',
      async (rig) => {
        rig.ask('a');
        await rig.clock.advance(COLD_MS);
        await rig.answer('conflict');
      },
    ],
    [
      'a key is parked',
      async (rig) => {
        rig.ask('a');
        await rig.clock.advance(COLD_MS);
        await rig.fail();
      },
    ],
    ['it leads', (rig) => rig.lead()],
    [
      'it has lost',
      async (rig) => {
        await rig.lead();
        rig.mate('x', 50);
        rig.ask('a');
      },
    ],
  ];

  it.each(states)('WL24 leaves no timer and no work, is idempotent: %s', async (_, bring) => {
    const rig = writerRig();
    await bring(rig);
    const { length } = rig.attempts;
    const waits = rig.lease.wait();
    await rig.lease.close();
    await rig.lease.close();
    expect(rig.clock.pending).toBe(0);
    expect(['closed', 'leader', 'follower']).toContain(await waits);
    rig.lease.observe('a', { revision: 900, satisfied: false, changed: true });
    rig.lease.remove('a');
    expect(() => rig.ask('b')).toThrow(ClosedError);
    rig.attempts.at(-1)?.resolve({ revision: 901 });
    await rig.clock.advance(100_000);
    expect(rig.attempts).toHaveLength(length);
    expect(rig.clock.pending).toBe(0);
    expect(rig.lease.role).toBe('follower');
  });

  it('WL24 aborts the signal of the write, also of one that asks for it afterwards', async () => {
    const rig = writerRig();
    rig.ask('a');
    await rig.clock.advance(COLD_MS);
    await rig.lease[Symbol.asyncDispose]();
    await rig.clock.settle();
    expect(rig.attempts[0]?.context.signal.reason).toBeInstanceOf(ClosedError);
  });

  it('WL24 a jump of the wall clock changes nothing', async () => {
    const rig = writerRig();
    rig.ask('a');
    rig.clock.jumpWallTime(3_600_000);
    await rig.clock.advance(COLD_MS - 1);
    rig.clock.jumpWallTime(-7_200_000);
    expect(rig.keys()).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.keys()).toEqual(['a']);
  });
});

describe('groups', () => {
  const groupOf = (key: string) => key.split('/')[0] ?? '';

  it('WL25 are independent: a leader of one does not wait for another that hangs', async () => {
    const clock = createVirtualClock();
    const groups = createWriterLeaseGroups({ clock, random: () => 0, groupOf });
    const written: string[] = [];
    groups.try('a/1', { revision: 1, work: () => new Promise(() => {}) });
    for (const key of ['b/1', 'b/2']) {
      groups.try(key, { revision: 1, work: () => ({ revision: written.push(key) + 1 }) });
    }
    await clock.advance(COLD_MS);
    expect(written.sort()).toEqual(['b/1', 'b/2']);
    expect(groups.groups()).toEqual(['a', 'b']);
    expect(groups.group('a')?.role).toBe('follower');
    expect(groups.group('b')?.role).toBe('leader');
    groups.observe('b/1', { revision: 90, satisfied: true, changed: true });
    expect(groups.group('b')?.role).toBe('follower');
    await groups.close();
    expect(clock.pending).toBe(0);
    expect(() => groups.try('b/1', { revision: 1, work: () => 'unchanged' })).toThrow(ClosedError);
  });

  it('WL25 are bounded; dropping one makes room', async () => {
    const groups = createWriterLeaseGroups({ clock: createVirtualClock(), groupOf, groupsMax: 2 });
    const ask = (key: string) => groups.try(key, { revision: 1, work: () => 'unchanged' });
    ask('a/1');
    ask('b/1');
    expect(() => ask('c/1')).toThrow(new LimitExceededError('try a key', { limit: 'groupsMax', max: 2, actual: 3 }));
    await groups.drop('a');
    ask('c/1');
    groups.remove('c/1');
    expect(groups.group('c')?.stats().keys).toBe(0);
    await groups.close();
  });
});

describe('bounds', () => {
  it('keysMax: the key that is idle longest is forgotten, and without one the newcomer is refused', () => {
    const rig = writerRig({ keysMax: 3 });
    rig.mate('a', 1);
    rig.mate('b', 2);
    rig.ask('c', 3);
    rig.ask('d', 4);
    expect(rig.lease.stats()).toMatchObject({ keys: 3, pending: 2 });
    rig.mate('b', 2);
    expect(rig.lease.stats().stale).toBe(1);
    rig.ask('e', 5);
    expect(() => rig.ask('f', 6)).toThrow(LimitExceededError);
    rig.mate('f', 7);
    expect(rig.lease.stats()).toMatchObject({ keys: 3, pending: 3 });
  });

  it('a key that was removed is not remembered, also while it is written', async () => {
    const rig = writerRig();
    rig.ask('a');
    await rig.clock.advance(COLD_MS);
    rig.lease.remove('a');
    expect(rig.lease.stats().keys).toBe(0);
    await rig.answer({ revision: 10 });
    expect(rig.lease.role).toBe('leader');
    expect(rig.lease.stats()).toMatchObject({ keys: 0, writes: 1, pending: 0 });
  });

  it('statistics tell how long keys waited and how long it led', async () => {
    const rig = writerRig();
    await rig.lead();
    await rig.clock.advance(5000);
    rig.ask('a');
    await rig.clock.advance(30);
    await rig.answer({ revision: 11 });
    const { waitMs, leaderMs, followerMs } = rig.lease.stats();
    expect(waitMs).toEqual({ count: 2, sum: 780, max: 750 });
    expect(leaderMs).toBe(5030);
    expect(followerMs).toBe(750);
  });
});

describe('options', () => {
  it.each<[object, typeof TypeError | typeof RangeError, RegExp]>([
    [{ capms: 1 }, TypeError, /unknown option capms/],
    [{ capMs: '1' }, TypeError, /capMs is of type string/],
    [{ capMs: -1 }, RangeError, /capMs is -1/],
    [{ capMs: 60 }, RangeError, /\(1 - driftMax\) \* capMs - capMs \/ 5 - 50 > 0 must hold/],
    [{ capMs: 1000, driftMax: 0.8 }, RangeError, /> 0 must hold, got -50/],
    [{ capMs: 1000, floorMs: 1000 }, RangeError, /floorMs < capMs must hold, got 1000 and 1000/],
    [{ capMs: 1000, floorMs: 900, startSpreadMs: 101 }, RangeError, /floorMs \+ startSpreadMs <= capMs must hold/],
    [{ priorMs: 15_001 }, RangeError, /priorMs <= capMs must hold, got 15001 and 15000/],
    [{ floorMs: -1 }, RangeError, /floorMs is -1/],
    [{ driftMax: 1 }, RangeError, /driftMax is 1/],
    [{ doubtsMax: 0 }, RangeError, /doubtsMax is 0/],
    [{ errorsMax: 1.5 }, RangeError, /errorsMax is 1.5/],
    [{ writeTimeoutMs: Number.NaN }, RangeError, /writeTimeoutMs is NaN/],
    [{ keysMax: 0 }, RangeError, /keysMax is 0/],
    [{ read: 1 }, TypeError, /read is of type number/],
    [{ expectPeers: 'no' }, TypeError, /expectPeers is of type string/],
    [{ strategy: 'modern' }, TypeError, /strategy is modern/],
    [{ tracker: {} }, TypeError, /tracker has no method observe/],
    [{ clock: null }, TypeError, /clock is not an object/],
    [{ tracker: createContentionTracker(), equal: Object.is }, TypeError, /tracker and equal exclude each other/],
  ])('are refused in words: %o', (options, type, message) => {
    expect(() => createWriterLease(options as WriterLeaseOptions)).toThrow(type);
    expect(() => createWriterLease(options as WriterLeaseOptions)).toThrow(message);
    expect(() => createWriterLeaseGroups({ groupOf: (key: string) => key, ...options })).toThrow(message);
  });

  it('what is told is checked too', () => {
    const { lease } = writerRig();
    const work = () => 'unchanged' as const;
    expect(() => lease.try('a', { revision: -1, work })).toThrow(/the revision is -1/);
    expect(() => lease.try('a', { revision: 1, work: 7 as never })).toThrow(/work is of type number/);
    expect(() => lease.try('a', { revision: 1, work, want: 1 } as never)).toThrow(/unknown option want/);
    expect(() => lease.try(7 as never, { revision: 1, work })).toThrow(/the key is of type number/);
    expect(() => lease.observe('a', { revision: 1 } as never)).toThrow(/neither satisfied and changed nor/);
    expect(() => lease.observe('a', { revision: 1, satisfied: 'yes', changed: false } as never)).toThrow(
      /satisfied is/,
    );
    expect(() => lease.observe('a', { revision: 1.5, satisfied: true, changed: false })).toThrow(/the revision is 1.5/);
    expect(lease.stats().keys).toBe(0);
  });
});
