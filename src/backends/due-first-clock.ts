import type { Clock } from '../types/clock.ts';

/**
 * A clock for the timers of a store with leases: what a timer does, trimming for instance, comes after what is due, like
 * everything else that is done to the store (M31). The history does not depend on which of two timers ran first.
 */
export function dueFirstClock(clock: Clock, expireDue: () => void): Clock {
  return {
    now: () => clock.now(),
    wallTime: () => clock.wallTime(),
    after: (delayMs, fn) =>
      clock.after(delayMs, () => {
        expireDue();
        fn();
      }),
  };
}
