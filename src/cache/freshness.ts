import type { Clock } from '../types/clock.ts';
import type { Revision } from '../types/revision.ts';

/** Answers above the applied revision that are remembered; of more the oldest are forgotten, which can only look staler. */
const PENDING_MAX = 100;

/**
 * How old the state is at most (M21): a question that was sent at t0 and answered at N proves, once N is applied, that the
 * state is not older than t0. An item of the stream proves nothing, for a delayed stream tells old news steadily.
 *
 * ```text
 *   sent at      10      14      20
 *   answer       N=5     N=9     N=7         the second is of no use: the third was sent later, and needs less
 *   applied 6    -> fresh as of 10;  applied 7 -> fresh as of 20
 * ```
 */
export class Freshness {
  readonly #clock: Pick<Clock, 'now'>;
  #freshAsOf = Number.NEGATIVE_INFINITY;
  /** Not applied yet; later ones were sent later and need more. */
  #pending: { readonly sentAt: number; readonly revision: Revision }[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** In ms; infinite before the first proof. */
  get ageMs(): number {
    return this.#clock.now() - this.#freshAsOf;
  }

  answered(sentAt: number, revision: Revision): void {
    this.#pending = this.#pending.filter((one) => one.sentAt > sentAt || one.revision < revision);
    this.#pending.push({ sentAt, revision });
    if (this.#pending.length > PENDING_MAX) this.#pending.shift();
  }

  applied(revision: Revision): void {
    if (this.#pending.length === 0) return;
    for (const one of this.#pending) {
      if (one.revision <= revision) this.#freshAsOf = Math.max(this.#freshAsOf, one.sentAt);
    }
    this.#pending = this.#pending.filter((one) => one.revision > revision);
  }

  /** What was known is about data that are gone. */
  reset(): void {
    this.#freshAsOf = Number.NEGATIVE_INFINITY;
    this.#pending = [];
  }
}
