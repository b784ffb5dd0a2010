import type { Backoff } from '../queue/backoff.ts';
import type { ObjectFilter } from './filters.ts';
import type { Outcome } from './outcome.ts';
import type { Path } from './path.ts';
import type { Snapshot } from './snapshot.ts';
import type { DaemonFunction, TimerFunction } from './spawn-options.ts';
import type { TimedCall } from './timed-call.ts';

interface SpawnBase {
  readonly id: string;
  readonly filter: ObjectFilter | undefined;
  readonly path: Path | undefined;
  readonly select: ((object: unknown) => unknown) | undefined;
  readonly version: undefined;
  readonly initialDelayMs: number;
  readonly idleMs: number | undefined;
  readonly retries: number;
  readonly backoff: Backoff;
}

export interface TimerHandler extends SpawnBase {
  readonly kind: 'timer';
  readonly intervalMs: number | undefined;
  readonly sharp: boolean;
  readonly timeoutMs: number | undefined;
  readonly fn: TimerFunction;
}

export interface DaemonHandler extends SpawnBase {
  readonly kind: 'daemon';
  readonly cancellationTimeoutMs: number;
  readonly fn: DaemonFunction;
}

export type SpawnHandler = TimerHandler | DaemonHandler;

/**
 * One timer or daemon of one uid: when it is to be called next.
 *
 * ```text
 *              into scope            time, idle              call ends: ok, with an interval; or a failure
 *   out of scope -------> waiting --------------> called ------------------------------> waiting
 *        ^                   |                      |
 *        +---- out of scope -+----------------------+--- ok of a daemon, for good, retries used up ---> ended
 * ```
 *
 * Ended is for ever, also if the object leaves the scope and comes back (A22').
 */
export class Spawn<H extends SpawnHandler = SpawnHandler> {
  readonly handler: H;
  /** The call that is going on. */
  call: TimedCall | undefined;
  /** No longer waits for the end of the call. */
  cancelAbandoning: () => void = () => {};
  /** The digest that an own patch makes: no change, for `idleMs`. */
  expected: string | undefined;
  #failures = 0;
  #isInScope = false;
  #isEnded = false;
  #nextMs = 0;
  #waitsForChange = false;
  #digest: string | undefined;
  #changedMs = 0;
  #changes = 0;

  constructor(handler: H) {
    this.handler = handler;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  get isInScope(): boolean {
    return this.#isInScope;
  }

  /** How often the object has changed, for `idleMs`. */
  get changes(): number {
    return this.#changes;
  }

  /** When it is to be called, on the monotonic clock; `Infinity` while there is no reason to. */
  get dueMs(): number {
    if (!this.#isInScope || this.#isEnded || this.#waitsForChange || this.call !== undefined) {
      return Number.POSITIVE_INFINITY;
    }
    return Math.max(this.#nextMs, this.#changedMs + (this.handler.idleMs ?? 0));
  }

  /** Takes the newest state of its object. */
  see(snapshot: Snapshot, nowMs: number): void {
    const isInScope = this.#isFor(snapshot, nowMs) && !snapshot.deleting;
    if (isInScope && !this.#isInScope) {
      // What its last call has left it with holds on: leaving the scope for a moment is no way around a delay.
      this.#nextMs = Math.max(this.#nextMs, nowMs + this.handler.initialDelayMs);
      this.#waitsForChange = false;
    }
    this.#isInScope = isInScope;
  }

  /** What becomes of it after a call that had begun at `startedMs`, when `changes` was what it said then. */
  settle(outcome: Outcome, { startedMs, changes }: { startedMs: number; changes: number }, nowMs: number): void {
    switch (outcome.kind) {
      case 'ok':
        this.#failures = 0;
        this.#settleOk(startedMs, changes, nowMs);
        break;
      case 'temporary':
        this.#failures++;
        this.#waitUntil(nowMs + outcome.delayMs);
        break;
      case 'permanent':
        this.#isEnded = true;
        break;
      case 'superseded':
        this.#waitUntil(nowMs);
        break;
    }
  }

  /** A call that had been told to stop and has succeeded all the same: it was a turn, though not the end of the timer. */
  settleStopped(startedMs: number, nowMs: number): void {
    const { handler } = this;
    if (handler.kind !== 'timer' || handler.intervalMs === undefined) return;
    this.#failures = 0;
    this.#waitInterval(handler, handler.intervalMs, startedMs, nowMs);
  }

  #settleOk(startedMs: number, changes: number, nowMs: number): void {
    const { handler } = this;
    if (handler.kind === 'timer' && handler.intervalMs !== undefined) {
      this.#waitInterval(handler, handler.intervalMs, startedMs, nowMs);
    } else if (handler.kind === 'timer' && handler.idleMs !== undefined) {
      this.#waitUntil(nowMs);
      this.#waitsForChange = this.#changes === changes;
    } else {
      this.#isEnded = true;
    }
  }

  #waitInterval({ sharp }: TimerHandler, intervalMs: number, startedMs: number, nowMs: number): void {
    const lateMs = sharp ? (nowMs - startedMs) % intervalMs : 0;
    this.#waitUntil(nowMs + intervalMs - lateMs);
  }

  /** Not before the `initialDelayMs` of an object that came into scope again during the call. */
  #waitUntil(ms: number): void {
    this.#nextMs = Math.max(this.#nextMs, ms);
  }

  #isFor(snapshot: Snapshot, nowMs: number): boolean {
    if (this.handler.idleMs === undefined) return snapshot.isFor(this.handler);
    const digest = snapshot.viewOf(this.handler)?.digest;
    if (digest !== undefined && digest !== this.#digest) {
      if (digest !== this.expected) {
        this.#changedMs = nowMs;
        this.#changes++;
        this.#waitsForChange = false;
      }
      this.#digest = digest;
    }
    return digest !== undefined;
  }
}
