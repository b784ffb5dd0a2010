import type { Pacer } from '../queue/pacer.ts';
import type { PassDeps } from './pass-deps.ts';

/** Figures of the kinds of handlers that have no records. They only rise. */
export interface KindStats {
  /** Calls of event handlers begun. */
  readonly events: number;
  /** Events that a slow handler was not told of, since newer ones had filled its backlog. */
  readonly eventsDropped: number;
  /** Calls of event handlers that threw or took too long. */
  readonly eventFailures: number;
}

export type KindCounters = { -readonly [name in keyof KindStats]: number };

export function noKindCounts(): KindCounters {
  return { events: 0, eventsDropped: 0, eventFailures: 0 };
}

/** What the kinds of handlers that have no records work with. */
export interface KindDeps extends Pick<PassDeps, 'clock' | 'random' | 'logger' | 'stopping'> {
  readonly pacer: Pacer;
  readonly concurrency: number;
  readonly counters: KindCounters;
}
