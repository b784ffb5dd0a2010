import { CompactedError, isRetryable } from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import type { Watch } from '../../types/watch.ts';
import { type Difference, type FoldedState, fold, type Resource } from './difference.ts';
import { delay, type RunState, SLEEP_CHANGES } from './run-state.ts';

/** Most errors and batches looked at after a compaction; one error is right. */
const LOOKS_MAX = 10;

/**
 * A watcher over everything that falls asleep after its list and is left asleep until compaction has passed it.
 *
 * ```text
 *   its position        compacted to here, the other watcher is not behind it
 *        v                    v
 *   -----|====================|-----------> changes
 *        '-- CompactedError: the smallest legal start is this one
 * ```
 *
 * It must be told once, by a `CompactedError` with a start that is legal (and the one below is not); it then lists
 * again and must arrive at the final state.
 */
export class SleepingWatcher {
  readonly state: FoldedState = new Map();
  readonly counts = { missed: 0, signals: 0, relisted: 0, minRevision: 0 };
  /** The stream had too few changes behind its first list for anything to be passed. */
  isSkipped = false;
  difference: Difference | undefined;
  readonly #run: RunState;
  /** Up to where history is of no use to the other watcher. */
  readonly #compactable: () => Revision;
  #watch: Watch<Resource> | undefined;

  constructor(run: RunState, compactable: () => Revision) {
    this.#run = run;
    this.#compactable = compactable;
  }

  async open(): Promise<void> {
    const { store, signal } = this.#run;
    this.#watch = store.watch({ prefix: '' }, { initial: true, signal });
    await this.#read(this.#watch);
  }

  async follow(): Promise<void> {
    let watch = this.#watch;
    if (watch === undefined) throw new TypeError('Cannot follow the store: the watch is not open');
    const revision = await this.#sleep(watch);
    if (revision === 0) this.isSkipped = true;
    else {
      await this.#compact(revision);
      await this.#wakeUp(watch);
      const { store, signal } = this.#run;
      watch = store.watch({ prefix: '' }, { initial: true, signal });
      await this.#read(watch);
      this.counts.relisted = this.state.size;
    }
    await this.#keepUp(watch);
  }

  /** Until enough is missed. Returns the revision to compact to, 0 if the stream ends before there is one. */
  async #sleep(watch: Watch<Resource>): Promise<Revision> {
    const { store, truth, changed, signal, isSettled } = this.#run;
    const isPassable = () => this.#compactable() > watch.progressRevision + 1;
    const seen = () => truth.counts.changes - truth.pending;
    const isReady = () => isPassable() && seen() >= SLEEP_CHANGES;
    await changed.until(() => isReady() || (isSettled() && this.#compactable() >= store.revision), signal);
    this.counts.missed = seen();
    return isPassable() ? this.#compactable() : 0;
  }

  /** Tries again while the backend is away. */
  async #compact(revision: Revision): Promise<void> {
    const { store, clock, signal } = this.#run;
    for (;;) {
      try {
        await store.compact(revision, { signal });
        return;
      } catch (error) {
        if (!isRetryable(error)) throw error;
        await delay(clock, 10, signal);
      }
    }
  }

  async #wakeUp(watch: Watch<Resource>): Promise<void> {
    const outcomes: string[] = [];
    let minRevision = 0;
    while (outcomes.length < LOOKS_MAX) {
      try {
        const { done } = await watch.next();
        if (done === true) break;
        outcomes.push('a batch');
      } catch (error) {
        this.#run.signal.throwIfAborted();
        outcomes.push(error instanceof Error ? error.name : String(error));
        if (!(error instanceof CompactedError)) continue;
        this.counts.signals++;
        minRevision = error.minRevision;
      }
    }
    this.counts.minRevision = minRevision;
    if (outcomes.join() !== 'CompactedError') {
      this.#expect('one CompactedError', outcomes.join(', then ') || 'the end of the watch');
    } else if (!(await this.#isLegal(minRevision))) {
      this.#expect('a legal start', `the start ${minRevision}, which is refused`);
    } else if (await this.#isLegal(minRevision - 1)) {
      this.#expect(`the smallest legal start`, `${minRevision}, although ${minRevision - 1} is legal as well`);
    }
  }

  /** Whether a watch may start there: an illegal start is told by the first `next`, whatever comes after. */
  async #isLegal(fromRevision: Revision): Promise<boolean> {
    const probe = this.#run.store.watch({ prefix: '' }, { fromRevision });
    const first = probe.next();
    await probe.return();
    try {
      await first;
      return true;
    } catch (error) {
      if (error instanceof CompactedError) return false;
      throw error;
    }
  }

  async #keepUp(watch: Watch<Resource>): Promise<void> {
    const { store, changed, signal, isSettled } = this.#run;
    for (;;) {
      const isLast = isSettled();
      while (watch.progressRevision < store.revision) await this.#read(watch);
      if (isLast) break;
      await changed.until(() => isSettled() || watch.progressRevision < store.revision, signal);
    }
    await watch.return();
  }

  async #read(watch: Watch<Resource>): Promise<void> {
    const { value } = await watch.next();
    if (value === undefined) throw new TypeError('Cannot follow the store: the watch ended');
    fold(this.state, value);
  }

  #expect(expected: string, actual: string): void {
    this.difference ??= { key: '', expected, actual };
  }
}
