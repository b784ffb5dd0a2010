import { describe, expect, it } from 'vitest';
import { createLeaderElector } from '../../../src/lock/leader-elector.ts';
import type { LeaderElectorOptions } from '../../../src/lock/leader-elector-options.ts';
import { formatMicroTime } from '../../../src/lock/lease-record-time.ts';
import { candidate, createVirtualClock, RecordServer } from './leader-elector-rig.ts';

describe('callbacks of a leader elector', () => {
  it('that throw or reject are reported, and stop nothing', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const errors: string[] = [];
    const log = () => undefined;
    const logger = { debug: log, info: log, warn: log, error: (message: string) => void errors.push(message) };
    const fail = () => {
      throw new Error('no');
    };
    const a = candidate(clock, server.client(), 'a', {
      logger,
      onStartedLeading: fail,
      onStoppedLeading: async () => fail(),
      onNewLeader: fail,
    });
    await clock.advance(60_000);
    expect(a.isLeader()).toBe(true);
    a.stop();
    await a.run;
    expect(errors).toEqual([
      'onNewLeader of a leader elector has failed',
      'onStartedLeading of a leader elector has failed',
      'onStoppedLeading of a leader elector has failed',
    ]);
  });

  it('onStoppedLeading that never settles holds up a cancel until the deadline, and the next term for good', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const never = () => new Promise<void>(() => undefined);
    const cancelled = candidate(clock, server.client(), 'a', { onStoppedLeading: never, releaseOnCancel: true });
    await clock.advance(3000);
    cancelled.stop();
    await clock.advance(10_000);
    await cancelled.run;
    expect(server.stored?.record.holderIdentity).toBe('a');
    server.stored = undefined;
    const lost = candidate(clock, server.client(), 'b', { onStoppedLeading: never });
    await clock.advance(3000);
    server.stored = undefined;
    await clock.advance(60_000);
    expect([lost.signals.length, server.stored]).toEqual([1, undefined]);
    lost.stop();
    await lost.run;
    expect(clock.pending).toBe(0);
  });

  it('work that goes on after the loss holds the next term of the same process back, and the release too', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const ends: (() => void)[] = [];
    let terms = 0;
    const a = candidate(clock, server.client(), 'a', {
      releaseOnCancel: true,
      onStartedLeading: () => {
        terms++;
        return new Promise<void>((resolve) => ends.push(resolve));
      },
    });
    await clock.advance(3000);
    server.stored = undefined;
    await clock.advance(60_000);
    expect([terms, server.stored]).toEqual([1, undefined]);
    ends[0]?.();
    await clock.advance(5000);
    expect(terms).toBe(2);
    a.stop();
    await clock.advance(1000);
    expect(server.stored).toMatchObject({ record: { holderIdentity: 'a' } });
    ends[1]?.();
    await a.run;
    expect(server.stored).toMatchObject({ record: { holderIdentity: '' } });
    // Work that never ends: nobody is told that the record is free.
    const b = candidate(clock, server.client(), 'b', {
      releaseOnCancel: true,
      onStartedLeading: () => new Promise(() => {}),
    });
    await clock.advance(10_000);
    b.stop();
    await clock.advance(10_000);
    await b.run;
    expect(server.stored).toMatchObject({ record: { holderIdentity: 'b' } });
    expect(clock.pending).toBe(0);
  });

  it('runs once at a time, and again after it has ended; a signal that has aborted does nothing', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const elector = createLeaderElector({ record: server.client(), identity: 'a', clock, onStartedLeading: () => {} });
    await elector.run({ signal: AbortSignal.abort() });
    expect(server.calls).toBe(0);
    const abort = new AbortController();
    const running = elector.run({ signal: abort.signal });
    await expect(elector.run()).rejects.toThrow('it runs already');
    await expect(elector.run({ sign: 1 } as never)).rejects.toThrow('unknown option sign');
    await clock.advance(1000);
    expect([elector.isLeader, elector.leader, elector.identity]).toEqual([true, 'a', 'a']);
    abort.abort();
    await running;
    expect([elector.isLeader, clock.pending]).toEqual([false, 0]);
  });
});

describe('options of a leader elector', () => {
  const good: LeaderElectorOptions = { record: new RecordServer().client(), identity: 'a', onStartedLeading: () => {} };

  it.each<[string, Partial<Record<keyof LeaderElectorOptions, unknown>>, unknown]>([
    ['leaseDurationMs > renewDeadlineMs must hold, 10000 > 10000 does not', { leaseDurationMs: 10_000 }, RangeError],
    ['leaseDurationMs > renewDeadlineMs must hold, 15000 > 20000 does not', { renewDeadlineMs: 20_000 }, RangeError],
    [
      'renewDeadlineMs > 1.2 * retryPeriodMs must hold, 12 > 1.2 * 10 does not',
      { renewDeadlineMs: 12, retryPeriodMs: 10 },
      RangeError,
    ],
    ['retryPeriodMs is 0, allowed is 1', { retryPeriodMs: 0 }, RangeError],
    ['leaseDurationMs is -1', { leaseDurationMs: -1 }, RangeError],
    ['renewDeadlineMs is NaN', { renewDeadlineMs: Number.NaN }, RangeError],
    ['leaseDurationMs is Infinity', { leaseDurationMs: Number.POSITIVE_INFINITY }, RangeError],
    ['retryPeriodMs is of type string', { retryPeriodMs: '5' }, TypeError],
    ['identity is empty', { identity: '' }, RangeError],
    ['identity is of type number', { identity: 5 }, TypeError],
    ['record has no method get', { record: {} }, TypeError],
    ['record is not an object', { record: null }, TypeError],
    ['clock has no method now', { clock: {} }, TypeError],
    ['logger has no method debug', { logger: {} }, TypeError],
    ['onStartedLeading is not a function', { onStartedLeading: undefined }, TypeError],
    ['onNewLeader is not a function', { onNewLeader: 5 }, TypeError],
    ['onStoppedLeading is not a function', { onStoppedLeading: 'x' }, TypeError],
    ['random is not a function', { random: 5 }, TypeError],
    ['releaseOnCancel is not a boolean', { releaseOnCancel: 'yes' }, TypeError],
    ['name is not text', { name: 5 }, TypeError],
    ['unknown option retryMs', { retryMs: 5 } as never, TypeError],
  ])('are refused: %s', (message, wrong, type) => {
    const make = () => createLeaderElector({ ...good, ...wrong } as LeaderElectorOptions);
    expect(make).toThrow(type as never);
    expect(make).toThrow(`Cannot create a leader elector: ${message}`);
  });

  it('are client-go’s unless they are given', () => {
    expect(() => createLeaderElector({ ...good, leaseDurationMs: 10_001 })).not.toThrow();
    expect(() => createLeaderElector({ ...good, leaseDurationMs: 10_001, renewDeadlineMs: 2401 })).not.toThrow();
    expect(() => createLeaderElector({ ...good, renewDeadlineMs: 2400 })).toThrow('2400 > 1.2 * 2000 does not');
  });
});

describe('times of a record', () => {
  it('are what the platform makes of them, with microseconds', () => {
    const instants = [0, 1, 951_782_399_999, 951_782_400_000, 951_868_800_000, 1_767_225_599_999, 4_107_542_400_000];
    for (let index = 0; index < 3000; index++) instants.push(index * 86_400_000 * 11 + index * 7919 - 10 ** 12);
    for (const instant of instants) {
      expect(formatMicroTime(instant + 0.25)).toBe(new Date(instant).toISOString().replace('Z', '000Z'));
    }
  });
});
