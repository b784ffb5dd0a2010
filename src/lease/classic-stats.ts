import type { ClassicWriterLease } from '../types/writer-lease.ts';
import type { ClassicRole } from './classic-state.ts';

/** What a classic lease counts as it goes. */
export class ClassicCounts {
  attempts = 0;
  writes = 0;
  conflicts = 0;
  errors = 0;
  unknownOutcomes = 0;
  lateAnswers = 0;
  unchanged = 0;
  takeovers = 0;
  losses = 0;
  evidence = 0;
  coalesced = 0;
  dropped = 0;
  lastError: { readonly key: string; readonly error: unknown } | undefined;
  readonly #waits = { count: 0, sum: 0, max: 0 };
  readonly #sinceOf = new Map<string, number>();
  #role: ClassicRole = 'election';
  #roleSince: number;
  readonly #msIn = { leader: 0, follower: 0, election: 0 };

  constructor(now: number) {
    this.#roleSince = now;
  }

  /** A key is wanted, if it has not been already. */
  wanted(key: string, now: number): void {
    if (!this.#sinceOf.has(key)) this.#sinceOf.set(key, now);
  }

  /** The key is right, or nobody wants it any more. */
  settled(key: string, now: number, isRight: boolean): void {
    const since = this.#sinceOf.get(key);
    if (since === undefined) return;
    this.#sinceOf.delete(key);
    if (!isRight) return;
    this.#waits.count++;
    this.#waits.sum += now - since;
    this.#waits.max = Math.max(this.#waits.max, now - since);
  }

  becomes(role: ClassicRole, now: number): void {
    if (role === this.#role) return;
    if (role === 'leader') this.takeovers++;
    if (this.#role === 'leader') this.losses++;
    this.#msIn[this.#role] += now - this.#roleSince;
    this.#role = role;
    this.#roleSince = now;
  }

  forgetAll(): void {
    this.#sinceOf.clear();
  }

  snapshot(now: number, queued: number, expires: number): ReturnType<ClassicWriterLease['stats']> {
    const sinceRole = now - this.#roleSince;
    const { attempts, writes, conflicts, errors, unknownOutcomes, lateAnswers, unchanged } = this;
    return {
      role: this.#role,
      pending: queued,
      parked: 0,
      blocked: 0,
      keys: queued,
      attempts,
      writes,
      conflicts,
      errors,
      unknownOutcomes,
      lateAnswers,
      unchanged,
      reads: 0,
      readErrors: 0,
      takeovers: this.takeovers,
      losses: this.losses,
      evidence: this.evidence,
      stale: 0,
      coalesced: this.coalesced,
      dropped: this.dropped,
      refusals: 0,
      relists: 0,
      leaderMs: this.#msIn.leader + (this.#role === 'leader' ? sinceRole : 0),
      followerMs: this.#msIn.follower + (this.#role === 'follower' ? sinceRole : 0),
      waitMs: { ...this.#waits },
      watchLatencyMs: undefined,
      gapMs: 0,
      windowMs: this.#role === 'follower' ? Math.max(0, expires - now) : 0,
      minimumMs: 0,
      lastError: this.lastError,
    };
  }
}
