import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import { ClassicQueue } from './classic-queue.ts';
import { type ClassicParameters, type ClassicResult, type ClassicRole, ClassicState } from './classic-state.ts';

/** What a piece of work answers: what that says about the lease, and whether the key is to be tried again (W2). */
export interface ClassicAnswer {
  readonly result: ClassicResult;
  readonly retry: boolean;
}

export type ClassicWork = (key: string) => Promise<ClassicAnswer>;

export interface ClassicLeaseOptions extends ClassicParameters {
  /** When a key that asked for it is tried again. */
  readonly retryMs: number;
  /** Keys that may be queued at a time; further ones are refused. */
  readonly keysMax: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of each answer after the state has changed. Must not throw. */
  readonly onAnswer?: (key: string, answer: ClassicAnswer, before: ClassicRole) => void;
}

/**
 * The classic writer lease: one queue, one worker, one role for all keys.
 *
 * ```text
 *   try(key, work) ----> delayed ----> ready ----> worker: a follower sleeps here until its wait is over, puts the key
 *     follower: by its wait              ^                 at the back, and goes on (Q8); otherwise runs the work
 *     others: not at all                 |                      |
 *                                        +---- retryMs ---------+  { result, retry }: result changes the role
 * ```
 *
 * - Work of one key replaces what is queued for it; what runs is finished first, and never overlaps (Q1-Q4).
 * - Work that throws counts as `release` with a retry: it never ends the worker (W10).
 * - Not promised: any bound of the wait below (number of queued keys) x `leaseMs`.
 */
export class ClassicLease {
  readonly #options: ClassicLeaseOptions;
  readonly #state: ClassicState;
  readonly #queue: ClassicQueue;
  /** The work of each key. Identity of the object is the id of Q4. */
  readonly #queued = new Map<string, { readonly work: ClassicWork }>();
  readonly #waiters = new Set<(isLeader: boolean | undefined) => void>();
  #isBusy = false;
  #cancelSleep: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ClassicLeaseOptions) {
    this.#options = options;
    this.#state = new ClassicState(options, options.random);
    this.#queue = new ClassicQueue(options.clock, () => this.#pump());
  }

  get role(): ClassicRole {
    return this.#state.role;
  }

  /** When a follower may act again, by the clock. */
  get expires(): number {
    return this.#state.expires;
  }

  get tick(): number {
    return this.#state.tick;
  }

  /** Keys with work that has not been finished. */
  get size(): number {
    return this.#queued.size;
  }

  /** Queues work; `false` when it was refused: closed, or `keysMax` other keys are queued. */
  try(key: string, work: ClassicWork): boolean {
    if (this.#isClosed || (this.#queued.size >= this.#options.keysMax && !this.#queued.has(key))) return false;
    this.#queued.set(key, { work });
    this.#queue.delay(key, this.#state.delayMs(this.#options.clock.now()));
    return true;
  }

  /** Somebody else has done what is queued for the key (W12). */
  extend(key: string): void {
    if (this.#queued.delete(key)) this.#state.foreign(this.#options.clock.now());
  }

  /** Forgets the wait (W15). Who sleeps already sleeps on. */
  expire(): void {
    this.#state.expire();
  }

  /** Drops what is queued for the key (Q7). */
  remove(key: string): void {
    this.#queued.delete(key);
  }

  has(key: string): boolean {
    return this.#queued.has(key);
  }

  /** Calls `fn` once, with whether this is the leader, as soon as the election is over (W9); with `undefined` at the close. */
  whenDecided(fn: (isLeader: boolean | undefined) => void): () => void {
    if (this.#isClosed) fn(undefined);
    else if (this.#state.role !== 'election') fn(this.#state.role === 'leader');
    else this.#waiters.add(fn);
    return () => this.#waiters.delete(fn);
  }

  /** Drops all work (Q9); what runs is not interrupted, its answer counts for nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelSleep?.();
    this.#queue.close();
    this.#queued.clear();
    this.#decide(undefined);
  }

  #pump(): void {
    while (!this.#isBusy && !this.#isClosed) {
      const key = this.#queue.take();
      if (key === undefined) return;
      const sleepMs = this.#state.waitMs(this.#options.clock.now());
      const entry = this.#queued.get(key);
      if (sleepMs > 0) this.#sleep(key, sleepMs);
      else if (entry !== undefined) void this.#run(key, entry);
    }
  }

  #sleep(key: string, sleepMs: number): void {
    this.#isBusy = true;
    this.#cancelSleep = this.#options.clock.after(sleepMs, () => {
      this.#cancelSleep = undefined;
      this.#isBusy = false;
      this.#queue.add(key);
    });
  }

  /** Never rejects. */
  async #run(key: string, entry: { readonly work: ClassicWork }): Promise<void> {
    this.#isBusy = true;
    const answer = await answerOf(key, entry.work);
    if (this.#isClosed) return;
    const before = this.#state.role;
    this.#state.apply(answer.result, this.#options.clock.now());
    this.#options.onAnswer?.(key, answer, before);
    if (answer.retry) this.#queue.delay(key, this.#options.retryMs);
    else if (this.#queued.get(key) === entry) this.#queued.delete(key);
    this.#isBusy = false;
    if (before === 'election' && this.#state.role !== 'election') this.#decide(this.#state.role === 'leader');
    this.#pump();
  }

  #decide(isLeader: boolean | undefined): void {
    for (const fn of [...this.#waiters]) {
      this.#waiters.delete(fn);
      fn(isLeader);
    }
  }
}

async function answerOf(key: string, work: ClassicWork): Promise<ClassicAnswer> {
  try {
    return await work(key);
  } catch {
    // Whoever made the work has kept the error: the adapter of `createWriterLease` does.
    return { result: 'release', retry: true };
  }
}

/** At most `retries` retries, so one call more; after that the last result counts (Q6). */
export function limitRetries(retries: number, work: ClassicWork): ClassicWork {
  let left = retries;
  return async (key) => {
    const answer = await work(key);
    if (!answer.retry || left > 0) {
      if (answer.retry) left--;
      return answer;
    }
    return { result: answer.result, retry: false };
  };
}
