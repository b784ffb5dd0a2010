import type { Random } from '../../src/types/random.ts';

/** Choices that come from one source of chance. */
export class Dice {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** An integer from 0 to max - 1. */
  upTo(max: number): number {
    return Math.floor(this.#random() * max);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.upTo(list.length)] as T;
  }

  /** One of several makers, by their weights. */
  weighted<T>(makers: readonly (readonly [weight: number, make: () => T])[]): T {
    let rest = this.#random() * makers.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of makers) {
      rest -= weight;
      if (rest < 0) return make();
    }
    return (makers[0] as readonly [number, () => T])[1]();
  }

  shuffled<T>(list: readonly T[]): T[] {
    const result = [...list];
    for (let index = result.length - 1; index > 0; index--) {
      const other = this.upTo(index + 1);
      [result[index], result[other]] = [result[other] as T, result[index] as T];
    }
    return result;
  }
}
