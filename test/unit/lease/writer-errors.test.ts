import { describe, expect, it } from 'vitest';
import { BackendError } from '../../../src/types/errors.ts';
import { COLD_MS, LOW_MS, writerRig } from './writer-rig.ts';

describe('a write error', () => {
  it('WL18 parks its key with backoff and goes on with the next one', async () => {
    const rig = writerRig();
    await rig.lead(10);
    for (const key of ['bad', 'b', 'c']) rig.ask(key);
    await rig.clock.settle();
    const refused = new Error('refused');
    await rig.fail(refused);
    expect(rig.keys()).toEqual(['first', 'bad', 'b']);
    expect(rig.lease.stats()).toMatchObject({ errors: 1, parked: 1, lastError: { key: 'bad', error: refused } });
    expect(rig.lines).toContain('a write failed');
    await rig.answer({ revision: 11 });
    await rig.answer({ revision: 12 });
    const retries: number[] = [];
    for (let count = 0; count < 6; count++) {
      const before = rig.clock.now();
      const { length } = rig.attempts;
      while (rig.attempts.length === length) await rig.clock.advance(1);
      retries.push(rig.clock.now() - before);
      await rig.fail();
    }
    expect(retries).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000]);
  });

  it('WL18 one key that always fails does not end a term', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('bad');
    for (let count = 0; count < 5; count++) {
      await rig.clock.advance(15_000);
      await rig.fail();
    }
    expect(rig.lease.role).toBe('leader');
    rig.ask('good');
    await rig.clock.settle();
    expect(rig.keys().at(-1)).toBe('good');
  });

  it.each([
    [2, 'leader'],
    [3, 'follower'],
  ])('WL14, WL18 %i failed keys in a row: %s', async (count, role) => {
    const rig = writerRig();
    await rig.lead(10);
    for (let index = 0; index < count; index++) rig.ask(`k${index}`);
    await rig.clock.settle();
    for (let index = 0; index < count; index++) await rig.fail();
    expect(rig.lease.role).toBe(role);
  });

  it('WL18 a success between begins the count anew', async () => {
    const rig = writerRig();
    await rig.lead(10);
    for (let index = 0; index < 5; index++) rig.ask(`k${index}`);
    await rig.clock.settle();
    await rig.fail();
    await rig.fail();
    await rig.answer({ revision: 11 });
    await rig.fail();
    await rig.fail();
    expect(rig.lease.role).toBe('leader');
  });

  it('WL18 a candidate whose probe failed tries the next key at once, three in all', async () => {
    const rig = writerRig();
    for (let index = 0; index < 5; index++) rig.ask(`k${index}`);
    await rig.clock.advance(COLD_MS);
    for (let index = 0; index < 3; index++) await rig.fail();
    expect(new Set(rig.keys()).size).toBe(3);
    expect(rig.clock.now()).toBe(COLD_MS);
    expect(rig.lease.stats().losses).toBe(0);
    await rig.clock.advance(LOW_MS - 1);
    expect(rig.attempts).toHaveLength(3);
    await rig.clock.advance(1);
    expect(rig.attempts).toHaveLength(4);
  });

  it('WL18 a work function that throws at once, or answers nonsense, is one that fails', async () => {
    const rig = writerRig();
    await rig.lead(10);
    const work = (): never => {
      throw new Error('at once');
    };
    rig.lease.try('a', { revision: 1, work });
    await rig.clock.settle();
    rig.ask('b');
    await rig.clock.settle();
    await rig.answer({ revision: Number.NaN });
    expect(rig.lease.stats()).toMatchObject({ errors: 2, parked: 2 });
    expect(String(rig.lease.stats().lastError?.error)).toMatch(/Cannot use the outcome of a write of b/);
  });

  it('WL18 nothing to change: the wish is dropped, and no state changes', async () => {
    const rig = writerRig();
    rig.ask('a');
    rig.ask('b');
    await rig.clock.advance(COLD_MS);
    await rig.answer('unchanged');
    expect(rig.lease.role).toBe('follower');
    expect(rig.attempts).toHaveLength(2);
    await rig.answer('unchanged');
    expect(rig.lease.stats()).toMatchObject({ pending: 0, unchanged: 2, takeovers: 0 });
    expect(rig.clock.pending).toBe(0);
  });
});

describe('observations of a key that is being written', () => {
  it('WL19 are held back, and those up to the own write are mine', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 3);
    await rig.clock.settle();
    rig.mate('a', 20);
    expect(rig.lease.stats().evidence).toBe(0);
    await rig.answer({ revision: 20 });
    expect(rig.lease.role).toBe('leader');
    expect(rig.lease.stats()).toMatchObject({ evidence: 0, losses: 0, watchLatencyMs: 0 });
  });

  it('WL19 a newer one counts after the answer', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 3);
    await rig.clock.settle();
    rig.mate('a', 20);
    rig.mate('a', 21);
    await rig.answer({ revision: 20 });
    expect(rig.lease.role).toBe('follower');
    expect(rig.lease.stats().evidence).toBe(1);
  });

  it('WL19 explain a conflict when it comes', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 3);
    await rig.clock.settle();
    rig.mate('a', 20);
    await rig.answer('conflict');
    expect(rig.lease.stats()).toMatchObject({ blocked: 0, pending: 0, dropped: 1 });
    expect(rig.lease.role).toBe('follower');
  });

  it('WL19 are bounded: of a thousand the newest stays, and that something changed', async () => {
    const rig = writerRig();
    await rig.lead(10);
    rig.ask('a', 3);
    await rig.clock.settle();
    for (let revision = 20; revision < 1020; revision++) rig.edit('a', revision, revision < 100);
    rig.lease.observe('a', { revision: 1020, satisfied: true, changed: false });
    await rig.answer('conflict');
    expect(rig.lease.role).toBe('follower');
    expect(rig.lease.stats()).toMatchObject({ evidence: 1, blocked: 0, dropped: 1 });
  });
});

describe('a write without an answer', () => {
  it('WL20 is over after its time, its signal aborted, and counts as an error', async () => {
    const rig = writerRig({ writeTimeoutMs: 5000 });
    await rig.lead(10);
    rig.ask('a');
    rig.ask('b');
    await rig.clock.settle();
    const signal = rig.attempts[1]?.context.signal;
    await rig.clock.advance(4999);
    expect(signal?.aborted).toBe(false);
    await rig.clock.advance(1);
    expect(signal?.reason).toBeInstanceOf(BackendError);
    expect(rig.lease.stats()).toMatchObject({ unknownOutcomes: 1, errors: 1, parked: 1 });
    expect(rig.keys()).toEqual(['first', 'a', 'b']);
  });

  it('WL20 the tried value seen next is neither evidence nor a success', async () => {
    const rig = writerRig({ writeTimeoutMs: 5000 });
    await rig.lead(10);
    rig.ask('a');
    await rig.clock.advance(5000);
    rig.mate('a', 30);
    expect(rig.lease.role).toBe('leader');
    expect(rig.lease.stats()).toMatchObject({ evidence: 0, writes: 1, parked: 0, pending: 0, dropped: 1 });
    rig.mate('a', 31);
    expect(rig.lease.role).toBe('follower');
  });

  it('WL20 something else seen next leaves it parked, and what comes after counts again', async () => {
    const rig = writerRig({ writeTimeoutMs: 5000 });
    await rig.lead(10);
    rig.ask('a');
    await rig.clock.advance(5000);
    rig.edit('a', 30);
    expect(rig.lease.stats().parked).toBe(1);
    rig.mate('a', 31);
    expect(rig.lease.role).toBe('follower');
  });

  it('WL20 an answer that comes too late tells whose the revision was', async () => {
    const rig = writerRig({ writeTimeoutMs: 5000 });
    await rig.lead(10);
    rig.ask('a');
    await rig.clock.advance(5500);
    await rig.answer({ revision: 30 });
    rig.mate('a', 30);
    await rig.clock.advance(60_000);
    expect(rig.lease.role).toBe('leader');
    expect(rig.lease.stats()).toMatchObject({ lateAnswers: 1, evidence: 0, writes: 1, parked: 0, attempts: 2 });
  });
});

describe('stale observations', () => {
  it('WL21 one that is not newer than the view does nothing at all', async () => {
    const rig = writerRig();
    rig.edit('a', 20);
    rig.ask('a', 20);
    rig.mate('a', 20);
    rig.mate('a', 7);
    expect(rig.lease.stats()).toMatchObject({ pending: 1, evidence: 0, stale: 2 });
  });

  it('WL21 one that is older than what the work was made from does not drop it', () => {
    const rig = writerRig();
    rig.ask('a', 20);
    rig.mate('a', 19);
    expect(rig.lease.stats()).toMatchObject({ pending: 1, evidence: 1 });
    rig.mate('a', 20);
    expect(rig.lease.stats().pending).toBe(0);
  });

  it('WL21 work made from an older view than the one that was right is not queued, unless it wants another value', () => {
    const rig = writerRig();
    rig.lease.observe('a', { revision: 20, value: 'x', wanted: 'x' });
    rig.ask('c', 5, { wanted: 'x' });
    rig.mate('c', 20);
    expect(rig.ask('c', 19, { wanted: 'x' })).toBe(false);
    expect(rig.ask('c', 19, { wanted: 'y' })).toBe(true);
    expect(rig.ask('a', 19, { wanted: 'x' })).toBe(false);
    expect(rig.ask('a', 19, { wanted: 'y' })).toBe(true);
    rig.mate('b', 20);
    expect(rig.ask('b', 19)).toBe(false);
    expect(rig.ask('b', 20)).toBe(true);
  });

  it('WL21 an edit of before, shown after an own write, asks for nothing that is not there already', async () => {
    const rig = writerRig();
    rig.ask('a', 3, { wanted: 'x' });
    await rig.clock.advance(250);
    await rig.answer({ revision: 20 });
    rig.lease.observe('a', { revision: 15, value: 'x', wanted: 'x' });
    expect(rig.ask('a', 15, { wanted: 'x' })).toBe(false);
    expect(rig.ask('a', 15, { wanted: 'y' })).toBe(true);
  });

  it('WL21 a new wish after an own write is never taken for a stale one', async () => {
    const rig = writerRig();
    await rig.lead(10);
    expect(rig.ask('first', 1)).toBe(true);
    await rig.clock.settle();
    expect(rig.attempts[1]?.context.revision).toBe(10);
  });
});
