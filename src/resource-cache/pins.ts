import { PinBrokenError } from '../types/errors.ts';

/** Who reads the state of a commit, for as long as it does. */
export interface Pin {
  readonly seq: number;
  readonly owner: string;
  /** The state has been given up for the memory that it held back. */
  isBroken: boolean;
}

/**
 * Which commits somebody still reads. Pins are made of the newest commit only, so the first one is the oldest.
 *
 * What was replaced while there was a pin is kept in the order of its end, up to `retainedMax` states; the oldest pin is broken
 * for more. Without a pin nothing is kept, and nothing of this costs anything.
 */
export class Pins<V extends { readonly until: number }> {
  readonly #retainedMax: number;
  readonly #release: (version: V) => void;
  readonly #pins = new Set<Pin>();
  /** Of the newest pin, or of a later one that has gone; below every commit when there is none. */
  #newest = -1;
  #retained: V[] = [];
  /** Those before it have been let go. */
  #head = 0;

  constructor(options: { readonly retainedMax: number; readonly release: (version: V) => void }) {
    this.#retainedMax = options.retainedMax;
    this.#release = options.release;
  }

  get size(): number {
    return this.#pins.size;
  }

  get retained(): number {
    return this.#retained.length - this.#head;
  }

  pin(seq: number, owner: string): Pin {
    const pin = { seq, owner, isBroken: false };
    this.#pins.add(pin);
    this.#newest = seq;
    return pin;
  }

  unpin(pin: Pin): void {
    if (!this.#pins.delete(pin)) return;
    if (this.#pins.size === 0) this.#newest = -1;
    this.#trim();
  }

  /** Whether somebody may read a state that commit `seq` has made; nobody to come will, once it was replaced. */
  holds(seq: number): boolean {
    return seq <= this.#newest;
  }

  /** Keeps what a commit has replaced. */
  retain(version: V): void {
    this.#retained.push(version);
    while (this.retained > this.#retainedMax && this.#pins.size > 0) {
      const [oldest] = this.#pins;
      if (oldest === undefined) return;
      oldest.isBroken = true;
      this.unpin(oldest);
    }
  }

  #trim(): void {
    const [oldest] = this.#pins;
    const upTo = oldest === undefined ? Number.POSITIVE_INFINITY : oldest.seq;
    for (let version = this.#retained[this.#head]; version !== undefined; version = this.#retained[this.#head]) {
      if (version.until > upTo) break;
      this.#head++;
      this.#release(version);
    }
    if (this.#head * 2 >= this.#retained.length) {
      this.#retained = this.#retained.slice(this.#head);
      this.#head = 0;
    }
  }
}

export function checkPin(pin: Pin): void {
  if (pin.isBroken) throw new PinBrokenError({ owner: pin.owner, revision: pin.seq, reason: 'bytes' });
}
