import type { Revision } from '../types/revision.ts';
import type { WriterCounts } from './writer-counts.ts';
import type { Estimates } from './writer-estimates.ts';
import type { Trouble, WriterKey } from './writer-key.ts';
import type { WriterKeys } from './writer-keys.ts';
import type { WriterSettings } from './writer-options.ts';
import type { Term } from './writer-term.ts';
import type { WriterWaits } from './writer-waits.ts';

/** Parking after errors, and after conflicts in a row (WL16, WL18). */
const ERROR_BASE_MS = 1000;
const CONFLICT_BASE_MS = 20;
const CONFLICT_MAX_MS = 5000;

/**
 * Caps after which a conflict that neither watch nor read nor list has explained is tried again all the same: what should
 * explain it is broken, and a wish must not wait for that for ever (WL16).
 */
export const FALLBACKS = 2;

/** The parts of a lease. */
export interface WriterParts {
  readonly settings: WriterSettings;
  readonly keys: WriterKeys;
  readonly estimates: Estimates;
  readonly term: Term;
  readonly counts: WriterCounts;
  readonly waits: WriterWaits;
}

/** What the rules do to a key and to the role, whichever event asks for it. None of it calls the user's code. */
export class WriterMoves {
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Lets a key wait for its turn, or for the tracker (CT7). */
  enqueue(key: WriterKey, now: number): void {
    if (!this.refused(key, now)) this.#parts.keys.toPending(key, now);
  }

  /** Whether the tracker puts the write off. If so the key is parked, and neither the role nor the others notice (CT7). */
  refused(key: WriterKey, now: number): boolean {
    const { settings, counts } = this.#parts;
    const refusedMs = settings.tracker?.refusedMs(key.key) ?? 0;
    if (!(refusedMs > 0)) return false;
    counts.refusals++;
    this.#park(key, 'held', now + Math.max(1, refusedMs));
    return true;
  }

  /** A mate's work was seen, at this revision (WL6). The key is still where it was. */
  evidence(key: WriterKey, revision: Revision, now: number): void {
    const { keys, term, counts, waits } = this.#parts;
    counts.evidence++;
    if (!term.isLeader) {
      const isWaiting = key.place === 'pending' || key.place === 'blocked' || key.place === 'calling';
      term.restart(now, keys.pending.first, isWaiting ? key : undefined);
    } else if (revision > term.lastOwnRevision) {
      this.lose(now, 'somebody else has written since');
    }
    waits.settle(term.role);
  }

  lose(now: number, reason: string): void {
    const { settings, term, counts, waits } = this.#parts;
    if (!term.lose(now)) return;
    counts.losses++;
    waits.settle('follower');
    settings.logger.info('a writer lease was lost', { reason });
  }

  /** It is right without a write of this lease. */
  drop(key: WriterKey, now: number): void {
    const { counts } = this.#parts;
    if (key.work !== undefined) {
      counts.dropped++;
      counts.right(now - key.askedAt);
    }
    this.rest(key);
  }

  /** Nothing is to be done for it. */
  rest(key: WriterKey): void {
    const { keys, term } = this.#parts;
    term.left(key);
    key.work = undefined;
    key.trouble = undefined;
    if (key.place !== 'idle') keys.toIdle(key);
  }

  /** Its write met something newer than `base`: nothing is done for it until that is seen (WL16). */
  block(key: WriterKey, base: Revision, now: number): void {
    const { keys, settings } = this.#parts;
    const trouble = key.troubled();
    trouble.conflictBase = base;
    trouble.conflictAt = now;
    trouble.fallbacks = 0;
    keys.toBlocked(key, now + settings.capMs);
  }

  /** Somebody edited the object: again at once and in place; from the second time in a row on after a wait, at the tail. */
  retry(key: WriterKey, now: number): void {
    const { keys } = this.#parts;
    const conflicts = key.trouble?.conflictsInRow ?? 0;
    if (conflicts < 2) {
      keys.backToPending(key);
      return;
    }
    const backoffMs = Math.min(CONFLICT_MAX_MS, CONFLICT_BASE_MS * 2 ** (conflicts - 2));
    this.#park(key, 'backoff', now + backoffMs * (0.5 + 0.5 * this.#parts.term.chance()));
  }

  /** A write error of the key (WL18). */
  fail(key: WriterKey, error: unknown, now: number): void {
    const { capMs } = this.#parts.settings;
    const trouble = key.troubled();
    trouble.errors++;
    trouble.error = error;
    this.#park(key, 'backoff', now + Math.min(capMs, ERROR_BASE_MS * 2 ** (trouble.errors - 1)));
  }

  #park(key: WriterKey, reason: Trouble['parkedFor'], wakeAt: number): void {
    const { keys, term } = this.#parts;
    term.left(key);
    key.troubled().parkedFor = reason;
    keys.toParked(key, wakeAt);
  }
}
