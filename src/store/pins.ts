import { checkInteger } from '../types/check-integer.ts';
import type { Clock } from '../types/clock.ts';
import { ClosedError, LimitExceededError, PinBrokenError } from '../types/errors.ts';
import type { Pin, PinOptions } from '../types/pin.ts';
import type { Revision } from '../types/revision.ts';
import type { StoreStats } from '../types/store.ts';
import { checkMembers } from './checks.ts';
import { LossSignal } from './loss-signal.ts';

const TTL_MS_DEFAULT = 60_000;
const BYTES_DEFAULT = 67_108_864;

const PIN_NAMES: ReadonlySet<string> = new Set<keyof PinOptions>(['owner', 'ttlMs', 'bytes']);

/** The options with their defaults, each read once. Throws TypeError for what is none. */
export function readPinOptions(options: PinOptions, action: string): Required<PinOptions> {
  checkMembers(options, PIN_NAMES, action, 'the options are not an object', 'option');
  const { owner, ttlMs = TTL_MS_DEFAULT, bytes = BYTES_DEFAULT } = options;
  return { owner, ttlMs, bytes };
}

/** The history that is held back, as far as a pin has to look at it. */
export interface PinnedHistory {
  /** Throws `CompactedError` and `FutureRevisionError` for a revision above 0 that cannot be read. */
  readable(revision: Revision, action: string): Revision;
  /** Bytes of the values in log entries with commit > `revision`; stops counting above `most`. */
  bytesAfter(revision: Revision, most: number): number;
}

export interface PinsOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Pins at a time. */
  readonly max: number;
  readonly history: PinnedHistory;
  /** A pin was released, or has run out of time: what it held back may go on. Not called for other ends. */
  readonly onGone: () => void;
}

/** One pin that is held; `order` breaks ties, so that a place can be found by search. */
interface Held {
  readonly pin: HeldPin;
  readonly order: number;
  /** What `#grown` was, less what was there above the revision already: the difference to now is what it holds back. */
  readonly grownFrom: number;
  /** It is broken when `#grown` is above this. */
  readonly grownMax: number;
  cancel: () => void;
  isHeld: boolean;
}

/**
 * Who holds history back, and for how much longer (M16, M18).
 *
 * ```text
 *   #byRevision   8 backup | 9 export | 9 audit          the first one is where compaction stops
 *   #byBound      audit 1000 | backup 7000 | export ...  the first one is broken next, when #grown passes its number
 *   #grown        0 ..... 400 ..... 900                  bytes that commits have added while there were pins
 * ```
 *
 * A commit costs one addition and one comparison, whatever the number of pins. Promised: a pin ends once; its signal
 * aborts in a microtask of its own, never inside a call of the store (M8). Not promised: that it is broken at the very
 * millisecond, since its timer has to run.
 */
export class Pins {
  readonly #options: PinsOptions;
  readonly #byRevision: Held[] = [];
  readonly #byBound: Held[] = [];
  /** Only differences are looked at, and these are exact for nine petabytes: it need not begin anew. */
  #grown = 0;
  #orders = 0;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byRevision.length;
  }

  /** The oldest revision that has to stay readable; infinity without pins. */
  get oldest(): Revision {
    return this.#byRevision[0]?.pin.revision ?? Number.POSITIVE_INFINITY;
  }

  isOn(revision: Revision): boolean {
    return this.#byRevision.some(({ pin }) => pin.revision === revision);
  }

  /** The pin on it; of several the one that was made first. */
  get oldestPin(): Pin | undefined {
    return this.#byRevision[0]?.pin;
  }

  /**
   * Takes time in proportion to the history above the revision, which is none for a pin on the newest one. One that holds
   * too much back already is broken at once, in the way every pin is.
   *
   * Throws TypeError, RangeError, `CompactedError`, `FutureRevisionError`, `LimitExceededError`.
   */
  pin(revision: Revision, { owner, ttlMs, bytes }: Required<PinOptions>): Pin {
    const action = 'pin a revision';
    if (typeof owner !== 'string' || owner === '')
      throw new TypeError(`Cannot ${action}: owner is not a string with text`);
    checkInteger('ttlMs', ttlMs, action, 1);
    checkInteger('bytes', bytes, action, 0);
    checkInteger('the revision', revision, action, 1);
    const { clock, history, max } = this.#options;
    history.readable(revision, action);
    if (this.size >= max) throw new LimitExceededError(action, { limit: 'pins', max, actual: this.size + 1 });
    const grownFrom = this.#grown - history.bytesAfter(revision, bytes);
    const held: Held = {
      pin: new HeldPin(revision, owner, () => this.#release(held)),
      order: this.#orders++,
      grownFrom,
      grownMax: grownFrom + bytes,
      cancel: () => {},
      isHeld: true,
    };
    this.#byRevision.splice(place(this.#byRevision, held, byRevision), 0, held);
    this.#byBound.splice(place(this.#byBound, held, byBound), 0, held);
    held.cancel = clock.after(ttlMs, () => {
      this.#break(held, 'ttlMs');
      this.#options.onGone();
    });
    this.grow(0);
    return held.pin;
  }

  /** A commit has added so many bytes of values. Breaks who holds too much back now. */
  grow(bytes: number): void {
    this.#grown += bytes;
    for (let next = this.#byBound[0]; next !== undefined && next.grownMax < this.#grown; next = this.#byBound[0]) {
      this.#break(next, 'bytes');
    }
  }

  /** For memory that is needed: breaks all pins on the oldest revision that has one, if it is below `revision`. */
  breakOldest(revision: Revision): boolean {
    const { oldest } = this;
    if (oldest >= revision) return false;
    while (this.oldest === oldest) this.#break(this.#byRevision[0] as Held, 'bytes');
    return true;
  }

  /** What was below the revision is not what it was taken for, or is not there any more. */
  resetBelow(revision: Revision): void {
    while (this.oldest < revision) this.#break(this.#byRevision[0] as Held, 'reset');
  }

  /** The store is closed. */
  close(): void {
    const closed = new ClosedError('keep a revision');
    for (const held of [...this.#byRevision]) this.#lose(held, closed);
  }

  /** Oldest first. */
  stats(): StoreStats['pins'] {
    return this.#byRevision.map(({ pin, grownFrom }) => ({
      owner: pin.owner,
      revision: pin.revision,
      bytes: this.#grown - grownFrom,
    }));
  }

  #release(held: Held): void {
    if (this.#remove(held)) this.#options.onGone();
  }

  #break(held: Held, reason: PinBrokenError['reason']): void {
    const { owner, revision } = held.pin;
    this.#lose(held, new PinBrokenError({ owner, revision, reason }));
  }

  #lose(held: Held, reason: unknown): void {
    if (this.#remove(held)) held.pin.lose(reason);
  }

  #remove(held: Held): boolean {
    if (!held.isHeld) return false;
    held.isHeld = false;
    held.cancel();
    this.#byRevision.splice(place(this.#byRevision, held, byRevision), 1);
    this.#byBound.splice(place(this.#byBound, held, byBound), 1);
    return true;
  }
}

/** What the owner holds. */
class HeldPin implements Pin {
  readonly revision: Revision;
  readonly owner: string;
  readonly #letGo: () => void;
  readonly #lost = new LossSignal();

  constructor(revision: Revision, owner: string, letGo: () => void) {
    this.revision = revision;
    this.owner = owner;
    this.#letGo = letGo;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  release(): void {
    this.#letGo();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  lose(reason: unknown): void {
    this.#lost.lose(reason);
  }
}

function byRevision(a: Held, b: Held): number {
  return a.pin.revision - b.pin.revision || a.order - b.order;
}

function byBound(a: Held, b: Held): number {
  return a.grownMax - b.grownMax || a.order - b.order;
}

/** Where `held` is in an ascending list, or belongs. */
function place(list: readonly Held[], held: Held, compare: (a: Held, b: Held) => number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(list[middle] as Held, held) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
