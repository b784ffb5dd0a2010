import { PlimsollError } from '../types/errors.ts';

export interface ApiStatusFacts {
  readonly httpStatus: number;
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
  readonly continue?: string | undefined;
  readonly causes?: readonly string[];
  readonly cause?: unknown;
}

/**
 * The API server has refused something: with the status of its answer, or with an ERROR event in a watch, which are one and the
 * same here. `code` is `API_STATUS`.
 */
export class ApiStatusError extends PlimsollError {
  override readonly name: string = 'ApiStatusError';
  declare readonly code: 'API_STATUS';
  /** The `code` of the Status, or the status of HTTP. */
  readonly httpStatus: number;
  /** `Expired`, `Forbidden`, `TooManyRequests`; '' if the answer had none. */
  readonly reason: string;
  /** After how long the server wants to be asked again, in ms. */
  readonly retryAfterMs: number | undefined;
  /** Of a list in pages whose token was too old: reads the rest of it at a newer version. */
  readonly continue: string | undefined;
  /** The reasons among `details.causes`. */
  readonly causes: readonly string[];

  constructor(action: string, message: string, facts: ApiStatusFacts) {
    const what = facts.reason === '' ? `${facts.httpStatus}` : `${facts.httpStatus} ${facts.reason}`;
    const said = message === '' ? '' : `, ${message}`;
    super('API_STATUS', `Cannot ${action}: the server answered ${what}${said}`, causeOf(facts.cause));
    this.httpStatus = facts.httpStatus;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs;
    this.continue = facts.continue;
    this.causes = facts.causes ?? [];
  }

  /** The version or the token that was asked for is too old: 410, in whatever way it was said. */
  get isExpired(): boolean {
    return this.httpStatus === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** The server has not come to the version that was asked for (kubernetes/kubernetes#94315). */
  get isTooLargeVersion(): boolean {
    return this.causes.includes('ResourceVersionTooLarge') || TOO_LARGE.test(this.message);
  }
}

/** What servers before 1.18 say, without the cause. */
const TOO_LARGE = /Too large resource version/i;

/**
 * - `unreachable`: no answer at all.
 * - `cut`: the connection broke in the middle of an answer.
 * - `truncated`: an answer ended in the middle of a line.
 * - `malformed`: what came is not what an API server sends.
 * - `too-large`: a line or an answer is above its bound.
 * - `timeout`: nothing came for as long as was allowed.
 * - `credentials`: there is nothing to log in with.
 */
export type TransportFailure =
  | 'unreachable'
  | 'cut'
  | 'truncated'
  | 'malformed'
  | 'too-large'
  | 'timeout'
  | 'credentials';

/** No answer of the API server, or none that could be read. `code` is `TRANSPORT`. */
export class TransportError extends PlimsollError {
  override readonly name: string = 'TransportError';
  declare readonly code: 'TRANSPORT';
  readonly failure: TransportFailure;

  constructor(action: string, failure: TransportFailure, why: string, cause?: unknown) {
    super('TRANSPORT', `Cannot ${action}: ${why}`, causeOf(cause));
    this.failure = failure;
  }
}

function causeOf(cause: unknown): ErrorOptions | undefined {
  return cause === undefined ? undefined : { cause };
}
