/** How often a busy key may be overtaken before what comes free is kept for it all the same. */
export const OVERTAKEN_MAX = 16;

export interface WaitingLineOptions {
  /** How many pieces there are that nobody has. What is kept for a key counts as free until it is used. */
  readonly free: () => number;
  /** Called for a key that waits, once a piece is kept for it. It must lead to `ask`, or to `leave`. */
  readonly wake: (key: string) => void;
}

interface Waiter {
  state: 'resting' | 'busy' | 'away';
  overtaken: number;
}

/**
 * Keys that wait for something that there are only so many pieces of: places at work, or tokens.
 *
 * ```text
 *   ask ---> kept for the key ---use---> (the caller counts it)          what comes free goes to the first who rests;
 *    |           ^                                                       a busy one is passed over, 16 times at most
 *    +--none--> busy --rest--> resting                   somebody who is away gives back what is kept, and gets nothing
 *                 ^----------> away ---^
 *   leave: out of all of it
 * ```
 *
 * - First come first served. A piece is kept for the first in line, and nobody else gets it before that one has used it or
 *   has left: so nobody is overtaken on the way from its waking to its `ask`.
 * - A key that is *busy* with something else keeps its place, but is passed over for a while: a piece would lie idle for as
 *   long as that takes. One that is *away* may be so for ever, so nothing is kept for it, however often it is passed over;
 *   it can be told then that it is `isOverdue`, so that it stays for its turn.
 * - No lost wake-up: whenever a piece is free, nobody rests in line. Every change ends with `serve`.
 * - Holds an entry for each key that waits or has a piece kept for it. No timers.
 */
export class WaitingLine {
  readonly #free: () => number;
  readonly #wake: (key: string) => void;
  /** Insertion order is the order of service. */
  readonly #waiters = new Map<string, Waiter>();
  readonly #kept = new Set<string>();

  constructor({ free, wake }: WaitingLineOptions) {
    this.#free = free;
    this.#wake = wake;
  }

  /** Pieces kept for keys that have not used them yet. */
  get kept(): number {
    return this.#kept.size;
  }

  /** Whether somebody would take a piece if there were one. */
  get isWaitedAt(): boolean {
    for (const { state } of this.#waiters.values()) if (state === 'resting') return true;
    return false;
  }

  /** Whether a piece is kept for the key from now on; if not, it is in line, busy. */
  ask(key: string): boolean {
    if (this.#kept.has(key)) return true;
    const waiter = this.#waiters.get(key) ?? newWaiter('resting');
    this.#waiters.set(key, waiter);
    waiter.state = 'resting';
    this.serve(key);
    if (this.#kept.has(key)) return true;
    waiter.state = 'busy';
    return false;
  }

  /** Whether `ask` would be granted now. Changes nothing. */
  isOpenTo(key: string): boolean {
    return this.#kept.has(key) || this.#free() > this.#kept.size;
  }

  /** The key takes what is kept for it; the caller lowers `free`. `false` if nothing is. */
  use(key: string): boolean {
    return this.#kept.delete(key);
  }

  /** Whether a piece is kept for the key. */
  isKeptFor(key: string): boolean {
    return this.#kept.has(key);
  }

  /** The key is at work on something else, and may wait for this all the same. */
  busy(key: string): void {
    const waiter = this.#waiters.get(key);
    if (waiter !== undefined) waiter.state = 'busy';
  }

  /** The key may be long in coming back: it keeps its place in line, and gives back what is kept for it, for a new one. */
  away(key: string): void {
    if (this.#kept.delete(key)) this.#waiters.set(key, newWaiter('away'));
    const waiter = this.#waiters.get(key);
    if (waiter === undefined) return;
    waiter.state = 'away';
    this.serve();
  }

  /** Whether the key waits, and has been passed over as often as anybody should be. */
  isOverdue(key: string): boolean {
    return (this.#waiters.get(key)?.overtaken ?? 0) >= OVERTAKEN_MAX;
  }

  /** The key has nothing else to do than to wait. */
  rest(key: string): void {
    const waiter = this.#waiters.get(key);
    if (waiter === undefined) return;
    waiter.state = 'resting';
    this.serve();
  }

  /** The key wants nothing any more. */
  leave(key: string): void {
    this.#waiters.delete(key);
    this.#kept.delete(key);
    this.serve();
  }

  /** Gives away what is free. To be called whenever something has come free. `asker` is not woken: it is asking. */
  serve(asker?: string): void {
    while (this.#free() > this.#kept.size) {
      const next = this.#next();
      if (next === undefined) return;
      const [key, { state }] = next;
      this.#waiters.delete(key);
      this.#kept.add(key);
      if (key !== asker && state === 'resting') this.#wake(key);
    }
  }

  #next(): readonly [string, Waiter] | undefined {
    const passed: Waiter[] = [];
    for (const next of this.#waiters) {
      const [, waiter] = next;
      const isOverdue = waiter.overtaken >= OVERTAKEN_MAX;
      if (waiter.state === 'resting' || (waiter.state === 'busy' && isOverdue)) {
        for (const one of passed) one.overtaken++;
        return next;
      }
      passed.push(waiter);
    }
    return undefined;
  }
}

function newWaiter(state: Waiter['state']): Waiter {
  return { state, overtaken: 0 };
}
