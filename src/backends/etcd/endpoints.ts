import type { Clock } from '../../types/clock.ts';

/** How long a member that failed is asked last, in ms. */
const REST_MS = 5_000;

/**
 * The members of a cluster, in the order in which they are asked: the one that answered last, then the others as they were
 * given, those that failed a moment ago at the end.
 */
export class Endpoints {
  readonly #all: readonly string[];
  readonly #clock: Pick<Clock, 'now'>;
  readonly #failedAt = new Map<string, number>();
  #preferred: string;

  constructor(all: readonly string[], clock: Pick<Clock, 'now'>) {
    this.#all = all;
    this.#clock = clock;
    this.#preferred = all[0] as string;
  }

  /** All of them, best first. */
  inOrder(): readonly string[] {
    const now = this.#clock.now();
    const isResting = (one: string) => (this.#failedAt.get(one) ?? Number.NEGATIVE_INFINITY) > now - REST_MS;
    const others = this.#all.filter((one) => one !== this.#preferred);
    const ordered = [this.#preferred, ...others];
    return [...ordered.filter((one) => !isResting(one)), ...ordered.filter(isResting)];
  }

  answered(endpoint: string): void {
    this.#preferred = endpoint;
    this.#failedAt.delete(endpoint);
  }

  failed(endpoint: string): void {
    this.#failedAt.set(endpoint, this.#clock.now());
  }
}
