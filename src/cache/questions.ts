import type { BackendPosition } from '../types/backend.ts';
import { IdentityChangedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { untilAborted } from '../types/until-aborted.ts';
import { checkPosition } from './ingress.ts';

/**
 * Asks the backend and judges where each answer comes from (M24).
 *
 * ```text
 *   question sent, seen = 50 ------------> answer at 28      below what was seen before the question: other data
 *   question sent, seen = 50 --> seen 60 -> answer at 55     fine: it may have been served before 60 was
 *   epoch 1, question sent ----> epoch 2 -> any answer       about data that are gone: dropped
 * ```
 */
export class Questions {
  /** Rises whenever the data were replaced. */
  epoch = 1;
  /** Of the first answer of this epoch that has one. */
  identity = '';
  readonly #lifetime: AbortSignal;
  readonly #onReplaced: () => void;
  #seen: Revision = 0;

  constructor(lifetime: AbortSignal, onReplaced: () => void) {
    this.#lifetime = lifetime;
    this.#onReplaced = onReplaced;
  }

  /** The largest revision in anything that the backend said in this epoch. */
  get seen(): Revision {
    return this.#seen;
  }

  /**
   * Sends a question. Rejects with what the backend rejects with, with the reason of a signal, with `ClosedError`, and
   * with `IdentityChangedError` when the answer is about other data.
   */
  async ask<T extends BackendPosition>(
    action: string,
    question: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { epoch, seen } = this;
    const answer = await untilAborted(question, [this.#lifetime, signal]);
    if (epoch !== this.epoch) throw new IdentityChangedError(action, this.epoch);
    checkPosition(answer);
    if (this.admit(answer, seen)) return answer;
    this.#onReplaced();
    throw new IdentityChangedError(action, this.epoch + 1);
  }

  /** Takes note of a position; `false` if it cannot be one of these data. `seen` is from when the question was sent. */
  admit(position: BackendPosition, seen: Revision): boolean {
    const { identity, revision } = position;
    if (this.identity !== '' && identity !== '' && identity !== this.identity) return false;
    if (revision < seen) return false;
    if (this.identity === '') this.identity = identity;
    this.note(revision);
    return true;
  }

  note(revision: Revision): void {
    this.#seen = Math.max(this.#seen, revision);
  }

  /** Nothing is known of the new data. */
  reset(): void {
    this.epoch++;
    this.identity = '';
    this.#seen = 0;
  }
}
