import { ApiStatusError, TransportError } from './errors.ts';

/** Whether what failed is tried again at once, or after a pause. */
export type Retry = 'now' | 'later';

/** Failures one after the other, without anything new between them, after which a list is made instead of another watch. */
const MAX = { tooLarge: 2, inactive: 2, unreadable: 3 } as const;
/** Streams of a list one after the other that said nothing, after which lists are asked for in pages for good. */
const STREAM_TIMEOUTS_MAX = 2;
/** Expiries one after the other after which no version is given to a watch. */
const EXPIRED_MAX = 3;

/**
 * What to do next, of what has happened: decisions alone, no I/O.
 *
 * ```text
 *   list --ok--> watch --ended, cut, refused for now--> watch, from the newest version
 *    ^             | 410, refused for good, unreadable or silent again and again
 *    +-------------+
 * ```
 */
export class Recovery {
  #listWanted = true;
  #listAsked = false;
  /** The next list is of the newest state, and not of any that is not older than what is known. */
  #newest = true;
  #streams: boolean;
  #streamTimeouts = 0;
  /** Though the server may stream lists. */
  #pagesNext = false;
  #counts = { expired: 0, tooLarge: 0, inactive: 0, unreadable: 0 };

  constructor(streams: boolean) {
    this.#streams = streams;
  }

  get listWanted(): boolean {
    return this.#listWanted;
  }

  /** Whether a list is asked for as a stream of events. */
  get streams(): boolean {
    return this.#streams && !this.#pagesNext;
  }

  /** Versions of lists are too old by the time they are watched from (IN16, snyk/kubernetes-monitor#1506). */
  get watchesFromAnyVersion(): boolean {
    return this.#counts.expired >= EXPIRED_MAX;
  }

  /** Which version the next list has to have at least, of the newest one that is known (kubernetes/kubernetes#59848). */
  listVersion(known: string): string | undefined {
    return this.#newest || known === '' ? undefined : known;
  }

  /** Also while a list is under way, which may be of an older state: another one follows then. */
  wantList(): void {
    this.#listWanted = true;
    this.#listAsked = true;
  }

  listing(): void {
    this.#listAsked = false;
  }

  listed(): void {
    this.#listWanted = this.#listAsked;
    this.#newest = false;
    if (this.streams) this.#streamTimeouts = 0;
    this.#pagesNext = false;
  }

  /** A watch was worth its while: all is well. */
  progressed(): void {
    this.#counts = { expired: 0, tooLarge: 0, inactive: 0, unreadable: 0 };
  }

  /** After any failure with a version it is asked without (kubernetes/kubernetes#94315). */
  listFailed(): Retry {
    this.#newest = true;
    return 'later';
  }

  /** The server does not stream lists: from now on it is asked for pages. */
  cannotStream(): void {
    this.#streams = false;
  }

  /**
   * No answer, or silence in the middle: a server that cannot stream, something in between that holds the answer back until it is whole, or
   * a moment's outage. The next list comes in pages, whichever it is; only the second time in a row it is no outage any more.
   */
  streamTimedOut(): void {
    this.#pagesNext = true;
    if (++this.#streamTimeouts >= STREAM_TIMEOUTS_MAX) this.cannotStream();
  }

  watchFailed(error: unknown): Retry {
    if (error instanceof ApiStatusError) return this.#refused(error);
    if (!(error instanceof TransportError)) return 'later';
    if (error.failure === 'timeout') {
      // One may be a connection that has died; the next one is a server that says nothing.
      if (++this.#counts.inactive >= MAX.inactive) this.#listWanted = true;
    } else if (UNREADABLE.has(error.failure) && ++this.#counts.unreadable >= MAX.unreadable) {
      this.#listNewest();
    }
    return 'later';
  }

  #refused(error: ApiStatusError): Retry {
    if (error.isExpired) {
      this.#listNewest();
      return ++this.#counts.expired === 1 ? 'now' : 'later';
    }
    if (error.isTooLargeVersion) {
      if (++this.#counts.tooLarge >= MAX.tooLarge) this.#listNewest();
    } else if (error.httpStatus >= 400 && error.httpStatus < 500 && !FOR_NOW.has(error.httpStatus)) {
      // Not found: what comes again under the path may be new. Refused as it is: its version may make no sense.
      this.#listNewest();
    }
    return 'later';
  }

  #listNewest(): void {
    this.#listWanted = true;
    this.#newest = true;
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['malformed', 'too-large', 'truncated']);
/** Who asks, how often, when: nothing that another version would change. */
const FOR_NOW: ReadonlySet<number> = new Set([401, 403, 408, 429]);

/** Whether a refusal says that the server cannot stream a list, and not that something is wrong now. */
export function cannotStream(error: unknown): boolean {
  return error instanceof ApiStatusError && CANNOT.has(error.httpStatus);
}

const CANNOT: ReadonlySet<number> = new Set([400, 405, 406, 422, 501]);
