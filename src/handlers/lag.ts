interface Behind {
  /** Monotonic time since when the object has been behind for the handler; `undefined` if it is not. */
  sinceMs: number | undefined;
  /** Since when a call has been waited for. */
  dueMs: number;
}

/**
 * Since when one object has been behind for which handlers, subs counted for their parents. Begins with the state that made
 * the handler due, or, since that is not looked at before a pass, with the first state that no pass has looked at: never
 * too late. Ends when nothing of the handler is due or waits. Holds an entry for each handler that it was ever behind for.
 */
export class Lag {
  readonly #behind = new Map<string, Behind>();

  /** Handlers and times, in no particular order. */
  *entries(): Generator<readonly [string, number]> {
    for (const [id, { sinceMs }] of this.#behind) if (sinceMs !== undefined) yield [id, sinceMs];
  }

  sinceMs(handlerId: string): number | undefined {
    return this.#behind.get(handlerId)?.sinceMs;
  }

  /** Since when a call of the handler, or of one of its subs, has been waited for. */
  dueMs(handlerId: string): number | undefined {
    const behind = this.#behind.get(handlerId);
    return behind?.sinceMs === undefined ? undefined : behind.dueMs;
  }

  /** These are behind and no others; those that were not, since then. */
  become(handlerIds: ReadonlyMap<string, number>, sinceMs: number): void {
    this.#behind.forEach((behind, id) => {
      if (!handlerIds.has(id)) behind.sinceMs = undefined;
    });
    handlerIds.forEach((_count, id) => {
      const behind = this.#behind.get(id);
      if (behind === undefined) {
        this.#behind.set(id, { sinceMs, dueMs: sinceMs });
      } else if (behind.sinceMs === undefined) {
        behind.sinceMs = sinceMs;
        behind.dueMs = sinceMs;
      }
    });
  }

  /** A call of the handler itself has ended: what comes next has waited since now. */
  called(handlerId: string, nowMs: number): void {
    const behind = this.#behind.get(handlerId);
    if (behind !== undefined) behind.dueMs = nowMs;
  }

  /** Nothing of the handler is left to do. */
  settled(handlerId: string): void {
    const behind = this.#behind.get(handlerId);
    if (behind !== undefined) behind.sinceMs = undefined;
  }

  clear(): void {
    this.#behind.clear();
  }
}
