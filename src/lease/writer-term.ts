import type { Random } from '../types/random.ts';
import type { Revision } from '../types/revision.ts';
import type { WriterRole } from '../types/writer-lease.ts';
import type { Estimates } from './writer-estimates.ts';
import type { WriterKey } from './writer-key.ts';

export interface TermSettings {
  readonly floorMs: number;
  readonly startSpreadMs: number;
  readonly expectPeers: boolean;
}

/**
 * Who leads, as far as this replica knows, and when it acts if nobody seems to.
 *
 * ```text
 *               a write succeeded (WL12)
 *   follower ------------------------------> leader
 *      ^ |                                     |
 *      | +-- evidence: another window (WL7)    |
 *      +---------------------------------------+
 *        evidence newer than the last own write, or errorsMax failed keys (WL14)
 * ```
 *
 * A follower's deadline is the end of a silence: `window` after the last evidence, or after its oldest wish if that is
 * younger. An overtaken key has a deadline of its own, which evidence does not move (WL10). A follower whose deadline has
 * passed is a *candidate*, until it has written, or seen that somebody else did.
 */
export class Term {
  readonly #settings: TermSettings;
  readonly #estimates: Estimates;
  readonly #random: Random;
  role: WriterRole = 'follower';
  /** Revision of the first write of this term, and of the last one of all. */
  termRevision: Revision = 0;
  lastOwnRevision: Revision = -1;
  evidenceAt: number;
  windowMs = 0;
  /** May try keys without a wait in between. */
  isCandidate = false;
  overtaken: WriterKey | undefined;
  #overtakenDue = 0;
  /** Nothing has been seen of anybody's work yet (WL1). */
  #isCold = true;
  /** Keys that failed since the last success. */
  readonly #failed = new Set<WriterKey>();
  #roleSince: number;
  #leaderMs = 0;
  #followerMs = 0;

  constructor(settings: TermSettings, estimates: Estimates, random: Random, now: number) {
    this.#settings = settings;
    this.#estimates = estimates;
    this.#random = random;
    this.evidenceAt = now;
    this.#roleSince = now;
    if (settings.expectPeers) this.windowMs = settings.floorMs + this.chance() * settings.startSpreadMs;
  }

  get isLeader(): boolean {
    return this.role === 'leader';
  }

  /** What a work function is given (WL23). */
  get fencingToken(): Revision | undefined {
    return this.isLeader ? this.termRevision : undefined;
  }

  timeInRoles(now: number): { leaderMs: number; followerMs: number } {
    const since = now - this.#roleSince;
    return {
      leaderMs: this.#leaderMs + (this.isLeader ? since : 0),
      followerMs: this.#followerMs + (this.isLeader ? 0 : since),
    };
  }

  /** A key of the first list is right: somebody leads (WL1). */
  foundLed(): void {
    if (!this.#isCold) return;
    this.#isCold = false;
    if (!this.isLeader) this.#draw();
  }

  /** Evidence that a follower saw (WL7). `oldest` and `key` wait to be written, if they are given. */
  restart(now: number, oldest: WriterKey | undefined, key: WriterKey | undefined): void {
    if (key !== undefined)
      this.#estimates.sampleGap(now - Math.max(this.evidenceAt, key.since), key.since >= this.evidenceAt);
    const isOvertaking =
      this.overtaken === undefined &&
      key !== undefined &&
      oldest !== undefined &&
      key !== oldest &&
      key.since > oldest.since + this.#estimates.minimumMs;
    this.#silence(now);
    if (!isOvertaking) return;
    this.overtaken = oldest;
    this.#overtakenDue = now + this.windowMs;
  }

  /** A write succeeded; answers whether it began a term (WL12). */
  succeeded(revision: Revision, now: number): boolean {
    this.#failed.clear();
    this.lastOwnRevision = Math.max(this.lastOwnRevision, revision);
    if (this.isLeader) return false;
    this.#enter('leader', now);
    this.termRevision = revision;
    this.isCandidate = false;
    this.#isCold = false;
    this.overtaken = undefined;
    return true;
  }

  /** A key failed; answers how many different ones have since the last success (WL18). */
  failed(key: WriterKey): number {
    return this.#failed.add(key).size;
  }

  /** The term is over, or the candidate gives up (WL15). Answers whether it was a term. */
  lose(now: number): boolean {
    const wasLeader = this.isLeader;
    if (wasLeader) this.#enter('follower', now);
    this.#failed.clear();
    this.#silence(now);
    return wasLeader;
  }

  /** A key no longer waits where it did. */
  left(key: WriterKey): void {
    if (this.overtaken === key) this.overtaken = undefined;
  }

  /** It is not wanted any more, or forgotten. */
  forget(key: WriterKey): void {
    this.left(key);
    this.#failed.delete(key);
  }

  /** When a follower acts whose oldest wish is of `since` (WL2). */
  deadline(since: number): number {
    const due = Math.max(this.evidenceAt, since) + this.windowMs;
    return this.overtaken === undefined ? due : Math.min(due, this.#overtakenDue);
  }

  /** Its own deadline has passed, whatever has been seen of other keys. */
  isOvertakenDue(now: number): boolean {
    return this.overtaken !== undefined && now >= this.#overtakenDue;
  }

  /** A new window begins now. */
  #silence(now: number): void {
    this.#isCold = false;
    this.isCandidate = false;
    this.evidenceAt = now;
    this.#draw();
  }

  #draw(): void {
    this.windowMs = this.#settings.expectPeers ? this.#estimates.draw(() => this.chance()) : 0;
  }

  /** A source of chance that fails must not stop the lease. */
  chance(): number {
    try {
      const share = this.#random();
      return share >= 0 && share < 1 ? share : 0.5;
    } catch {
      return 0.5;
    }
  }

  #enter(role: WriterRole, now: number): void {
    const { leaderMs, followerMs } = this.timeInRoles(now);
    this.#leaderMs = leaderMs;
    this.#followerMs = followerMs;
    this.#roleSince = now;
    this.role = role;
  }
}
