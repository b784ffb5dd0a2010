import { describe, expect, it } from 'vitest';
import type { ReadResult, WriterLeaseOptions } from '../../../src/types/writer-lease.ts';
import { COLD_MS, writerRig } from './writer-rig.ts';

type Found = ReadResult<unknown>;

function readRig(options: WriterLeaseOptions = {}) {
  const reads: {
    key: string;
    signal: AbortSignal;
    resolve: (found: Found) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const read = (key: string, { signal }: { signal: AbortSignal }) =>
    new Promise<Found>((resolve, reject) => void reads.push({ key, signal, resolve, reject }));
  const rig = writerRig({ read, ...options });
  const found = async (result: Found) => {
    reads.at(-1)?.resolve(result);
    await rig.clock.settle();
  };
  const lead = async () => {
    rig.ask('first', 1);
    await rig.clock.advance(COLD_MS);
    await found({ revision: 1, satisfied: false, changed: false });
    await rig.answer({ revision: 10 });
  };
  return { rig, reads, found, lead };
}

describe('the read hook', () => {
  it('WL22 a candidate reads before it writes; what it finds right is evidence', async () => {
    const { rig, reads, found } = readRig();
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    expect(reads.map(({ key }) => key)).toEqual(['a']);
    await found({ revision: 9, satisfied: true, changed: true });
    expect(rig.keys()).toEqual([]);
    expect(rig.lease.stats()).toMatchObject({ reads: 1, evidence: 1, dropped: 1, pending: 0 });
  });

  it('WL22 a leader does not', async () => {
    const { rig, reads, lead } = readRig();
    await lead();
    rig.ask('a');
    await rig.clock.settle();
    expect(reads).toHaveLength(1);
    expect(rig.keys()).toEqual(['first', 'a']);
  });

  it('WL22 the write of a candidate is told the revision that was read', async () => {
    const { rig, found } = readRig();
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    await found({ revision: 9, satisfied: false, changed: false });
    expect(rig.attempts[0]?.context.revision).toBe(9);
  });

  it('WL22 what is changed and not wanted is not counted: the watch has to show it', async () => {
    const { rig, found } = readRig();
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    await found({ revision: 9, satisfied: false, changed: true });
    expect(rig.keys()).toEqual([]);
    expect(rig.lease.stats()).toMatchObject({ evidence: 0, blocked: 1 });
    rig.edit('a', 8, true);
    await rig.clock.settle();
    expect(rig.lease.stats().blocked).toBe(1);
    rig.edit('a', 9, true);
    await rig.clock.settle();
    expect(rig.lease.stats().blocked).toBe(0);
    await found({ revision: 9, satisfied: false, changed: false });
    expect(rig.keys()).toEqual(['a']);
  });

  it.each<[string, Found, object, number]>([
    [
      'a mate wrote it',
      { revision: 30, satisfied: true, changed: true },
      { role: 'follower', blocked: 0, dropped: 1 },
      2,
    ],
    [
      'a mate wrote it before',
      { revision: 9, satisfied: true, changed: true },
      { role: 'leader', blocked: 0, dropped: 1 },
      2,
    ],
    ['an edit', { revision: 30, satisfied: false, changed: false }, { role: 'leader', blocked: 0 }, 3],
    ['a foreign value', { revision: 30, satisfied: false, changed: true }, { role: 'leader', blocked: 1 }, 2],
    ['nothing new', { revision: 3, satisfied: false, changed: false }, { role: 'leader', blocked: 1 }, 2],
    ['it is gone', undefined, { role: 'leader', blocked: 0, unchanged: 1 }, 2],
  ])('WL22 a conflict is explained by one read: %s', async (_, result, stats, attempts) => {
    const { rig, reads, found, lead } = readRig();
    await lead();
    rig.ask('a', 3);
    await rig.clock.settle();
    await rig.answer('conflict');
    expect(reads.map(({ key }) => key)).toEqual(['first', 'a']);
    await found(result);
    expect(rig.lease.stats()).toMatchObject(stats);
    expect(rig.attempts).toHaveLength(attempts);
    expect(reads).toHaveLength(2);
  });

  it('WL22, WL9 the watch is measured from a read to the event that reaches it', async () => {
    const { rig, found } = readRig();
    rig.ask('a', 3);
    await rig.clock.advance(COLD_MS);
    await found({ revision: 9, satisfied: true, changed: true });
    await rig.clock.advance(800);
    rig.mate('a', 8);
    expect(rig.lease.stats().watchLatencyMs).toBeUndefined();
    await rig.clock.advance(100);
    rig.mate('a', 9);
    expect(rig.lease.stats().watchLatencyMs).toBe(900);
  });

  it('WL22 a read that fails is no reason not to write; one that hangs neither', async () => {
    const { rig, reads } = readRig({ writeTimeoutMs: 5000 });
    rig.ask('a');
    await rig.clock.advance(COLD_MS);
    reads[0]?.reject(new Error('no'));
    await rig.clock.settle();
    expect(rig.keys()).toEqual(['a']);
    expect(rig.lease.stats()).toMatchObject({ reads: 1, readErrors: 1 });

    const hanging = readRig({ writeTimeoutMs: 5000 });
    hanging.rig.ask('a');
    await hanging.rig.clock.advance(COLD_MS + 5000);
    expect(hanging.rig.keys()).toEqual(['a']);
    expect(hanging.reads[0]?.signal.aborted).toBe(true);
  });

  it('WL22 an answer that is none is an error of the read', async () => {
    const { rig, found } = readRig();
    rig.ask('a');
    await rig.clock.advance(COLD_MS);
    await found({ revision: Number.NaN, satisfied: true, changed: true });
    expect(rig.lease.stats()).toMatchObject({ readErrors: 1, evidence: 0, attempts: 1 });
  });

  it('WL22 the watch may be faster than the read', async () => {
    const { rig, reads } = readRig();
    rig.ask('a', 3);
    rig.ask('b', 3);
    await rig.clock.advance(COLD_MS);
    const key = reads[0]?.key ?? '';
    rig.mate(key, 9);
    expect(rig.lease.stats()).toMatchObject({ evidence: 1, pending: 1 });
    reads[0]?.resolve({ revision: 9, satisfied: true, changed: true });
    await rig.clock.settle();
    expect(rig.lease.stats()).toMatchObject({ evidence: 1, reads: 0 });
  });

  it('WL16 a conflict that stays unexplained is read again after the cap', async () => {
    const { rig, reads, found, lead } = readRig();
    await lead();
    rig.ask('a', 3);
    await rig.clock.settle();
    await rig.answer('conflict');
    await found({ revision: 3, satisfied: false, changed: false });
    await rig.clock.advance(15_000);
    expect(reads).toHaveLength(3);
    await found({ revision: 3, satisfied: false, changed: false });
    expect(rig.keys()).toEqual(['first', 'a', 'a']);
  });
});
