import type { Logger } from '../types/logger.ts';
import type { InformerConnection, InformerErrorContext, InformerListing, InformerOptions } from './informer-types.ts';

/**
 * The user's callbacks, which can do no harm: what one throws, or rejects with, goes to the logger. Everything that is told to `onError` is told
 * to the logger as well, so nothing is ever told to nobody (IN14).
 */
export class InformerCallbacks {
  readonly #options: Pick<InformerOptions, 'onError' | 'onConnect' | 'onListed'>;
  readonly #logger: Logger;

  constructor(options: Pick<InformerOptions, 'onError' | 'onConnect' | 'onListed'>, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  error(error: unknown, about: InformerErrorContext): void {
    this.#logger.warn('an informer has met an error', { error, ...about });
    this.#guard(() => this.#options.onError?.(error, about));
  }

  connected(about: InformerConnection): void {
    this.#logger.debug('a watch is open', { ...about });
    this.#guard(() => this.#options.onConnect?.(about));
  }

  listed(about: InformerListing): void {
    this.#logger.debug('a list has come to its end', { ...about });
    this.#guard(() => this.#options.onListed?.(about));
  }

  /** Typed as void, which an async function satisfies too. */
  #guard(callback: () => unknown): void {
    const failed = (error: unknown) => this.#logger.error('a callback of an informer has failed', { error });
    try {
      const answer = callback();
      if (answer instanceof Promise) answer.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}
