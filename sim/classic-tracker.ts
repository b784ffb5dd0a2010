import type { Clock } from '../src/types/clock.ts';

type State = 'candidate' | 'contended';

interface Entry<V> {
  state: State;
  /** When it came into its state. */
  at: number;
  last: V;
}

export interface ClassicTrackerOptions<V> {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly intervalMs: number;
  /** More changes than this in an interval stop all writes (T5). */
  readonly contentionsMax?: number;
  readonly equal?: (a: V, b: V) => boolean;
  readonly onWarning?: (contentions: number) => void;
}

/**
 * The classic contention tracker (T1-T10), as far as the comparison needs it.
 *
 * ```text
 *   (none) --changed--> candidate --changed to another value--> contended
 *                           ^  ^--------- clear: own write --------|
 *   flush, each 2 intervals: contended older than 1 interval and candidates older than 3 are forgotten
 * ```
 */
export class ClassicTracker<V> {
  readonly #options: Required<ClassicTrackerOptions<V>>;
  readonly #entries = new Map<string, Entry<V>>();
  #contentions = 0;
  #cancelFlush: () => void = () => {};

  constructor(options: ClassicTrackerOptions<V>) {
    this.#options = { contentionsMax: 5, equal: Object.is, onWarning: () => {}, ...options };
    this.#armFlush();
  }

  get contentions(): number {
    return this.#contentions;
  }

  stateOf(id: string): State | undefined {
    return this.#entries.get(id)?.state;
  }

  /** The value of our own entry was seen to change (T2-T4). */
  changed(id: string, value: V): void {
    const { contentionsMax, equal, clock } = this.#options;
    if (this.#contentions > contentionsMax) return;
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#entries.set(id, { state: 'candidate', at: clock.now(), last: value });
    } else if (entry.state === 'contended') {
      if (!equal(entry.last, value)) this.#contentions++;
    } else if (!equal(entry.last, value)) {
      this.#entries.set(id, { state: 'contended', at: clock.now(), last: value });
      this.#contentions++;
    }
  }

  /** Whether a write of the key is refused (T5, T6). */
  isContended(id: string): boolean {
    const { contentionsMax, clock, intervalMs } = this.#options;
    if (this.#contentions > contentionsMax) return true;
    const entry = this.#entries.get(id);
    return entry !== undefined && entry.at + intervalMs >= clock.now() && entry.state === 'contended';
  }

  /** We have written the key (T7). */
  clear(id: string, value: V): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.last = value;
    entry.state = 'candidate';
  }

  /** Forgets what is old (T8). The stop of all writes may survive it. */
  flush(): void {
    const { clock, intervalMs, onWarning } = this.#options;
    const now = clock.now();
    const warnedOf = this.#contentions;
    for (const [id, { state, at }] of this.#entries) {
      if (now - at > (state === 'contended' ? 1 : 3) * intervalMs) this.#entries.delete(id);
    }
    this.#contentions = [...this.#entries.values()].filter(({ state }) => state === 'contended').length;
    if (warnedOf > 0) onWarning(warnedOf);
  }

  close(): void {
    this.#cancelFlush();
  }

  #armFlush(): void {
    const { clock, intervalMs } = this.#options;
    this.#cancelFlush = clock.after(2 * intervalMs, () => {
      this.flush();
      this.#armFlush();
    });
  }
}
