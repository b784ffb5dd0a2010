/** What is counted over all replicas and their lives. */
export interface SimulatorCounts {
  attempts: number;
  writes: number;
  conflicts: number;
  errors: number;
  unchanged: number;
  reads: number;
  deliveries: number;
  takeovers: number;
}

export function newCounts(): SimulatorCounts {
  return { attempts: 0, writes: 0, conflicts: 0, errors: 0, unchanged: 0, reads: 0, deliveries: 0, takeovers: 0 };
}

/** Who leads, as each replica believes: kept up to date piece of work by piece of work. */
export class LeaderCount {
  readonly #counts: SimulatorCounts;
  readonly #leaders = new Set<number>();
  #max = 0;

  constructor(counts: SimulatorCounts) {
    this.#counts = counts;
  }

  get all(): readonly number[] {
    return [...this.#leaders].sort((a, b) => a - b);
  }

  /** Most at one time. */
  get max(): number {
    return this.#max;
  }

  note(replica: number, isLeader: boolean): void {
    if (isLeader === this.#leaders.has(replica)) return;
    if (isLeader) {
      this.#leaders.add(replica);
      this.#counts.takeovers++;
      this.#max = Math.max(this.#max, this.#leaders.size);
    } else {
      this.#leaders.delete(replica);
    }
  }
}
