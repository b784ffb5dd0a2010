import { checkOptions, NO_OPTIONS, SIGNAL_NAMES } from '../store/checks.ts';
import { abortableSleep } from '../system/abortable.ts';
import { GuardedLogger } from '../system/guarded-logger.ts';
import { NotLeaderError } from '../types/errors.ts';
import { onAbort } from '../types/on-abort.ts';
import type { SignalOptions } from '../types/signal.ts';
import {
  type ElectorSettings,
  JITTER_FACTOR,
  type LeaderElectorOptions,
  type LeadershipEnd,
  resolveElector,
} from './leader-elector-options.ts';
import { ElectorRecord } from './leader-elector-record.ts';

/** One of those who would lead. */
export interface LeaderElector {
  readonly identity: string;
  /** Between `onStartedLeading` and the end of its signal. */
  readonly isLeader: boolean;
  /** Who leads, by the newest record that was seen; empty for nobody. */
  readonly leader: string;
  /**
   * Is a candidate, leads, and is a candidate again after a loss, once what `onStartedLeading` and `onStoppedLeading` returned
   * has settled. Resolves when the signal has aborted and both have ended, or could not be waited for any longer: until
   * `renewDeadlineMs` after the last renewal. Without a signal never.
   *
   * @throws TypeError while it runs already, and for wrong options; nothing else: what fails is logged and tried again
   */
  run(options?: SignalOptions): Promise<void>;
}

/**
 * Elects a leader by one record that all candidates write, as Kubernetes' own components do, over any
 * {@link LeaderElectorOptions.record}.
 *
 * ```text
 *   candidate --record free, or unchanged for its leaseDuration--> leader --renewed every retryPeriod--+
 *       ^                                                            |  ^-------------------------------+
 *       +--- renewDeadline since the last answered renewal was sent, or the record names another one
 * ```
 *
 * Promised: with clocks that run alike, a leader's signal aborts before another one leads, as long as its process runs, and also
 * while a request hangs. Not promised: that a process which was stopped does nothing after it goes on: nothing here is a
 * fence (store:R51). An identity that leads again may do so at once.
 *
 * @throws TypeError and RangeError for options that cannot be, with the inequality that fails
 * @example
 * ```ts
 * import { createLeaderElector, createStoreLeaseRecord, openStore } from 'plimsoll';
 *
 * const elector = createLeaderElector({
 *   record: createStoreLeaseRecord(await openStore(), 'leases/scheduler'),
 *   identity: 'host-1',
 *   releaseOnCancel: true,
 *   onStartedLeading: (signal) => signal.addEventListener('abort', () => console.log('stop')),
 *   onStoppedLeading: (reason) => console.log(reason),
 * });
 * await elector.run({ signal: AbortSignal.timeout(60_000) });
 * ```
 */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  return new Elector(resolveElector(options));
}

class Elector implements LeaderElector {
  readonly identity: string;
  readonly #settings: ElectorSettings;
  readonly #logger: GuardedLogger;
  readonly #record: ElectorRecord;
  #isRunning = false;
  #leading: AbortSignal | undefined;

  constructor(settings: ElectorSettings) {
    const { identity, record: client, leaseDurationMs, clock, logger, onNewLeader } = settings;
    this.identity = identity;
    this.#settings = settings;
    this.#logger = new GuardedLogger(logger);
    this.#record = new ElectorRecord({
      client,
      identity,
      leaseDurationMs,
      clock,
      onHolder: (holder) => {
        if (onNewLeader !== undefined) queueMicrotask(() => void this.#call('onNewLeader', () => onNewLeader(holder)));
      },
    });
  }

  get isLeader(): boolean {
    return this.#leading?.aborted === false;
  }

  get leader(): string {
    return this.#record.holder;
  }

  async run(options: SignalOptions = NO_OPTIONS): Promise<void> {
    const action = 'run a leader elector';
    const given = checkOptions(options, SIGNAL_NAMES, action);
    if (this.#isRunning) throw new TypeError(`Cannot ${action}: it runs already`);
    const signal = given ?? new AbortController().signal;
    this.#isRunning = true;
    try {
      while (!signal.aborted) {
        const sentAt = await this.#acquire(signal);
        if (sentAt !== undefined) await this.#lead(sentAt, signal);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Until it is elected; nothing when the signal aborts before. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    const { clock, random, retryPeriodMs, renewDeadlineMs } = this.#settings;
    while (!signal.aborted) {
      const sentAt = await this.#attempt('acquire', renewDeadlineMs, signal, (aborted) =>
        this.#record.tryAcquire(aborted),
      );
      if (sentAt !== undefined) return sentAt;
      await abortableSleep(clock, retryPeriodMs * (1 + JITTER_FACTOR * shareOf(random)), signal);
    }
    return undefined;
  }

  async #lead(acquiredAt: number, signal: AbortSignal): Promise<void> {
    const { clock, renewDeadlineMs, onStartedLeading, onStoppedLeading } = this.#settings;
    const term = new Term(clock, acquiredAt + renewDeadlineMs, (end) => this.#endError(end));
    // A process that was stopped meanwhile.
    if (term.signal.aborted) return;
    const unlisten = onAbort(signal, () => term.end('cancelled'));
    if (signal.aborted) return this.#release(term);
    this.#leading = term.signal;
    const work = this.#call('onStartedLeading', () => onStartedLeading(term.signal));
    await this.#renew(term);
    unlisten();
    const stopped = this.#call('onStoppedLeading', () => onStoppedLeading?.(term.reason));
    const ended = Promise.all([work, stopped]);
    // Two terms of one process are not to run beside each other.
    if (term.reason !== 'cancelled') await this.#settled(ended, undefined, signal);
    // Work that goes on may not be joined by that of somebody else.
    else if (await this.#settled(ended, term.deadline - clock.now(), undefined)) await this.#release(term);
  }

  async #release(term: Term): Promise<void> {
    const { clock, releaseOnCancel } = this.#settings;
    const leftMs = term.deadline - clock.now();
    if (!releaseOnCancel || leftMs <= 0) return;
    await this.#attempt('release', leftMs, undefined, (aborted) => this.#record.release(aborted));
  }

  async #renew(term: Term): Promise<void> {
    const { clock, retryPeriodMs, renewDeadlineMs } = this.#settings;
    while (!term.signal.aborted) {
      await abortableSleep(clock, retryPeriodMs, term.signal);
      if (term.signal.aborted) return;
      const renewal = await this.#attempt('renew', renewDeadlineMs / 2, term.signal, (aborted) =>
        this.#record.tryRenew(aborted),
      );
      if (renewal?.type === 'taken') term.end('taken');
      if (renewal?.type === 'renewed') term.extend(renewal.sentAt + renewDeadlineMs);
    }
  }

  /** One try, given up after so long, and then nothing; nothing, too, when it fails. */
  async #attempt<T>(
    what: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    run: (aborted: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const attempt = new AbortController();
    const stop = this.#settings.clock.after(timeoutMs, () => attempt.abort());
    const unlisten = signal === undefined ? () => {} : onAbort(signal, (reason) => attempt.abort(reason));
    try {
      return await run(attempt.signal);
    } catch (error) {
      if (signal?.aborted !== true) {
        const { identity, name } = this.#settings;
        this.#logger.warn(`a leader elector could not ${what} its record`, { identity, election: name, error });
      }
      return undefined;
    } finally {
      stop();
      unlisten();
    }
  }

  /** Whether a promise settles in time. */
  async #settled(
    work: Promise<unknown>,
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    let isDone = false;
    const waiting = new AbortController();
    void work.then(() => {
      isDone = true;
      waiting.abort();
    });
    const unlisten = signal === undefined ? () => {} : onAbort(signal, () => waiting.abort());
    const stop = timeoutMs === undefined ? () => {} : this.#settings.clock.after(timeoutMs, () => waiting.abort());
    await new Promise<void>((resolve) => onAbort(waiting.signal, () => resolve()));
    stop();
    unlisten();
    return isDone;
  }

  /** Never rejects: what a callback throws is logged. */
  async #call(name: string, run: () => void | PromiseLike<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      const { identity, name: election } = this.#settings;
      this.#logger.error(`${name} of a leader elector has failed`, { identity, election, error });
    }
  }

  #endError(end: LeadershipEnd): NotLeaderError {
    const { name: election } = this.#settings;
    // A record has no create revision: its transitions are what orders terms.
    const facts = { election, fencingToken: this.#record.transitions };
    return new NotLeaderError('lead', { ...facts, end: end === 'cancelled' ? 'resigned' : 'lost' });
  }
}

/** The time of one leadership: until its deadline, which renewals move, or until something else ends it. */
class Term {
  readonly #clock: ElectorSettings['clock'];
  readonly #error: (end: LeadershipEnd) => Error;
  readonly #controller = new AbortController();
  #deadline: number;
  #reason: LeadershipEnd = 'renewDeadline';
  #cancel: (() => void) | undefined;

  constructor(clock: ElectorSettings['clock'], deadline: number, error: (end: LeadershipEnd) => Error) {
    this.#clock = clock;
    this.#deadline = deadline;
    this.#error = error;
    this.#check();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get deadline(): number {
    return this.#deadline;
  }

  /** What ended it. */
  get reason(): LeadershipEnd {
    return this.#reason;
  }

  /** Too late is too late: a term that is over stays so. */
  extend(deadline: number): void {
    if (this.signal.aborted) return;
    this.#deadline = Math.max(this.#deadline, deadline);
    if (this.#clock.now() >= this.#deadline) this.end('renewDeadline');
  }

  end(reason: LeadershipEnd): void {
    if (this.signal.aborted) return;
    this.#reason = reason;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#controller.abort(this.#error(reason));
  }

  /** One timer, which looks again when renewals have moved the deadline. */
  #check(): void {
    const leftMs = this.#deadline - this.#clock.now();
    if (leftMs <= 0) this.end('renewDeadline');
    else this.#cancel = this.#clock.after(leftMs, () => this.#check());
  }
}

/** A `random` that fails is no reason not to be a candidate. */
function shareOf(random: ElectorSettings['random']): number {
  try {
    const share = random();
    return share >= 0 && share < 1 ? share : 0;
  } catch {
    return 0;
  }
}
