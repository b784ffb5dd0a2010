/**
 * Numbers for what comes and goes, dense: who walks over all of it needs a byte for each instead of a Map.
 *
 * ```text
 *   in use   0 _ 2 3 _ 5     free  4 1     capacity 6: never more were in use at a time
 * ```
 */
export class Slots {
  readonly #free: number[] = [];
  #capacity = 0;

  /** All slots are below it. */
  get capacity(): number {
    return this.#capacity;
  }

  get inUse(): number {
    return this.#capacity - this.#free.length;
  }

  take(): number {
    return this.#free.pop() ?? this.#capacity++;
  }

  release(slot: number): void {
    this.#free.push(slot);
  }
}
