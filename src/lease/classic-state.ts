import type { Random } from '../types/random.ts';

export type ClassicRole = 'election' | 'leader' | 'follower';
/** What work says about the lease: it was written, it was lost, or it says nothing (W2). */
export type ClassicResult = 'extend' | 'release' | 'none';

export interface ClassicParameters {
  /** How long a success counts, and the longest wait of a follower. */
  readonly leaseMs: number;
  /** First wait; a follower's least delay is twice this (W14). */
  readonly baseMs: number;
  readonly factor: number;
  /** Waits grow so many times, then they are `leaseMs`. */
  readonly steps: number;
  /** Share by which chance lengthens each step. */
  readonly jitter: number;
}

/**
 * The classic state machine: one role for all keys, and a wait that grows with everything a follower hears.
 *
 * ```text
 *              extend                      release                     extend (also once the wait is over)
 *   election ----------> leader   leader ----------> follower   follower ----------> leader
 *      |                             ^ never by time (W7)          | release, or foreign work for a queued key:
 *      +------- release -----------------------------------------> |   tick += 1, wait := backoff(tick) (W4, W12)
 *
 *   tick   0      1          2             3              4              5 and more
 *   wait   base   x4..x6     x16..x36      x64..x216      ...            leaseMs at most
 * ```
 *
 * It is kept as it is known, with its defects (success of the leader makes followers wait longer), since it is what
 * the default strategy is measured by.
 */
export class ClassicState {
  readonly #parameters: ClassicParameters;
  readonly #random: Random;
  #role: ClassicRole = 'election';
  #expires = Number.NEGATIVE_INFINITY;
  #tick = 0;

  constructor(parameters: ClassicParameters, random: Random) {
    this.#parameters = parameters;
    this.#random = random;
  }

  get role(): ClassicRole {
    return this.#role;
  }

  get expires(): number {
    return this.#expires;
  }

  get tick(): number {
    return this.#tick;
  }

  /** Applies what work said (W3-W6). */
  apply(result: ClassicResult, now: number): void {
    if (result === 'extend') {
      if (this.#role !== 'leader') this.#tick = 0;
      this.#role = 'leader';
      this.#expires = now + this.#parameters.leaseMs;
    } else if (result === 'release') {
      this.#tick = this.#role === 'follower' ? this.#tick + 1 : 0;
      this.#role = 'follower';
      this.#expires = now + this.#backoffMs();
    }
  }

  /** Somebody else did what was queued here (W12): only a follower waits longer for it. */
  foreign(now: number): void {
    if (this.#role !== 'follower') return;
    this.#tick++;
    this.#expires = now + this.#backoffMs();
  }

  /** Forgets the wait, not the role (W15). */
  expire(): void {
    this.#expires = Number.NEGATIVE_INFINITY;
  }

  /** What a follower still has to wait; nothing in the other roles (W7). */
  waitMs(now: number): number {
    return this.#role === 'follower' ? Math.max(0, this.#expires - now) : 0;
  }

  /** How long new work is held up before it is queued (W14). */
  delayMs(now: number): number {
    return this.#role === 'follower' ? Math.max(this.waitMs(now), 2 * this.#parameters.baseMs) : 0;
  }

  #backoffMs(): number {
    const { leaseMs, baseMs, factor, steps, jitter } = this.#parameters;
    if (this.#tick > steps) return leaseMs;
    let wait = baseMs;
    for (let step = 0; step < this.#tick; step++) wait *= factor * (1 + jitter * this.#random());
    return Math.min(wait, leaseMs);
  }
}
