import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import type { ReadResult, WriteOutcome, WriterLease } from '../types/writer-lease.ts';
import type { CutOutcome } from './simulator-requests.ts';
import type { MsRange } from './simulator-watch.ts';

/** What the simulator needs of a writer: a `WriterLease` is one, and so is anything else with these calls. */
export interface SimulatedWriter extends Pick<WriterLease<number, WriteOutcome>, 'try' | 'observe' | 'close'> {
  /** `leader` counts in the statistics. */
  readonly role?: string;
}

/** What a simulated replica gives the writer that is made for it. */
export interface SimulatedEnvironment {
  /** Which replica, from 0 on. */
  readonly index: number;
  /** Its clock: it may be fast or slow, and stands still in a pause only as far as timers go. */
  readonly clock: Clock;
  readonly random: Random;
  /** Reads a key from the store: the `read` hook of a writer lease. */
  readonly read: (key: string) => Promise<ReadResult<number>>;
  /** Lists all keys again: the `relist` hook of a writer lease. */
  readonly relist: () => void;
}

export interface SimulatorOptions {
  /** Number of replicas, 1 to 1000. */
  readonly replicas: number;
  /** Number of keys, 1 to 100000. */
  readonly keys: number;
  /** Everything that is left to chance. @default 1 */
  readonly seed?: number;
  /** Makes the writer of a replica: at its start and at each restart. */
  readonly writer: (environment: SimulatedEnvironment) => SimulatedWriter;
  /** From a commit to its delivery at one replica, in order. @default [5, 50] */
  readonly watchLatencyMs?: MsRange;
  /** From a request to its answer; the store sees it at half. @default [5, 20] */
  readonly writeLatencyMs?: MsRange;
  /** Replicas start within so long. @default 200 */
  readonly startSpreadMs?: number;
  /** When a request that got no answer fails. @default 5000 */
  readonly requestTimeoutMs?: number;
  /** Clocks run at rates up to so much too fast or too slow, 0 to 0.5. @default 0 */
  readonly drift?: number;
  /** Share of watch events that are delivered again, 10 to 2000 ms late, 0 to 1. @default 0 */
  readonly repeatedEvents?: number;
  /** `shuffled`: each replica lists the keys in an order of its own. @default 'fixed' */
  readonly listOrder?: 'fixed' | 'shuffled';
  /** Whether observations and reads are compared by the replica, or carry values. @default 'flags' */
  readonly observations?: 'flags' | 'values';
  /** Number of configurations: replica i has number i modulo that, and each wants other values. @default 1 */
  readonly configurations?: number;
  /** Keys that configurations differ in: so many from the first on. @default all */
  readonly contestedKeys?: number;
}

/** What a simulation has counted since its start. */
export interface SimulatorStats {
  readonly nowMs: number;
  /** Writes that were sent. */
  readonly attempts: number;
  /** Writes that were answered with success. */
  readonly writes: number;
  readonly conflicts: number;
  /** Writes that failed otherwise, those without an answer included. */
  readonly errors: number;
  /** Calls of `work` that found nothing to write. */
  readonly unchanged: number;
  readonly reads: number;
  readonly deliveries: number;
  /** How often a replica became leader. */
  readonly takeovers: number;
  /** Most replicas that believed at one time that they lead. */
  readonly leadersMax: number;
  /** Keys that are not as their spec asks. */
  readonly unsatisfied: number;
  /** When the last of them became right; `undefined` while one is not. */
  readonly convergedAtMs: number | undefined;
  /** Longest time for which one key was not right, the present included. */
  readonly worstWaitMs: number;
  /** Most commits by replicas of one key. */
  readonly writesPerKeyMax: number;
  /** Time of the last commit by a replica; `undefined` before the first. */
  readonly lastWriteAtMs: number | undefined;
}

/** One commit of a simulation. */
export interface SimulatedCommit {
  readonly atMs: number;
  readonly revision: number;
  readonly key: string;
  /** The replica that wrote it; `undefined` for an edit by others. */
  readonly replica: number | undefined;
}

export interface CutWritesOptions {
  /** What becomes of a write that gets no answer. @default 'lost' */
  readonly outcome?: CutOutcome;
}

export interface CutWatchOptions {
  /** The replica lists again afterwards instead of being sent what it missed. @default false */
  readonly relist?: boolean;
}

/**
 * Many replicas that write many keys of one store, in virtual time; made by `createSimulator`.
 *
 * A fault of a replica that is dead does nothing; one of a replica that has not started, an unknown key, and a number that
 * cannot be are a RangeError.
 */
export interface Simulator {
  /** Virtual time since the start, in ms. */
  readonly nowMs: number;
  /** Keys that are not as their spec asks; cheaper than `stats`. */
  readonly unsatisfied: number;
  /** Names of the keys, `key-0` on. */
  readonly keys: readonly string[];
  /** Lets so much virtual time pass. Rejects with what a writer threw, and with TypeError while it runs already. */
  run(forMs: number): Promise<void>;
  /** Runs until every key is as its spec asks, at most for so long; whether it came to that. */
  runUntilConverged(maxMs: number): Promise<boolean>;
  /** Runs until `isDone`, which is asked after each event, at most for so long; whether it came to that. */
  runUntil(isDone: () => boolean, maxMs: number): Promise<boolean>;
  /** Calls `fn` once, so much later. */
  after(delayMs: number, fn: () => void): void;
  /** Calls `fn` again and again, first after one interval. Returns what ends it. */
  every(intervalMs: number, fn: () => void): () => void;

  /** Somebody else changes the object: a new revision, and every replica wants a new value. */
  edit(key: string): void;
  /** Somebody else changes the object in a way that no replica cares for: only its revision is new. */
  touch(key: string): void;
  /** Writes of the key fail from now on; with `false` no longer. */
  breakKey(key: string, isBroken?: boolean): void;
  /** The process is gone, without a word. */
  kill(replica: number): void;
  /** Starts a new process in the place of a dead one; a live one is killed first. */
  restart(replica: number): void;
  /** The writer is closed and nothing more is given to it; its process goes on. */
  stop(replica: number): void;
  /** Nothing of the replica runs for so long; timers, answers and events come late. */
  pause(replica: number, forMs: number): void;
  /** Requests of the replica get no answer for so long. */
  cutWrites(replica: number, forMs: number, options?: CutWritesOptions): void;
  /** The watch of the replica stands still for so long. */
  cutWatch(replica: number, forMs: number, options?: CutWatchOptions): void;
  /** The next watch events of the replica never come. */
  loseEvents(replica: number, count: number): void;
  /** Events of one key never come to the replica for so long. */
  hideKey(replica: number, key: string, forMs: number): void;
  /** The replica lists all keys again. */
  relist(replica: number): void;
  /** The wall clock of the replica jumps. */
  jumpWallTime(replica: number, deltaMs: number): void;
  /** Gives the replica another configuration, from its next start on. */
  configure(replica: number, configuration: number): void;

  /** Replicas that live and believe that they lead. */
  leaders(): readonly number[];
  /** The writer of a replica's present process; of a dead one its last. `undefined` before its start. */
  writer(replica: number): SimulatedWriter | undefined;
  stats(): SimulatorStats;
  /** Longest time for which the key was not right so far, the present not included. */
  worstWaitMs(key: string): number;
  /** Commits of the key by replicas. */
  writesOf(key: string): number;
  /** Number of the configuration whose value the key has; `undefined` while it is not as its spec asks. */
  configurationOf(key: string): number | undefined;
  /** Commits from a time on, oldest first. */
  commits(fromMs?: number): readonly SimulatedCommit[];
  /** Timers and events that wait in the simulation. */
  readonly pending: number;
}
