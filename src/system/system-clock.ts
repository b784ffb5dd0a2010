import type { Clock } from '../types/clock.ts';

/** What one platform timer can hold; a longer delay fires at once there instead of late. */
const PLATFORM_DELAY_MAX_MS = 2 ** 31 - 1;

/**
 * The platform's clock. `now` is monotonic; `wallTime` follows the system's date and may jump.
 *
 * A delay above 2^31-1 ms (24.8 days) is a chain of platform timers, each at most that long.
 */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  wallTime: () => Date.now(),
  after(delayMs: number, fn: () => void): () => void {
    const due = performance.now() + Math.max(0, delayMs);
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const leftMs = due - performance.now();
      // A platform timer may fire up to 1 ms early; a rest below that would only make another turn.
      if (leftMs >= 1) timer = setTimeout(arm, Math.min(Math.ceil(leftMs), PLATFORM_DELAY_MAX_MS));
      else fn();
    };
    timer = setTimeout(arm, Math.min(Math.ceil(Math.max(0, delayMs)), PLATFORM_DELAY_MAX_MS));
    return () => clearTimeout(timer);
  },
});
