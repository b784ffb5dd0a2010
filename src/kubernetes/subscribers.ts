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

/** One call that is due. */
interface Call<T> {
  readonly subscription: Subscription<T>;
  readonly deltas: readonly InformerDelta<T>[];
  readonly from: DeltaContext['from'];
}

/**
 * Who hears of changes. A delivery goes to those who were there when its changes were taken in, one call after the other, and ends
 * when the last one has returned (IN24). What a stop has left over is delivered first after the next start, and not before the handler that was
 * under way has returned: otherwise a handler would miss changes, or see them out of order.
 *
 * What is due is one page, or one read of a connection, for each subscriber.
 */
export class Subscribers<T> {
  readonly #options: SubscribersOptions;
  readonly #all = new Set<Subscription<T>>();
  #present: readonly Subscription<T>[] | undefined = [];
  readonly #due: Call<T>[] = [];
  #underWay: PromiseLike<unknown> | undefined;

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Something is due, or a handler has not returned. */
  get isBusy(): boolean {
    return this.#due.length > 0 || this.#underWay !== undefined;
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

  /** Rejects with the signal's reason, and with nothing else; what is due then stays so. */
  async deliver(
    deltas: readonly InformerDelta<T>[],
    to: readonly Subscription<T>[],
    { from, signal }: DeltaContext,
  ): Promise<void> {
    const { deltasMax } = this.#options;
    for (let begin = 0; begin < deltas.length; begin += deltasMax) {
      // Frozen: the next handler gets the same one.
      const part = Object.freeze(deltas.slice(begin, begin + deltasMax));
      for (const subscription of to) this.#due.push({ subscription, deltas: part, from });
    }
    signal.throwIfAborted();
    if (this.#underWay !== undefined) await this.#settled(this.#underWay, signal);
    for (let call = this.#due.shift(); call !== undefined; call = this.#due.shift()) {
      if (!call.subscription.isActive) continue;
      try {
        const answer = call.subscription.handler(call.deltas, { from: call.from, signal });
        if (isThenable(answer)) this.#underWay = answer;
      } catch (error) {
        signal.throwIfAborted();
        this.#options.onError(error);
      }
      if (this.#underWay !== undefined) await this.#settled(this.#underWay, signal);
      signal.throwIfAborted();
    }
  }

  async #settled(answer: PromiseLike<unknown>, signal: AbortSignal): Promise<void> {
    try {
      await raceAborted(answer, [signal]);
    } catch (error) {
      signal.throwIfAborted();
      this.#options.onError(error);
    }
    this.#underWay = undefined;
  }
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof answer === 'object' && answer !== null && typeof Reflect.get(answer, 'then') === 'function';
}
