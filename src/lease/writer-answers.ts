import type { Revision } from '../types/revision.ts';
import type { ReadResult } from '../types/writer-lease.ts';
import type { Answer, WriterCall } from './writer-call.ts';
import type { WriterKey } from './writer-key.ts';
import { FALLBACKS, type WriterMoves, type WriterParts } from './writer-moves.ts';
import { compareRead, type Flags } from './writer-view.ts';

/** What a probe says: the write may be made, or there is none to make now. */
export type Verdict = 'write' | 'wait';

/** What the answers of calls mean (WL12, WL16, WL18, WL20, WL22). */
export class WriterAnswers {
  readonly #parts: WriterParts;
  readonly #moves: WriterMoves;

  constructor(parts: WriterParts, moves: WriterMoves) {
    this.#parts = parts;
    this.#moves = moves;
  }

  /** A work function has answered. */
  wrote(call: WriterCall, answer: Answer, now: number): void {
    const { counts } = this.#parts;
    const { target } = call;
    const isGone = target.place === 'gone';
    if (answer.type === 'written') {
      this.#written(call, answer.revision, now);
    } else if (answer.type === 'failed') {
      this.failed(call, answer.error, now);
    } else if (answer.type === 'conflict') {
      counts.conflicts++;
      if (!isGone) this.#conflicted(call, answer.base, now);
    } else {
      counts.unchanged++;
      if (!isGone) this.#done(target, now);
    }
  }

  /** A write error, or (with `isUnknown`) no answer. */
  failed(call: WriterCall, error: unknown, now: number, isUnknown = false): void {
    const { counts, term, settings } = this.#parts;
    const { target } = call;
    counts.errors++;
    counts.lastError = { key: call.key, error };
    settings.logger.warn('a write failed', { key: call.key, error });
    if (target.place !== 'gone') {
      target.work ??= call.work;
      if (isUnknown) target.troubled().isUnknown = true;
      this.#moves.fail(target, error, now);
    }
    if (term.failed(target) < settings.errorsMax) return;
    if (term.isLeader) this.#moves.lose(now, 'writes of several keys failed');
    else term.lose(now);
  }

  /** The answer of a write that nobody waits for any more. The role is as others have made it meanwhile. */
  late(call: WriterCall, answer: Answer, now: number): void {
    const { counts, term, keys } = this.#parts;
    if (call.kind !== 'write') return;
    counts.lateAnswers++;
    const key = keys.get(call.key);
    if (answer.type !== 'written' || key === undefined) return;
    if (key.trouble?.isUnknown !== true || answer.revision <= key.view) return;
    key.trouble.isUnknown = false;
    // Its echo is stale from now on, so this is the last chance to say so.
    this.#tellTracker(call, key);
    this.#sawOwn(key, call, answer.revision);
    if (term.isLeader && answer.revision > term.lastOwnRevision) term.lastOwnRevision = answer.revision;
    if (key.work === call.work && key.place !== 'calling') this.#moves.drop(key, now);
  }

  /** A candidate has read its key before it writes (WL22). */
  probed(call: WriterCall, answer: Answer, now: number): Verdict {
    const { target } = call;
    if (target.place !== 'calling') return 'wait';
    const found = this.#found(call, answer);
    if (found === 'nothing' || isOutdated(call, found)) return 'write';
    if (found === undefined) {
      this.#parts.counts.unchanged++;
      this.#moves.rest(target);
      return 'wait';
    }
    this.#awaitWatch(target, found.revision, now);
    if (found.satisfied) {
      this.#confirmed(target, found, now);
      return 'wait';
    }
    // A read skips what lies between, so the watch has to show it (CT2), if it has not yet, or fails to.
    const isShown = found.revision <= target.view || (target.trouble?.fallbacks ?? 0) >= FALLBACKS;
    if (!found.changed || isShown) return 'write';
    this.#moves.block(target, found.revision - 1, now);
    return 'wait';
  }

  /** A key with an unexplained conflict has been read. */
  explained(call: WriterCall, answer: Answer, now: number): void {
    const { target } = call;
    const { trouble } = target;
    if (target.place !== 'blocked' || trouble === undefined) return;
    const found = this.#found(call, answer);
    if (found === 'nothing') {
      if (trouble.fallbacks >= FALLBACKS) this.#moves.retry(target, now);
      return;
    }
    if (found !== undefined && found.revision <= trouble.conflictBase) {
      // Nothing newer after all this time: the work was made from something older than it was told.
      if (trouble.fallbacks > 0) this.#moves.retry(target, now);
      return;
    }
    if (isOutdated(call, found)) {
      this.#moves.retry(target, now);
      return;
    }
    if (found === undefined) {
      this.#parts.counts.unchanged++;
      this.#moves.rest(target);
      return;
    }
    this.#awaitWatch(target, found.revision, now);
    if (found.satisfied) this.#confirmed(target, found, now);
    else if (found.changed && trouble.fallbacks < FALLBACKS) trouble.conflictBase = found.revision - 1;
    else this.#moves.retry(target, now);
  }

  #written(call: WriterCall, revision: Revision, now: number): void {
    const { counts, term, waits, keys, settings } = this.#parts;
    counts.writes++;
    if (term.succeeded(revision, now)) {
      counts.takeovers++;
      settings.logger.info('a writer lease was won', { key: call.key, revision });
    }
    waits.settle('leader');
    const key = keys.get(call.key);
    this.#tellTracker(call, key);
    if (key === undefined) return;
    this.#sawOwn(key, call, revision);
    if (key !== call.target) return;
    key.awaitedAt = now;
    counts.right(now - call.askedAt);
    this.#done(key, now);
  }

  /** An own write is the newest that is known of the key. */
  #sawOwn(key: WriterKey, call: WriterCall, revision: Revision): void {
    if (revision <= key.view) return;
    key.view = revision;
    key.known = Math.max(key.known, revision);
    key.awaited = revision;
    key.isRight = false;
    key.isOwn = true;
    if (key.hasWanted) key.value = call.wanted;
  }

  /** What was written may have been an older wish; it is ours all the same (CT1). */
  #tellTracker(call: WriterCall, key: WriterKey | undefined): void {
    const { tracker, equal } = this.#parts.settings;
    if (tracker === undefined) return;
    if (key === undefined || !key.hasWanted || equal(call.wanted, key.wanted)) tracker.wrote(call.key);
    else tracker.observe(call.key, OLDER_WISH);
  }

  #conflicted(call: WriterCall, base: Revision, now: number): void {
    const { target } = call;
    target.work ??= call.work;
    const trouble = target.troubled();
    trouble.conflictsInRow++;
    const madeFrom = base < 0 ? call.revision : base;
    // The view is ahead of what the work was made from: it is explained already.
    if (target.view > madeFrom) this.#moves.retry(target, now);
    else this.#moves.block(target, madeFrom, now);
  }

  /** The write of a key is over, and a newer wish may have come meanwhile. */
  #done(key: WriterKey, now: number): void {
    if (key.work === undefined) {
      this.#moves.rest(key);
      return;
    }
    key.trouble = undefined;
    this.#moves.enqueue(key, now);
  }

  /** A read found a mate's work. The view stays: the watch will show the same to the tracker. */
  #confirmed(key: WriterKey, { revision }: Flags, now: number): void {
    if (revision > key.view) this.#moves.evidence(key, revision, now);
    this.#moves.drop(key, now);
  }

  #awaitWatch(key: WriterKey, revision: Revision, now: number): void {
    if (revision > key.known) key.known = revision;
    if (revision <= key.view) return;
    key.awaited = revision;
    key.awaitedAt = now;
  }

  /** `undefined`: the key is gone. `nothing`: the read failed, which is no reason to do nothing at all. */
  #found(call: WriterCall, answer: Answer): Flags | undefined | 'nothing' {
    const { counts, settings } = this.#parts;
    counts.reads++;
    try {
      if (answer.type === 'failed') throw answer.error;
      const found: ReadResult<unknown> = answer.type === 'read' ? answer.found : undefined;
      return found === undefined ? undefined : compareRead(call.target, found, settings.equal);
    } catch (error) {
      counts.readErrors++;
      settings.logger.warn('a read failed', { key: call.key, error });
      return 'nothing';
    }
  }
}

/**
 * Something newer than what a read found has been seen, or asked for, since: it says nothing about that. A key that was not
 * there may have come again meanwhile.
 */
function isOutdated({ target, revision }: WriterCall, found: Flags | undefined): boolean {
  return (found === undefined ? revision : found.revision) < target.known;
}

const OLDER_WISH = Object.freeze({ satisfied: false, changed: true, satisfiedBefore: true });
