import type { BackendPosition } from '../types/backend.ts';
import { IdentityChangedError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import { untilAborted } from '../types/until-aborted.ts';
import { checkPosition, refusal } from './ingress.ts';

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
  ask<T extends BackendPosition>(
    action: string,
    question: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { seen } = this;
    return this.#ask(action, question, signal, (answer) => this.admit(answer, seen));
  }

  /** As {@link ask}, about an old revision: the answer is of that one, and says nothing of the newest. */
  askAt<T extends BackendPosition>(
    revision: Revision,
    action: string,
    question: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return this.#ask(action, question, signal, (answer) => {
      const isSame = this.#isNamed(answer);
      if (isSame && answer.revision !== revision) {
        throw refusal(`a read at ${revision} was answered at ${answer.revision}`);
      }
      return isSame;
    });
  }

  /** Takes note of a position; `false` if it cannot be one of these data. `seen` is from when the question was sent. */
  admit(position: BackendPosition, seen: Revision): boolean {
    if (!this.#isNamed(position)) return false;
    if (position.revision < seen) return false;
    if (this.identity === '') this.identity = position.identity;
    this.note(position.revision);
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

  /** Judges the answer in the very turn in which its epoch was looked at: a reset can come between any two turns. */
  async #ask<T extends BackendPosition>(
    action: string,
    question: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
    isOfTheseData: (answer: T) => boolean,
  ): Promise<T> {
    const { epoch } = this;
    const answer = await untilAborted(question, [this.#lifetime, signal]);
    if (epoch !== this.epoch) throw new IdentityChangedError(action, this.epoch);
    checkPosition(answer);
    if (isOfTheseData(answer)) return answer;
    this.#onReplaced();
    throw new IdentityChangedError(action, this.epoch + 1);
  }

  /** Whether the data can be the known ones by their name; who has none says nothing. */
  #isNamed({ identity }: BackendPosition): boolean {
    return this.identity === '' || identity === '' || identity === this.identity;
  }
}
