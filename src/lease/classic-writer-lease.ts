import { GuardedLogger } from '../system/guarded-logger.ts';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { checkInteger } from '../types/check-integer.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, ConflictError, LimitExceededError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import type { SignalOptions } from '../types/signal.ts';
import { untilAborted } from '../types/until-aborted.ts';
import type {
  ClassicOutcome,
  ClassicWriterLease,
  ClassicWriterLeaseOptions,
  Observation,
  WaitResult,
  WriteOutcome,
  WriterTry,
} from '../types/writer-lease.ts';
import { type ClassicAnswer, ClassicLease } from './classic-lease.ts';
import { resolveClassicOptions } from './classic-options.ts';
import type { ClassicRole } from './classic-state.ts';
import { ClassicCounts } from './classic-stats.ts';
import { untilTimeout } from './classic-timeout.ts';
import { checkKey, checkWait, checkWork } from './writer-checks.ts';

type Outcome = WriteOutcome | ClassicOutcome;
type Try = WriterTry<unknown, Outcome>;

const RESULTS: ReadonlySet<unknown> = new Set(['none', 'extend', 'release']);

/**
 * The classic strategy of `createWriterLease` (W1-W16, Q1-Q9): what the default is compared with, in the same calls.
 *
 * | outcome of the work | answer (W10, W11) |
 * |---|---|
 * | `{ revision }` | extend |
 * | `'conflict'`, a ConflictError, any other throw, no answer in time | release, tried again after `retryMs` |
 * | `'unchanged'` | none |
 * | `{ result, retry }` | as it says |
 *
 * `observe` with `satisfied` is Extend (W12): it drops the key's work, whatever revision that was made from, and a
 * follower waits longer for it. Other observations do nothing. `expire` forgets the wait (W15).
 *
 * Throws TypeError and RangeError for options that cannot be.
 */
export function createClassicWriterLease(options: ClassicWriterLeaseOptions): ClassicWriterLease {
  return new ClassicAdapter(options);
}

class ClassicAdapter implements ClassicWriterLease {
  readonly #clock: Clock;
  readonly #logger: GuardedLogger;
  readonly #lease: ClassicLease;
  readonly #counts: ClassicCounts;
  readonly #writeTimeoutMs: number;
  readonly #keysMax: number;
  readonly #end = new AbortController();
  #fencingToken: Revision | undefined;

  constructor(options: ClassicWriterLeaseOptions) {
    const { writeTimeoutMs, keysMax, ...numbers } = resolveClassicOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.#logger = new GuardedLogger(options.logger);
    this.#counts = new ClassicCounts(this.#clock.now());
    this.#writeTimeoutMs = writeTimeoutMs;
    this.#keysMax = keysMax;
    const seams = { clock: this.#clock, random: options.random ?? systemRandom };
    this.#lease = new ClassicLease({
      ...numbers,
      ...seams,
      keysMax,
      onAnswer: (key, answer) => this.#answered(key, answer),
    });
  }

  get role(): ClassicRole {
    return this.#lease.role;
  }

  get fencingToken(): Revision | undefined {
    return this.#lease.role === 'leader' ? this.#fencingToken : undefined;
  }

  try(key: string, request: Try): boolean {
    checkKey('try a key', key);
    checkWork('try a key', request?.work);
    checkInteger('the revision', request.revision, 'try a key', 0);
    if (this.#end.signal.aborted) throw new ClosedError('try a key');
    const isNew = !this.#lease.has(key);
    if (!this.#lease.try(key, () => this.#work(key, request))) {
      const facts = { limit: 'keysMax', max: this.#keysMax, actual: this.#lease.size + 1 };
      throw new LimitExceededError('try a key', facts);
    }
    if (isNew) this.#counts.wanted(key, this.#clock.now());
    else this.#counts.coalesced++;
    return true;
  }

  observe(key: string, observation: Observation<unknown>): void {
    checkKey('observe a key', key);
    checkInteger('the revision', observation?.revision, 'observe a key', 0);
    const isRight =
      'satisfied' in observation ? observation.satisfied : Object.is(observation.value, observation.wanted);
    if (!isRight || !this.#lease.has(key)) return;
    this.#lease.extend(key);
    this.#counts.evidence++;
    this.#counts.dropped++;
    this.#counts.settled(key, this.#clock.now(), true);
  }

  remove(key: string): void {
    this.#lease.remove(key);
    this.#counts.settled(key, this.#clock.now(), false);
  }

  expire(): void {
    this.#lease.expire();
  }

  async wait(options: SignalOptions = {}): Promise<WaitResult> {
    const signal = checkWait(options);
    let forget: () => void = () => {};
    const decided = (): Promise<WaitResult> =>
      new Promise((resolve) => {
        forget = this.#lease.whenDecided((isLeader) => {
          resolve(isLeader === undefined ? 'closed' : isLeader ? 'leader' : 'follower');
        });
      });
    try {
      return await untilAborted(decided, [signal]);
    } finally {
      forget();
    }
  }

  stats(): ReturnType<ClassicWriterLease['stats']> {
    return this.#counts.snapshot(this.#clock.now(), this.#lease.size, this.#lease.expires);
  }

  async close(): Promise<void> {
    if (this.#end.signal.aborted) return;
    this.#lease.close();
    this.#counts.forgetAll();
    this.#end.abort(new ClosedError('write'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #work(key: string, { revision, work }: Try): Promise<ClassicAnswer> {
    this.#counts.attempts++;
    const context = { key, revision, fencingToken: this.fencingToken };
    try {
      const start = (signal: AbortSignal) => work({ ...context, signal });
      const outcome = await untilTimeout(start, this.#writeTimeoutMs, this.#clock, this.#end.signal, this.#counts);
      return this.#answerTo(outcome);
    } catch (error) {
      return this.#failed(key, error);
    }
  }

  #answerTo(outcome: Outcome): ClassicAnswer {
    if (outcome === 'conflict') {
      this.#counts.conflicts++;
      return { result: 'release', retry: true };
    }
    if (outcome === 'unchanged') {
      this.#counts.unchanged++;
      return { result: 'none', retry: false };
    }
    if (typeof outcome === 'object' && outcome !== null && 'revision' in outcome) {
      checkInteger('the revision of the outcome', outcome.revision, 'take an outcome', 0);
      this.#counts.writes++;
      if (this.#lease.role !== 'leader') this.#fencingToken = outcome.revision;
      return { result: 'extend', retry: false };
    }
    if (typeof outcome === 'object' && outcome !== null && RESULTS.has(outcome.result)) {
      return { result: outcome.result, retry: outcome.retry === true };
    }
    throw new TypeError(`Cannot take an outcome: ${shown(outcome)} is none`);
  }

  #failed(key: string, error: unknown): ClassicAnswer {
    if (error instanceof ConflictError) {
      this.#counts.conflicts++;
    } else {
      this.#counts.errors++;
      this.#counts.lastError = { key, error };
      if (!this.#end.signal.aborted) this.#logger.warn('a write failed', { key, error });
    }
    return { result: 'release', retry: true };
  }

  #answered(key: string, { result, retry }: ClassicAnswer): void {
    const now = this.#clock.now();
    this.#counts.becomes(this.#lease.role, now);
    if (!retry) this.#counts.settled(key, now, result !== 'release');
  }
}
