import type { Clock } from '../types/clock.ts';
import type { Logger } from '../types/logger.ts';
import { raceAborted } from '../types/until-aborted.ts';
import { TransportError } from './errors.ts';

export interface BearerToken {
  readonly token: string;
  /** Until when it may be used, in ms since the epoch; it is asked for anew then. @default until it is refused */
  readonly expiresAtMs?: number;
}

export interface TokenRequest {
  /** The token that the server has answered with 401, if that is why. */
  readonly rejected?: string;
}

/** Gives what to log in with. It is asked before the first request, when a token has expired, and once more after a 401 (IN22). */
export type TokenProvider = (request: TokenRequest) => string | BearerToken | Promise<string | BearerToken>;

export interface BearerTokensOptions {
  readonly provider: TokenProvider;
  readonly clock: Pick<Clock, 'now' | 'wallTime'>;
  readonly logger: Logger;
}

/** A provider that has not answered for so long, in ms, is asked again by the next request. */
const PROVIDER_MS = 30_000;

/** The token of a transport. However many requests wait for one, the provider is asked once. */
export class BearerTokens {
  readonly #options: BearerTokensOptions;
  #token: BearerToken | undefined;
  #rejected: string | undefined;
  #asked: { readonly answer: Promise<string>; readonly atMs: number } | undefined;

  constructor(options: BearerTokensOptions) {
    this.#options = options;
  }

  /** @throws as a rejection: TransportError `credentials`; the signal's reason */
  get(signal: AbortSignal): Promise<string> {
    const { clock } = this.#options;
    const { token, expiresAtMs = Number.POSITIVE_INFINITY } = this.#token ?? {};
    if (token !== undefined && clock.wallTime() < expiresAtMs) return Promise.resolve(token);
    if (this.#asked === undefined || clock.now() - this.#asked.atMs >= PROVIDER_MS) this.#ask();
    return raceAborted((this.#asked as { readonly answer: Promise<string> }).answer, [signal]);
  }

  /** The server has refused it. Unless another one has come meanwhile, the provider is asked by the next `get`. */
  reject(token: string): void {
    if (this.#token?.token !== token) return;
    this.#token = undefined;
    this.#rejected = token;
  }

  #ask(): void {
    const answer = this.#answer();
    const asked = { answer, atMs: this.#options.clock.now() };
    this.#asked = asked;
    const done = () => {
      if (this.#asked === asked) this.#asked = undefined;
    };
    answer.then(done, done);
  }

  async #answer(): Promise<string> {
    const rejected = this.#rejected;
    const old = this.#token;
    try {
      const answer = await this.#options.provider(rejected === undefined ? {} : { rejected });
      this.#token = checked(typeof answer === 'string' ? { token: answer } : answer);
      this.#rejected = undefined;
      return this.#token.token;
    } catch (cause) {
      const error = new TransportError('get a token', 'credentials', 'the provider has none', cause);
      // Whether it has really expired is the server's to say: one that has not been refused is better than none.
      if (old === undefined) throw error;
      this.#options.logger.warn('a token has expired and there is no other one: it is used again', { error });
      return old.token;
    }
  }
}

/** What would end up in a header. */
const TOKEN = /^[\x21-\x7e]+$/;

function checked(answer: unknown): BearerToken {
  const { token, expiresAtMs } = (answer ?? {}) as Partial<BearerToken>;
  if (typeof token !== 'string' || !TOKEN.test(token)) throw new TypeError('The token is not a text without spaces');
  if (expiresAtMs !== undefined && typeof expiresAtMs !== 'number') throw new TypeError('expiresAtMs is not a number');
  return expiresAtMs === undefined ? { token } : { token, expiresAtMs };
}
