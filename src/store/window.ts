import { checkInteger } from '../types/check-integer.ts';
import { CompactedError, FutureRevisionError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';

/** Most spans kept: as many as the entries of the log are by default, for each may have an event before it. */
export const SPANS_MAX = 10_000;

/** One published span: the exact difference of the states at `after` and `revision` (M9). */
export interface Span {
  readonly after: Revision;
  readonly revision: Revision;
  /** Nothing has changed in it. */
  readonly isEmpty?: boolean;
}

/**
 * Which revisions can be read and where a watch may start: the two floors and the holes that relists left (M9, M12, M15).
 *
 * ```text
 *   compacted     C          A       S                         C oldest readable     W oldest legal start, C or C + 1
 *   ------------- o=====o====o ..... o====o  revision          (A, S] a hole: A+1 .. S-1 cannot be read,
 *                 ^W         ^A+1 ok ^S+1 ok                          A+2 .. S is no legal start
 * ```
 */
export class Window {
  #revision: Revision;
  /** -1: never compacted, so that a first compact(0) is legal (M16). */
  #compacted: Revision = -1;
  #watchFloor: Revision = 0;
  /**
   * Ascending and disjoint; those below the floor are dropped, and there are at most SPANS_MAX after each commit, or, while
   * a pin holds them back, as many as a relist can make in the time that the pin has.
   */
  #spans: Span[] = [];

  constructor(revision: Revision) {
    this.#revision = revision;
  }

  get revision(): Revision {
    return this.#revision;
  }

  get compactRevision(): Revision {
    return Math.max(this.#compacted, 0);
  }

  /** Whether there was a first compaction: before it, compact(0) is legal. */
  get isCompacted(): boolean {
    return this.#compacted >= 0;
  }

  /** W: the smallest legal `fromRevision` above 0. */
  get watchFloor(): Revision {
    return this.#watchFloor;
  }

  get hasSpans(): boolean {
    return this.#spans.length > 0;
  }

  /** The revision to compact to if there are too many spans, else 0: that of the oldest one that may stay. */
  get spansFloor(): Revision {
    const first = this.#spans.length - SPANS_MAX;
    return first > 0 ? (this.#spans[first] as Span).revision : 0;
  }

  /** `revision` is published, with the span from `after` that led to it if a relist did. */
  advance(revision: Revision, after?: Revision, isEmpty = false): void {
    this.#revision = revision;
    if (after !== undefined) this.#spans.push(isEmpty ? { after, revision, isEmpty } : { after, revision });
  }

  /**
   * If there are too many spans, joins those of the older half in which nothing has changed: what can be read between two of
   * them is the least that can be given up.
   *
   * ```text
   *   (10,20] (20,30] | 35 an event | (35,40] (40,50]   ->   (10,30] | 35 | (35,50]
   * ```
   */
  joinSpans(isHeld: (revision: Revision) => boolean): void {
    if (this.#spans.length <= SPANS_MAX) return;
    const joined: Span[] = [];
    for (const [index, span] of this.#spans.entries()) {
      const last = joined[joined.length - 1];
      const isNext = last?.isEmpty && span.isEmpty && last.revision === span.after;
      if (!isNext || index > SPANS_MAX / 2 || isHeld(span.after)) joined.push(span);
      else joined[joined.length - 1] = { after: last.after, revision: span.revision, isEmpty: true };
    }
    this.#spans = joined;
  }

  /** The first snapshot of a replica: nothing older can be read, and what changed AT it is unknown (M15). */
  prime(revision: Revision): void {
    this.#revision = revision;
    this.#spans = [];
    this.raise(revision, revision + 1);
  }

  /** Raises the floors (never lowers them) and forgets spans below. */
  raise(compacted: Revision, watchFloor: Revision): void {
    this.#compacted = Math.max(this.#compacted, compacted);
    this.#watchFloor = Math.max(this.#watchFloor, watchFloor);
    while (this.#spans.length > 0 && (this.#spans[0] as Span).revision < this.#compacted) this.#spans.shift();
  }

  /**
   * The logical compaction to `n`, or only to `pinned`, the oldest revision that has to stay readable; a request in a hole
   * moves to its end (M16). Returns the new low watermark. Throws `CompactedError` (n at or below it already) and
   * `FutureRevisionError`.
   *
   * A pin is on no revision inside of a hole, for none can be read there. One that holds back a request in a hole is at
   * its `after` at most, and there, or below, is where the low watermark stays:
   *
   * ```text
   *   pin 9   hole (9, 30]   n 20       ->  C = 9, W = 9: a watch from 10 gets the span
   *   no pin                            ->  C = 30, W = 31
   * ```
   */
  compact(n: Revision, action: string, pinned: Revision = Number.POSITIVE_INFINITY): Revision {
    if (n <= this.#compacted) {
      throw new CompactedError(action, { minRevision: this.#compacted + 1, compactRevision: this.compactRevision });
    }
    if (n > this.#revision) throw new FutureRevisionError(action, { revision: n, currentRevision: this.#revision });
    const floor = Math.min(n, pinned);
    const hole = this.#spanOver(floor);
    if (hole === undefined || !isHole(hole)) this.raise(floor, floor);
    else this.raise(hole.revision, hole.revision + 1);
    return this.#compacted;
  }

  /**
   * The revision to compact to so that the commit at `oldest` can still be delivered: `oldest` itself, but for a span
   * that left a hole, which is delivered to those who wait at `after` + 1. Compaction to its end would end them (M18).
   */
  keeping(oldest: Revision): Revision {
    const span = this.spanAt(oldest);
    return span === undefined || !isHole(span) ? oldest : span.after;
  }

  /** The revision a read is answered at: `undefined`, zero and below are the newest (store:R13). */
  readable(revision: Revision | undefined, action: string): Revision {
    if (revision === undefined) return this.#revision;
    checkInteger('the revision', revision, action);
    if (revision <= 0) return this.#revision;
    if (revision > this.#revision) {
      throw new FutureRevisionError(action, { revision, currentRevision: this.#revision });
    }
    if (revision < this.#compacted) {
      throw new CompactedError(action, { minRevision: this.#compacted, compactRevision: this.compactRevision });
    }
    const hole = this.#spanOver(revision);
    if (hole !== undefined && revision < hole.revision) {
      throw new CompactedError(action, { minRevision: hole.revision, compactRevision: this.compactRevision });
    }
    return revision;
  }

  /** Whether the state at `revision` can still be looked up (for `prevKv`, M29). */
  isReadable(revision: Revision): boolean {
    return revision >= this.#compacted;
  }

  /** 0 if a watch may start at `from`, else the smallest legal start at or above it (M12). */
  illegalStart(from: Revision): Revision {
    if (from < this.#watchFloor) return this.#watchFloor;
    const hole = this.#spanOver(from);
    return hole === undefined || from === hole.after + 1 ? 0 : hole.revision + 1;
  }

  /** Whether a revision is known to be applied although the log has no entry for it: it lies in a hole (M6). */
  isInHole(revision: Revision): boolean {
    return this.#spanOver(revision) !== undefined;
  }

  spanAt(revision: Revision): Span | undefined {
    const span = this.#spanOver(revision);
    return span?.revision === revision ? span : undefined;
  }

  /** The span with `after < revision <= span.revision`. They ascend and do not overlap, so there is at most one. */
  #spanOver(revision: Revision): Span | undefined {
    let low = 0;
    let high = this.#spans.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#spans[middle] as Span).revision < revision) low = middle + 1;
      else high = middle;
    }
    const span = this.#spans[low];
    return span !== undefined && span.after < revision ? span : undefined;
  }
}

function isHole(span: Span): boolean {
  return span.revision - span.after > 1;
}
