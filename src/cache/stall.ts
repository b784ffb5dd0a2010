import type { Clock } from '../types/clock.ts';
import type { Revision } from '../types/revision.ts';

/** How long a stream may bring nothing of what has changed, in ms, before the state is listed again. */
const STALLED_MS = 10_000;

/**
 * Tells a stream that is slow from one that has nothing to bring: the backend says that something has changed since A, and for
 * so long, on one connection, A has not moved. Then what is here is not what was there at A, or the stream is of no use.
 */
export class Stall {
  readonly #clock: Pick<Clock, 'now'>;
  #since: { readonly connection: number; readonly revision: Revision; readonly atMs: number } | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Something has changed since a revision, says the backend. Returns whether it has said so for too long. */
  note(connection: number, revision: Revision): boolean {
    const now = this.#clock.now();
    const { connection: last, revision: at, atMs = now } = this.#since ?? {};
    if (last === connection && at === revision) return now - atMs >= STALLED_MS;
    this.#since = { connection, revision, atMs: now };
    return false;
  }
}
