import { describe, expect, it } from 'vitest';
import type { StoreLock } from '../../src/types/coordination.ts';
import { SessionExpiredError } from '../../src/types/errors.ts';
import { sized, testSeed } from '../support/size.ts';
import { type ElectionWorld, judge, openWorld, type WorldKind, type WorldProcess } from './election-world.ts';

/**
 * Processes that are stopped for longer than their lease lives, while they believe that they hold the lock, and then write
 * as if nothing had been. Fenced, none of these writes may be accepted; not fenced, some are, or the test proves nothing.
 */
const ATTEMPTS = sized({ smoke: 10_000, full: 60_000 });
const TTL_MS = 100;
const BURST = 50;

interface Count {
  attempts: number;
  refused: number;
  stops: number;
}

async function work(world: ElectionWorld, process: WorldProcess, isFenced: boolean, count: Count): Promise<void> {
  const { random, sleep } = world;
  const { store } = process;
  while (count.attempts < ATTEMPTS) {
    const renewing = new AbortController();
    const lease = await store.grantLease({ ttlMs: TTL_MS, keepAlive: true, signal: renewing.signal });
    const lock = await store.acquireLock('m', { lease }).catch(unlessExpired);
    if (lock !== undefined) {
      await sleep(random() * 20);
      // What it does depends on what it sees now: that the lock is held.
      if (!lock.signal.aborted) {
        const isStopped = random() < 0.8;
        if (isStopped) {
          count.stops++;
          renewing.abort();
          process.stop();
          await sleep(TTL_MS * (1.2 + random() * 3));
        }
        const writes = Array.from({ length: BURST }, () => write(process, lock, isFenced, count));
        process.goOn();
        await Promise.all(writes);
      }
      await lock.release();
    }
    renewing.abort();
    await sleep(random() * 30);
  }
}

/** While it waited; it tries again with another lease. */
function unlessExpired(error: unknown): undefined {
  if (!(error instanceof SessionExpiredError)) throw error;
  return undefined;
}

async function write(process: WorldProcess, lock: StoreLock<string>, isFenced: boolean, count: Count): Promise<void> {
  count.attempts++;
  const put = { type: 'put', key: 'data', value: String(lock.fencingToken) } as const;
  if (!isFenced) {
    await process.store.put(put.key, put.value);
    return;
  }
  // `guard` and not `lock.txn`, which would know better for those who have heard of their loss.
  const { succeeded } = await process.store.txn(lock.guard({ then: [put] }));
  if (!succeeded) count.refused++;
}

async function run(kind: WorldKind, isFenced: boolean) {
  const world = await openWorld(kind, 4, testSeed());
  const count: Count = { attempts: 0, refused: 0, stops: 0 };
  const all = Promise.all(world.processes.map((process) => work(world, process, isFenced, count)));
  await world.drive(all, 10_000_000);
  await world.clock.advance(1000);
  const verdict = judge(world.commits, 'm', 'data');
  await world.close();
  expect(world.clock.pending).toBe(0);
  return { ...count, ...verdict };
}

describe.each<WorldKind>(['embedded store', 'replicas'])(
  'R47, R51: processes that are stopped for longer than their TTL, %s',
  (kind) => {
    it('with fencing no stale write is accepted', async () => {
      const { attempts, refused, accepted, stale, stops } = await run(kind, true);
      expect(stale).toBe(0);
      expect(attempts).toBeGreaterThanOrEqual(10_000);
      expect(accepted + refused).toBe(attempts);
      // It bites, and something gets through.
      expect(refused).toBeGreaterThan(attempts / 10);
      expect([accepted > 0, stops > 50]).toEqual([true, true]);
    });

    it('without it some are', async () => {
      const { attempts, accepted, stale } = await run(kind, false);
      expect(accepted).toBe(attempts);
      expect(stale).toBeGreaterThan(attempts / 10);
    });
  },
);
