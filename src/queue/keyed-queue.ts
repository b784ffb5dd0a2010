import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import { wrongNumber } from '../types/wrong-number.ts';
import { type Backoff, type BackoffOptions, backoffDelayMs, resolveBackoff } from './backoff.ts';
import { Pacer } from './pacer.ts';
import { type RankOptions, ReadyList } from './ready-list.ts';

/**
 * What a run leaves behind: nothing to do, more to do at once, or something to do in a while; `Infinity` is a wait without a
 * timer, until somebody says so. A `backoff` is a wait that a notification does not cut short.
 */
export type RunResult = 'idle' | 'again' | { readonly afterMs: number; readonly backoff?: boolean };

export interface KeyedQueueOptions {
  /** Works on one key. Never entered twice at a time for one key. A failure makes the key wait by `backoff`. */
  readonly run: (key: string) => Promise<RunResult>;
  /** Keys worked on at a time. @default 16 */
  readonly concurrency?: number;
  /** Which keys come first. @default first come first served */
  readonly ranks?: RankOptions;
  /** Told of every key that is taken out of the line, before its run. What it throws is dropped. */
  readonly onTake?: () => void;
  /** Counts the runs as steps; whoever makes steps within runs counts them with the same one. @default its own */
  readonly pacer?: Pacer;
  /** Waits after rejected runs, counted per key. @default { baseMs: 500, factor: 2, maxMs: 60000, jitter: 0.2 } */
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Called after the last key has become idle. What it throws is dropped, as with `onError`. */
  readonly onIdle?: () => void;
  /** Told of every failed run, with the wait that follows. */
  readonly onError?: (key: string, error: unknown, delayMs: number) => void;
}

export interface KeyedQueueCounts {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  /** Keys with work to do: in any of the three states, or left behind by `close`. */
  readonly keys: number;
}

interface Entry {
  state: 'queued' | 'running' | 'waiting' | 'left';
  dirty: boolean;
  isBackingOff: boolean;
  /** Something is kept for the key: when it comes back in line, it is as one that was woken. */
  isWoken: boolean;
  failures: number;
  cancel: (() => void) | undefined;
}

/**
 * A queue of keys, not of events: many notifications of a key are one run, and none of them is lost.
 *
 * ```text
 *              notify                  start                    result 'idle', not dirty
 *     idle ------------> queued ------------------> running -----------------------------> idle
 *                          ^  ^                     |  |  |  notify: sets dirty
 *                          |  +--- 'again', dirty --+  |  |
 *                          |                           |  +-- { afterMs } or rejected
 *                          +---- time, or notify ------------------> waiting    (backoff: only time)
 * ```
 *
 * - Serial per key, at most `concurrency` at a time; first come first served among keys, or by priority (see `ReadyList`).
 * - A notification during a run makes another run after it: the last one is never missed.
 * - Nothing that `run` or a callback throws stops the queue or a key.
 * - Timers and I/O get their turn after so many runs (see `Pacer`), also where no run ever waits.
 * - Holds one entry for each key that is not idle, and one timer for each that waits; nothing for idle keys.
 * - Not promised: a run per notification, or any order between keys that wait.
 */
export class KeyedQueue {
  readonly #run: (key: string) => Promise<RunResult>;
  readonly #concurrency: number;
  readonly #backoff: Backoff;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #pacer: Pacer;
  readonly #onIdle: () => void;
  readonly #onError: (key: string, error: unknown, delayMs: number) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #ready: ReadyList;
  readonly #onTake: () => void;
  #running = 0;
  #waiting = 0;
  #isPaused = false;
  /** The pacer has asked for a turn of the platform. */
  #awaitsTurn = false;
  #closed = false;
  #drained: (() => void)[] = [];

  constructor(options: KeyedQueueOptions) {
    const concurrency = options.concurrency ?? 16;
    if (!isCount(concurrency)) {
      throw wrongNumber('open a queue', 'concurrency', concurrency, 'a whole number from 1 on');
    }
    this.#run = options.run;
    this.#concurrency = concurrency;
    this.#backoff = resolveBackoff(options.backoff, {}, 'open a queue');
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#pacer = options.pacer ?? new Pacer(this.#clock);
    this.#ready = new ReadyList(options.ranks);
    this.#onTake = options.onTake ?? (() => {});
    this.#onIdle = options.onIdle ?? (() => {});
    this.#onError = options.onError ?? (() => {});
  }

  get counts(): KeyedQueueCounts {
    const queued = this.#ready.size;
    return { queued, running: this.#running, waiting: this.#waiting, keys: this.#entries.size };
  }

  /** Says that something about `key` is new. Cheap, and does not run anything inside the call. */
  notify(key: string): void {
    if (this.#closed) return;
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const entry: Entry = {
        state: 'queued',
        dirty: false,
        isBackingOff: false,
        isWoken: false,
        failures: 0,
        cancel: undefined,
      };
      this.#entries.set(key, entry);
      this.#ready.add(key, this.#clock.now());
      this.#schedule();
    } else if (entry.state === 'running') {
      entry.dirty = true;
    } else if (entry.state === 'waiting' && !entry.isBackingOff) {
      this.#wake(key, entry);
    } else if (entry.state === 'queued') {
      this.#ready.review(key);
    }
  }

  /**
   * Says that what a waiting key waits for is kept for it: it runs before most of those in line; one that is running, once
   * more after that. Cheap, too; a key that is idle stays so.
   */
  wake(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.state === 'running') entry.dirty = entry.isWoken = true;
    else if (entry?.state === 'waiting' && !entry.isBackingOff) this.#wake(key, entry);
    if (entry?.state === 'queued') this.#ready.wake(key);
  }

  /** What a key does at this moment. `backing-off`: it waits after a failed run. */
  stateOf(key: string): 'idle' | 'queued' | 'running' | 'waiting' | 'backing-off' | 'left' {
    const entry = this.#entries.get(key);
    if (entry === undefined) return 'idle';
    return entry.state === 'waiting' && entry.isBackingOff ? 'backing-off' : entry.state;
  }

  /** No run starts until `resume`. Running ones go on, notifications are taken in, waits end in the line. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  /** No run starts any more. Running ones go on, unpaced; waits end. Keys with work left stay in `counts.keys`. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pacer.close();
    this.#ready.clear();
    for (const entry of this.#entries.values()) {
      if (entry.state === 'running') continue;
      entry.cancel?.();
      entry.state = 'left';
    }
    this.#waiting = 0;
  }

  /** Resolves once no run is going on. Only after `close` does that stay so. */
  drained(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #schedule(): void {
    // A task of its own keeps user code out of `notify`, and lets a burst of notifications become one run.
    if (this.#running < this.#concurrency) queueMicrotask(() => this.#startNext());
  }

  #startNext(): void {
    while (!this.#closed && !this.#isPaused && !this.#awaitsTurn && this.#running < this.#concurrency) {
      if (this.#ready.size === 0) return;
      const turn = this.#pacer.step();
      if (turn !== undefined) {
        this.#awaitsTurn = true;
        turn.then(() => {
          this.#awaitsTurn = false;
          this.#startNext();
        });
        return;
      }
      const key = this.#ready.take();
      if (key !== undefined) this.#start(key);
    }
  }

  #start(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    guard(this.#onTake);
    entry.state = 'running';
    entry.dirty = false;
    entry.isWoken = false;
    entry.cancel = undefined;
    this.#running++;
    this.#runSafely(key, entry).then((result) => this.#finish(key, entry, result));
  }

  /** Never rejects, whatever is thrown, and by whom. */
  async #runSafely(key: string, entry: Entry): Promise<RunResult> {
    try {
      const result = await this.#run(key);
      entry.failures = 0;
      return result;
    } catch (error) {
      const delayMs = backoffDelayMs(entry.failures++, this.#backoff, this.#random);
      guard(() => this.#onError(key, error, delayMs));
      return { afterMs: delayMs, backoff: true };
    }
  }

  #finish(key: string, entry: Entry, result: RunResult): void {
    this.#running--;
    if (this.#running === 0) for (const resolve of this.#drained.splice(0)) resolve();
    if (this.#closed) {
      if (result === 'idle' && !entry.dirty) this.#entries.delete(key);
      else entry.state = 'left';
      return;
    }
    const isBackingOff = typeof result === 'object' && result.backoff === true;
    if (result === 'again' || (entry.dirty && !isBackingOff)) {
      this.#enqueue(key, entry);
    } else if (typeof result === 'object') {
      entry.state = 'waiting';
      entry.isBackingOff = isBackingOff;
      entry.isWoken = false;
      this.#waiting++;
      const isTimed = result.afterMs !== Number.POSITIVE_INFINITY;
      entry.cancel = isTimed ? this.#clock.after(result.afterMs, () => this.#wake(key, entry)) : undefined;
    } else {
      this.#entries.delete(key);
    }
    this.#startNext();
    if (this.#entries.size === 0) guard(this.#onIdle);
  }

  #wake(key: string, entry: Entry): void {
    entry.cancel?.();
    this.#waiting--;
    this.#enqueue(key, entry);
    this.#schedule();
  }

  #enqueue(key: string, entry: Entry): void {
    entry.state = 'queued';
    if (entry.isWoken) this.#ready.wake(key);
    else this.#ready.add(key, this.#clock.now());
  }
}

/** Whether a number says how many keys may be worked on at a time; `Infinity` does. */
export function isCount(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 1);
}

/** Calls what belongs to somebody else. There is nobody to tell what it throws: the queue is who tells of errors. */
function guard(callback: () => void): void {
  try {
    callback();
  } catch {
    return;
  }
}
