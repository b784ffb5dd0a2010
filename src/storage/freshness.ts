import type { Clock } from '../types/clock.ts';
import { CompactedError, IdentityChangedError, NotReadyError, StaleError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import { untilAborted } from '../types/until-aborted.ts';
import { ResourceVersionTooLargeError, TooManyRequestsError } from './errors.ts';
import type { WantedState } from './resource-version.ts';

/** A replica that is behind is looked at so often, between the changes of the storage's own keys. */
const LOOK_MS = 100;

export interface FreshnessOptions {
  readonly store: Store<unknown>;
  /** What the storage reads, and may watch. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly waitersMax: number;
  /** That of the storage. */
  readonly lifetime: AbortSignal;
}

/**
 * Waits until the store is as new as a read wants it, within a time (K01-K04, K27). A read that wants anything waits for a
 * store that is ready, and for no more.
 */
export class Freshness {
  readonly #options: FreshnessOptions;
  #waiters = 0;

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  get waiters(): number {
    return this.#waiters;
  }

  /** Whether reads are answered now. Throws what has broken the store for good. */
  isReady(): boolean {
    try {
      return this.#options.store.revision >= 0;
    } catch (error) {
      if (error instanceof NotReadyError) return false;
      throw error;
    }
  }

  async until(wanted: WantedState, action: string, signal: AbortSignal | undefined): Promise<void> {
    const { store } = this.#options;
    if (!this.isReady()) {
      const late = () => new TooManyRequestsError(action, 'the store is not ready');
      await this.#within(action, (aborted) => store.ready({ signal: aborted }), late, signal);
    }
    if (wanted.kind === 'any') return;
    if (wanted.kind === 'consistent') {
      const late = () => new TooManyRequestsError(action, 'the newest revision was not known in time');
      await this.#within(action, (aborted) => store.sync({ signal: aborted }), late, signal);
      return;
    }
    if (store.revision >= wanted.revision) return;
    const { resourceVersion } = wanted;
    const late = (cause?: unknown) =>
      new ResourceVersionTooLargeError(action, {
        resourceVersion,
        currentResourceVersion: String(this.isReady() ? store.revision : 0),
        cause,
      });
    let failure: unknown;
    const wait = async (aborted: AbortSignal) => {
      const watched = this.#untilRevision(wanted.revision, aborted);
      // It makes a replica look; that it failed is told if time runs out.
      store.sync({ signal: aborted }).catch((error: unknown) => {
        failure = error;
      });
      await watched;
    };
    await this.#within(action, wait, () => late(failure), signal);
  }

  /** Resolves once the store is there; a relist may go past it, so that its change can never be delivered. */
  async #untilRevision(revision: Revision, signal: AbortSignal): Promise<void> {
    const { store, prefix } = this.#options;
    while (store.revision < revision) {
      const watch = store.watch({ prefix }, { fromRevision: revision, progressMs: LOOK_MS, signal });
      try {
        await watch.next();
      } catch (error) {
        if (!(error instanceof CompactedError || error instanceof IdentityChangedError)) throw error;
        await store.ready({ signal });
      } finally {
        await watch.return();
      }
    }
  }

  /** Bounded in time and in number; ended by the caller and by the end of the storage, too. */
  async #within(
    action: string,
    start: (signal: AbortSignal) => Promise<unknown>,
    late: () => Error,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { clock, waitMs, waitersMax, lifetime } = this.#options;
    if (this.#waiters >= waitersMax) {
      throw new TooManyRequestsError(action, `${waitersMax} reads wait already (waitersMax)`);
    }
    this.#waiters++;
    const deadline = new AbortController();
    const cancel = clock.after(waitMs, () => deadline.abort());
    try {
      await untilAborted(start, [signal, lifetime, deadline.signal]);
    } catch (error) {
      throw deadline.signal.aborted && error === deadline.signal.reason ? late() : error;
    } finally {
      this.#waiters--;
      cancel();
    }
  }
}

/** A store that has lost its state, or whose state may be too old, is asked again later. */
export function readable<T>(action: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotReadyError || error instanceof StaleError) {
      throw new TooManyRequestsError(action, 'the store is not ready', error);
    }
    throw error;
  }
}
