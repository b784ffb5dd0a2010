import type { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { LockTimeoutError } from '../../src/types/errors.ts';
import type { AcquireOptions, HeldLock, LockMode } from '../../src/types/lock.ts';
import type { Random } from '../../src/types/random.ts';
import { LockHistory } from './lock-history.ts';
import { pathOf } from './lock-model.ts';

export type AcquireOnly = (key: string, mode: LockMode, options: AcquireOptions) => Promise<HeldLock>;

export interface ClientsOptions {
  readonly clients: number;
  /** Locks that each of them asks for. */
  readonly rounds: number;
  readonly prefixes: boolean;
  readonly random: Random;
  readonly clock: ReturnType<typeof createVirtualClock>;
}

const KEYS = ['a', 'a/b', 'a/b/c', 'e'];
const PREFIXES = ['', 'a', 'a/b'];
const STEPS_MAX = 100_000;

/**
 * Clients that acquire, hold, downgrade, release and give up, each in its own time, and what they saw. Rejects when they
 * never end: somebody waits for a lock that nobody has.
 */
export async function runClients(acquire: AcquireOnly, options: ClientsOptions): Promise<LockHistory> {
  const { clients, clock } = options;
  const history = new LockHistory();
  let left = clients;
  const failures: unknown[] = [];
  for (let client = 0; client < clients; client++) {
    runClient(client, acquire, history, options)
      .catch((error: unknown) => failures.push(error))
      .finally(() => left--);
  }
  for (let step = 0; left > 0 && failures.length === 0; step++) {
    const isMoving = await clock.advanceToNext();
    await clock.settle();
    if (step > STEPS_MAX || (!isMoving && left > 0)) throw new Error(`${left} clients wait for ever`);
  }
  if (failures.length > 0) throw failures[0];
  return history;
}

async function runClient(
  client: number,
  acquire: AcquireOnly,
  history: LockHistory,
  { rounds, prefixes, random, clock }: ClientsOptions,
): Promise<void> {
  const below = (max: number): number => Math.floor(random() * max);
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  for (let round = 0; round < rounds; round++) {
    await sleep(below(4));
    const prefix = prefixes && below(4) === 0;
    const names = prefix ? PREFIXES : KEYS;
    const key = names[below(names.length)] ?? 'a';
    const mode = below(3) === 0 ? 'write' : 'read';
    const request = { id: client * rounds + round, path: pathOf(key, prefix), prefix, mode } as const;
    const abort = new AbortController();
    if (below(4) === 0) clock.after(below(6), () => abort.abort());
    const timeout = below(4) === 0 ? { timeoutMs: 1 + below(6) } : {};
    const called = history.tick();
    let held: HeldLock;
    try {
      held = await acquire(key, mode, { prefix, signal: abort.signal, ...timeout });
    } catch (error) {
      if (error !== abort.signal.reason && !(error instanceof LockTimeoutError)) throw error;
      continue;
    }
    history.add({ client, type: 'acquire', request, called, answered: history.tick() });
    await sleep(below(4));
    if (mode === 'write' && below(3) === 0) {
      history.add({ client, type: 'downgrade', request, called: history.tick(), answered: history.tick() });
      held.downgrade();
      await sleep(below(3));
    }
    const released = history.tick();
    held.release();
    history.add({ client, type: 'release', request, called: released, answered: history.tick() });
  }
}
