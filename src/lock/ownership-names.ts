import { byteText } from '../core/key-order.ts';
import type { KeySpace } from '../store/keyspace.ts';
import { LockReentryError } from '../types/errors.ts';
import type { LeaseId } from '../types/lease.ts';
import type { Key } from '../types/revision.ts';

/**
 * The keys of names: `name/`, and below it the id of a lease in hex, as etcd's clients write them (store:R46). In a store of
 * bytes the UTF-8 of that.
 */
export class OwnershipNames<K extends Key> {
  readonly #keys: Pick<KeySpace<K>, 'base' | 'mode'>;
  readonly #encoder = new TextEncoder();

  constructor(keys: Pick<KeySpace<K>, 'base' | 'mode'>) {
    this.#keys = keys;
  }

  /** Throws TypeError for a name that is none, RangeError for an empty one. */
  check(name: unknown, action: string): void {
    if (typeof name !== 'string') throw new TypeError(`Cannot ${action}: the name is of type ${typeof name}, not text`);
    if (name === '') throw new RangeError(`Cannot ${action}: the name is empty`);
    if (!name.isWellFormed()) throw new TypeError(`Cannot ${action}: the name has a lone surrogate`);
  }

  /** What stands before every key of a name. */
  prefix(name: string): K {
    return this.key(`${name}/`);
  }

  /** The key of a lease, without the prefix. */
  own(leaseId: LeaseId): K {
    return this.key(BigInt(leaseId).toString(16));
  }

  full(name: string, leaseId: LeaseId): K {
    return this.key(`${name}/${BigInt(leaseId).toString(16)}`);
  }

  key(text: string): K {
    return (this.#keys.mode === 'utf8' ? text : this.#encoder.encode(text)) as K;
  }

  /** The same for one key of the whole store, through whatever part of it that is named. */
  identify(key: K): string {
    return this.#keys.base + (key instanceof Uint8Array ? byteText(key) : key);
  }
}

/**
 * Which keys are in use here, by whoever holds a lock or waits for it. One lease has one key below a name, so a second lock
 * would be the first one again (store:R51): it is refused. Grows and shrinks with the locks.
 */
export class OwnershipClaims {
  readonly #claimed = new Set<string>();

  /** Returns the function that gives the key back, which may be called again. Throws `LockReentryError`. */
  claim(id: string, facts: { readonly name: string; readonly leaseId: LeaseId }, action: string): () => void {
    if (this.#claimed.has(id)) throw reentry(facts, action);
    this.#claimed.add(id);
    let isClaimed = true;
    return () => {
      if (isClaimed) this.#claimed.delete(id);
      isClaimed = false;
    };
  }
}

export function reentry(facts: { readonly name: string; readonly leaseId: LeaseId }, action: string): LockReentryError {
  return new LockReentryError(action, { lock: facts.name, owner: `lease ${facts.leaseId}` });
}
