import { raceAborted } from '../types/until-aborted.ts';
import type { InformerDelta } from './informer-delta.ts';
import type { DeltaContext, DeltaHandler } from './informer-types.ts';

/** One subscription; the same handler may have several. */
export interface Subscription<T> {
  readonly handler: DeltaHandler<T>;
  isActive: boolean;
}

export interface SubscribersOptions {
  readonly deltasMax: number;
  /** What a handler has thrown. */
  readonly onError: (error: unknown) => void;
}

/**
 * Who hears of changes. A delivery goes to those who were there when its changes were taken in, one after the other, and ends
 * when the last one has returned (IN24).
 */
export class Subscribers<T> {
  readonly #options: SubscribersOptions;
  readonly #all = new Set<Subscription<T>>();
  #present: readonly Subscription<T>[] | undefined = [];

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Those of now. To be asked before a change is taken in: who comes later has seen it in `entries()`. */
  get present(): readonly Subscription<T>[] {
    this.#present ??= [...this.#all];
    return this.#present;
  }

  add(handler: DeltaHandler<T>): () => void {
    const subscription: Subscription<T> = { handler, isActive: true };
    this.#all.add(subscription);
    this.#present = undefined;
    return () => {
      subscription.isActive = false;
      if (this.#all.delete(subscription)) this.#present = undefined;
    };
  }

  /** Rejects with the reason of the context's signal, and with nothing else. */
  async deliver(
    deltas: readonly InformerDelta<T>[],
    to: readonly Subscription<T>[],
    context: DeltaContext,
  ): Promise<void> {
    const { deltasMax, onError } = this.#options;
    const { signal } = context;
    for (let from = 0; from < deltas.length; from += deltasMax) {
      // Frozen: the next handler gets the same one.
      const part = Object.freeze(deltas.slice(from, from + deltasMax));
      for (const subscription of to) {
        if (!subscription.isActive) continue;
        try {
          const answer = subscription.handler(part, context);
          if (isThenable(answer)) await raceAborted(answer, [signal]);
        } catch (error) {
          signal.throwIfAborted();
          onError(error);
        }
        signal.throwIfAborted();
      }
    }
  }
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof answer === 'object' && answer !== null && typeof Reflect.get(answer, 'then') === 'function';
}
