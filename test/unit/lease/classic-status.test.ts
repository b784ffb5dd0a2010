import { describe, expect, it } from 'vitest';
import { ClassicTracker } from '../../../sim/classic-tracker.ts';
import { createClassicWriter } from '../../../sim/classic-writer.ts';
import { createClassicWriterLease } from '../../../src/lease/classic-writer-lease.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createSimulator } from '../../../src/testing/simulator.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import { ClosedError, ConflictError, LimitExceededError } from '../../../src/types/errors.ts';
import type { ClassicWriterLeaseOptions, WriteContext, WriteOutcome } from '../../../src/types/writer-lease.ts';

function rig(options: Partial<ClassicWriterLeaseOptions> = {}) {
  const clock = createVirtualClock();
  const lease = createClassicWriterLease({ strategy: 'classic', clock, random: createSeededRandom(1), ...options });
  return { clock, lease };
}

/** Writes one status as the classic writer's user does: look, ask the tracker, write, tell the tracker. */
function statusRig(stored: string | undefined, outcome: () => WriteOutcome) {
  const { clock, lease } = rig();
  const calls: string[] = [];
  const tracker = {
    isContended: () => {
      calls.push('asked');
      return false;
    },
    clear: () => void calls.push('cleared'),
  };
  const work = async (): Promise<WriteOutcome> => {
    if (stored === 'right' || tracker.isContended()) return 'unchanged';
    calls.push('wrote');
    const result = outcome();
    if (result !== 'conflict') tracker.clear();
    return result;
  };
  lease.try('k', { revision: 1, work });
  return { clock, lease, calls };
}

describe('what a status writer does with the classic lease', () => {
  it('S6, W11: a status that is right is not written, and the tracker is not asked', async () => {
    const { clock, lease, calls } = statusRig('right', () => ({ revision: 2 }));
    await clock.advance(10_000);
    expect([calls, lease.role, lease.stats().unchanged]).toEqual([[], 'election', 1]);
  });

  it('S7: a status that differs is written once, and the tracker is told', async () => {
    const { clock, lease, calls } = statusRig('wrong', () => ({ revision: 2 }));
    await clock.advance(10_000);
    expect([calls, lease.role]).toEqual([['asked', 'wrote', 'cleared'], 'leader']);
  });

  it('S8, W10a: a conflict is one attempt, the tracker is asked and not told, and the key is tried again', async () => {
    const { clock, lease, calls } = statusRig('wrong', () => 'conflict');
    await clock.settle();
    expect([calls, lease.role, lease.stats().conflicts]).toEqual([['asked', 'wrote'], 'follower', 1]);
    await clock.advance(3000);
    expect(calls).toEqual(['asked', 'wrote', 'asked', 'wrote']);
  });

  it('S9, W10b: a refusal of the server is one attempt now and one later, and its error is kept', async () => {
    const forbidden = new Error('forbidden');
    const { clock, lease, calls } = statusRig('wrong', () => {
      throw forbidden;
    });
    await clock.settle();
    expect([calls, lease.role]).toEqual([['asked', 'wrote'], 'follower']);
    expect(lease.stats().lastError).toEqual({ key: 'k', error: forbidden });
    await clock.advance(3000);
    expect(calls.length).toBe(4);
  });

  it('T9, T10, W10d: a refusal of the tracker gives the lease up without a write or a retry, but not for a new entry', async () => {
    const clock = createVirtualClock();
    const writer = createClassicWriter({ clock, random: createSeededRandom(1) }, { contentionMs: 1000 });
    const calls: string[] = [];
    const work = async ({ key }: WriteContext): Promise<WriteOutcome> => {
      calls.push(key);
      return { revision: 9 };
    };
    for (const [revision, value] of [1, 2, 3, 4, 5, 6, 7, 8].entries()) {
      writer.observe('old', { revision: revision + 1, value, wanted: 0 });
    }
    writer.try('old', { revision: 8, work, wanted: 0 });
    await clock.advance(900);
    expect([calls, writer.role]).toEqual([[], 'follower']);
    writer.try('new', { revision: 9, work, wanted: 0 });
    await clock.advance(100);
    expect([calls, writer.role]).toEqual([['new'], 'leader']);
    await writer.close();
    expect(clock.pending).toBe(0);
  });

  it('T2: the first list is no change; changes are told apart by the value', () => {
    const clock = createVirtualClock();
    const tracker = new ClassicTracker<number>({ clock, intervalMs: 1000 });
    expect(tracker.stateOf('k')).toBe(undefined);
    const writer = createClassicWriter({ clock, random: createSeededRandom(1) }, { contentionMs: 1000 });
    expect(() => writer.observe('k', { revision: 1, satisfied: true, changed: false })).toThrow(TypeError);
  });

  it('S19: three replicas that agree about ten objects make at most ten further writes in ten seconds', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const simulator = createSimulator({ replicas: 3, keys: 10, seed, writer: createClassicWriter });
      expect(await simulator.runUntilConverged(60_000)).toBe(true);
      const before = simulator.stats().attempts;
      await simulator.run(10_000);
      expect(simulator.stats().attempts - before).toBeLessThanOrEqual(10);
    }
  });
});

describe('the calls of the classic strategy', () => {
  it('W12, W13: observe with satisfied is Extend, other observations are nothing', async () => {
    const { clock, lease } = rig();
    const calls: string[] = [];
    const work = async ({ key }: WriteContext): Promise<WriteOutcome> => {
      calls.push(key);
      return 'conflict';
    };
    lease.try('a', { revision: 1, work });
    await clock.settle();
    lease.try('b', { revision: 1, work });
    lease.observe('b', { revision: 2, satisfied: false, changed: true });
    expect(lease.stats().pending).toBe(2);
    lease.observe('b', { revision: 3, value: 'x', wanted: 'x' });
    lease.observe('c', { revision: 4, satisfied: true, changed: true });
    expect([lease.stats().pending, lease.stats().evidence]).toEqual([1, 1]);
    await clock.advance(2999);
    expect(calls).toEqual(['a']);
  });

  it('a term has the revision that began it as its token, a follower has none', async () => {
    const { clock, lease } = rig();
    const tokens: unknown[] = [];
    const work = async ({ fencingToken, revision }: WriteContext): Promise<WriteOutcome> => {
      tokens.push(fencingToken);
      return { revision: revision + 10 };
    };
    lease.try('a', { revision: 1, work });
    await clock.settle();
    lease.try('b', { revision: 2, work });
    await clock.settle();
    expect([tokens, lease.fencingToken, lease.role]).toEqual([[undefined, 11], 11, 'leader']);
    lease.try('c', { revision: 3, work: () => ({ result: 'release', retry: false }) });
    await clock.settle();
    expect([lease.fencingToken, lease.role]).toEqual([undefined, 'follower']);
  });

  it('a ConflictError is a conflict, and an outcome that is none is an error', async () => {
    const { clock, lease } = rig();
    const conflict = new ConflictError('write', { key: 'a', expectedRevision: 1, actualRevision: 2 });
    lease.try('a', { revision: 1, work: () => Promise.reject(conflict) });
    await clock.settle();
    expect([lease.stats().conflicts, lease.stats().errors]).toEqual([1, 0]);
    await lease.close();
    const other = rig();
    other.lease.try('a', { revision: 1, work: async () => JSON.parse('"done"') });
    await other.clock.settle();
    expect([other.lease.stats().errors, other.lease.role]).toEqual([1, 'follower']);
  });

  it('work that does not answer in time is an unknown outcome; a later answer is counted and dropped', async () => {
    const { clock, lease } = rig({ writeTimeoutMs: 1000 });
    let answer: (outcome: WriteOutcome) => void = () => {};
    let aborted: unknown;
    lease.try('a', {
      revision: 1,
      work: ({ signal }) => {
        signal.addEventListener('abort', () => {
          aborted = signal.reason;
        });
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    await clock.advance(1000);
    expect([lease.role, lease.stats().unknownOutcomes]).toEqual(['follower', 1]);
    expect(aborted).toMatchObject({ code: 'BACKEND', maybeCommitted: true });
    answer({ revision: 2 });
    await clock.settle();
    expect([lease.role, lease.stats().lateAnswers, lease.stats().writes]).toEqual(['follower', 1, 0]);
  });

  it('wait ends with the role, with the reason of its signal, or with closed; close leaves no timer and refuses work', async () => {
    const { clock, lease } = rig();
    const reason = new Error('no time');
    await expect(lease.wait({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const waiting = lease.wait();
    lease.try('a', { revision: 1, work: () => new Promise<WriteOutcome>(() => {}) });
    await clock.settle();
    await lease.close();
    await lease.close();
    expect(await waiting).toBe('closed');
    expect(clock.pending).toBe(0);
    expect(() => lease.try('a', { revision: 1, work: () => 'unchanged' })).toThrow(ClosedError);
    const other = rig();
    other.lease.try('a', { revision: 1, work: () => ({ revision: 2 }) });
    await other.clock.settle();
    expect(await other.lease.wait()).toBe('leader');
  });

  it('expire lets a follower act at once, and keysMax is a bound', async () => {
    const { clock, lease } = rig({ keysMax: 1, baseMs: 10_000 });
    lease.try('a', { revision: 1, work: () => 'conflict' });
    await clock.settle();
    expect(() => lease.try('b', { revision: 1, work: () => 'unchanged' })).toThrow(LimitExceededError);
    expect(lease.stats().windowMs).toBe(10_000);
    lease.expire();
    expect(lease.stats().windowMs).toBe(0);
    lease.remove('a');
    expect(lease.stats().pending).toBe(0);
  });

  it('impossible options are refused with what is allowed', () => {
    const make = (options: object) => () => rig(options);
    expect(make({ leaseMs: -1 })).toThrow(/leaseMs is -1, allowed is 1 to/);
    expect(make({ leaseMs: 10, baseMs: 20 })).toThrow(/baseMs must be <= leaseMs, got baseMs 20 > leaseMs 10/);
    expect(make({ jitter: 2 })).toThrow(RangeError);
    expect(make({ steps: 1.5 })).toThrow(RangeError);
    expect(make({ keysMax: 0 })).toThrow(RangeError);
    expect(make({ retryMs: '3' })).toThrow(TypeError);
    expect(make({ capMs: 15_000 })).toThrow(/unknown option capMs/);
    expect(make({ clock: {} })).toThrow(/clock has no method now/);
    expect(make({ logger: { debug: () => {} } })).toThrow(/logger has no method info/);
    expect(make({ random: 0.5 })).toThrow(/random is of type number, allowed is a function/);
    expect(() => rig().lease.try('a', JSON.parse('{"revision":1}'))).toThrow(TypeError);
    expect(() => rig().lease.try('a', { revision: -1, work: () => 'unchanged' })).toThrow(RangeError);
  });
});
