import { Heap } from '../queue/heap.ts';
import type { Clock } from '../types/clock.ts';

interface Delayed {
  readonly due: number;
  readonly order: number;
  readonly key: string;
}

/**
 * Keys that wait for one worker.
 *
 * ```text
 *   delay(key, ms)        add(key)             take()
 *        |                   |                    |
 *     delayed ---- due ---> ready ------------> worker       a key that is added while it is worked on comes again (Q3)
 *     (earliest wins)     (each once)
 * ```
 *
 * Ready and delayed are not deduplicated against each other (Q1): a key may come out twice.
 */
export class ClassicQueue {
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #onReady: () => void;
  readonly #ready = new Set<string>();
  /** When each delayed key is due: an entry of the heap that says otherwise is old. */
  readonly #dueOf = new Map<string, number>();
  readonly #delayed = new Heap<Delayed>((a, b) => a.due - b.due || a.order - b.order);
  #order = 0;
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(clock: Pick<Clock, 'now' | 'after'>, onReady: () => void) {
    this.#clock = clock;
    this.#onReady = onReady;
  }

  /** Keys that wait, ready or delayed; one that is both counts twice. */
  get size(): number {
    return this.#ready.size + this.#dueOf.size;
  }

  add(key: string): void {
    if (this.#isClosed) return;
    this.#ready.add(key);
    this.#onReady();
  }

  /** Adds the key after so long; of two delays of a key the earlier counts. */
  delay(key: string, delayMs: number): void {
    if (this.#isClosed) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const due = this.#clock.now() + delayMs;
    const before = this.#dueOf.get(key);
    if (before !== undefined && before <= due) return;
    this.#dueOf.set(key, due);
    this.#delayed.push({ due, order: this.#order++, key });
    this.#arm();
  }

  /** The next key, which is ready no longer. */
  take(): string | undefined {
    const [key] = this.#ready;
    if (key !== undefined) this.#ready.delete(key);
    return key;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#ready.clear();
    this.#dueOf.clear();
  }

  #arm(): void {
    this.#dropOld();
    const due = this.#delayed.peek()?.due;
    if (due === undefined || due >= this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = due;
    this.#cancelTimer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#fire());
  }

  #fire(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#cancelTimer = undefined;
    const now = this.#clock.now();
    for (let next = this.#delayed.peek(); next !== undefined && next.due <= now; next = this.#delayed.peek()) {
      this.#delayed.pop();
      if (this.#dueOf.get(next.key) !== next.due) continue;
      this.#dueOf.delete(next.key);
      this.add(next.key);
    }
    this.#arm();
  }

  #dropOld(): void {
    for (let next = this.#delayed.peek(); next !== undefined; next = this.#delayed.peek()) {
      if (this.#dueOf.get(next.key) === next.due) return;
      this.#delayed.pop();
    }
  }
}
