import type { Clock } from '../../types/clock.ts';
import { raceAborted } from '../../types/until-aborted.ts';
import { DataError, UsageError } from '../errors.ts';
import type { Condition } from './condition.ts';
import { OUTAGE_EVENTS, OUTAGE_MS, REPLAY_LAG_MAX, UNDELIVERED_MAX } from './run-state.ts';
import type { StreamBackend } from './stream-backend.ts';
import type { StreamEvent } from './stream-event.ts';
import type { TrueState } from './true-state.ts';

/** The first list of a live stream ends after so much silence. */
export const SILENCE_MS = 1000;
/** A silence is believed only if nothing has come in this much later: what waits in a pipe needs a turn to be read. */
const SILENCE_GRACE_MS = 20;

export interface StreamFeedOptions {
  /** For messages: `Cannot <action>: ...`. */
  readonly action: string;
  readonly events: AsyncIterable<StreamEvent>;
  /** Whether a silence ends the first list. */
  readonly isLive: boolean;
  readonly backend: StreamBackend;
  readonly truth: TrueState;
  readonly changed: Condition;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Ordinal, from 1, of the event at which the connection is lost. */
  readonly killAt: number | undefined;
  /** Awaited once, between the first list and the next event. */
  readonly onListed: () => Promise<void>;
  /** Told of every event, for the watchdog. */
  readonly onEvent: () => void;
}

type Next = IteratorResult<StreamEvent, undefined>;

/**
 * Moves events from the stream into the backend and into the truth, as fast as the slower of the replica and the
 * replaying watcher allows.
 *
 * ```text
 *   ADDED ADDED ADDED | ... event N ............ +500 | ...
 *   first list        | ^ connection lost             ^ change log compacted, connection back
 *                     '- onListed()                      the replica has to list again
 * ```
 *
 * The event is checked by the backend first: a faulty one ends the feed, with nothing changed by it.
 */
export class StreamFeed {
  readonly #options: StreamFeedOptions;
  readonly #source: AsyncIterator<StreamEvent, undefined>;
  /** The event that is on its way or has come in, and was not taken yet. */
  #next: Promise<Next> | undefined;
  #ordinal = 0;
  #outageLeft = 0;
  #cancelOutage: (() => void) | undefined;
  #isEnded = false;

  constructor(options: StreamFeedOptions) {
    this.#options = options;
    this.#source = options.events[Symbol.asyncIterator]();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Resolves at the end of the stream. Throws `DataError` for a faulty event and `UsageError` for a late `killAt`. */
  async run(): Promise<void> {
    try {
      await this.#move();
    } finally {
      this.#cancelOutage?.();
    }
  }

  async #move(): Promise<void> {
    const { backend, truth, changed, killAt, signal } = this.#options;
    await this.#list();
    backend.endList();
    this.#endOutage();
    await this.#options.onListed();
    for (let item = await this.#peek(); item.done !== true; item = await this.#peek()) {
      await this.#untilRoom();
      this.#take(item.value);
      truth.apply(item.value);
      this.#options.onEvent();
      changed.notify();
      if (this.#outageLeft > 0 && --this.#outageLeft === 0) this.#endOutage();
    }
    this.#endOutage();
    signal.throwIfAborted();
    if (killAt !== undefined && killAt > this.#ordinal) {
      const reason = `--kill-at is ${killAt}, but the stream ends after event ${this.#ordinal}`;
      throw new UsageError(`Cannot run the demo: ${reason}`, 'demo');
    }
    this.#isEnded = true;
    changed.notify();
  }

  /** The leading run of ADDED; what comes behind it is still to be taken. */
  async #list(): Promise<void> {
    for (;;) {
      // Silence counts from the first object on: a cluster may take its time to answer.
      const canBeSilent = this.#options.isLive && this.#ordinal > 0;
      const item = canBeSilent ? await this.#peekOrSilence() : await this.#peek();
      if (item === 'silence') return;
      if (item.done === true && this.#ordinal === 0) throw new DataError(this.#options.action, 'it has no events');
      if (item.done === true || item.value.type !== 'ADDED') return;
      this.#take(item.value);
      this.#options.truth.list(item.value);
      this.#options.onEvent();
    }
  }

  #take(event: StreamEvent): void {
    this.#beginOutage();
    this.#options.backend.ingest(event);
    this.#next = undefined;
  }

  /** While the connection is down nobody takes anything, so nobody is waited for. */
  async #untilRoom(): Promise<void> {
    const { backend, truth, changed, signal } = this.#options;
    if (!backend.isUp) return;
    if (backend.undelivered > UNDELIVERED_MAX) await backend.untilRoom(UNDELIVERED_MAX, signal);
    if (truth.pending > REPLAY_LAG_MAX) await changed.until(() => truth.pending <= REPLAY_LAG_MAX, signal);
  }

  #beginOutage(): void {
    if (++this.#ordinal !== this.#options.killAt) return;
    const { backend, clock } = this.#options;
    backend.disconnect();
    this.#outageLeft = OUTAGE_EVENTS;
    this.#cancelOutage = clock.after(OUTAGE_MS, () => this.#endOutage());
  }

  #endOutage(): void {
    const { backend } = this.#options;
    this.#outageLeft = 0;
    this.#cancelOutage?.();
    if (!backend.isUp) backend.reconnect();
  }

  #peekOrSilence(): Promise<Next | 'silence'> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      let cancel = clock.after(SILENCE_MS, () => {
        cancel = clock.after(SILENCE_GRACE_MS, () => resolve('silence'));
      });
      this.#peek()
        .then(resolve, reject)
        .finally(() => cancel());
    });
  }

  #peek(): Promise<Next> {
    const { signal } = this.#options;
    this.#next ??= this.#source.next();
    const next = this.#next;
    return raceAborted(next, [signal]);
  }
}
