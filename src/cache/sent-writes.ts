import type { WriteCall } from '../store/engine.ts';
import type { BackendPosition } from '../types/backend.ts';
import { BackendError, ClosedError, IdentityChangedError, NotAppliedError, PlimsollError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';

/** What the list manager does for a write. */
export interface WriteChannel {
  /** Of the data that are behind the store now. */
  readonly epoch: number;
  ask<A extends BackendPosition>(
    action: string,
    question: (signal: AbortSignal) => Promise<A>,
    signal?: AbortSignal,
  ): Promise<A>;
  untilApplied(revision: Revision, epoch: number, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * Whatever changes the backend, in its two steps: one errand, and the wait for what it has changed (M3, M4).
 *
 * ```text
 *   send      no answer came             BackendError {maybeCommitted}, the signal's reason, or what the backend named
 *             one that cannot be read    BackendError {maybeCommitted}
 *   applied   the wait was cut short     NotAppliedError with the answer
 *   both      the data were replaced     IdentityChangedError
 * ```
 */
export class SentWrites {
  readonly #channel: WriteChannel;

  constructor(channel: WriteChannel) {
    this.#channel = channel;
  }

  get epoch(): number {
    return this.#channel.epoch;
  }

  /**
   * Asks once. `read` makes the result of the answer. An answer that is there counts, also if the signal or the store's
   * close came in the same turn: what follows, the wait, says so with the answer.
   */
  async send<A extends BackendPosition, R>(
    { action, signal }: WriteCall,
    question: (signal: AbortSignal) => Promise<A>,
    read: (answer: A | undefined) => R,
  ): Promise<R> {
    let answer: A | undefined;
    let isAnswered = false;
    try {
      await this.#channel.ask(
        action,
        async (aborted) => {
          answer = await question(aborted);
          isAnswered = true;
          return answer;
        },
        signal,
      );
    } catch (error) {
      if (error instanceof IdentityChangedError) throw error;
      if (!isAnswered) {
        if (signal?.aborted === true) throw signal.reason;
        if (error instanceof PlimsollError && !(error instanceof ClosedError)) throw error;
        throw new BackendError(action, 'the answer was lost', { cause: error, maybeCommitted: true });
      }
      if (!(error instanceof ClosedError) && signal?.aborted !== true) throw unreadable(action, error);
    }
    try {
      return read(answer);
    } catch (error) {
      throw unreadable(action, error);
    }
  }

  /** Resolves when the revision, which is one of `epoch`, is applied here. `result` is what the write resolves with. */
  async applied({ action, signal }: WriteCall, revision: Revision, epoch: number, result: unknown): Promise<void> {
    try {
      await this.#channel.untilApplied(revision, epoch, signal);
    } catch (error) {
      if (error instanceof IdentityChangedError) throw error;
      throw new NotAppliedError(action, { revision, result }, { cause: error });
    }
  }
}

function unreadable(action: string, cause: unknown): BackendError {
  return new BackendError(action, 'the answer cannot be read', { cause, maybeCommitted: true });
}
