import { withDeadline } from '../kubernetes/deadlines.ts';
import { TransportError } from '../kubernetes/errors.ts';
import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import type { Random } from '../types/random.ts';
import { checkDiscovered, type Discover, type DiscoveredResources } from './api-resource.ts';
import { TurnTimer } from './turn-timer.ts';

export interface DiscoveryStatus {
  /** It has succeeded once. */
  readonly isReady: boolean;
  /** Why the last try failed; `undefined` after one that did not. */
  readonly error: unknown;
  readonly failures: number;
  readonly failedGroups: readonly { readonly group: string; readonly error: unknown }[];
}

export interface DiscoveryLoopDeps {
  readonly discover: Discover;
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: Backoff;
  /** From one to the next when nobody asks for it. */
  readonly everyMs: number;
  /** From a sign that kinds have changed to asking. */
  readonly delayMs: number;
  readonly found: (found: DiscoveredResources) => void;
  readonly failed: (error: unknown) => void;
}

/** A connection may have died without a word, and nobody else would ever ask again. In ms. */
const ANSWER_MS_MAX = 60_000;

/**
 * Asks which kinds there are: at first, every so often, soon after a sign that it has changed, and again with pauses after a failure. Where some
 * groups could not be asked the pauses grow to the usual time: an API service may be down for days.
 */
export class DiscoveryLoop {
  readonly #deps: DiscoveryLoopDeps;
  readonly #timer: TurnTimer;
  #stopped = new AbortController();
  #asking = new AbortController();
  #running: Promise<void> | undefined;
  /** A sign came while an answer was on its way, which may be from before. */
  #isAskedAgain = false;
  /** Answers one after the other without some groups. */
  #partial = 0;
  #status: DiscoveryStatus = { isReady: false, error: undefined, failures: 0, failedGroups: [] };

  constructor(deps: DiscoveryLoopDeps) {
    this.#deps = deps;
    this.#timer = new TurnTimer(deps.clock, () => this.#begin());
  }

  get status(): DiscoveryStatus {
    return this.#status;
  }

  start(): void {
    this.#stopped = new AbortController();
    this.#begin();
  }

  /** Something says that kinds have come or gone. */
  soon(): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#running !== undefined) this.#isAskedAgain = true;
    // After failures the pause is kept: the sign may be a part of the same trouble.
    else if (this.#status.failures === 0) this.#timer.within(this.#deps.delayMs);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#asking.abort();
    this.#timer.stop();
    await this.#running;
  }

  #begin(): void {
    this.#running = this.#ask(this.#stopped.signal).finally(() => {
      this.#running = undefined;
    });
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { discover, backoff, random, clock, delayMs, found, failed } = this.#deps;
    this.#asking = new AbortController();
    this.#isAskedAgain = false;
    const before = this.#status;
    try {
      const late = () => new TransportError('discover kinds', 'timeout', `no answer in ${ANSWER_MS_MAX} ms`);
      const deadline = { clock, timeoutMs: ANSWER_MS_MAX, controller: this.#asking, late, discard: () => {} };
      const answer = checkDiscovered(await withDeadline(deadline, (one) => discover({ signal: one })));
      if (signal.aborted) return;
      this.#status = { isReady: true, error: undefined, failures: 0, failedGroups: answer.failedGroups ?? [] };
      found(answer);
      this.#timer.within(this.#isAskedAgain ? delayMs : this.#nextMs());
    } catch (error) {
      if (signal.aborted) return;
      // As before, also where only half of an answer could be used.
      const failures = before.failures + 1;
      this.#status = { ...before, error, failures };
      failed(error);
      this.#timer.within(backoffDelayMs(failures - 1, backoff, random));
    }
  }

  #nextMs(): number {
    const { backoff, random, everyMs } = this.#deps;
    if (this.#status.failedGroups.length === 0) {
      this.#partial = 0;
      return everyMs;
    }
    const maxMs = Math.max(everyMs, backoff.baseMs);
    return Math.min(everyMs, backoffDelayMs(this.#partial++, { ...backoff, maxMs }, random));
  }
}
