import type { KeepAlive } from './keep-alive.ts';

/** What renews one lease: one for each `keepAlive` that was asked for. What was stopped meanwhile is not kept. */
export class Renewals {
  #live: readonly KeepAlive[] = [];

  add(keepAlive: KeepAlive): void {
    this.#live = [...this.#live, keepAlive].filter(({ isStopped }) => !isStopped);
  }

  /** How many are kept. */
  get size(): number {
    return this.#live.length;
  }

  stop(): void {
    for (const keepAlive of this.#live) keepAlive.stop();
    this.#live = [];
  }
}
