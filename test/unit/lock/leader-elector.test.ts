import { describe, expect, it } from 'vitest';
import { createStoreLeaseRecord } from '../../../src/lock/lease-record-store.ts';
import { NotLeaderError } from '../../../src/types/errors.ts';
import { candidate, createVirtualClock, RecordServer } from './leader-elector-rig.ts';
import { KINDS, openMutexRig } from './mutex-rig.ts';

describe('a leader elector', () => {
  it('leads with a record that nobody has, renews it, and releases it when it is cancelled', async () => {
    const [clock, server] = [createVirtualClock({ wallTimeMs: 1_767_225_600_123 }), new RecordServer()];
    const a = candidate(clock, server.client(), 'a', { releaseOnCancel: true });
    await clock.advance(0);
    expect(server.stored?.record).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.123000Z',
      renewTime: '2026-01-01T00:00:00.123000Z',
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect([a.said, a.isLeader(), a.leader()]).toEqual([['0 new leader a', '0 started'], true, 'a']);
    expect(server.stored?.record).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.123000Z',
      renewTime: '2026-01-01T00:01:00.123000Z',
    });
    a.stop();
    await a.run;
    expect([a.said.at(-1), a.isLeader()]).toEqual(['60000 stopped: cancelled', false]);
    expect(a.signals[0]?.reason).toMatchObject({ code: 'NOT_LEADER', end: 'resigned', election: 'leader election' });
    expect(server.stored?.record).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(clock.pending).toBe(0);
  });

  it('the next one leads at once after a release, and counts a transition; after a death it waits the lease out', async () => {
    for (const releaseOnCancel of [true, false]) {
      const [clock, server] = [createVirtualClock(), new RecordServer()];
      const a = candidate(clock, server.client(), 'a', { releaseOnCancel });
      await clock.advance(0);
      const b = candidate(clock, server.client(), 'b');
      await clock.advance(9000);
      expect(b.said).toEqual(['0 new leader a']);
      a.stop();
      await a.run;
      await clock.advance(20_000);
      // The last renewal was at 8000, seen at 8000; attempts are every 2000.
      expect(b.said.slice(1)).toEqual(
        releaseOnCancel ? ['10000 new leader b', '10000 started'] : ['24000 new leader b', '24000 started'],
      );
      expect(server.stored?.record.leaseTransitions).toBe(1);
      b.stop();
      await b.run;
      expect(clock.pending).toBe(0);
    }
  });

  it('row 52: a renewal that is answered after 60 s: it stops at its deadline, before anybody else leads', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    let isSlow = false;
    const slow = async (): Promise<void> => {
      if (isSlow) await new Promise<void>((resolve) => clock.after(60_000, resolve));
    };
    const a = candidate(clock, server.client(slow), 'a');
    await clock.advance(4000);
    isSlow = true;
    const b = candidate(clock, server.client(), 'b');
    await clock.advance(120_000);
    expect(a.said.slice(0, 3)).toEqual(['0 new leader a', '0 started', '14000 stopped: renewDeadline']);
    expect(a.signals[0]?.reason).toBeInstanceOf(NotLeaderError);
    expect(b.said[2]).toBe('20000 started');
    expect([a.isLeader(), b.isLeader(), server.stored?.record.holderIdentity]).toEqual([false, true, 'b']);
    a.stop();
    b.stop();
    await Promise.all([a.run, b.run]);
    await clock.advance(120_000);
    expect(clock.pending).toBe(0);
  });

  it('row 52: the deadline counts from when the last answered renewal was sent, not from its answer', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    let delayMs = 0;
    const slow = (call: string) =>
      call === 'update' ? new Promise<void>((resolve) => clock.after(delayMs, resolve)) : Promise.resolve();
    const a = candidate(clock, server.client(slow), 'a');
    await clock.advance(1000);
    delayMs = 3000;
    // Sent at 2000, answered at 5000; the next one, sent at 7000, is never answered.
    await clock.advance(5500);
    delayMs = 1_000_000;
    await clock.advance(30_000);
    expect(a.said[2]).toBe('12000 stopped: renewDeadline');
    a.stop();
    await a.run;
  });

  it('a candidate whose request hangs gives it up, and asks again', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    let hangs = 1;
    const a = candidate(
      clock,
      server.client(() => (hangs-- > 0 ? new Promise(() => undefined) : Promise.resolve())),
      'a',
    );
    await clock.advance(11_999);
    expect(a.isLeader()).toBe(false);
    await clock.advance(1);
    expect(a.said[1]).toBe('12000 started');
    a.stop();
    await a.run;
    expect(clock.pending).toBe(0);
  });

  it('row 52: the wall clock jumps by an hour, there and back: nobody leads who should not', async () => {
    const [one, two, server] = [createVirtualClock(), createVirtualClock(), new RecordServer()];
    const a = candidate(one, server.client(), 'a');
    await one.advance(0);
    const b = candidate(two, server.client(), 'b');
    for (let turn = 0; turn < 60; turn++) {
      if (turn === 10) two.jumpWallTime(3_600_000);
      if (turn === 20) one.jumpWallTime(3_600_000);
      if (turn === 30) one.jumpWallTime(-7_200_000);
      await Promise.all([one.advance(1000), two.advance(1000)]);
    }
    expect([a.said, b.said]).toEqual([['0 new leader a', '0 started'], ['0 new leader a']]);
    a.stop();
    b.stop();
    await Promise.all([a.run, b.run]);
  });

  it('row 52: a record from long ago is waited for from when it was first seen, for its own duration', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const times = { acquireTime: '1999-01-01T00:00:00.000000Z', renewTime: '1999-01-01T00:00:00.000000Z' };
    server.write({ holderIdentity: 'x', leaseDurationSeconds: 40, leaseTransitions: 6, ...times });
    await clock.advance(100_000);
    const b = candidate(clock, server.client(), 'b');
    await clock.advance(39_999);
    expect(b.isLeader()).toBe(false);
    await clock.advance(1);
    expect([b.said.slice(1), server.stored?.record.leaseTransitions]).toEqual([
      ['140000 new leader b', '140000 started'],
      7,
    ]);
    b.stop();
    await b.run;
  });

  it('goes on as a candidate after a loss: the backend was away, and is back', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    let isAway = false;
    const client = server.client(async () => {
      if (isAway) throw new Error('away');
    });
    const warnings: unknown[] = [];
    const log = () => undefined;
    const logger = { debug: log, info: log, error: log, warn: (...all: unknown[]) => void warnings.push(all) };
    const a = candidate(clock, client, 'a', { logger });
    await clock.advance(3000);
    isAway = true;
    await clock.advance(30_000);
    expect(a.said.slice(2)).toEqual(['12000 stopped: renewDeadline']);
    isAway = false;
    await clock.advance(4000);
    // The record still says its own name: no need to wait.
    expect([a.said.slice(3), server.stored?.record.leaseTransitions]).toEqual([['34000 started'], 0]);
    expect(warnings.length).toBeGreaterThan(5);
    a.stop();
    await a.run;
    expect(clock.pending).toBe(0);
  });

  it.each(['taken', 'deleted'] as const)('a record that is %s by somebody ends it at the next renewal', async (how) => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const a = candidate(clock, server.client(), 'a');
    await clock.advance(3000);
    const before = server.stored;
    if (before === undefined) throw new TypeError('Cannot test: there is no record');
    if (how === 'taken') server.write({ ...before.record, holderIdentity: 'x', leaseTransitions: 1 });
    else server.stored = undefined;
    await clock.advance(1000);
    expect(a.said).toContain('4000 stopped: taken');
    expect(a.isLeader()).toBe(how === 'deleted');
    await clock.advance(30_000);
    expect(server.stored?.record).toMatchObject({ holderIdentity: 'a', leaseTransitions: how === 'taken' ? 2 : 0 });
    a.stop();
    await a.run;
  });

  it('a write whose answer was lost is its own, and renewed; one of somebody who was faster is not', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    let loses = 0;
    const plain = server.client();
    const a = candidate(
      clock,
      {
        ...plain,
        update: async (...all) => {
          const stored = await plain.update(...all);
          if (loses-- > 0) throw new Error('lost');
          return stored;
        },
      },
      'a',
    );
    await clock.advance(1000);
    loses = 2;
    await clock.advance(60_000);
    expect([a.said, loses <= 0]).toEqual([['0 new leader a', '0 started'], true]);
    a.stop();
    await a.run;
    const rivals = ['x', 'y', 'z'].map((identity) => candidate(clock, server.client(), identity));
    await clock.advance(60_000);
    expect(rivals.filter(({ isLeader }) => isLeader()).length).toBe(1);
    for (const { stop } of rivals) stop();
    await Promise.all(rivals.map(({ run }) => run));
    expect(clock.pending).toBe(0);
  });
});

describe.each(KINDS)('a leader elector over a key of %s', (kind) => {
  it('one leads at a time, and the next one after it', async () => {
    const { one, two, clock, close } = await openMutexRig(kind);
    const [a, b] = [one, two].map((store, index) =>
      candidate(clock, createStoreLeaseRecord(store.prefix('app/'), 'lease'), `host-${index}`, {
        releaseOnCancel: true,
      }),
    );
    await clock.advance(30_000);
    expect([a?.isLeader(), b?.isLeader()].toSorted()).toEqual([false, true]);
    const [leading, waiting] = a?.isLeader() === true ? [a, b] : [b, a];
    leading?.stop();
    await clock.advance(5000);
    expect([leading?.isLeader(), waiting?.isLeader()]).toEqual([false, true]);
    const kv = one.get('app/lease');
    expect([JSON.parse(kv?.value ?? '{}').holderIdentity, kv?.lease]).toEqual([waiting?.leader(), '0']);
    waiting?.stop();
    await clock.advance(5000);
    await Promise.all([a?.run, b?.run]);
    await close();
    expect(clock.pending).toBe(0);
  });
});
