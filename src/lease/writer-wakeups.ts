import type { WriterKey } from './writer-key.ts';

/**
 * Keys that wait for an instant of their own, the earliest first. A binary heap whose items know their places, so that
 * one which is woken early leaves nothing behind; names decide ties, so that a run can be repeated.
 *
 * ```text
 *   [ a 100, c 300, b 200 ]       the children of the item at i are at 2i + 1 and 2i + 2, none of them earlier
 * ```
 */
export class Wakeups {
  readonly #items: WriterKey[] = [];

  get size(): number {
    return this.#items.length;
  }

  first(): WriterKey | undefined {
    return this.#items[0];
  }

  add(key: WriterKey, wakeAt: number): void {
    key.wakeAt = wakeAt;
    this.#items.push(key);
    this.#rise(key, this.#items.length - 1);
  }

  /** Does nothing for a key that is not in it. */
  remove(key: WriterKey): void {
    const place = key.wakePlace;
    if (place < 0) return;
    key.wakePlace = -1;
    const last = this.#items.pop();
    if (last === undefined || last === key) return;
    this.#rise(last, place);
    this.#sink(last, last.wakePlace);
  }

  #rise(key: WriterKey, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || compare(parent, key) <= 0) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(key, place);
  }

  #sink(key: WriterKey, from: number): void {
    let place = from;
    for (;;) {
      const left = this.#items[2 * place + 1];
      const right = this.#items[2 * place + 2];
      const isRight = left !== undefined && right !== undefined && compare(right, left) < 0;
      const child = isRight ? right : left;
      if (child === undefined || compare(key, child) <= 0) break;
      this.#put(child, place);
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#put(key, place);
  }

  #put(key: WriterKey, place: number): void {
    this.#items[place] = key;
    key.wakePlace = place;
  }
}

/** By time; of one time by name. */
function compare(a: WriterKey, b: WriterKey): number {
  return a.wakeAt - b.wakeAt || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
