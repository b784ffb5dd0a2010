import type { Clock } from '../types/clock.ts';

/** Steps made in one go before timers and I/O get their turn. */
export const BURST_MAX = 256;

/**
 * Keeps work that never waits for anything from holding up timers and I/O: promise chains alone would, since they all
 * run before the platform looks at anything else.
 *
 * Everyone who works counts each step with `step()`; after `BURST_MAX` of them, all together, everyone waits until a
 * timer has fired. One timer at a time, and none while nobody works.
 */
export class Pacer {
  readonly #clock: Clock;
  #steps = 0;
  #turn: Promise<void> | undefined;
  #endTurn: () => void = () => {};
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Asks for one step. `undefined`: it is granted and counted. A promise: it is not; ask again when that has resolved.
   * It never rejects.
   */
  step(): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (this.#turn === undefined && this.#steps < BURST_MAX) {
      this.#steps++;
      return undefined;
    }
    this.#turn ??= this.#takeTurn();
    return this.#turn;
  }

  /** Lets everyone who waits go on at once, and grants every step from now on: for a work that is being ended. */
  close(): void {
    this.#isClosed = true;
    this.#endTurn();
  }

  #takeTurn(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(0, () => this.#endTurn());
      this.#endTurn = () => {
        cancel();
        this.#endTurn = () => {};
        this.#turn = undefined;
        this.#steps = 0;
        resolve();
      };
    });
  }
}
