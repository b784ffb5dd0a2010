import type { Backoff } from '../queue/backoff.ts';
import { type Job, viewOn } from './jobs.ts';
import type { Snapshot } from './snapshot.ts';

/** Episodes of a handler since the last change of its view by somebody else, before it is slowed down. */
export const EPISODES_MAX = 10;

/** A handler that own writes call again and again, its own or those of others of this controller. */
export interface Loop {
  /** Episodes since the view was last changed by somebody else. */
  readonly episodes: number;
  /** What differed, at the last one, from the view of the last success: JSON pointers into the view. */
  readonly paths: readonly string[];
}

interface Count {
  episodes: number;
  /** Of the last one counted. */
  episode: number;
  deadlineClockMs: number;
  paths: readonly string[];
  readonly job: Job;
}

/**
 * Slows down handlers of one object that never come to rest because own writes change what they see (A8'). The first
 * {@link EPISODES_MAX} episodes are free, then each waits twice as long as the one before.
 *
 * ```text
 *   episode   1 ... 10   11       12       13              up to the longest wait of the handler's backoff; never an end
 *   wait      none       base*2   base*4   base*8 ...
 *             <--- a change of its view by somebody else begins anew
 * ```
 *
 * Counted for each handler by its own view: a heartbeat elsewhere in the object resets nothing. Writes that bypass
 * `ctx.patch` look like those of somebody else, so they are not slowed down.
 */
export class LoopGuard {
  /** A patch of this process has changed the object: without one there are no loops, and nothing is counted. */
  isWritten = false;
  readonly #counts = new Map<string, Count>();

  /** A call is about to be made. The loop, if it is one that from now on has to wait. */
  begun(job: Job, episode: number, nowMs: number, backoff: Backoff, paths: () => readonly string[]): Loop | undefined {
    if (!this.isWritten) return undefined;
    const count = this.#counts.get(job.id) ?? { episodes: 0, episode: -1, deadlineClockMs: 0, paths: [], job };
    if (count.episode === episode) return undefined;
    const episodes = count.episodes + 1;
    const excess = episodes + 1 - EPISODES_MAX;
    const isLoop = excess > 0;
    const delayMs = isLoop ? Math.min(backoff.maxMs, backoff.baseMs * 2 ** excess) : 0;
    const next = { episodes, episode, deadlineClockMs: nowMs + delayMs, paths: isLoop ? paths() : [], job };
    this.#counts.set(job.id, next);
    return isLoop ? next : undefined;
  }

  /** Monotonic time from which on a new episode may begin. */
  wakeOf(id: string): number {
    return this.#counts.get(id)?.deadlineClockMs ?? 0;
  }

  loopOf(id: string): Loop | undefined {
    const count = this.#counts.get(id);
    return count === undefined || count.episodes < EPISODES_MAX ? undefined : count;
  }

  /** Somebody else has written. Who has had a single episode is not looked at: one more or less does no harm. */
  foreign(before: Snapshot, after: Snapshot): void {
    for (const [id, { episodes, job }] of this.#counts) {
      if (episodes > 1 && viewOn(before, job)?.digest !== viewOn(after, job)?.digest) this.#counts.delete(id);
    }
  }

  keys(): Iterable<string> {
    return this.#counts.keys();
  }

  delete(id: string): void {
    this.#counts.delete(id);
  }
}
