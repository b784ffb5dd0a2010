import type { Clock } from '../../types/clock.ts';
import { ClosedError, LimitExceededError, PlimsollError } from '../../types/errors.ts';
import type { Random } from '../../types/random.ts';
import type { Revision } from '../../types/revision.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';
import { backendError, failureOf } from './errors.ts';
import { type SqliteState, SqliteTables } from './tables.ts';

export interface SqliteFileOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How long to wait for the lock of another process, in ms. */
  readonly busyTimeoutMs: number;
  /** Called when writes of this process have been committed; with the time at which the next lease is due. */
  readonly onCommit: (deadlineMs: number | undefined) => void;
}

/** A write that waits for its turn. */
interface Waiting {
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** Checks first, then writes: what it refuses it has not begun. */
  readonly work: () => unknown;
  readonly settle: (outcome: Outcome) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Writes that share one commit, and with it one wait for the disk. */
const GROUP_MAX = 1000;
/** Writes that wait, all together. One more is refused. */
const WAITING_MAX = 100_000;

/**
 * All that is read from and written to one file goes through here: writes one after the other and in groups, waits for the
 * locks of others, leases that are due, errors in the words of the contract.
 *
 * ```text
 *   write(work) --> waiting --+-- one SQLite transaction --------------------------+--> durable, then settled
 *   write(work) --> waiting --+   expire what is due; work, work, work: each takes |
 *   write(work) --> waiting --+   the next revision, or refuses and leaves nothing |
 * ```
 */
export class SqliteFile {
  readonly tables: SqliteTables;
  readonly driver: SqliteDriver;
  readonly #options: SqliteFileOptions;
  #waiting: Waiting[] = [];
  #seen: Revision = 0;
  #isDraining = false;
  #isClosed = false;

  constructor(driver: SqliteDriver, options: SqliteFileOptions) {
    this.driver = driver;
    this.tables = new SqliteTables(driver);
    this.#options = options;
  }

  /**
   * Runs `work` in its turn, on the state of then. Resolves when it is durable.
   *
   * @throws BackendError, and what `work` throws
   */
  write<T>(action: string, signal: AbortSignal | undefined, work: (state: SqliteState) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      signal?.throwIfAborted();
      this.#checkOpen(action);
      const actual = this.#waiting.length + 1;
      if (actual > WAITING_MAX) throw new LimitExceededError(action, { limit: 'writes', max: WAITING_MAX, actual });
      const settle = (outcome: Outcome) => {
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value as T);
      };
      this.#waiting.push({ action, signal, work: () => work(this.tables.state()), settle });
      if (!this.#isDraining) void this.#drain();
    });
  }

  /**
   * Runs `work` on one state, in which nothing is due any more. `work` has to be synchronous.
   *
   * @throws BackendError, and what `work` throws
   */
  async read<T>(action: string, signal: AbortSignal | undefined, work: (state: SqliteState) => T): Promise<T> {
    signal?.throwIfAborted();
    this.#checkOpen(action);
    const isDue = await this.#whenReadable(action, () => this.driver.read(() => this.#isDue()));
    if (isDue) await this.write(action, signal, () => undefined);
    signal?.throwIfAborted();
    return this.#whenReadable(action, () => {
      this.driver.checkFile?.();
      return this.driver.read(() => work(this.tables.state()));
    });
  }

  /** Runs `work` when the file is free, for what comes before there are tables. */
  prepare(action: string, work: () => void): Promise<void> {
    return this.#whenReadable(action, work);
  }

  /** Whether another process may have written since the last time this was asked. Who cannot be asked may have news. */
  hasNews(): boolean {
    try {
      this.driver.checkFile?.();
      const { revision } = this.tables.state();
      const isNew = revision !== this.#seen || this.#isDue();
      this.#seen = revision;
      return isNew;
    } catch {
      return true;
    }
  }

  /** Closes the file. What waits is refused. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { action, settle } of waiting) settle({ error: new ClosedError(action) });
    this.driver.close();
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    // Whoever writes in the same turn of the event loop, or as soon as the writes before are settled, joins.
    await hops();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_MAX);
      const outcomes = await this.#commit(group.filter((one) => isWanted(one)));
      for (const [one, outcome] of outcomes) one.settle(outcome);
      await hops();
    }
    this.#isDraining = false;
  }

  async #commit(group: readonly Waiting[]): Promise<ReadonlyMap<Waiting, Outcome>> {
    if (group.length === 0) return new Map();
    const { action } = group[0] as Waiting;
    let outcomes = new Map<Waiting, Outcome>();
    let before: Revision | undefined;
    let after: Revision | undefined;
    let deadlineMs: number | undefined;
    try {
      await this.#whenFree(action, () => {
        [before, after] = [undefined, undefined];
        outcomes = new Map();
        this.driver.checkFile?.();
        this.driver.write(() => {
          before = this.tables.state().revision;
          this.#expireDue();
          for (const one of group) outcomes.set(one, attempt(one.work));
          after = this.tables.state().revision;
          deadlineMs = this.tables.nextLease()?.deadlineMs;
        });
      });
    } catch (error) {
      const maybeCommitted = after !== undefined && after !== before && !this.#isStillAt(before);
      return new Map(group.map((one) => [one, { error: this.#failure(one.action, error, maybeCommitted) }] as const));
    }
    this.#options.onCommit(deadlineMs);
    return outcomes;
  }

  /** Whether a commit that failed has certainly not happened. Who cannot be asked may have done it. */
  #isStillAt(revision: Revision | undefined): boolean {
    try {
      return this.driver.read(() => this.tables.state().revision) === revision;
    } catch {
      return false;
    }
  }

  /** The same for what writes nothing, with its error in the words of the contract. */
  async #whenReadable<T>(action: string, run: () => T): Promise<T> {
    try {
      return await this.#whenFree(action, run);
    } catch (error) {
      throw this.#failure(action, error, false);
    }
  }

  /** Tries again while another process has the lock: the event loop goes on meanwhile. Throws what the driver threw. */
  async #whenFree<T>(action: string, run: () => T): Promise<T> {
    const { clock, random, busyTimeoutMs } = this.#options;
    const start = clock.now();
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      try {
        this.#checkOpen(action);
        return run();
      } catch (error) {
        if (failureOf(error) !== 'busy' || clock.now() - start >= busyTimeoutMs) throw error;
      }
      const delayMs = Math.max(1, Math.round(pauseMs * (0.5 + random())));
      await new Promise<void>((resolve) => {
        clock.after(delayMs, resolve);
      });
    }
  }

  #isDue(): boolean {
    const next = this.tables.nextLease();
    return next !== undefined && next.deadlineMs <= this.#options.clock.wallTime();
  }

  /** One revision a lease, in the order of their deadlines; none for a lease without keys (M31, store:R41). */
  #expireDue(): void {
    while (this.#isDue()) {
      const lease = this.tables.nextLease();
      if (lease !== undefined) endLease(this.tables, lease.id);
    }
  }

  #failure(action: string, error: unknown, maybeCommitted: boolean): Error {
    return backendError(this.driver, action, error, maybeCommitted);
  }

  #checkOpen(action: string): void {
    if (this.#isClosed) throw new ClosedError(action);
  }
}

/** Takes a lease with all its keys away, as one revision. Returns that, or the present one if it had no keys. */
export function endLease(tables: SqliteTables, id: string): { readonly revision: Revision; readonly deleted: number } {
  const keys = tables.keysOf(id);
  const { revision } = tables.state();
  tables.deleteLease(id);
  if (keys.length === 0) return { revision, deleted: 0 };
  for (const key of keys) tables.delete(key, revision + 1);
  tables.setRevision(revision + 1);
  return { revision: revision + 1, deleted: keys.length };
}

/** What is refused belongs to whoever asked for it; what SQLite throws belongs to the whole group. */
function attempt(work: () => unknown): Outcome {
  try {
    return { value: work() };
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    return { error };
  }
}

/** One that was aborted while it waited has had no effect. */
function isWanted({ signal, settle }: Waiting): boolean {
  if (signal?.aborted !== true) return true;
  settle({ error: signal.reason });
  return false;
}

/** As many microtasks as it takes a settled write to become the next one, through the promises between a caller and here. */
async function hops(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await Promise.resolve();
}
