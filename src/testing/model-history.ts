import { CompactedError, FutureRevisionError, LimitExceededError } from '../types/errors.ts';
import type { PinOptions } from '../types/pin.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { CompactResult } from '../types/store.ts';
import type { WatchOptions } from '../types/watch.ts';
import type { Predicate } from './model-keys.ts';
import type { State } from './model-rows.ts';
import { type ModelEvent, type ModelHistory, ReferenceWatch } from './model-watch.ts';

/** A pin of the model. */
export interface ModelPin {
  readonly revision: Revision;
  /** It was held for too long: its signal has aborted. */
  readonly isBroken: boolean;
  release(): void;
}

interface Held {
  readonly revision: Revision;
  readonly deadline: number;
  isBroken: boolean;
}

/**
 * Everything that ever happened, and how much of it may still be seen. The whole state is kept once per revision and
 * nothing is ever dropped: compaction is one number.
 */
export class History<V, K extends Key> implements ModelHistory<V, K> {
  revision: Revision = 1;
  readonly commits: Map<Revision, readonly ModelEvent<V, K>[]> = new Map();
  /** By revision. */
  readonly #states: State<V, K>[] = [new Map(), new Map()];
  /** Those that are not over; the others are dropped when a new one is opened. */
  #watches: ReferenceWatch<V, K>[] = [];
  readonly #pins = new Set<Held>();
  readonly #eventsMax: number;
  /** The oldest readable revision; -1 before the first compaction. */
  #compacted: Revision = -1;
  /** What compaction was asked for; above `#compacted` while a pin holds it back (M16). */
  #wanted: Revision = -1;

  constructor(eventsMax: number) {
    this.#eventsMax = eventsMax;
  }

  get compactRevision(): Revision {
    return Math.max(this.#compacted, 0);
  }

  get newest(): State<V, K> {
    return this.stateAt(this.revision);
  }

  stateAt(revision: Revision): State<V, K> {
    return this.#states[revision] as State<V, K>;
  }

  /** Which revision a read at `revision` is of (store:R13). */
  readable(revision: Revision = 0): Revision {
    if (!Number.isSafeInteger(revision)) throw new RangeError('not a safe integer');
    if (revision <= 0) return this.revision;
    if (revision > this.revision) throw new FutureRevisionError('read', { revision, currentRevision: this.revision });
    if (revision < this.#compacted) {
      throw new CompactedError('read', { minRevision: this.#compacted, compactRevision: this.compactRevision });
    }
    return revision;
  }

  /** Publishes a state and how it came about, or nothing at all if nothing did; then retention. */
  commit(events: readonly ModelEvent<V, K>[], state: ReadonlyMap<string, KeyValue<V, K>>): Revision {
    if (events.length === 0) return this.revision;
    this.revision++;
    this.commits.set(this.revision, events);
    this.#states.push(new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1))));
    this.#retain();
    return this.revision;
  }

  compact(revision: Revision): CompactResult {
    if (!Number.isSafeInteger(revision) || revision < 0) throw new RangeError('a safe integer from 0 on');
    if (revision <= this.#compacted) {
      const facts = { minRevision: this.#compacted + 1, compactRevision: this.compactRevision };
      throw new CompactedError('compact', facts);
    }
    if (revision > this.revision) {
      throw new FutureRevisionError('compact', { revision, currentRevision: this.revision });
    }
    this.#raise(revision);
    return { requested: revision, compactRevision: this.compactRevision };
  }

  watch(has: Predicate, options: WatchOptions, due: () => void): ReferenceWatch<V, K> {
    const watch = new ReferenceWatch<V, K>(this, has, options, due);
    this.#watches = [...this.#watches.filter(({ isDone }) => !isDone), watch];
    return watch;
  }

  pin(revision: Revision, options: PinOptions, now: number, pinsMax: number): ModelPin {
    const { owner, ttlMs = 60_000 } = options;
    if (typeof owner !== 'string' || owner === '') throw new TypeError('owner');
    if (!(Number.isSafeInteger(ttlMs) && ttlMs >= 1)) throw new RangeError('ttlMs');
    if (!(Number.isSafeInteger(revision) && revision >= 1)) throw new RangeError('a revision from 1 on');
    this.readable(revision);
    if (this.#pins.size >= pinsMax) {
      throw new LimitExceededError('pin', { limit: 'pins', max: pinsMax, actual: this.#pins.size + 1 });
    }
    const held: Held = { revision, deadline: now + ttlMs, isBroken: false };
    this.#pins.add(held);
    return {
      revision,
      get isBroken() {
        return held.isBroken;
      },
      release: () => this.#unpin(held),
    };
  }

  /** Breaks what was held for too long (M18). */
  breakPins(now: number): void {
    for (const held of this.#pins) {
      if (held.deadline > now) continue;
      held.isBroken = true;
      this.#unpin(held);
    }
  }

  #unpin(held: Held): void {
    if (this.#pins.delete(held)) this.#raise(this.#wanted);
  }

  /** Keeps the most whole commits that hold at most so many events, and the newest one in any case (M18). */
  #retain(): void {
    let entries = 0;
    let floor = this.revision;
    for (const [commit, events] of [...this.commits].reverse()) {
      entries += events.length;
      if (entries > this.#eventsMax) {
        if (commit >= this.compactRevision && floor > this.compactRevision) this.#raise(floor);
        return;
      }
      floor = commit;
    }
  }

  /** The low watermark rises as far as the oldest pin allows; the rest is remembered. */
  #raise(wanted: Revision): void {
    this.#wanted = Math.max(this.#wanted, wanted);
    const floor = Math.min(this.#wanted, ...[...this.#pins].map(({ revision }) => revision));
    if (floor <= this.#compacted) return;
    this.#compacted = floor;
    for (const watch of this.#watches) watch.compacted();
  }
}
