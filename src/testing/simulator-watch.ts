import type { Random } from '../types/random.ts';
import { FEW_STEPS, type LoopEvent, type SimulatorLoop } from './simulator-loop.ts';
import type { SimulatorProcess } from './simulator-process.ts';
import type { LogEntry, SimulatorStore } from './simulator-store.ts';

/** Between two times in ms, both included. */
export type MsRange = readonly [minMs: number, maxMs: number];

export function draw([minMs, maxMs]: MsRange, random: Random): number {
  return minMs + random() * (maxMs - minMs);
}

/** How late a repeated event comes. */
const REPEAT_DELAY_MS: MsRange = [10, 2000];

export interface SimulatorWatchOptions {
  readonly latencyMs: MsRange;
  /** Share of events that come a second time, later. */
  readonly repeated: number;
  readonly random: Random;
  /** Called in the process for each event; `isRepeat` for one that was delivered before. */
  readonly onEvent: (entry: LogEntry, isRepeat: boolean) => void;
}

/**
 * The watch of one replica: a cursor into the store's log. Events come in the order of their revisions, each some latency
 * after its commit; only the next one is in the loop, however far the replica lags.
 *
 * ```text
 *   log   [ . . . . | e | . . . ]        e: due at max(due of the one before, its commit + a latency)
 *                   cursor
 * ```
 */
export class SimulatorWatch {
  readonly #loop: SimulatorLoop;
  readonly #store: SimulatorStore;
  readonly #process: SimulatorProcess;
  readonly #options: SimulatorWatchOptions;
  /** Index in the log of the next event. */
  #cursor: number;
  #next: LoopEvent | undefined;
  #dueBefore = 0;
  #cutUntil = 0;
  #toLose = 0;
  readonly #blindUntil = new Map<number, number>();

  constructor(loop: SimulatorLoop, store: SimulatorStore, process: SimulatorProcess, options: SimulatorWatchOptions) {
    this.#loop = loop;
    this.#store = store;
    this.#process = process;
    this.#options = options;
    this.#cursor = store.log.length;
  }

  /** There may be something new in the log. */
  wake(): void {
    if (this.#next !== undefined || this.#process.isDead || this.#cutUntil > this.#loop.now) return;
    const entry = this.#store.log[this.#cursor];
    if (entry === undefined) return;
    const sent = Math.max(entry.at, this.#cutUntil);
    const due = Math.max(this.#dueBefore, sent + draw(this.#options.latencyMs, this.#options.random));
    this.#dueBefore = due;
    this.#next = this.#loop.at(due, this.#deliver, FEW_STEPS);
  }

  /** Nothing comes for so long; then what was held up comes, or with `relist` the difference. */
  cut(forMs: number, relist: boolean): void {
    this.#cutUntil = Math.max(this.#cutUntil, this.#loop.now + forMs);
    this.#stop();
    this.#loop.at(this.#cutUntil, () => {
      if (relist) this.relist();
      else this.wake();
    });
  }

  /** The next events never come. */
  lose(count: number): void {
    this.#toLose += count;
  }

  /** Events of one key never come for so long. */
  blind(key: number, forMs: number): void {
    this.#blindUntil.set(key, this.#loop.now + forMs);
  }

  /** Reads all keys, hands on the newest of each, and watches from there. */
  relist(): void {
    if (this.#process.isDead || this.#cutUntil > this.#loop.now) return;
    const entries = this.#store.list();
    this.#cursor = this.#store.log.length;
    this.#stop();
    const due = Math.max(this.#dueBefore, this.#loop.now + draw(this.#options.latencyMs, this.#options.random));
    this.#dueBefore = due;
    this.#loop.at(due, () => this.#process.run(() => this.#handOn(entries)));
    this.wake();
  }

  #handOn(entries: readonly LogEntry[]): void {
    for (const entry of entries) this.#options.onEvent(entry, false);
  }

  #stop(): void {
    if (this.#next !== undefined) this.#loop.cancel(this.#next);
    this.#next = undefined;
  }

  readonly #deliver = (): void => {
    const entry = this.#store.log[this.#cursor++];
    this.#next = undefined;
    if (entry === undefined) return;
    const blindUntil = this.#blindUntil.size === 0 ? 0 : (this.#blindUntil.get(entry.key) ?? 0);
    if (this.#toLose > 0) this.#toLose--;
    else if (blindUntil <= this.#loop.now) this.#pass(entry);
    this.wake();
  };

  #pass(entry: LogEntry): void {
    const { repeated, random, onEvent } = this.#options;
    if (this.#process.isAwake()) onEvent(entry, false);
    else this.#process.run(() => onEvent(entry, false));
    if (repeated === 0 || random() >= repeated) return;
    const at = this.#loop.now + draw(REPEAT_DELAY_MS, random);
    this.#loop.at(at, () => this.#process.run(() => onEvent(entry, true)));
  }
}
