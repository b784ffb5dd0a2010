import type { Clock } from '../types/clock.ts';
import type { Revision } from '../types/revision.ts';

/**
 * How much history an embedded store or a replica keeps. Counts log entries (one per changed key), not revision
 * numbers, and is judged at the end of each commit and by a timer, never by a read; the newest commit always stays
 * (M18). The span of a relist stays together with the revision that it starts from, or nobody could be given it. What
 * is bounded here is history: live keys always stay readable.
 *
 * A watcher that lags holds nothing back; a pin does, and what it held back goes when it goes. Keep `events` above the
 * number of writes that one turn of the event loop can make, or a watcher that was woken in that turn is passed before it
 * could run.
 */
export interface Retention {
  /** Log entries, a number from 1 on; Infinity is no bound. @default 10000 */
  readonly events?: number;
  /**
   * Bytes of the values in the log, as encoded, a number from 0 on. Unlike `limits.storeBytes` it does not count live values that the log has
   * no entry of any more. @default no bound
   */
  readonly bytes?: number;
  /** Milliseconds since the commit, a number from 0 on. @default no bound */
  readonly ageMs?: number;
}

const RETENTION_EVENTS_DEFAULT = 10_000;

/** The log, as far as retention has to look at it. */
export interface RetainedLog {
  /** Entries in all, at least those from the low watermark on. */
  entries(): number;
  /** Entries with commit >= the revision. */
  entriesFrom(revision: Revision): number;
  /** Commit of the n-th newest entry; 0 if there are fewer. */
  commitFromEnd(entries: number): Revision;
  /** The first commit >= the revision; 0 if there is none. */
  commitFrom(revision: Revision): Revision;
}

/** What `note` has to know of a commit. */
export interface NotedCommit {
  readonly revision: Revision;
  readonly changes: { readonly length: number };
}

/** One commit that is kept, and the one after it. */
interface Kept {
  readonly revision: Revision;
  readonly bytes: number;
  readonly at: number;
  next: Kept | undefined;
}

const LIMITS = { events: 1, bytes: 0, ageMs: 0 } as const;

/** Validates a `retention` option. Throws TypeError and RangeError. */
export function checkRetention(retention: Retention): void {
  if (typeof retention !== 'object' || retention === null || Array.isArray(retention)) {
    throw new TypeError('Cannot open a store: retention is not an object');
  }
  for (const [name, value] of Object.entries(retention) as [string, unknown][]) {
    if (!Object.hasOwn(LIMITS, name)) throw new TypeError(`Cannot open a store: unknown option retention.${name}`);
    const min = LIMITS[name as keyof Retention];
    if (value === undefined) continue;
    const allowed = `allowed is a number from ${min} on`;
    if (typeof value !== 'number') {
      throw new TypeError(`Cannot open a store: retention.${name} is of type ${typeof value}, ${allowed}`);
    }
    if (!(value >= min)) throw new RangeError(`Cannot open a store: retention.${name} is ${value}, ${allowed}`);
  }
}

export interface RetentionKeeperOptions {
  readonly retention: Retention;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: RetainedLog;
  /** Called outside of any commit when age alone demands it, with the oldest commit to keep. */
  readonly compactTo: (oldest: Revision) => void;
}

/**
 * Says after each commit which is the oldest one to keep. Only `bytes` and `ageMs` cost an entry per commit:
 *
 * ```text
 *   #oldest 7 ---> 8 ---> 9 #newest      7 goes when #bytes, the sum of the three, is too much, or 7 is too old; 9 stays
 * ```
 */
export class RetentionKeeper {
  readonly #options: RetentionKeeperOptions;
  readonly #eventsMax: number;
  readonly #bytesMax: number;
  readonly #ageMsMax: number;
  /** Whether sizes have to be measured for `note`. */
  readonly needsBytes: boolean;
  #oldest: Kept | undefined;
  /** Means something while there is an oldest one. */
  #newest: Kept | undefined;
  #bytes = 0;
  #cancel: (() => void) | undefined;

  constructor(options: RetentionKeeperOptions) {
    const { events = RETENTION_EVENTS_DEFAULT, bytes, ageMs } = options.retention;
    this.#options = options;
    this.#eventsMax = Math.floor(events);
    this.#bytesMax = bytes ?? Number.POSITIVE_INFINITY;
    this.#ageMsMax = ageMs ?? Number.POSITIVE_INFINITY;
    this.needsBytes = bytes !== undefined;
  }

  /**
   * Takes a commit into account; `oldest` is the oldest one kept so far. Returns the oldest commit to keep from now
   * on, or 0 for no change. A commit without a change is no entry of the log: it counts for nothing, and pushes nothing out.
   */
  note(commit: NotedCommit, oldest: Revision, bytes: number): Revision {
    const floor = this.#floorByEvents(oldest);
    const { retention, clock } = this.#options;
    if (retention.bytes === undefined && retention.ageMs === undefined) return floor;
    if (commit.changes.length > 0) {
      this.#keep({ revision: commit.revision, bytes, at: clock.now(), next: undefined });
    }
    this.#forgetBelow(Math.max(floor, oldest));
    return Math.max(floor, this.#floorByBytesAndAge());
  }

  /** Forgets what was noted, and stops the timer. What is noted afterwards may be of other data. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#oldest = undefined;
    this.#bytes = 0;
  }

  #floorByEvents(oldest: Revision): Revision {
    const { log } = this.#options;
    if (log.entries() <= this.#eventsMax || log.entriesFrom(oldest) <= this.#eventsMax) return 0;
    const floor = log.commitFromEnd(this.#eventsMax);
    // A commit is kept whole or not at all; the newest one always.
    if (log.entriesFrom(floor) <= this.#eventsMax) return floor;
    const next = log.commitFrom(floor + 1);
    return next === 0 ? floor : next;
  }

  #floorByBytesAndAge(): Revision {
    const now = this.#options.clock.now();
    let floor = 0;
    let oldest = this.#oldest;
    while (oldest?.next !== undefined && (this.#bytes > this.#bytesMax || now - oldest.at > this.#ageMsMax)) {
      floor = oldest.next.revision;
      oldest = this.#drop(oldest);
    }
    if (oldest?.next !== undefined) this.#arm(oldest.at + this.#ageMsMax - now);
    return floor;
  }

  #keep(commit: Kept): void {
    if (this.#oldest === undefined) this.#oldest = commit;
    else (this.#newest as Kept).next = commit;
    this.#newest = commit;
    this.#bytes += commit.bytes;
  }

  /** What another bound, or the user, has compacted: it counts no more, and must not pile up. */
  #forgetBelow(revision: Revision): void {
    let oldest = this.#oldest;
    while (oldest !== undefined && oldest.revision < revision) oldest = this.#drop(oldest);
  }

  /** Returns the one that is the oldest now. */
  #drop(oldest: Kept): Kept | undefined {
    this.#bytes -= oldest.bytes;
    this.#oldest = oldest.next;
    return oldest.next;
  }

  /** Wakes up when the oldest commit, which a newer one can take the place of, is too old: in so many ms it is not yet. */
  #arm(leftMs: number): void {
    const { clock, compactTo } = this.#options;
    if (leftMs === Number.POSITIVE_INFINITY || this.#cancel !== undefined) return;
    this.#cancel = clock.after(leftMs + 1, () => {
      this.#cancel = undefined;
      const floor = this.#floorByBytesAndAge();
      if (floor !== 0) compactTo(floor);
    });
  }
}
