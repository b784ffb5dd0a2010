import type { Clock } from '../types/clock.ts';
import { isSameJob, type Job } from './jobs.ts';
import type { Snapshot } from './snapshot.ts';
import { TimedCall } from './timed-call.ts';

/** Told of the beginning and the end of a call; of the end once, however it ends. */
export interface CallHooks {
  begun(nowMs: number): void;
  /** `isLate`: at its timeout. */
  ended(nowMs: number, runMs: number, isLate: boolean): void;
}

/**
 * A call in progress and its signal. Aborts the signal when the call's work has become pointless:
 *
 * - the object is deleted, on its way out, or another one has taken its name: always;
 * - the call's own digest or scope has changed: only if `supersedable`. Not so for a call that runs on an outdated
 *   state on purpose, and not twice running for one handler: a handler that obeys its signal would otherwise never
 *   finish under edits faster than itself.
 */
export class RunningCall extends TimedCall {
  readonly #job: Job;
  readonly #snapshot: Snapshot;
  readonly #supersedable: boolean;
  readonly #hooks: CallHooks;
  #superseded = false;
  #startMs = 0;

  constructor(job: Job, snapshot: Snapshot, supersedable: boolean, hooks: CallHooks) {
    super(job.id);
    this.#job = job;
    this.#snapshot = snapshot;
    this.#supersedable = supersedable;
    this.#hooks = hooks;
  }

  /** Of the record that it is a call for. */
  get id(): string {
    return this.#job.id;
  }

  /** Whether the abort was for newer input. */
  get superseded(): boolean {
    return this.#superseded;
  }

  /** Told of every newer state; `undefined` if the object is gone. */
  reconsider(newest: Snapshot | undefined): void {
    if (this.aborted) return;
    const { uid, deleting } = this.#snapshot;
    if (newest?.uid !== uid || newest.deleting !== deleting) {
      this.abort(new DOMException('The object is deleted', 'AbortError'));
    } else if (this.#supersedable && !isSameJob(this.#job, newest)) {
      this.#superseded = true;
      this.abort(new DOMException('The input of this call is outdated', 'AbortError'));
    }
  }

  /** To be called before `run`. Throws what a hook does. */
  begin(clock: Clock): void {
    this.#startMs = clock.now();
    this.#hooks.begun(this.#startMs);
  }

  /** To be called after it. Throws what a hook does. */
  end(clock: Clock): void {
    const nowMs = clock.now();
    this.#hooks.ended(nowMs, nowMs - this.#startMs, this.isLate);
  }
}
