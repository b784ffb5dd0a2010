import type { Clock } from '../../types/clock.ts';
import { BackendError, ClosedError, LimitExceededError, PlimsollError } from '../../types/errors.ts';
import type { Random } from '../../types/random.ts';
import type { Revision } from '../../types/revision.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';
import { backendError, failureOf, type SqliteFailure } from './errors.ts';
import { type SqliteState, SqliteTables } from './tables.ts';

export interface SqliteFileOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How long a call waits for the lock of another process, in ms. */
  readonly busyTimeoutMs: number;
  /** Called when writes of this process have been committed; with the time at which leases have to be looked at again. */
  readonly onCommit: (expiryMs: number | undefined) => void;
}

/** A write that waits for its turn. */
interface Waiting {
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** When it was queued. */
  readonly since: number;
  /** Checks first, then writes: what it refuses it has not begun. */
  readonly work: () => unknown;
  readonly settle: (outcome: Outcome) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Why a commit did not come about, and whether leases were due in it. `undefined` when it is there. */
interface Failed {
  readonly error: unknown;
  readonly maybeCommitted: boolean;
  readonly wasExpiring: boolean;
}

/** Writes that share one commit, and with it one wait for the disk. */
const GROUP_MAX = 1000;
/**
 * Microtasks without a new write after which a group is complete. A lone writer comes back within a few, through the promises
 * between its caller and here. Where several write, each comes back when what it wrote was streamed to its store and is visible
 * there, one revision after the other: all of that is microtasks, too, so nobody is kept waiting by the clock. Less than the
 * distance of two revisions, about 20, and each of the writers gets a commit, and a wait for the disk, almost alone.
 */
const QUIET_ALONE = 8;
const QUIET_TOGETHER = 128;
/** Writes that wait, all together. One more is refused. */
const WAITING_MAX = 100_000;
/** Until an expiry that could not be written is tried again: it costs as much as it would when it succeeds. */
const EXPIRY_RETRY_MS = 1000;

/** In the place of what was to be read: leases are due, and have to be ended first. */
const DUE = Symbol('leases are due');

/** What keeps an expiry from being written, and reads from nothing. A full disk is `io` to node-sqlite3-wasm. */
const UNWRITABLE: ReadonlySet<SqliteFailure | undefined> = new Set(['full', 'io', 'readonly']);
/** What SQLite says only of a commit that it has not made. */
const NOT_COMMITTED: ReadonlySet<SqliteFailure | undefined> = new Set(['busy', 'full', 'readonly']);

/**
 * All that is read from and written to one file goes through here: writes one after the other and in groups, waits for the
 * locks of others, leases that are due, errors in the words of the contract.
 *
 * ```text
 *   write(work) --> waiting --+-- one SQLite transaction --------------------------+--> durable, then settled
 *   write(work) --> waiting --+   expire what is due; work, work, work: each takes |
 *   write(work) --> waiting --+   the next revision, or refuses and leaves nothing |
 * ```
 *
 * Where that does not fit into the file, the expiry and each of the works are commits of their own: what frees room must not
 * fail with what needs it. An expiry that does not fit even then is tried again later, and until it is committed the leases
 * and their keys are there for every call, in the file, where everybody sees the same (store:R42).
 */
export class SqliteFile {
  readonly tables: SqliteTables;
  readonly driver: SqliteDriver;
  readonly #options: SqliteFileOptions;
  #waiting: Waiting[] = [];
  #seen: Revision = 0;
  /** Before this, in the clock's `now`, no expiry is tried. */
  #expireFrom = Number.NEGATIVE_INFINITY;
  /** Since when another process has had the lock, as far as writes have met it. */
  #lockedSince: number | undefined;
  #isDraining = false;
  /** Whether several wrote at a time, the last time somebody did. */
  #areTogether = false;
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
      const since = this.#options.clock.now();
      this.#waiting.push({ action, signal, since, work: () => work(this.tables.state()), settle });
      if (!this.#isDraining) void this.#drain();
    });
  }

  /**
   * Runs `work` on one state, in which nothing is due any more, if that could be written. `work` has to be synchronous.
   *
   * @throws BackendError, and what `work` throws
   */
  async read<T>(action: string, signal: AbortSignal | undefined, work: (state: SqliteState) => T): Promise<T> {
    signal?.throwIfAborted();
    this.#checkOpen(action);
    const since = this.#options.clock.now();
    const readOnce = (isExpired: boolean) =>
      this.#whenReadable(action, since, () => {
        this.driver.checkFile?.();
        return this.#inRead(() => (!isExpired && this.#mayExpire() ? DUE : work(this.tables.state())));
      });
    const first = await readOnce(false);
    if (first !== DUE) return first;
    await this.#expire(action, signal);
    signal?.throwIfAborted();
    // What has fallen due since is not waited for: it would have no end.
    return (await readOnce(true)) as T;
  }

  /** When leases have to be looked at, in wall-clock time: the next is due, or what could not be written is tried again. */
  expiryMs(): number | undefined {
    const { clock } = this.#options;
    const deadlineMs = this.tables.nextLease()?.deadlineMs;
    if (deadlineMs === undefined) return undefined;
    return Math.max(deadlineMs, clock.wallTime() + this.#expireFrom - clock.now());
  }

  /** Runs `work` when the file is free, for what comes before there are tables. */
  prepare(action: string, work: () => void): Promise<void> {
    return this.#whenReadable(action, this.#options.clock.now(), work);
  }

  /** Whether another process may have written since the last time this was asked. Who cannot be asked may have news. */
  hasNews(): boolean {
    try {
      this.driver.checkFile?.();
      this.tables.begin();
      const { revision } = this.tables.state();
      const isNew = revision !== this.#seen || this.#mayExpire();
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
    await this.#gather();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_MAX);
      this.#areTogether = group.length > 1;
      const outcomes = await this.#commit(group.filter((one) => isWanted(one)));
      for (const [one, outcome] of outcomes) one.settle(outcome);
      await this.#gather();
    }
    this.#isDraining = false;
  }

  /** Whoever writes in the same turn of the event loop, or as soon as the writes before are settled and visible, joins. */
  async #gather(): Promise<void> {
    let gathered = this.#waiting.length;
    for (let quiet = 0; quiet < (this.#areTogether || gathered > 1 ? QUIET_TOGETHER : QUIET_ALONE); quiet++) {
      await Promise.resolve();
      const { length } = this.#waiting;
      if (length >= GROUP_MAX) return;
      if (length !== gathered) quiet = 0;
      gathered = length;
    }
  }

  async #commit(group: readonly Waiting[]): Promise<ReadonlyMap<Waiting, Outcome>> {
    const outcomes = new Map<Waiting, Outcome>();
    if (group.length === 0) return outcomes;
    const failed = await this.#commitOnce(group, this.#isExpiryTried(), outcomes);
    if (failed === undefined || !canBeParted(failed, group)) return outcomes;
    if (failed.wasExpiring) await this.#expireAlone();
    for (const one of group) await this.#commitOnce([one], false, outcomes);
    return outcomes;
  }

  /** One transaction of SQLite, or none. Sets the outcomes of the group. */
  async #commitOnce(
    group: readonly Waiting[],
    isExpiring: boolean,
    outcomes: Map<Waiting, Outcome>,
  ): Promise<Failed | undefined> {
    let before: Revision | undefined;
    let after: Revision | undefined;
    let wasExpiring = false;
    let expiryMs: number | undefined;
    try {
      await this.#whenLocked(group, () => {
        [before, after] = [undefined, undefined];
        this.driver.checkFile?.();
        this.driver.write(() => {
          this.tables.begin();
          before = this.tables.state().revision;
          wasExpiring = isExpiring && this.#isDue();
          if (wasExpiring) this.#expireDue();
          for (const one of group) outcomes.set(one, attempt(one.work));
          after = this.tables.state().revision;
          expiryMs = this.expiryMs();
        });
      });
    } catch (error) {
      const maybeCommitted = this.#mayBeCommitted(error, before, after);
      for (const one of group) outcomes.set(one, { error: this.#failure(one.action, error, maybeCommitted) });
      return { error, maybeCommitted, wasExpiring };
    }
    this.#options.onCommit(expiryMs);
    return undefined;
  }

  /** Expires what is due for a read, which goes on where that cannot be written. */
  async #expire(action: string, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.write(action, signal, () => undefined);
    } catch (error) {
      if (!(error instanceof BackendError) || !UNWRITABLE.has(failureOf(error.cause))) throw error;
      this.#expireLater();
    }
  }

  async #expireAlone(): Promise<void> {
    const failed = await this.#commitOnce([], true, new Map());
    if (failed !== undefined) this.#expireLater();
  }

  #expireLater(): void {
    this.#expireFrom = this.#options.clock.now() + EXPIRY_RETRY_MS;
  }

  /**
   * Whether a commit that failed may have happened. The revision tells, if it was to change; a grant and a compaction change
   * none, so of those nothing is known.
   */
  #mayBeCommitted(error: unknown, before: Revision | undefined, after: Revision | undefined): boolean {
    if (after === undefined) return false;
    return after === before ? !NOT_COMMITTED.has(failureOf(error)) : !this.#isStillAt(before);
  }

  /** Whether a commit that failed has certainly not happened. Who cannot be asked may have done it. */
  #isStillAt(revision: Revision | undefined): boolean {
    try {
      return this.#inRead(() => this.tables.state().revision) === revision;
    } catch {
      return false;
    }
  }

  #inRead<T>(work: () => T): T {
    return this.driver.read(() => {
      this.tables.begin();
      return work();
    });
  }

  /** For what writes nothing, with its error in the words of the contract. */
  async #whenReadable<T>(action: string, since: number, run: () => T): Promise<T> {
    try {
      return await this.#whenFree(action, () => since, run);
    } catch (error) {
      throw this.#failure(action, error, false);
    }
  }

  /**
   * For a group of writes. The time that one of them waits for the lock is counted from when the oldest was queued: each that
   * meets the lock behind others has waited with them. The time that it waits for others to be written does not count.
   */
  async #whenLocked(group: readonly Waiting[], run: () => void): Promise<void> {
    const { clock } = this.#options;
    const oldest = group[0];
    const since = () => {
      this.#lockedSince ??= clock.now();
      return Math.max(this.#lockedSince, oldest?.since ?? 0);
    };
    try {
      await this.#whenFree(oldest?.action ?? 'expire leases', since, run);
      this.#lockedSince = undefined;
    } catch (error) {
      if (failureOf(error) !== 'busy') this.#lockedSince = undefined;
      throw error;
    }
  }

  /** Tries again while another process has the lock: the event loop goes on meanwhile. Throws what the driver threw. */
  async #whenFree<T>(action: string, since: () => number, run: () => T): Promise<T> {
    const { clock, random, busyTimeoutMs } = this.#options;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      try {
        this.#checkOpen(action);
        return run();
      } catch (error) {
        if (failureOf(error) !== 'busy' || clock.now() - since() >= busyTimeoutMs) throw error;
      }
      const delayMs = Math.max(1, Math.round(pauseMs * (0.5 + random())));
      await new Promise<void>((resolve) => {
        clock.after(delayMs, resolve);
      });
    }
  }

  #isExpiryTried(): boolean {
    return this.#options.clock.now() >= this.#expireFrom;
  }

  #mayExpire(): boolean {
    return this.#isExpiryTried() && this.#isDue();
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
  return { revision: revision + 1, deleted: keys.length };
}

/** Whether the parts of a commit that failed may fit one by one: when it has certainly not happened, and has parts. */
function canBeParted({ error, maybeCommitted, wasExpiring }: Failed, { length }: readonly Waiting[]): boolean {
  if (maybeCommitted) return false;
  const failure = failureOf(error);
  return wasExpiring ? UNWRITABLE.has(failure) : failure === 'full' && length > 1;
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
