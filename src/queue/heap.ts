/**
 * A binary heap: the least item at the cost of the logarithm of their number. What compares equal comes out in no
 * particular order, so `compare` has to decide ties where they matter.
 *
 * ```text
 *   items  [ 1, 3, 2, 7, 4 ]         1          the children of the item at i are at 2i + 1 and 2i + 2,
 *                                  3   2        and none of them is less than it
 *                                 7 4
 * ```
 */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    let place = this.#items.length;
    this.#items.push(item);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || this.#compare(parent, item) <= 0) break;
      this.#items[place] = parent;
      place = above;
    }
    this.#items[place] = item;
  }

  pop(): T | undefined {
    const least = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return least;
  }

  /** Puts an item at the root and lets it sink to its place. */
  #sink(item: T): void {
    let place = 0;
    for (;;) {
      const left = this.#items[2 * place + 1];
      const right = this.#items[2 * place + 2];
      const isRight = left !== undefined && right !== undefined && this.#compare(right, left) < 0;
      const child = isRight ? right : left;
      if (child === undefined || this.#compare(item, child) <= 0) break;
      this.#items[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#items[place] = item;
  }
}
