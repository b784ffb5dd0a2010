/**
 * Contested writes of all keys in an interval (CT6). The interval begins with the first of them, not with the process: all
 * replicas see that one, so their intervals begin, and end, within a watch latency of each other.
 *
 * ```text
 *   pay  pay pay ...  pay = budget |  refused until  | pay
 *   |<------------------ interval ------------------>|
 * ```
 */
export class ContentionBudget {
  readonly #budget: number;
  readonly #intervalMs: number;
  #paid = 0;
  #beganAt = Number.NEGATIVE_INFINITY;
  #total = 0;

  constructor(budget: number, intervalMs: number) {
    this.#budget = budget;
    this.#intervalMs = intervalMs;
  }

  /** Of all time. */
  get total(): number {
    return this.#total;
  }

  left(now: number): number {
    this.#roll(now);
    return Math.max(0, this.#budget - this.#paid);
  }

  /** One was observed, or made. */
  pay(now: number): void {
    this.#roll(now);
    if (this.#paid === 0) this.#beganAt = now;
    this.#paid++;
    this.#total++;
  }

  /** When there is something left. */
  availableAt(now: number): number {
    return this.left(now) > 0 ? now : this.#beganAt + this.#intervalMs;
  }

  #roll(now: number): void {
    if (now >= this.#beganAt + this.#intervalMs) this.#paid = 0;
  }
}
