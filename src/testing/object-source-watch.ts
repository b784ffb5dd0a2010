import { BackendError } from '../types/errors.ts';
import type { SourceWatchItem } from '../types/source.ts';

/** Items that one watch has yet to yield, at most this many: a consumer that is slower loses its watch. */
const BACKLOG_MAX = 100_000;

/** The items of one watch on their way to its consumer. */
export class SourceWatch<T> {
  readonly #backlog: SourceWatchItem<T>[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake = (): void => {};

  push(item: SourceWatchItem<T>): void {
    if (this.#failure !== undefined) return;
    this.#backlog.push(item);
    if (this.#backlog.length > BACKLOG_MAX) this.fail(new BackendError('watch objects', 'the consumer is too slow'));
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** The next item; what came before a failure is delivered first. */
  async next(): Promise<SourceWatchItem<T>> {
    for (;;) {
      const item = this.#backlog.shift();
      if (item !== undefined) return item;
      if (this.#failure !== undefined) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
