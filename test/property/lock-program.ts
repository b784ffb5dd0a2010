import fc from 'fast-check';
import { expect } from 'vitest';
import { Locks } from '../../src/lock/keyed-lock.ts';
import { resolveLockOptions } from '../../src/lock/keyed-options.ts';
import { LockTable } from '../../src/lock/lock-table.ts';
import { LockTree } from '../../src/lock/lock-tree.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import { LockTimeoutError } from '../../src/types/errors.ts';
import type { HeldLock, KeyedLock, LockMode } from '../../src/types/lock.ts';
import { sized } from '../support/size.ts';
import { conflict, LockModel, type ModelRequest, pathOf } from './lock-model.ts';

/** What one step does; `pick` chooses among those to whom it can be done. */
export type LockStep =
  | AskStep
  | { readonly type: 'release' | 'abort' | 'downgrade' | 'again'; readonly pick: number }
  | { readonly type: 'advance'; readonly ms: number };

interface AskStep {
  readonly type: 'acquire' | 'try';
  readonly target: Target;
  readonly mode: LockMode;
  readonly timeoutMs: number;
}

interface Target {
  readonly key: string;
  readonly prefix: boolean;
}

export interface LockProgram {
  readonly steps: readonly LockStep[];
  readonly idleKeysMax: number;
}

/** Few keys, so that they meet: a deep one with its ancestors, siblings, and one that begins with a slash. */
const KEYS = ['a', 'a/b', 'a/b/c', 'a/d', 'ab', 'e', '/a', 'a/'].map((key) => ({ key, prefix: false }));
const PREFIXES = ['', '/', 'a', 'a/', 'a/b', 'a/b/c', 'e', '/a'].map((key) => ({ key, prefix: true }));

const target = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.constantFrom(...PREFIXES) },
);
const mode = fc.constantFrom<LockMode>('read', 'read', 'write');
/** 0 is without. */
const timeoutMs = fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 20 }));
const pick = fc.nat({ max: 1000 });

const step: fc.Arbitrary<LockStep> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('acquire' as const), target, mode, timeoutMs }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('try' as const), target, mode, timeoutMs: fc.constant(0) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('release' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('abort' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('downgrade' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('again' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 15 }) }) },
);

export const lockProgram: fc.Arbitrary<LockProgram> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }),
  idleKeysMax: fc.constantFrom(0, 0, 2, 1000),
});

/** Runs of a property, or as many as `npm run test:locks -- --runs N` asks for. */
export function lockRuns(sizes: { readonly smoke: number; readonly full: number }): number {
  const asked = process.env.PLIMSOLL_TEST_RUNS;
  return asked === undefined ? sized(sizes) : Number(asked);
}

type Outcome = { readonly held: HeldLock } | { readonly error: unknown } | undefined;

interface Client {
  readonly id: number;
  readonly request: ModelRequest;
  readonly abort: AbortController;
  readonly deadline: number;
  outcome: Outcome;
  released: boolean;
}

export const ABORTED: Error = new Error('aborted by the program');

/** A lock beside its model: after each step the same requests hold, and nobody else. */
export class LockRun {
  readonly tree: LockTree;
  readonly locks: KeyedLock;
  readonly clock: VirtualClock = createVirtualClock();
  readonly #model = new LockModel();
  readonly #clients: Client[] = [];

  constructor(idleKeysMax: number, makeLocks: (tree: LockTree, table: LockTable) => KeyedLock = makeUnchanged) {
    const options = resolveLockOptions({ clock: this.clock, idleKeysMax, holdTimes: true });
    this.tree = new LockTree(idleKeysMax);
    this.locks = makeLocks(this.tree, new LockTable(this.tree, options));
  }

  async step(one: LockStep): Promise<void> {
    if (one.type === 'advance') await this.#advance(one.ms);
    else if ('target' in one) this.#ask(one);
    else this.#change(one.type, one.pick);
    await outcomes();
    this.#compare();
  }

  /** Everybody who holds lets go, again and again, until nobody is left: no wake-up may have been lost. */
  async finish(): Promise<void> {
    while (this.#model.requests.length > 0) {
      const before = this.#model.requests.length;
      await this.step({ type: 'release', pick: before * 7 });
      if (this.#model.requests.length === before) throw new Error('nobody holds, but somebody waits');
    }
    const { held, waiting, keys } = this.locks.stats();
    expect({ held, waiting, keys, timers: this.clock.pending }).toEqual({ held: 0, waiting: 0, keys: 0, timers: 0 });
  }

  #ask(one: AskStep): void {
    if (one.type === 'try') this.#try(one);
    else this.#acquire(one);
  }

  #acquire({ target: { key, prefix }, mode: asked, timeoutMs: ms }: AskStep): void {
    const client = this.#client({ key, prefix }, asked, ms === 0 ? Number.POSITIVE_INFINITY : this.clock.now() + ms);
    const { signal } = client.abort;
    const acquired = this.locks.acquire(key, asked, { prefix, signal, ...(ms === 0 ? {} : { timeoutMs: ms }) });
    acquired.then(
      (held) => {
        client.outcome = { held };
      },
      (error: unknown) => {
        client.outcome = { error };
      },
    );
    this.#model.add(client.request);
  }

  #try({ target: { key, prefix }, mode: asked }: AskStep): void {
    const client = this.#client({ key, prefix }, asked, Number.POSITIVE_INFINITY);
    const isFree = this.#model.isFree(client.request);
    const held = this.locks.tryAcquire(key, asked, { prefix });
    expect(held !== undefined, `tryAcquire of ${key}`).toBe(isFree);
    if (held === undefined) {
      this.#clients.pop();
      return;
    }
    client.outcome = { held };
    this.#model.add(client.request);
  }

  #change(type: 'release' | 'abort' | 'downgrade' | 'again', choice: number): void {
    const isHeld = new Set(this.#model.held());
    const there = new Set(this.#model.requests.map(({ id }) => id));
    const able = this.#clients.filter((client) => {
      if (type === 'again') return client.released;
      if (type === 'abort') return there.has(client.id);
      return isHeld.has(client.id) && (type === 'release' || client.request.mode === 'write');
    });
    const client = able[choice % Math.max(1, able.length)];
    if (client === undefined) return;
    if (type === 'abort') {
      client.abort.abort(ABORTED);
      // One that holds does not hear of it.
      if (!isHeld.has(client.id)) this.#model.remove(client.id);
      return;
    }
    const held = heldOf(client);
    if (type === 'downgrade') {
      held.downgrade();
      this.#model.downgrade(client.id);
      expect(held.mode).toBe('read');
      return;
    }
    held.release();
    client.released = true;
    this.#model.remove(client.id);
  }

  /** Timeouts come one by one, and each may let somebody in who is then no longer waiting. */
  async #advance(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (;;) {
      const isHeld = new Set(this.#model.held());
      const waiting = this.#model.requests.filter(({ id }) => !isHeld.has(id));
      const due = waiting
        .map(({ id }) => this.#clients.find((client) => client.id === id))
        .filter((client) => client !== undefined && client.deadline <= end)
        .sort((left, right) => (left?.deadline ?? 0) - (right?.deadline ?? 0))[0];
      if (due === undefined) break;
      this.#model.remove(due.id);
    }
    await this.clock.advance(ms);
  }

  #client({ key, prefix }: Target, asked: LockMode, deadline: number): Client {
    const id = (this.#clients.at(-1)?.id ?? 0) + 1;
    const request = { id, path: pathOf(key, prefix), prefix, mode: asked };
    const client = { id, request, abort: new AbortController(), deadline, outcome: undefined, released: false };
    this.#clients.push(client);
    return client;
  }

  /** Thrown, not `expect`ed: there are millions of these comparisons. */
  #compare(): void {
    const there = new Set(this.#model.requests.map(({ id }) => id));
    const holding = this.#clients.filter((client) => !client.released && isHolding(client));
    const ids = holding.map(({ id }) => id).join(' ');
    const expected = this.#model.held().join(' ');
    if (ids !== expected) throw new Error(`requests ${ids} hold their locks, it should be ${expected}`);
    // Said again without the model: nobody in conflict holds at the same time.
    for (const [place, one] of holding.entries()) {
      const rival = holding.slice(0, place).find((other) => conflict(one.request, other.request));
      if (rival !== undefined) throw new Error(`requests ${rival.id} and ${one.id} hold in conflict`);
    }
    for (const { id, outcome } of this.#clients) {
      if (outcome === undefined && !there.has(id)) throw new Error(`request ${id} has heard nothing of its end`);
      if (outcome === undefined || 'held' in outcome || outcome.error === ABORTED) continue;
      if (!(outcome.error instanceof LockTimeoutError)) throw outcome.error;
    }
    const { held, waiting } = this.locks.stats();
    if (held !== holding.length || waiting !== there.size - held) {
      throw new Error(`statistics say ${held} held and ${waiting} waiting of ${there.size}, ${holding.length} hold`);
    }
  }
}

function isHolding({ outcome }: Client): boolean {
  return outcome !== undefined && 'held' in outcome;
}

/** Lets what was granted or refused arrive: more turns than a promise of the lock needs. */
async function outcomes(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await undefined;
}

function makeUnchanged(tree: LockTree, table: LockTable): KeyedLock {
  return new Locks(tree, table);
}

function heldOf({ id, outcome }: Client): HeldLock {
  if (outcome === undefined || !('held' in outcome)) throw new Error(`request ${id} has to hold its lock`);
  return outcome.held;
}

export async function runLockProgram(
  { steps, idleKeysMax }: LockProgram,
  makeLocks?: (tree: LockTree, table: LockTable) => KeyedLock,
): Promise<LockRun> {
  const run = new LockRun(idleKeysMax, makeLocks);
  for (const one of steps) await run.step(one);
  await run.finish();
  return run;
}
