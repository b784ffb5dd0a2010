import type { Clock } from '../types/clock.ts';
import type { SimulatorLoop } from './simulator-loop.ts';

export interface SimulatorProcessOptions {
  /** How fast its clock runs: 1.05 is five per cent too fast. */
  readonly rate: number;
  readonly wallTimeMs: number;
  /** Called before each piece of work of the process: what the one before left behind is complete by then. */
  readonly beforeWork: () => void;
}

/**
 * One life of a replica's process: everything that runs in it goes through `run`, so that a pause delays all of it and a
 * death ends all of it.
 *
 * ```text
 *   timer, answer, watch event --> run(fn)   awake: at once     paused: queued, in order     dead: never
 * ```
 *
 * Its monotonic clock has a rate of its own and goes on during a pause; its wall clock may jump.
 */
export class SimulatorProcess {
  readonly clock: Clock;
  readonly #loop: SimulatorLoop;
  readonly #beforeWork: () => void;
  #wallOffset: number;
  #pausedUntil = 0;
  /** What fell due in a pause; those before `#caughtUp` are done. What falls due before the last of them waits behind it. */
  #backlog: (() => void)[] = [];
  #caughtUp = 0;
  #isDead = false;

  constructor(loop: SimulatorLoop, { rate, wallTimeMs, beforeWork }: SimulatorProcessOptions) {
    this.#loop = loop;
    this.#beforeWork = beforeWork;
    this.#wallOffset = wallTimeMs;
    const now = (): number => loop.now * rate;
    this.clock = {
      now,
      wallTime: () => now() + this.#wallOffset,
      after: (delayMs, fn) => {
        if (this.#isDead || delayMs === Number.POSITIVE_INFINITY) return () => {};
        let isCancelled = false;
        // A timer that fell due in a pause can still be cancelled by what runs before it after the pause.
        const guarded = (): void => {
          if (!isCancelled) fn();
        };
        const event = loop.at(loop.now + Math.max(0, delayMs) / rate, () => this.run(guarded));
        return () => {
          isCancelled = true;
          loop.cancel(event);
        };
      },
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > this.#loop.now;
  }

  /** Works now, after the pause, or never. */
  run(work: () => void): void {
    if (this.isAwake()) work();
    else if (!this.#isDead) this.#backlog.push(work);
  }

  /** Whether work may be done now; whoever asks does it if so. Spares the closure that `run` needs. */
  isAwake(): boolean {
    if (this.#isDead || this.isPaused || this.#backlog.length > 0) return false;
    this.#beforeWork();
    return true;
  }

  /** Nothing runs for so long; a pause within a pause can only lengthen it. */
  pause(forMs: number): void {
    const until = this.#loop.now + forMs;
    if (until <= this.#pausedUntil) return;
    this.#pausedUntil = until;
    this.#loop.at(until, () => this.#resume());
  }

  kill(): void {
    this.#isDead = true;
    this.#backlog = [];
  }

  jumpWallTime(deltaMs: number): void {
    this.#wallOffset += deltaMs;
  }

  /** Each piece of work is an event of its own, so that promise chains of one are over before the next. */
  #resume(): void {
    if (this.isPaused || this.#isDead) return;
    const work = this.#backlog[this.#caughtUp++];
    if (work === undefined) {
      this.#backlog = [];
      this.#caughtUp = 0;
      return;
    }
    this.#loop.at(this.#loop.now, () => this.#resume());
    this.#beforeWork();
    work();
  }
}
