import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';
import type { Revision } from './revision.ts';
import type { SignalOptions } from './signal.ts';

/** There is no election state: who does not lead follows (WL1). */
export type WriterRole = 'follower' | 'leader';

/** What a work function is told. */
export interface WriteContext {
  readonly key: string;
  /**
   * The newest revision of the key that the lease knows of: observed, read, given to `try`, or written by this lease. A write
   * that expects it is the one that conflicts least.
   */
  readonly revision: Revision;
  /** That of the term; `undefined` for the write that begins it, which may turn out to be somebody else's (WL23). */
  readonly fencingToken: Revision | undefined;
  /** Aborts when nobody waits for the answer any more: after `writeTimeoutMs`, and at `close`. */
  readonly signal: AbortSignal;
}

/**
 * How a write ended: written, at this revision; `'conflict'`, since the stored object is newer than the view the work was made
 * from; `'unchanged'`, since there is nothing to write (gone, replaced by another object, right already). A work function
 * that throws has failed (WL18), except that a `ConflictError` is a conflict.
 */
export type WriteOutcome = { readonly revision: Revision } | 'conflict' | 'unchanged';

/** An answer of a work function to the classic strategy, with W2's words. */
export interface ClassicOutcome {
  readonly result: 'none' | 'extend' | 'release';
  readonly retry: boolean;
}

export interface WriterTry<V, O = WriteOutcome> {
  /** Of the view that the work was made from; 0 for a key without one. An observation below it does not drop the work (WL21). */
  readonly revision: Revision;
  /**
   * Writes. Not entered while another one of the lease is under way, for at most `writeTimeoutMs`; only the newest one of a
   * key is kept.
   */
  readonly work: (context: WriteContext) => O | PromiseLike<O>;
  /** What the work would store. Needed where observations carry values, or where a tracker is to see new wishes (CT3). */
  readonly wanted?: V;
}

/** What was seen of a key, compared by the caller. */
export interface ObservedFlags {
  /** Of the key's newest change, comparable across the keys of one lease. */
  readonly revision: Revision;
  /** The stored value is the one that is wanted now. */
  readonly satisfied: boolean;
  /** The stored value differs from the one seen before; `false` in the first list. */
  readonly changed: boolean;
  /** The stored value is one that was wanted before this observation: watches leave steps out. @default false */
  readonly satisfiedBefore?: boolean;
}

/** What was seen of a key, to be compared by the lease, with the tracker's `equal` or its own. */
export interface ObservedValue<V> {
  readonly revision: Revision;
  /** What is stored; `undefined` for nothing. */
  readonly value: V | undefined;
  /** What is wanted now; `undefined` for nothing. */
  readonly wanted: V | undefined;
}

export type Observation<V> = ObservedFlags | ObservedValue<V>;

/** What a read found: compared, or as a value. `undefined`: the key is gone. */
export type ReadResult<V> =
  | Pick<ObservedFlags, 'revision' | 'satisfied' | 'changed'>
  | Pick<ObservedValue<V>, 'revision' | 'value'>
  | undefined;

/** Why `wait` ended: somebody has been found to lead, this lease or another one; or it was closed. */
export type WaitResult = WriterRole | 'closed';

export interface WriterLeaseStats {
  readonly role: WriterRole;
  /** Keys that wait to be written, those in `parked`, `blocked` and in flight not among them. */
  readonly pending: number;
  /** Keys that wait for their own time: after errors, conflicts in a row, or held by the tracker. */
  readonly parked: number;
  /** Keys whose conflict nobody has explained yet (WL16, WL17). */
  readonly blocked: number;
  /** Keys that are remembered at all. */
  readonly keys: number;
  /** Work functions called. */
  readonly attempts: number;
  readonly writes: number;
  readonly conflicts: number;
  /** Work functions that threw, those without an answer among them. */
  readonly errors: number;
  /** Work functions without an answer in time (WL20). */
  readonly unknownOutcomes: number;
  /** Answers that came after their time. */
  readonly lateAnswers: number;
  /** Work functions that found nothing to do. */
  readonly unchanged: number;
  readonly reads: number;
  readonly readErrors: number;
  /** Terms begun. */
  readonly takeovers: number;
  /** Terms ended (WL14). */
  readonly losses: number;
  /** Observations that showed a mate's work (WL6). */
  readonly evidence: number;
  /** Observations and tries that were older than what is known (WL21). */
  readonly stale: number;
  /** Tries that replaced one that had not run. */
  readonly coalesced: number;
  /** Tries that an observation made needless. */
  readonly dropped: number;
  /** Writes that the tracker put off (CT7). */
  readonly refusals: number;
  /** Lists that were asked for, since a conflict stayed unexplained (WL16). */
  readonly relists: number;
  readonly leaderMs: number;
  readonly followerMs: number;
  /** From `try` until the key was right, however that came; in ms. */
  readonly waitMs: { readonly count: number; readonly sum: number; readonly max: number };
  /** Measured watch latency, `undefined` before the first sample (WL9). */
  readonly watchLatencyMs: number | undefined;
  /** How long a leader takes for a change, as observed (WL8). */
  readonly gapMs: number;
  /** Silence after which this follower acts, as drawn last (WL4). */
  readonly windowMs: number;
  /** Smallest silence at the moment (WL3). */
  readonly minimumMs: number;
  /** The last failure of a work function; by its key while that is parked for it. */
  readonly lastError: { readonly key: string; readonly error: unknown } | undefined;
}

/**
 * A writer lease: made by `createWriterLease`, which has the promises and an example.
 */
export interface WriterLease<V = unknown, O = WriteOutcome> {
  readonly role: WriterRole;
  /** Revision of the write that began this term; `undefined` for a follower (WL23). It orders terms and excludes nobody. */
  readonly fencingToken: Revision | undefined;
  /**
   * Asks for a key to be written: at once by a leader, after a silence by a follower. Replaces a try of the key that has not
   * run. `false`: not queued, an observation at a later revision found the key right.
   *
   * @throws ClosedError; LimitExceededError when `keysMax` keys wait; TypeError, RangeError
   */
  try(key: string, request: WriterTry<V, O>): boolean;
  /**
   * Tells what the watch saw of a key, the first list included; in the order of the watch. What is not newer than the last one
   * of the key is ignored. After `close` it does nothing.
   *
   * @throws TypeError, RangeError
   */
  observe(key: string, observation: Observation<V>): void;
  /** Nobody wants the key written any more, or it is gone. A write under way goes on. */
  remove(key: string): void;
  /** Resolves once a success, a loss or evidence has told who leads; at once afterwards. Rejects with the signal's reason. */
  wait(options?: SignalOptions): Promise<WaitResult>;
  /** Counts since the start, and the state and estimates of the moment. */
  stats(): WriterLeaseStats;
  /** Ends waits with `closed`, aborts the signal of a write under way, and leaves no timer. Idempotent (WL24). */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The seams and bounds that both strategies take. */
export interface WriterLeaseSeams {
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** Told of errors, losses and takeovers. @default silent */
  readonly logger?: Logger;
  /** Longest wait for an answer of a work function or a read, in ms, above 0. @default 10000 */
  readonly writeTimeoutMs?: number;
  /** Keys that are remembered. Of those that wait for nothing the ones idle longest are forgotten first. @default 1000000 */
  readonly keysMax?: number;
}

export interface WriterLeaseOptions<V = unknown> extends WriterLeaseSeams {
  /** `'classic'` makes a {@link ClassicWriterLease}. @default 'default' */
  readonly strategy?: 'default';
  /**
   * Longest silence before a follower acts, in ms; at least five times the 99th percentile of watch latency. A silence has to
   * be left: (1 - `driftMax`) * `capMs` - `capMs` / 5 - 50 > 0. @default 15000
   */
  readonly capMs?: number;
  /** Smallest silence before a follower acts, in ms, from 0 on and below `capMs`. @default 250 */
  readonly floorMs?: number;
  /**
   * Spread of the first window of a group that nobody has written yet, in ms (WL1), from 0 on; with `floorMs` at most `capMs`.
   * @default 500
   */
  readonly startSpreadMs?: number;
  /** Smallest silence until five samples are known, in ms (WL3), from 0 to `capMs`. @default 0.4 * capMs */
  readonly priorMs?: number;
  /** Unexplained conflicts at which a leader writes no more until one is explained (WL17), an integer from 1 on. @default 3 */
  readonly doubtsMax?: number;
  /** Failed keys in a row that end a term (WL18), an integer from 1 on. @default 3 */
  readonly errorsMax?: number;
  /** Share by which clocks may differ in speed, from 0 on and below 1. @default 0.05 */
  readonly driftMax?: number;
  /** `false` for a single replica: it waits for nobody. @default true */
  readonly expectPeers?: boolean;
  /** Reads a key where it is stored (WL22). Recommended for watch latencies above 300 ms. @default none: by the watch alone */
  readonly read?: (
    key: string,
    options: { readonly signal: AbortSignal },
  ) => ReadResult<V> | PromiseLike<ReadResult<V>>;
  /**
   * Asked for a new list when a conflict of this key stays unexplained for `capMs` and there is no `read` (WL16).
   * @default none: after another `capMs` the write is tried again
   */
  readonly relist?: (key: string) => void;
  /** Stops writers that disagree (CT1-CT8). May be shared by leases that have no key in common. Excludes `equal`. @default none */
  readonly tracker?: ContentionTracker<V>;
  /**
   * How values are compared; with a tracker its `equal`. What it throws is logged, and the values count as different.
   *
   * @default deep equality of plain data
   */
  equal?(a: V | undefined, b: V | undefined): boolean;
}

/** The baseline to compare with: one state for all keys, growing backoff (W1-W16, Q1-Q9). */
export interface ClassicWriterLeaseOptions extends WriterLeaseSeams {
  readonly strategy: 'classic';
  /** Longest wait of a follower, in ms, from 1 on. @default 60000 */
  readonly leaseMs?: number;
  /** Wait before a key that asked for it is tried again, in ms. @default 3000 */
  readonly retryMs?: number;
  /** First backoff, in ms, at most `leaseMs`; twice of it is the least wait of a follower (W14). @default 20 */
  readonly baseMs?: number;
  /** How many times longer each backoff is than the one before (W16), 1 to 1000. @default 4 */
  readonly factor?: number;
  /** Backoffs that grow; later ones are `leaseMs` (W16). An integer from 0 on. @default 5 */
  readonly steps?: number;
  /** Share by which chance lengthens each backoff, 0 to 1 (W16). @default 0.5 */
  readonly jitter?: number;
}

/** A lease of the classic strategy. `observe` with `satisfied` is its Extend (W12). */
export interface ClassicWriterLease
  extends Omit<WriterLease<unknown, WriteOutcome | ClassicOutcome>, 'role' | 'stats'> {
  readonly role: WriterRole | 'election';
  /** Ends the wait of a follower; its state stays (W15). */
  expire(): void;
  stats(): Omit<WriterLeaseStats, 'role'> & { readonly role: WriterRole | 'election' };
}

/** Several leases side by side, one for each group of keys (WL25). */
export interface WriterLeaseGroups<V = unknown> {
  /**
   * As `WriterLease` does, by the lease of the key's group.
   *
   * @throws as its `try`; LimitExceededError for one group more than `groupsMax`; TypeError when `groupOf` answers no string;
   *   what `groupOf` throws
   */
  try(key: string, request: WriterTry<V>): boolean;
  /** The same. @throws as its `observe`, and as `try` for the group */
  observe(key: string, observation: Observation<V>): void;
  /** The same; nothing for a group that there is not. @throws what `groupOf` throws */
  remove(key: string): void;
  /** The lease of a group, if it has been needed yet. */
  group(name: string): WriterLease<V> | undefined;
  /** Names of the groups there are. */
  groups(): readonly string[];
  /** Closes a group and forgets it. A later call for one of its keys begins it anew, as a follower. */
  drop(name: string): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WriterLeaseGroupsOptions<V = unknown> extends WriterLeaseOptions<V> {
  /** The group of a key; always the same for a key, and on every replica. */
  readonly groupOf: (key: string) => string;
  /** Groups at a time, an integer from 1 on; one more is refused with `LimitExceededError`. @default 1000 */
  readonly groupsMax?: number;
}

/** Sent once for each key and level (CT8). */
export interface ContentionWarning {
  readonly key: string;
  /** How often it has been held before, without a quiet interval between. */
  readonly level: number;
  /** For how long it is held, in ms from now. */
  readonly heldMs: number;
  readonly flips: number;
  readonly foreign: number;
  readonly writes: number;
}

export interface ContentionTrackerOptions<V = unknown> {
  /** How long contested writes count, and how long the first hold is, in ms, above 0 (CT1, CT5). @default 180000 */
  readonly intervalMs?: number;
  /** Contested writes of all keys in an interval, by this replica and its mates (CT6), an integer from 1 on. @default 100 */
  readonly budget?: number;
  /** What it throws is logged, and the values count as different. @default deep equality of plain data */
  equal?(a: V | undefined, b: V | undefined): boolean;
  /** Keys that are remembered. At the bound the one whose last change is longest ago is forgotten. @default 100000 */
  readonly keysMax?: number;
  /** Called once for each key and level, in a microtask of its own; what it throws is logged (CT8). @default none */
  readonly onWarning?: (warning: ContentionWarning) => void;
  /** @default systemClock */
  readonly clock?: Pick<Clock, 'now'>;
  /** @default silent */
  readonly logger?: Logger;
}

export interface ContentionTrackerStats {
  /** Keys that are remembered. */
  readonly keys: number;
  readonly held: number;
  /** Answers of `refusedMs` that were a refusal. */
  readonly refusals: number;
  /** Contested writes of all time, by this replica and its mates. */
  readonly contestedWrites: number;
  readonly budgetLeft: number;
  /** Keys by level; the last place is for its level and all above. */
  readonly levels: readonly number[];
}

/**
 * A contention tracker: made by `createContentionTracker`, which has the promises and an example. A lease that is given one
 * feeds it; nobody else may then.
 */
export interface ContentionTracker<V = unknown> {
  equal(a: V | undefined, b: V | undefined): boolean;
  /** What the watch saw, in its order, without repeats; never what a read found (CT2). */
  observe(key: string, observation: Omit<ObservedFlags, 'revision'> | Omit<ObservedValue<V>, 'revision'>): void;
  /** An own write succeeded. Its echo is not to be told again. */
  wrote(key: string): void;
  /** This replica wants another value for the key than before (CT3). */
  wants(key: string): void;
  /** How long a write of the key has to wait, in ms; 0: it may go on. */
  refusedMs(key: string): number;
  stats(): ContentionTrackerStats;
}
