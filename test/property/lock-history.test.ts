import { describe, expect, it } from 'vitest';
import { createKeyedLock } from '../../src/lock/keyed-lock.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import type { HeldLock, KeyedLock, LockMode } from '../../src/types/lock.ts';
import { reproduce, testSeed } from '../support/size.ts';
import { type AcquireOnly, runClients } from './lock-clients.ts';
import { isLinearizable, type LockCall, LockHistory, overtakenMax } from './lock-history.ts';
import { lockRuns } from './lock-program.ts';

const RUNS = lockRuns({ smoke: 60, full: 2_000 });
const CLIENTS = { clients: 6, rounds: 6 };

async function history(seed: number, prefixes: boolean, makeAcquire: (locks: KeyedLock) => AcquireOnly) {
  const clock = createVirtualClock();
  const locks = createKeyedLock({ clock });
  const recorded = await runClients(makeAcquire(locks), {
    ...CLIENTS,
    prefixes,
    random: createSeededRandom(seed),
    clock,
  });
  return { calls: recorded.calls, stats: locks.stats(), timers: clock.pending };
}

const own =
  (locks: KeyedLock): AcquireOnly =>
  (key, mode, options) =>
    locks.acquire(key, mode, options);

describe('histories of clients with random pauses, aborts and timeouts', () => {
  it.each([false, true])(
    `L1 L2 are linearizable, and nobody is overtaken (${RUNS} histories, prefixes: %s)`,
    async (prefixes) => {
      let contended = 0;
      let cancelled = 0;
      for (let run = 0; run < RUNS; run++) {
        const { calls, stats } = await history(testSeed() + run, prefixes, own);
        expect(isLinearizable(calls), `history ${run}; ${reproduce('property')}`).toBe(true);
        expect(overtakenMax(calls), `history ${run}; ${reproduce('property')}`).toBe(0);
        expect([stats.held, stats.waiting]).toEqual([0, 0]);
        contended += stats.read.contended + stats.write.contended;
        cancelled += stats.read.cancelled + stats.write.cancelled;
      }
      // A test of locks that nobody waits for would show nothing.
      expect(contended / RUNS).toBeGreaterThan(4);
      expect(cancelled / RUNS).toBeGreaterThan(0.5);
    },
  );
});

describe('the checks of histories', () => {
  it('find a lock that lets a writer in beside readers', async () => {
    const lax =
      (locks: KeyedLock): AcquireOnly =>
      (key, _mode, options) =>
        laxly(locks.acquire(key, 'read', options));
    const found: boolean[] = [];
    for (let run = 0; run < 20; run++) found.push(isLinearizable((await history(run, false, lax)).calls));
    expect(found).toContain(false);
  });

  it('find a lock whose readers pass waiting writers', async () => {
    const counts: number[] = [];
    for (let run = 0; run < 20; run++) {
      const { calls } = await history(run, false, () => preferringReaders());
      expect(isLinearizable(calls)).toBe(true);
      counts.push(overtakenMax(calls));
    }
    expect(Math.max(...counts)).toBeGreaterThan(0);
  });

  it('find clients that wait for ever', async () => {
    const clock = createVirtualClock();
    const never: AcquireOnly = () => new Promise<HeldLock>(() => {});
    const random = createSeededRandom(1);
    await expect(runClients(never, { ...CLIENTS, prefixes: false, random, clock })).rejects.toThrow('wait for ever');
  });

  it('know an order that real time forbids', () => {
    const request = (id: number, mode: LockMode) => ({ id, path: ['a'], prefix: false, mode });
    const call = (type: LockCall['type'], id: number, called: number, answered: number): LockCall => ({
      client: id,
      type,
      request: request(id, 'write'),
      called,
      answered,
    });
    const waits = [
      call('acquire', 1, 1, 2),
      call('acquire', 2, 3, 6),
      call('release', 1, 4, 5),
      call('release', 2, 7, 8),
    ];
    expect(isLinearizable(waits)).toBe(true);
    const both = [
      call('acquire', 1, 1, 2),
      call('acquire', 2, 3, 4),
      call('release', 1, 5, 6),
      call('release', 2, 7, 8),
    ];
    expect(isLinearizable(both)).toBe(false);
    expect(new LockHistory().tick()).toBe(1);
  });
});

/** A reader that says it writes. */
async function laxly(acquired: Promise<HeldLock>): Promise<HeldLock> {
  const held = await acquired;
  return {
    key: held.key,
    prefix: held.prefix,
    mode: 'write',
    release: () => held.release(),
    downgrade: () => {},
    [Symbol.dispose]: () => held.release(),
  };
}

/** The lock that L1 is there to exclude: readers enter whenever readers hold. */
function preferringReaders(): AcquireOnly {
  const waiting: { readonly key: string; readonly mode: LockMode; readonly resolve: () => void }[] = [];
  const held = new Map<string, { readers: number; writers: number }>();
  const stateOf = (key: string) => held.get(key) ?? { readers: 0, writers: 0 };
  const enter = (key: string, mode: LockMode): boolean => {
    const state = stateOf(key);
    if (state.writers > 0 || (mode === 'write' && state.readers > 0)) return false;
    held.set(key, mode === 'write' ? { ...state, writers: 1 } : { ...state, readers: state.readers + 1 });
    return true;
  };
  const leave = (key: string, mode: LockMode): void => {
    const state = stateOf(key);
    held.set(key, mode === 'write' ? { ...state, writers: 0 } : { ...state, readers: state.readers - 1 });
    for (const waiter of [...waiting]) {
      if (!enter(waiter.key, waiter.mode)) continue;
      waiting.splice(waiting.indexOf(waiter), 1);
      waiter.resolve();
    }
  };
  return async (key, asked) => {
    let mode = asked;
    if (!enter(key, mode)) await new Promise<void>((resolve) => waiting.push({ key, mode: asked, resolve }));
    const release = (): void => leave(key, mode);
    const downgrade = (): void => {
      held.set(key, { readers: 1, writers: 0 });
      mode = 'read';
    };
    return { key, prefix: false, mode, release, downgrade, [Symbol.dispose]: release };
  };
}
