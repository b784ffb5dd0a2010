import { stableShare } from './writer-hash.ts';

/** Flips, foreign values and contested writes of an interval from which on a key is held (CT4). */
const FLIPS_MAX = 2;
const FOREIGN_MAX = 4;
const WRITES_MAX = 5;
const LEVEL_MAX = 4;

/**
 * What is stored, as far as is known: `wanted` now, `foreign`, or neither (`neutral`: nothing seen yet, or what was
 * wanted before).
 */
export type Stored = 'neutral' | 'wanted' | 'foreign';

/**
 * One key that writers may disagree about.
 *
 * ```text
 *           second flip, fourth foreign value, fifth contested write                until
 *   free --------------------------------------------------------> held(level) -------------> on probation
 *    ^                                                               ^                          |       |
 *    |                                                               +-- a foreign value -------+       |
 *    |                                                                   level + 1                      |
 *    +------------------------ a whole interval with the wanted value: level 0 -------------------------+
 * ```
 *
 * All of it is counted from observations, which the replicas of one configuration have in common, so that they hold and
 * wake together; the jitter comes from the key for the same reason (CT5). A value that is right while the key is held
 * leaves the hold as it is: were it ended, the next foreign value would only begin a longer one.
 */
export class ContentionEntry {
  readonly key: string;
  /** Neighbours by the time of the last change. */
  previous: ContentionEntry | undefined = undefined;
  next: ContentionEntry | undefined = undefined;
  stored: Stored = 'neutral';
  flips = 0;
  foreign = 0;
  /** Contested changes of the interval that began at `intervalAt`. */
  writes = 0;
  intervalAt: number = Number.NEGATIVE_INFINITY;
  /** Held before this instant. */
  until: number = Number.NEGATIVE_INFINITY;
  /** A write was refused until then. */
  refusedUntil: number = Number.NEGATIVE_INFINITY;
  /** Holds in a row; above 0 and not held it is on probation. */
  level = 0;
  /** Another value is wanted than before: it may replace a foreign one once without paying for it (CT3, CT6). */
  isNewWish = false;
  /** A mate, whose hold ended earlier, has made the one write that follows a hold. */
  isProbed = false;
  changedAt: number;
  /** What was seen and wanted, where observations carry values. */
  value: unknown = undefined;
  wanted: unknown = undefined;
  wantedBefore: unknown = undefined;
  hasView = false;
  /** By this replica. */
  isWritten = false;
  hasWantedBefore = false;

  constructor(key: string, now: number) {
    this.key = key;
    this.changedAt = now;
  }

  isHeld(now: number): boolean {
    return now < this.until;
  }

  /** Nothing of it matters any more (CT8). Work that was put off comes back, and has to find what it was put off for. */
  isOver(now: number, intervalMs: number): boolean {
    return now >= Math.max(this.changedAt, this.until, this.refusedUntil) + 2 * intervalMs;
  }

  /** Another value is wanted: a new dispute, unless the old one is not over (CT3). */
  wish(now: number): void {
    if (this.stored === 'wanted') this.stored = 'neutral';
    this.isNewWish = true;
    if (this.isHeld(now)) return;
    this.flips = 0;
    this.foreign = 0;
  }

  /** The stored value was the wanted one already when it was first seen. */
  isWanted(): void {
    if (this.stored === 'neutral') this.stored = 'wanted';
  }

  /**
   * The stored value became the one that is wanted, or (`isNow` false) was wanted before: the work of this replica or of a
   * mate (CT1). Answers whether it is paid for out of the budget.
   */
  becameMine(now: number, intervalMs: number, isNow: boolean): boolean {
    const isContested = this.stored === 'foreign';
    const pays = isContested && !this.isNewWish;
    if (pays && this.isHeld(now)) this.isProbed = true;
    if (isContested) this.#write(now, intervalMs);
    this.stored = isNow ? 'wanted' : 'neutral';
    if (isNow) this.isNewWish = false;
    this.changedAt = now;
    return pays;
  }

  /** The stored value became one that nobody here wants or has wanted. */
  becameForeign(now: number, intervalMs: number): void {
    this.#settle(now, intervalMs);
    this.#write(now, intervalMs);
    this.foreign++;
    if (this.stored === 'wanted') this.flips++;
    this.stored = 'foreign';
    this.changedAt = now;
  }

  /**
   * Holds the key if there is reason to; answers whether a hold began (CT4). Clocks differ, so mates wake one after the other: the
   * write of the first is that of all, and what overwrites it holds the key anew for all of them.
   */
  holdIfContended(now: number, intervalMs: number): boolean {
    const isProbeOver = this.isProbed && this.stored === 'foreign';
    if (this.isHeld(now) && !isProbeOver) return false;
    const isAgain = this.level > 0 && this.stored === 'foreign';
    if (!isAgain && this.flips < FLIPS_MAX && this.foreign < FOREIGN_MAX && this.writes < WRITES_MAX) return false;
    const jitter = 1 + 0.25 * stableShare(this.key);
    this.until = now + intervalMs * 2 ** Math.min(this.level, LEVEL_MAX) * jitter;
    this.level++;
    this.isProbed = false;
    return true;
  }

  /** When a write may begin: a new wish has one even while the key is held (CT3). */
  writableAt(now: number, intervalMs: number): number {
    this.#settle(now, intervalMs);
    if (!this.isHeld(now)) return now;
    this.#roll(now, intervalMs);
    return this.isNewWish && this.writes < WRITES_MAX ? now : this.until;
  }

  /** A whole interval with the wanted value ends the dispute (CT5). */
  #settle(now: number, intervalMs: number): void {
    if (this.stored !== 'wanted' || now < this.changedAt + intervalMs) return;
    this.level = 0;
    this.flips = 0;
    this.foreign = 0;
    this.until = Number.NEGATIVE_INFINITY;
  }

  #write(now: number, intervalMs: number): void {
    this.#roll(now, intervalMs);
    if (this.writes === 0) this.intervalAt = now;
    this.writes++;
  }

  #roll(now: number, intervalMs: number): void {
    if (now >= this.intervalAt + intervalMs) this.writes = 0;
  }
}
