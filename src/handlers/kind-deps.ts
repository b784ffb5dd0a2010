import type { Backoff } from '../queue/backoff.ts';
import type { PassDeps } from './pass-deps.ts';

/** Figures of the kinds of handlers that have no records. */
export interface KindStats {
  /** Calls of event handlers begun. */
  readonly events: number;
  /** Events that a slow handler was not told of, since newer ones had filled its backlog. */
  readonly eventsDropped: number;
  /** Calls of event handlers that threw or took too long. */
  readonly eventFailures: number;
  /** Daemons running at the moment, less those that were abandoned. */
  readonly daemons: number;
  /** Daemons that did not end in time after their signal. */
  readonly daemonsAbandoned: number;
  /** Objects that are left out of an index since it is full, of all indexes. */
  readonly omitted: number;
}

export type KindCounters = { -readonly [name in Exclude<keyof KindStats, 'daemons' | 'omitted'>]: number };

export function noKindCounts(): KindCounters {
  return { events: 0, eventsDropped: 0, eventFailures: 0, daemonsAbandoned: 0 };
}

/** What the kinds of handlers that have no records work with. */
export interface KindDeps extends PassDeps {
  readonly concurrency: number;
  /** Of handlers that have none of their own. */
  readonly defaultBackoff: Backoff;
  readonly kindCounters: KindCounters;
  /** How long startups are waited for after the stop, and cleanups at all, in ms. */
  readonly drainMs: number;
  readonly cleanupMs: number;
  /** Objects of the source have finalizers that can be set. */
  readonly canHold: boolean;
  /** Has an object put in line for a turn. */
  readonly notify: (name: string) => void;
}
