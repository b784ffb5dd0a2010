import { GuardedLogger } from '../system/guarded-logger.ts';
import { plainEqual } from '../system/plain-equal.ts';
import { systemClock } from '../system/system-clock.ts';
import { checkLogger } from '../types/check-logger.ts';
import { checkMethods } from '../types/check-methods.ts';
import type { Clock } from '../types/clock.ts';
import type {
  ContentionTracker,
  ContentionTrackerOptions,
  ContentionTrackerStats,
  ContentionWarning,
  ObservedFlags,
  ObservedValue,
} from '../types/writer-lease.ts';
import { ContentionBudget } from './contention-budget.ts';
import { ContentionEntries } from './contention-entries.ts';
import type { ContentionEntry } from './contention-entry.ts';
import { guardedEqual } from './contention-equal.ts';
import { checkCount, checkNames, checkNumber, checkOptional, tell } from './writer-checks.ts';
import { checkSeen } from './writer-view.ts';

const ACTION = 'create a contention tracker';

const NAMES: ReadonlySet<string> = new Set<keyof ContentionTrackerOptions>([
  'budget',
  'clock',
  'equal',
  'intervalMs',
  'keysMax',
  'logger',
  'onWarning',
]);

type Seen<V> = Omit<ObservedFlags, 'revision'> | Omit<ObservedValue<V>, 'revision'>;

/**
 * Makes a {@link ContentionTracker}, which notices writers that disagree about a key, and stops this one before the two
 * overwrite each other for ever.
 *
 * Promised:
 * - A key is held after the second time that the wanted value was overwritten, the fourth foreign value, or the fifth
 *   contested write in an interval (CT4): four writes with two configurations, five with more, by writers that were there
 *   from the start. A hold doubles each time, and ends after a whole interval with the wanted value (CT5).
 * - Over all keys at most `budget` contested writes in an interval, counted by observation (CT6). First writes, new wishes
 *   and keys that nobody contends never pay.
 * - Work of mates, replicas with the same configuration, never counts as contention, and neither does an echo (CT1).
 * - One warning for each key and level, in a microtask of its own (CT8). No timer; O(1) for each call but `stats`.
 *
 * Not promised: a bound across restarts, since a list shows no history; that the writers ever agree.
 *
 * Give it to `createWriterLease` as `tracker`, which then feeds it. Alone: `observe` in the order of the watch, `wrote` after
 * each own write, and `refusedMs` before it.
 *
 * @throws TypeError for an unknown option or a wrong type; RangeError for a number that is impossible
 * @example
 * ```ts
 * import { createContentionTracker } from 'plimsoll';
 *
 * const tracker = createContentionTracker<string>({
 *   intervalMs: 180_000,
 *   budget: 100,
 *   onWarning: ({ key, heldMs }) => console.warn(`${key} is contended, left alone for ${heldMs} ms`),
 * });
 * tracker.observe('route/a', { value: 'theirs', wanted: 'ours' });
 * if (tracker.refusedMs('route/a') === 0) {
 *   // write 'ours', then:
 *   tracker.wrote('route/a');
 * }
 * ```
 */
export function createContentionTracker<V = unknown>(options: ContentionTrackerOptions<V> = {}): ContentionTracker<V> {
  checkNames(ACTION, options, NAMES);
  const { intervalMs = 180_000, budget = 100, keysMax = 100_000, clock, logger } = options;
  checkNumber(ACTION, 'intervalMs', intervalMs, 'above 0', intervalMs > 0);
  checkCount(ACTION, 'budget', budget);
  checkCount(ACTION, 'keysMax', keysMax);
  checkOptional(ACTION, 'equal', options.equal, 'function');
  checkOptional(ACTION, 'onWarning', options.onWarning, 'function');
  if (clock !== undefined) checkMethods('clock', clock, ACTION, ['now']);
  checkLogger(logger, ACTION);
  return new Tracker({ ...options, intervalMs, budget, keysMax });
}

type Settings<V> = ContentionTrackerOptions<V> & { intervalMs: number; budget: number; keysMax: number };

/** Levels that are told apart in the statistics. */
const LEVELS = 6;

class Tracker<V> implements ContentionTracker<V> {
  readonly #equal: (a: V | undefined, b: V | undefined) => boolean;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #intervalMs: number;
  readonly #onWarning: ((warning: ContentionWarning) => void) | undefined;
  readonly #logger: GuardedLogger;
  readonly #entries: ContentionEntries;
  readonly #budget: ContentionBudget;
  #refusals = 0;

  constructor(settings: Settings<V>) {
    const { intervalMs, budget, keysMax } = settings;
    this.#clock = settings.clock ?? systemClock;
    this.#intervalMs = intervalMs;
    this.#onWarning = settings.onWarning;
    this.#logger = new GuardedLogger(settings.logger);
    // Called as a method, in case it is one.
    this.#equal =
      settings.equal === undefined ? plainEqual : guardedEqual((a, b) => settings.equal?.(a, b) === true, this.#logger);
    this.#entries = new ContentionEntries(keysMax, intervalMs);
    this.#budget = new ContentionBudget(budget, intervalMs);
  }

  equal(a: V | undefined, b: V | undefined): boolean {
    return this.#equal(a, b);
  }

  observe(key: string, seen: Seen<V>): void {
    checkSeen('observe a key', seen);
    const now = this.#clock.now();
    if ('satisfied' in seen) this.#see(key, now, seen.changed, seen.satisfied, seen.satisfiedBefore === true);
    else this.#seeValue(this.#entries.make(key, now), now, seen);
  }

  wrote(key: string): void {
    const now = this.#clock.now();
    // A first write makes an entry too: the value that it wrote can be overwritten.
    const entry = this.#entries.make(key, now);
    // The echo is left out, so the value that it would have brought is taken from the wish.
    entry.value = entry.wanted;
    entry.isWritten = true;
    this.#mine(entry, now, true);
  }

  wants(key: string): void {
    const now = this.#clock.now();
    this.#entries.get(key, now)?.wish(now);
  }

  refusedMs(key: string): number {
    const now = this.#clock.now();
    const entry = this.#entries.get(key, now);
    if (entry === undefined) return 0;
    let at = entry.writableAt(now, this.#intervalMs);
    if (at <= now && entry.stored === 'foreign' && !entry.isNewWish) at = this.#budget.availableAt(now);
    if (at <= now) return 0;
    this.#refusals++;
    entry.refusedUntil = at;
    return at - now;
  }

  stats(): ContentionTrackerStats {
    const now = this.#clock.now();
    const levels = new Array<number>(LEVELS).fill(0);
    let held = 0;
    for (const entry of this.#entries.values()) {
      if (entry.isHeld(now)) held++;
      const level = Math.min(entry.level, LEVELS - 1);
      levels[level] = (levels[level] ?? 0) + 1;
    }
    return {
      keys: this.#entries.size,
      held,
      refusals: this.#refusals,
      contestedWrites: this.#budget.total,
      budgetLeft: this.#budget.left(now),
      levels,
    };
  }

  /** Compares, and remembers what was seen and wanted. */
  #seeValue(entry: ContentionEntry, now: number, { value, wanted }: Omit<ObservedValue<V>, 'revision'>): void {
    const equal = this.#equal;
    const last = entry.wanted as V | undefined;
    if (entry.hasView && !equal(last, wanted)) {
      entry.wantedBefore = last;
      entry.hasWantedBefore = true;
      entry.wish(now);
    }
    // What was written before anything was seen is what was wanted; that is said only now.
    const known = entry.hasView || !entry.isWritten ? (entry.value as V | undefined) : wanted;
    const changed = (entry.hasView || entry.isWritten) && !equal(value, known);
    const before = entry.hasWantedBefore && equal(value, entry.wantedBefore as V | undefined);
    entry.value = value;
    entry.wanted = wanted;
    entry.hasView = true;
    this.#see(entry.key, now, changed, equal(value, wanted), before);
  }

  #see(key: string, now: number, changed: boolean, satisfied: boolean, before: boolean): void {
    if (changed && !satisfied && !before) {
      const entry = this.#entries.make(key, now);
      entry.becameForeign(now, this.#intervalMs);
      this.#changed(entry, now);
      return;
    }
    // What is right has to be remembered too, for the day when it is overwritten.
    const entry = satisfied ? this.#entries.make(key, now) : this.#entries.get(key, now);
    if (entry === undefined) return;
    if (changed) this.#mine(entry, now, satisfied);
    else if (satisfied) entry.isWanted();
  }

  #mine(entry: ContentionEntry, now: number, isNow: boolean): void {
    if (entry.becameMine(now, this.#intervalMs, isNow)) this.#budget.pay(now);
    this.#changed(entry, now);
  }

  #changed(entry: ContentionEntry, now: number): void {
    this.#entries.touch(entry, now);
    if (entry.holdIfContended(now, this.#intervalMs)) this.#warn(entry, now);
  }

  /** A hold begins once for each level, and so does its warning. */
  #warn({ key, level, until, flips, foreign, writes }: ContentionEntry, now: number): void {
    const warning = { key, level: level - 1, heldMs: until - now, flips, foreign, writes };
    queueMicrotask(() => {
      this.#logger.warn('a key is contended', { ...warning });
      tell(
        () => this.#onWarning?.(warning),
        (error) => this.#logger.error('onWarning failed', { key, error }),
      );
    });
  }
}
