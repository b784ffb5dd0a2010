import { abortableSleep } from '../../system/abortable.ts';
import type { Clock } from '../../types/clock.ts';
import type { Store } from '../../types/store.ts';
import type { Condition } from './condition.ts';
import type { Resource } from './difference.ts';
import type { TrueState } from './true-state.ts';

/** What the parts of a running demo share. */
export interface RunState {
  readonly store: Store<Resource>;
  readonly truth: TrueState;
  readonly clock: Clock;
  /** Notified after every event, every batch, and now and then. */
  readonly changed: Condition;
  /** Aborts when the demo ends early; the reason is why. */
  readonly signal: AbortSignal;
  /** The stream has ended and the store has all of it: nothing will come any more. */
  readonly isSettled: () => boolean;
}

/** At most so many items between the stream and the replica: the feed waits (back-pressure). */
export const UNDELIVERED_MAX = 256;
/** The replaying watcher pauses until this many changes wait for it. */
export const PAUSE_CHANGES = 200;
/** The feed waits while the replaying watcher is further behind. Above PAUSE_CHANGES + UNDELIVERED_MAX + an outage. */
export const REPLAY_LAG_MAX = 5_000;
/** The sleeping watcher is left behind by this many changes before history is compacted past it. */
export const SLEEP_CHANGES = 500;
/** An outage lasts for so many events, */
export const OUTAGE_EVENTS = 500;
/** or for so long, if fewer come in: a live stream may be slow. */
export const OUTAGE_MS = 2000;
/**
 * Log entries that the store keeps. Above REPLAY_LAG_MAX with a wide margin, so that retention passes no watcher and
 * the one compaction that does is the demo's own: whatever the machine does in between, the outcome is the same.
 */
export const RETENTION_EVENTS = 50_000;

/** Resolves after the delay; rejects with the signal's reason. */
export async function delay(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await abortableSleep(clock, delayMs, signal);
  signal.throwIfAborted();
}
