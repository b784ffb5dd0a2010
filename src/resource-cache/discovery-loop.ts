import { withDeadline } from '../kubernetes/deadlines.ts';
import { TransportError } from '../kubernetes/errors.ts';
import { type Backoff, backoffDelayMs } from '../queue/backoff.ts';
import type { Clock } from '../types/clock.ts';
import { onAbort } from '../types/on-abort.ts';
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
  /** How long one may take, to its end. */
  readonly timeoutMs: number;
  /** From one to the next when nobody asks for it. */
  readonly everyMs: number;
  /** From a sign that kinds have changed to asking. */
  readonly delayMs: number;
  readonly found: (found: DiscoveredResources) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Asks which kinds there are: at first, every so often, soon after a sign that it has changed, and again with pauses after a failure. Where some
 * groups could not be asked the pauses grow to the usual time: an API service may be down for days.
 */
export class DiscoveryLoop {
  readonly #deps: DiscoveryLoopDeps;
  readonly #timer: TurnTimer;
  #stopped = new AbortController();
  /** All that is under way, to its last step. */
  #running: Promise<void> = Promise.resolve();
  /** An answer is being waited for, and no timer is set. */
  #isAsking = false;
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
    if (this.#isAsking) this.#isAskedAgain = true;
    // After failures the pause is kept: the sign may be a part of the same trouble.
    else if (this.#status.failures === 0) this.#timer.within(this.#deps.delayMs);
  }

  /** What `discover` has under way is waited for, but not for ever: it may not hear of its signal. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#timer.stop();
    await this.#running;
  }

  #begin(): void {
    this.#running = this.#ask(this.#stopped.signal);
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { backoff, random, delayMs, found, failed } = this.#deps;
    this.#isAsking = true;
    this.#isAskedAgain = false;
    const before = this.#status;
    try {
      const answer = checkDiscovered(await this.#answer(signal));
      if (signal.aborted) return;
      this.#status = { isReady: true, error: undefined, failures: 0, failedGroups: answer.failedGroups ?? [] };
      found(answer);
      this.#isAsking = false;
      this.#timer.within(this.#isAskedAgain ? delayMs : this.#nextMs());
    } catch (error) {
      if (signal.aborted) return;
      // As before, also where only half of an answer could be used.
      const failures = before.failures + 1;
      this.#status = { ...before, error, failures };
      failed(error);
      this.#isAsking = false;
      this.#timer.within(backoffDelayMs(failures - 1, backoff, random));
    }
  }

  /** One request that hangs would be the last discovery of all, and nobody would hear of it. */
  async #answer(stopped: AbortSignal): Promise<DiscoveredResources> {
    const { discover, clock, timeoutMs } = this.#deps;
    const controller = new AbortController();
    const unlisten = onAbort(stopped, (reason) => controller.abort(reason));
    const late = () => new TransportError('discover kinds', 'timeout', `no answer within ${timeoutMs} ms`);
    try {
      return await withDeadline({ clock, timeoutMs, controller, late, discard: () => {} }, (signal) =>
        discover({ signal }),
      );
    } finally {
      unlisten();
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
