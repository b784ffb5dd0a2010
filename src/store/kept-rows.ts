/** Rows kept at most: about 11 MB of them, their values not counted. */
export const KEPT_ROWS_MAX: number = 2 ** 17;
const CAPACITY_MIN = 2 ** 10;

/**
 * Rows that were read before, or told by a watch, by the slot of their version: who lists the same keys again gets the same frozen objects, which is
 * what a list costs else. A version never changes, so a row is right for as long as its slot is that version's.
 *
 * ```text
 *   slot & (capacity - 1) ---> #slots: which slot is here, -1 for none
 *                         '--> #rows:  its row
 * ```
 *
 * One place for each slot and nothing is searched: a row that comes to a place takes it over. The table doubles when it is three
 * quarters full, up to {@link KEPT_ROWS_MAX} places, so a store of which little is read or watched keeps little.
 */
export class KeptRows<R> {
  #slots = new Int32Array(0);
  #rows: (R | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Places, those of rows to come among them. */
  get capacity(): number {
    return this.#slots.length;
  }

  get(slot: number): R | undefined {
    const place = slot & (this.#slots.length - 1);
    return this.#slots[place] === slot ? this.#rows[place] : undefined;
  }

  keep(slot: number, row: R): void {
    if (this.#size >= (this.#slots.length * 3) / 4 && this.#slots.length < KEPT_ROWS_MAX) this.#grow();
    this.#put(slot, row);
  }

  /** The slot is free: what is stored there next is another version. */
  drop(slot: number): void {
    const place = slot & (this.#slots.length - 1);
    if (this.#slots[place] !== slot) return;
    this.#slots[place] = -1;
    this.#rows[place] = undefined;
    this.#size--;
  }

  clear(): void {
    this.#slots = new Int32Array(0);
    this.#rows = [];
    this.#size = 0;
  }

  #put(slot: number, row: R): void {
    const place = slot & (this.#slots.length - 1);
    if (this.#slots[place] === -1) this.#size++;
    this.#slots[place] = slot;
    this.#rows[place] = row;
  }

  #grow(): void {
    const slots = this.#slots;
    const rows = this.#rows;
    const capacity = Math.max(CAPACITY_MIN, slots.length * 2);
    this.#slots = new Int32Array(capacity).fill(-1);
    this.#rows = new Array<R | undefined>(capacity).fill(undefined);
    this.#size = 0;
    for (const [place, slot] of slots.entries()) if (slot !== -1) this.#put(slot, rows[place] as R);
  }
}
