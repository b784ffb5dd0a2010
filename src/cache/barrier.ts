import type { Revision } from '../types/revision.ts';

/** Where the backend was when it was asked, and in which epoch. */
export interface BarrierPosition {
  readonly revision: Revision;
  readonly epoch: number;
}

/**
 * Questions for `sync()` (M19). A call may share a question with others only as long as that has not been sent: an answer to
 * one that was sent before the call may be older than what was committed before the call.
 *
 * ```text
 *   sync   sync   sync |          sync |
 *   +------+------+--- sent ...   +--- sent ...      all of one turn of the event loop share one
 * ```
 */
export class Barrier {
  readonly #ask: () => Promise<BarrierPosition>;
  #next: Promise<BarrierPosition> | undefined;

  constructor(ask: () => Promise<BarrierPosition>) {
    this.#ask = ask;
  }

  position(): Promise<BarrierPosition> {
    this.#next ??= this.#send();
    return this.#next;
  }

  async #send(): Promise<BarrierPosition> {
    await undefined;
    this.#next = undefined;
    return this.#ask();
  }
}
