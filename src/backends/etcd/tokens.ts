import { EtcdRefusal, NotSent, Unreadable } from './errors.ts';
import type { WireObject } from './wire.ts';

export interface User {
  readonly name: string;
  readonly password: string;
}

/**
 * The token of a user. It is for all members, and it ends without a word: when a member with simple tokens starts anew, when
 * it is too old, and with JWT at each change of users and roles.
 */
export class Tokens {
  readonly #user: User | undefined;
  readonly #login: (endpoint: string, user: User, signal: AbortSignal) => Promise<WireObject>;
  #token: string | undefined;

  constructor(
    user: User | undefined,
    login: (endpoint: string, user: User, signal: AbortSignal) => Promise<WireObject>,
  ) {
    this.#user = user;
    this.#login = login;
  }

  /** Once more with a new one, if etcd does not take the one there is: then it has done nothing yet. */
  async use<T>(endpoint: string, signal: AbortSignal, run: (token: string | undefined) => Promise<T>): Promise<T> {
    const user = this.#user;
    if (user === undefined) return run(undefined);
    this.#token ??= await this.#get(endpoint, user, signal);
    const token = this.#token;
    try {
      return await run(token);
    } catch (error) {
      if (!(error instanceof EtcdRefusal && error.isAboutToken)) throw error;
      // Another call may have got a new one meanwhile.
      if (this.#token === token) this.#token = undefined;
      this.#token ??= await this.#get(endpoint, user, signal);
      return run(this.#token);
    }
  }

  async #get(endpoint: string, user: User, signal: AbortSignal): Promise<string> {
    try {
      const { token } = await this.#login(endpoint, user, signal);
      if (typeof token === 'string' && token !== '') return token;
      throw new Unreadable(`no token for ${user.name}`);
    } catch (error) {
      if (error instanceof EtcdRefusal && error.isCertain) throw error;
      throw new NotSent(error);
    }
  }
}
