import type { Random } from '../types/random.ts';
import type { Observation, ReadResult, WriteContext, WriteOutcome } from '../types/writer-lease.ts';
import type { LeaderCount, SimulatorCounts } from './simulator-counts.ts';
import type { SimulatorProcess } from './simulator-process.ts';
import type { SimulatorRequests } from './simulator-requests.ts';
import { type LogEntry, NO_VALUE, type SimulatorStore } from './simulator-store.ts';
import type { SimulatedEnvironment, SimulatedWriter } from './simulator-types.ts';

type Seen = Pick<LogEntry, 'revision' | 'spec' | 'value'>;

export interface SimulatorReplicaOptions {
  readonly index: number;
  readonly configuration: number;
  readonly store: SimulatorStore;
  readonly process: SimulatorProcess;
  readonly requests: SimulatorRequests;
  readonly random: Random;
  readonly counts: SimulatorCounts;
  readonly leaders: LeaderCount;
  readonly withValues: boolean;
  readonly relist: () => void;
  readonly writer: (environment: SimulatedEnvironment) => SimulatedWriter;
}

/**
 * What a replica does with what it sees, the same for every strategy: it keeps a view of each key, tells the writer of
 * every observation, and asks for a write of what is not as its configuration wants it.
 *
 * ```text
 *   event {revision, spec, value} --> view --> writer.observe(...)     value is what was wanted: satisfied
 *                                              writer.try(...)         if it is not what is wanted for the spec
 *   work, when the writer runs it --> compare and set at the revision of the view as it is then
 * ```
 */
export class SimulatorReplica {
  readonly writer: SimulatedWriter;
  readonly #options: SimulatorReplicaOptions;
  readonly #revisions: Float64Array;
  readonly #specs: Int32Array;
  readonly #values: Int32Array;
  /** What a read or an own write showed and the watch has not yet: work is made from it, observations are not. */
  readonly #fresh = new Map<number, Seen>();
  #isStopped = false;

  constructor(options: SimulatorReplicaOptions) {
    const { index, store, process, random, relist } = options;
    this.#options = options;
    this.#revisions = new Float64Array(store.keys.length);
    this.#specs = new Int32Array(store.keys.length);
    this.#values = new Int32Array(store.keys.length).fill(NO_VALUE);
    this.writer = options.writer({ index, clock: process.clock, random, read: (key) => this.#read(key), relist });
  }

  /** The first list, in the order of this replica. */
  list(entries: readonly LogEntry[]): void {
    for (const entry of entries) this.#see(entry, true);
  }

  /** A watch event, or an entry of a later list. */
  onEvent(entry: LogEntry, isRepeat: boolean): void {
    this.#options.counts.deliveries++;
    if (this.#isStopped) return;
    const isOld = entry.revision <= (this.#revisions[entry.key] ?? 0);
    // What a list shows again is no observation; an event that comes twice is one that the writer has to see through. It is
    // compared as any other: a replica that could tell that it is old would need no writer that does.
    if (isOld && isRepeat) {
      const { key, spec, value } = entry;
      this.#observe(
        entry,
        this.#wanted(key, spec),
        this.#wanted(key, this.#specs[key] ?? 0),
        value !== this.#values[key],
      );
    } else if (!isOld) this.#see(entry, false);
  }

  /** The writer gets nothing more; resolves when it is closed. */
  stop(): void {
    this.#isStopped = true;
    void this.writer.close();
  }

  noteRole(): void {
    const { leaders, index, process } = this.#options;
    leaders.note(index, !process.isDead && this.writer.role === 'leader');
  }

  #see(entry: LogEntry, isFirst: boolean): void {
    const { key, revision, spec, value } = entry;
    const wantedBefore = isFirst ? undefined : this.#wanted(key, this.#specs[key] ?? 0);
    const changed = !isFirst && value !== this.#values[key];
    this.#revisions[key] = revision;
    this.#specs[key] = spec;
    this.#values[key] = value;
    if (this.#fresh.size > 0 && (this.#fresh.get(key)?.revision ?? 0) <= revision) this.#fresh.delete(key);
    const wanted = this.#wanted(key, spec);
    this.#observe(entry, wanted, wantedBefore, changed);
    if (value !== wanted) this.writer.try(this.#name(key), { revision, work: this.#work, wanted });
  }

  #observe(entry: LogEntry, wanted: number, wantedBefore: number | undefined, changed: boolean): void {
    const { revision, value } = entry;
    const observation: Observation<number> = this.#options.withValues
      ? { revision, value: stored(value), wanted }
      : { revision, satisfied: value === wanted, changed, satisfiedBefore: value === wantedBefore };
    this.writer.observe(this.#name(entry.key), observation);
  }

  /** One function for all keys: the view that counts is the one at the time of the call. */
  readonly #work = async ({ key: name }: WriteContext): Promise<WriteOutcome> => {
    const { store, counts, requests, index } = this.#options;
    const key = store.indexOf(name);
    const seen = this.#newest(key);
    const wanted = this.#wanted(key, seen.spec);
    if (seen.value === wanted) {
      counts.unchanged++;
      return 'unchanged';
    }
    counts.attempts++;
    try {
      const revision = await requests.write(key, wanted, seen.revision, index);
      if (revision === undefined) {
        counts.conflicts++;
      } else {
        counts.writes++;
        this.#overlay(key, { revision, spec: seen.spec, value: wanted });
      }
      return revision === undefined ? 'conflict' : { revision };
    } catch (error) {
      counts.errors++;
      throw error;
    }
  };

  async #read(name: string): Promise<ReadResult<number>> {
    const { store, counts, requests, withValues } = this.#options;
    counts.reads++;
    const key = store.indexOf(name);
    const { revision, spec, value } = await requests.read(key);
    this.#overlay(key, { revision, spec, value });
    if (withValues) return { revision, value: stored(value) };
    return { revision, satisfied: value === this.#wanted(key, spec), changed: value !== this.#values[key] };
  }

  #overlay(key: number, seen: Seen): void {
    const { revision } = this.#newest(key);
    if (seen.revision > revision) this.#fresh.set(key, seen);
  }

  #newest(key: number): Seen {
    const fresh = this.#fresh.get(key);
    if (fresh !== undefined) return fresh;
    const [revision = 0, spec = 0, value = NO_VALUE] = [this.#revisions[key], this.#specs[key], this.#values[key]];
    return { revision, spec, value };
  }

  #wanted(key: number, spec: number): number {
    return this.#options.store.wanted(key, this.#options.configuration, spec);
  }

  #name(key: number): string {
    return this.#options.store.keys[key] ?? '';
  }
}

function stored(value: number): number | undefined {
  return value === NO_VALUE ? undefined : value;
}
