import type { Revision } from '../types/revision.ts';
import type { WriteContext } from '../types/writer-lease.ts';

/** Calls the user's work function; what it answers is looked at where it arrives. */
export type Work = (context: WriteContext) => unknown;

/**
 * Where a key is: each is in one place.
 *
 * ```text
 *   idle       no work                                    pending    waits for its turn
 *   calling    its read or write is under way             parked     waits for its own time (WL16, WL18, CT7)
 *   blocked    its conflict is unexplained (WL16)          gone       not remembered any more
 * ```
 */
export type Place = 'idle' | 'pending' | 'calling' | 'parked' | 'blocked' | 'gone';

/** What is remembered of a key that had difficulties; most never have any. */
export interface Trouble {
  /** Write errors without a success between. */
  errors: number;
  conflictsInRow: number;
  /** Why it is parked: `held` by the tracker, or its own `backoff`. */
  parkedFor: 'held' | 'backoff';
  /** The conflict was with what is newer than this. */
  conflictBase: Revision;
  conflictAt: number;
  /** Times that the wait for an explanation ran out. */
  fallbacks: number;
  /** A write of it got no answer; nothing newer has been observed since (WL20). */
  isUnknown: boolean;
  error: unknown;
}

/** What a lease remembers of one key. */
export class WriterKey {
  readonly key: string;
  place: Place = 'idle';
  /** Neighbours in the list of its place. */
  previous: WriterKey | undefined = undefined;
  next: WriterKey | undefined = undefined;
  /** Of the newest observation or own write; -1 before the first one. */
  view: Revision = -1;
  /** The newest revision known, from whatever source. */
  known: Revision = 0;
  /** The view found it right; an own write does not say so, since it may have been of an older wish. */
  isRight = false;
  /** The view is an own write. */
  isOwn = false;
  /** Of the view, as far as it is known. */
  value: unknown = undefined;
  wanted: unknown = undefined;
  /** What was wanted before that. */
  wantedBefore: unknown = undefined;
  hasWanted = false;
  hasWantedBefore = false;
  /** Of what is to be written; `undefined`: nothing. */
  work: Work | undefined = undefined;
  tryRevision: Revision = 0;
  /** When it got into its place in the order. */
  since = 0;
  /** When it was asked for, to measure how long it took. */
  askedAt = 0;
  trouble: Trouble | undefined = undefined;
  /** What the watch has to reach for a sample of its latency, and since when; -1 for none (WL9). */
  awaited: Revision = -1;
  awaitedAt = 0;
  /** When it wakes up, and where it is among those that do: -1 for nowhere. */
  wakeAt = 0;
  wakePlace = -1;

  constructor(key: string) {
    this.key = key;
  }

  /** Begins to remember difficulties. */
  troubled(): Trouble {
    this.trouble ??= {
      errors: 0,
      conflictsInRow: 0,
      parkedFor: 'backoff',
      conflictBase: 0,
      conflictAt: 0,
      fallbacks: 0,
      isUnknown: false,
      error: undefined,
    };
    return this.trouble;
  }
}

/**
 * Keys in the order of their arrival. The links are in the keys: whatever is taken out costs the same, and the first one
 * is at hand however many have gone before it, which a `Map` does not give.
 *
 * ```text
 *   first -> a <-> b <-> c <- last          remove(b): a <-> c
 * ```
 */
export class KeyList {
  first: WriterKey | undefined = undefined;
  #last: WriterKey | undefined = undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** At the end. */
  push(key: WriterKey): void {
    key.previous = this.#last;
    key.next = undefined;
    if (this.#last === undefined) this.first = key;
    else this.#last.next = key;
    this.#last = key;
    this.#size++;
  }

  /** In front. */
  unshift(key: WriterKey): void {
    key.previous = undefined;
    key.next = this.first;
    if (this.first === undefined) this.#last = key;
    else this.first.previous = key;
    this.first = key;
    this.#size++;
  }

  /** Takes out a key that is in it. */
  remove(key: WriterKey): void {
    const { previous, next } = key;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    key.previous = undefined;
    key.next = undefined;
    this.#size--;
  }
}
