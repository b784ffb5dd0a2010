import { systemClock } from '../system/system-clock.ts';
import type { Clock } from '../types/clock.ts';
import { checkKitOptions } from './kit-options.ts';

export interface VirtualClockOptions {
  /** First value of `now()`, in ms. @default 0 */
  readonly startMs?: number;
  /** First value of `wallTime()`, in ms since the epoch. @default 1700000000000 */
  readonly wallTimeMs?: number;
}

/** A clock that stands still until it is told to move. */
export interface VirtualClock extends Clock {
  /**
   * Moves on by `delayMs`: runs every timer that falls due, in order of time (ties: in order of their making), and lets
   * promise chains settle before the first, after each, and at the end. Resolves when it is that much later.
   *
   * A negative delay is 0.
   *
   * @throws as a rejection: TypeError for a delay that is no number, RangeError for one that is not finite
   */
  advance(delayMs: number): Promise<void>;
  /** Moves on to the next timer and runs all timers of that instant; `false` if there is none. */
  advanceToNext(): Promise<boolean>;
  /** Lets promise chains settle without moving on. */
  settle(): Promise<void>;
  /**
   * Moves the wall time by `deltaMs`, as a correction of the system's date would. `now()` does not notice.
   *
   * @throws TypeError for what is no number, RangeError for what is not finite
   */
  jumpWallTime(deltaMs: number): void;
  /** Number of timers that wait. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly fn: () => void;
}

/**
 * Makes a {@link VirtualClock}. Deterministic as long as everything under test takes its time from it: work that ends
 * by real I/O is not waited for. `after` throws a TypeError for a delay that is no number and a RangeError for NaN, which would
 * never fall due and hold up every timer behind it; a negative one is 0, Infinity never comes.
 *
 * @throws TypeError for an unknown option
 * @example
 * ```ts
 * import { createVirtualClock } from 'plimsoll/testing';
 *
 * const clock = createVirtualClock();
 * clock.after(500, () => console.log('half a second later'));
 * await clock.advance(1000);
 * ```
 */
export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  checkKitOptions(options, ['startMs', 'wallTimeMs'], 'make a virtual clock');
  let now = options.startMs ?? 0;
  let wallOffset = (options.wallTimeMs ?? 1_700_000_000_000) - now;
  const timers: Timer[] = [];

  const runDue = async (until: number): Promise<void> => {
    await macrotask();
    for (let timer = timers[0]; timer !== undefined && timer.due <= until; timer = timers[0]) {
      timers.shift();
      now = Math.max(now, timer.due);
      timer.fn();
      await macrotask();
    }
    now = Math.max(now, until);
  };

  return {
    now: () => now,
    wallTime: () => now + wallOffset,
    after(delayMs, fn) {
      checkNumber('the delay', delayMs, 'set a timer');
      if (Number.isNaN(delayMs)) throw new RangeError('Cannot set a timer: the delay must be a number of ms, got NaN');
      const timer: Timer = { due: now + Math.max(0, delayMs), fn };
      timers.splice(placeOf(timers, timer), 0, timer);
      return () => {
        const place = timers.indexOf(timer);
        if (place >= 0) timers.splice(place, 1);
      };
    },
    async advance(delayMs) {
      checkNumber('the delay', delayMs, 'advance the clock');
      if (!Number.isFinite(delayMs)) {
        throw new RangeError(`Cannot advance the clock: the delay must be finite, got ${delayMs}`);
      }
      await runDue(now + Math.max(0, delayMs));
    },
    settle: macrotask,
    async advanceToNext() {
      const next = timers[0];
      if (next === undefined || next.due === Number.POSITIVE_INFINITY) return false;
      await runDue(next.due);
      return true;
    },
    jumpWallTime(deltaMs) {
      checkNumber('the jump', deltaMs, 'jump in wall time');
      if (!Number.isFinite(deltaMs)) {
        throw new RangeError(`Cannot jump in wall time: the jump must be finite, got ${deltaMs}`);
      }
      wallOffset += deltaMs;
    },
    get pending() {
      return timers.length;
    },
  };
}

function checkNumber(name: string, value: unknown, action: string): void {
  if (typeof value === 'number') return;
  throw new TypeError(`Cannot ${action}: ${name} must be a number of ms, got a value of type ${typeof value}`);
}

/** Where a timer belongs in the ascending list: behind all that are due no later. */
function placeOf(timers: readonly Timer[], timer: Timer): number {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = timers[middle];
    if (other !== undefined && other.due <= timer.due) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Resolves in a task of its own, which is after every promise chain that can settle by itself, however deep. Counting
 * microtasks instead would be a guess at the depth.
 *
 * A message is such a task nearly everywhere, and cheaper than a timer; workerd delivers messages between microtasks.
 * So the first one is watched: if it comes before a chain that is not deep, timers of the system do it from then on.
 */
async function macrotask(): Promise<void> {
  // Vercel's edge machine has no channels.
  if (isMessageTask === undefined && typeof MessageChannel === 'undefined') isMessageTask = false;
  if (isMessageTask === undefined) {
    let settled = false;
    void chain(CHAIN_DEPTH).then(() => {
      settled = true;
    });
    await message();
    isMessageTask = settled;
    if (isMessageTask) return;
  }
  await (isMessageTask ? message() : new Promise<void>((resolve) => void systemClock.after(0, resolve)));
}

let isMessageTask: boolean | undefined;
const CHAIN_DEPTH = 100;

async function chain(depth: number): Promise<void> {
  for (let index = 0; index < depth; index++) await undefined;
}

/** A channel for each turn: Deno delivers only the first message of a channel in a task of its own. It is closed at once, since an open one keeps a process alive. */
function message(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      port2.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
