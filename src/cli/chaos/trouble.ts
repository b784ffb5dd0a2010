import type { Random } from '../../types/random.ts';

/** How often what goes wrong, from 0 to 1. */
export const RATES = {
  /** A process dies in the middle of a call, of each. */
  killInCall: 0.004,
  /** Or before or after a write has happened, of each. */
  killInWrite: 0.002,
  /** A write whose answer is lost: half of them have happened. */
  lostAnswer: 0.05,
  lostItem: 0.05,
  doubledItem: 0.1,
  staleList: 0.5,
  failedCall: 0.1,
} as const;

export interface TroubleCounts {
  kills: number;
  staleLists: number;
  lostItems: number;
  doubledItems: number;
  lostAnswers: number;
  failedCalls: number;
}

/** Decides what goes wrong, and counts it. Once it is `over`, nothing does any more. */
export class Trouble {
  readonly counts: TroubleCounts = {
    kills: 0,
    staleLists: 0,
    lostItems: 0,
    doubledItems: 0,
    lostAnswers: 0,
    failedCalls: 0,
  };
  readonly #random: Random;
  #isOver = false;

  constructor(random: Random) {
    this.#random = random;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
  }

  happens(rate: number): boolean {
    return !this.#isOver && this.#random() < rate;
  }
}
