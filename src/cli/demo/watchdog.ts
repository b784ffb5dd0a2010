import type { Clock } from '../../types/clock.ts';
import { DataError } from '../errors.ts';

/** How often it looks. */
const LOOK_MS = 100;

/**
 * Ends a demo that hangs: when nothing has happened for so long in the phase it is in. While the stream comes in every
 * event counts as something; behind it only the next phase does, so that going round in circles is found out as well.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #bark: (error: DataError) => void;
  #waitsFor: () => string = () => 'the start';
  #since: number;
  #cancel: (() => void) | undefined;

  /** `timeoutMs` 0 is never. */
  constructor(clock: Clock, timeoutMs: number, bark: (error: DataError) => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#bark = bark;
    this.#since = clock.now();
    if (timeoutMs > 0) this.#look();
  }

  /** A new phase, and what it waits for. */
  enter(waitsFor: () => string): void {
    this.#waitsFor = waitsFor;
    this.beat();
  }

  /** Something has happened. */
  beat(): void {
    this.#since = this.#clock.now();
  }

  close(): void {
    this.#cancel?.();
  }

  #look(): void {
    this.#cancel = this.#clock.after(Math.min(LOOK_MS, this.#timeoutMs), () => {
      if (this.#clock.now() - this.#since < this.#timeoutMs) this.#look();
      else {
        const reason = `nothing happened for ${this.#timeoutMs / 1000} s while waiting for ${this.#waitsFor()}`;
        this.#bark(new DataError('finish the demo', reason));
      }
    });
  }
}
