import { EtcdRefusal, NotSent, Unreadable } from './errors.ts';
import type { Destination } from './transport.ts';
import type { WireObject } from './wire.ts';

export interface User {
  readonly name: string;
  readonly password: string;
}

type Login = (user: User, to: Destination) => Promise<WireObject>;

/**
 * The token of a user. It is for all members, and it ends without a word: when a member with simple tokens starts anew, when
 * it is too old, and with JWT at each change of users and roles.
 */
export class Tokens {
  readonly #user: User | undefined;
  readonly #login: Login;
  #token: string | undefined;

  constructor(user: User | undefined, login: Login) {
    this.#user = user;
    this.#login = login;
  }

  /** Once more with a new one, if etcd does not take the one there is: then it has done nothing yet. */
  async use<T>(to: Omit<Destination, 'token'>, run: (to: Destination) => Promise<T>): Promise<T> {
    const user = this.#user;
    if (user === undefined) return run({ ...to, token: undefined });
    this.#token ??= await this.#get(user, to);
    const token = this.#token;
    try {
      return await run({ ...to, token });
    } catch (error) {
      if (!(error instanceof EtcdRefusal && error.isAboutToken)) throw error;
      // Another call may have got a new one meanwhile.
      if (this.#token === token) this.#token = undefined;
      this.#token ??= await this.#get(user, to);
      return run({ ...to, token: this.#token });
    }
  }

  async #get(user: User, to: Omit<Destination, 'token'>): Promise<string> {
    try {
      const { token } = await this.#login(user, { ...to, token: undefined });
      if (typeof token === 'string' && token !== '') return token;
      throw new Unreadable(`no token for ${user.name}`);
    } catch (error) {
      if (error instanceof EtcdRefusal && error.isCertain) throw error;
      throw new NotSent(error);
    }
  }
}
