import { describe, expect, it } from 'vitest';
import type { LeaseRecord } from '../../../src/types/lease-record.ts';
import { candidate, createVirtualClock, RecordServer } from './leader-elector-rig.ts';

const RECORD: LeaseRecord = {
  holderIdentity: 'b',
  leaseDurationSeconds: 15,
  acquireTime: '2026-03-01T12:00:00.000000Z',
  renewTime: '2026-03-01T12:00:00.000000Z',
  leaseTransitions: 3,
};

/** A server with what somebody wrote by hand. */
function written(record: unknown): RecordServer {
  const server = new RecordServer();
  server.write(record as LeaseRecord);
  return server;
}

describe('a record that somebody wrote by hand', () => {
  it.each([
    { record: {}, leader: 'a', transitions: 1 },
    { record: { ...RECORD, holderIdentity: null }, leader: 'a', transitions: 4 },
    { record: { ...RECORD, leaseDurationSeconds: 'long' }, leader: 'a', transitions: 4 },
    { record: { ...RECORD, leaseDurationSeconds: -5 }, leader: 'a', transitions: 4 },
    { record: { ...RECORD, leaseTransitions: 'many' }, leader: 'a', transitions: 1 },
    { record: { ...RECORD, leaseTransitions: -1 }, leader: 'a', transitions: 1 },
    { record: { ...RECORD, holderIdentity: 7 }, leader: 'a', transitions: 4 },
    { record: { ...RECORD, acquireTime: 5 }, leader: 'a', transitions: 4 },
  ])('$record: is replaced by one that is complete, after its duration', async ({ record, leader, transitions }) => {
    const [clock, server] = [createVirtualClock(), written(record)];
    const a = candidate(clock, server.client(), 'a');
    await clock.advance(20_000);
    expect([a.leader(), a.isLeader()]).toEqual([leader, true]);
    expect(server.stored?.record).toMatchObject({ holderIdentity: 'a', leaseTransitions: transitions });
    expect(server.stored?.record.acquireTime).toMatch(/^\d{4}-/);
    a.stop();
    await a.run;
  });

  it.each([[null], [5], ['junk'], [[]]])('%j: is no record, so it is told and not written over', async (record) => {
    const [clock, server] = [createVirtualClock(), written(record)];
    const warnings: unknown[] = [];
    const log = () => undefined;
    const logger = {
      debug: log,
      info: log,
      error: log,
      warn: (_: string, facts: unknown) => void warnings.push(facts),
    };
    const a = candidate(clock, server.client(), 'a', { logger });
    await clock.advance(20_000);
    expect([a.leader(), a.isLeader(), server.writes]).toEqual(['', false, 1]);
    expect(warnings[0]).toMatchObject({ error: { message: "Cannot read a leader's record: it is not an object" } });
    server.write(RECORD);
    await clock.advance(20_000);
    expect(a.isLeader()).toBe(true);
    a.stop();
    await a.run;
  });
});

describe('a cancel while a renewal is under way', () => {
  it.each([
    { what: 'written, its answer not waited for', isWritten: true },
    { what: 'not written yet, and refused later', isWritten: false },
  ])('that is $what: the record is released all the same', async ({ isWritten }) => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const plain = server.client();
    let goOn: () => void = () => undefined;
    let isLate = false;
    const late = () =>
      new Promise<void>((resolve) => {
        isLate = false;
        goOn = resolve;
      });
    const record = {
      ...plain,
      update: async (...[renewed, version, signal]: Parameters<typeof plain.update>) => {
        if (!isLate) return plain.update(renewed, version, signal);
        if (!isWritten) await late();
        const stored = await plain.update(renewed, version, signal);
        if (isWritten) await late();
        return stored;
      },
    };
    const a = candidate(clock, record, 'a', { releaseOnCancel: true });
    await clock.advance(1000);
    isLate = true;
    await clock.advance(1500);
    a.stop();
    await a.run;
    goOn();
    await clock.settle();
    expect(server.stored?.record.holderIdentity).toBe('');
    expect(clock.pending).toBe(0);
  });

  it('and somebody else has it: it stays theirs', async () => {
    const [clock, server] = [createVirtualClock(), new RecordServer()];
    const a = candidate(clock, server.client(), 'a', { releaseOnCancel: true });
    await clock.advance(1000);
    server.write(RECORD);
    a.stop();
    await a.run;
    expect(server.stored?.record).toEqual(RECORD);
  });
});
