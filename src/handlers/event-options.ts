import type { FilterOptions } from './filter-options.ts';
import type { IndexAccess } from './index-options.ts';

/** Options of `controller.on('event', ...)`. */
export interface EventOptions<T = unknown> extends FilterOptions<T> {
  /** Names the handler in the log. No `/`. */
  readonly id: string;
  /**
   * Events of one object that may wait while the handler is busy with one before, from 1 on; above that the oldest is
   * dropped, never the last one, and counted (`stats().eventsDropped`). 1 is: only the newest. @default 16
   */
  readonly backlogMax?: number;
  /** How long a call may take, in ms; then its signal aborts, it counts as failed, and the next one begins. @default no limit */
  readonly timeoutMs?: number;
}

/** What an event handler is called with. Frozen, like all that it says. */
export interface EventContext<T = unknown> extends IndexAccess {
  /**
   * `added`: the first state of this uid that the process knows, also where it is from a list; `modified`: a newer one;
   * `deleted`: the uid is gone, and the rest is its last known state.
   */
  readonly type: 'added' | 'modified' | 'deleted';
  readonly object: T;
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** The object is on its way out. */
  readonly deleting: boolean;
  /** Aborts on timeout, and when the controller stops. */
  readonly signal: AbortSignal;
}

/** What it throws is logged and counted, and nothing else. */
export type EventFunction<T = unknown> = (context: EventContext<T>) => Promise<void> | void;
