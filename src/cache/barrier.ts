import type { Revision } from '../types/revision.ts';
import { raceAborted } from '../types/until-aborted.ts';

/** Where the backend was when it was asked, and in which epoch. */
export interface BarrierPosition {
  readonly revision: Revision;
  readonly epoch: number;
}

/** One question, and how many wait for its answer. */
interface Round {
  readonly position: Promise<BarrierPosition>;
  readonly abandoned: AbortController;
  waiting: number;
}

/**
 * Questions for `sync()` (M19). A call may share a question with others only as long as that has not been sent: an answer to
 * one that was sent before the call may be older than what was committed before the call.
 *
 * ```text
 *   sync   sync   sync |          sync |
 *   +------+------+--- sent ...   +--- sent ...      all of one turn of the event loop share one
 * ```
 *
 * A question that nobody waits for any more is given up, so that a backend that hangs does not collect them.
 */
export class Barrier {
  readonly #ask: (signal: AbortSignal) => Promise<BarrierPosition>;
  #next: Round | undefined;

  constructor(ask: (signal: AbortSignal) => Promise<BarrierPosition>) {
    this.#ask = ask;
  }

  async position(signal: AbortSignal | undefined): Promise<BarrierPosition> {
    this.#next ??= this.#open();
    const round = this.#next;
    round.waiting++;
    try {
      return await raceAborted(round.position, [signal]);
    } finally {
      round.waiting--;
      if (round.waiting === 0) this.#abandon(round);
    }
  }

  #open(): Round {
    const abandoned = new AbortController();
    return { position: this.#send(abandoned.signal), abandoned, waiting: 0 };
  }

  async #send(signal: AbortSignal): Promise<BarrierPosition> {
    await undefined;
    if (!signal.aborted) this.#next = undefined;
    return this.#ask(signal);
  }

  #abandon(round: Round): void {
    if (this.#next === round) this.#next = undefined;
    round.abandoned.abort(new Error('nobody waits for the answer'));
  }
}
