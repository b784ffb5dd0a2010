import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoreLock } from '../../src/types/coordination.ts';
import { InvariantError, PlimsollError } from '../../src/types/errors.ts';
import { sized } from '../support/size.ts';
import { type ElectionWorld, openWorld, type WorldKind, type WorldProcess } from './election-world.ts';

/** What one user of the lock lived through, by the clock and by the order in which things happened. */
interface Tenure {
  readonly who: number;
  readonly token: number;
  /** Places in one order of all events. */
  readonly asked: number;
  readonly got: number;
  /** When it knew that it has it no more: it began to release it, or the signal aborted. */
  ended: number;
}

interface History {
  readonly tenures: Tenure[];
  order: number;
}

interface Program {
  readonly seed: number;
  readonly users: number;
  readonly rounds: number;
  readonly faults: number;
}

const program = fc.record({
  seed: fc.integer({ min: 1, max: 0x7fffffff }),
  users: fc.integer({ min: 2, max: 6 }),
  rounds: fc.integer({ min: 1, max: 6 }),
  faults: fc.double({ min: 0, max: 1, noNaN: true }),
});

async function use(world: ElectionWorld, history: History, who: number, { rounds }: Program): Promise<void> {
  const { random, processes, sleep } = world;
  const { store } = processes[who % processes.length] as WorldProcess;
  for (let round = 0; round < rounds; round++) {
    await sleep(random() * 50);
    const asked = history.order++;
    const abort = new AbortController();
    if (random() < 0.2) world.clock.after(random() * 200, () => abort.abort('enough'));
    const lock = await (random() < 0.2
      ? store.tryLock('m', { ttlMs: 300 })
      : store.acquireLock('m', { ttlMs: 300, timeoutMs: 20_000, signal: abort.signal })
    ).catch(tolerated);
    if (lock === undefined) continue;
    const tenure: Tenure = {
      who,
      token: lock.fencingToken,
      asked,
      got: history.order++,
      ended: Number.POSITIVE_INFINITY,
    };
    history.tenures.push(tenure);
    const end = () => {
      tenure.ended = Math.min(tenure.ended, history.order++);
    };
    lock.signal.addEventListener('abort', end);
    // Now and then for longer than the lease lives without a renewal.
    await sleep(random() * (random() < 0.3 ? 1500 : 100));
    end();
    await release(lock, sleep);
  }
}

/** Of a backend that is away, or of a caller that had enough. */
function tolerated(error: unknown): undefined {
  const isExpected = error instanceof PlimsollError && !(error instanceof InvariantError);
  if (error === 'enough' || isExpected) return undefined;
  throw error;
}

async function release(lock: StoreLock<string>, sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    try {
      return await lock.release();
    } catch (error) {
      tolerated(error);
      await sleep(50);
    }
  }
}

/** Connections end, and backends go away for longer and shorter than a lease lives. */
async function disturb(world: ElectionWorld, { faults }: Program, until: () => boolean): Promise<void> {
  while (!until()) {
    await world.sleep(20 + world.random() * 200);
    for (const { backend } of world.processes) {
      if (backend === undefined || world.random() > faults) continue;
      backend.disconnect();
      if (world.random() < 0.5) continue;
      backend.offline();
      await world.sleep(world.random() * 800);
      backend.online();
    }
  }
}

function check({ tenures }: History): void {
  const byToken = tenures.toSorted((a, b) => a.token - b.token);
  for (const [index, tenure] of byToken.entries()) {
    const next = byToken[index + 1];
    if (next === undefined) continue;
    // One at a time, and each knows of its end before the next one has it.
    expect(next.token).toBeGreaterThan(tenure.token);
    expect(tenure.ended).toBeLessThan(next.got);
  }
  // Real time: what was asked for after another one had it has a larger token.
  for (const first of tenures) {
    for (const second of tenures) if (first.got < second.asked) expect(second.token).toBeGreaterThan(first.token);
  }
}

async function run(kind: WorldKind, one: Program): Promise<void> {
  const world = await openWorld(kind, 2, one.seed);
  const history: History = { tenures: [], order: 0 };
  let isDone = false;
  const users = Array.from({ length: one.users }, (_, who) => use(world, history, who, one));
  const all = Promise.all(users).finally(() => {
    isDone = true;
  });
  await world.drive(Promise.all([all, disturb(world, one, () => isDone)]), 200_000);
  check(history);
  // Nothing is left but what a fault kept from being deleted, and that goes with its lease.
  await world.clock.advance(30_000);
  for (const { store } of world.processes) {
    expect([store.range({ prefix: 'm/' }).count, await store.leases()]).toEqual([0, []]);
  }
  await world.close();
  expect(world.clock.pending).toBe(0);
}

describe.each<WorldKind>(['embedded store', 'replicas'])('R46, R47: histories of locks in %s', (kind) => {
  it('are those of one lock: one owner at a time, tokens in real-time order, nobody forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(program, (one) => run(kind, one)),
      { numRuns: sized({ smoke: 60, full: 1000 }), interruptAfterTimeLimit: sized({ smoke: 20_000, full: 300_000 }) },
    );
  });
});
