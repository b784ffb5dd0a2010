import type { EssenceHasher } from '../../core/essence-hasher.ts';
import type { Difference, Resource } from './difference.ts';
import type { TrueObject } from './true-state.ts';

interface Entry {
  readonly uid: string;
  /** By handler or sub-handler: the digest of the object that its last successful call saw. */
  readonly digests: Map<string, string>;
}

/**
 * Who last succeeded on what, written down by the handlers themselves: the controller's own records are what is judged
 * by it, so it does not read them. One entry for each object that lives; another uid begins anew.
 */
export class HandlerLedger {
  readonly #hasher: EssenceHasher;
  readonly #entries = new Map<string, Entry>();
  /** States are frozen, and several calls see each. */
  readonly #digests = new WeakMap<Resource, string>();

  constructor(hasher: EssenceHasher) {
    this.#hasher = hasher;
  }

  succeeded(key: string, handlerId: string, object: Resource): void {
    const uid = uidOf(object);
    let entry = this.#entries.get(key);
    if (entry?.uid !== uid) {
      entry = { uid, digests: new Map() };
      this.#entries.set(key, entry);
    }
    entry.digests.set(handlerId, this.#digestOf(object));
  }

  /** Drops what is kept of objects that no longer live. */
  retain(isAlive: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (!isAlive(key)) this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The first object, in the order of keys, that some handler has not handled in its final essence. */
  compare(truth: ReadonlyMap<string, TrueObject>, handlerIds: readonly string[]): Difference | undefined {
    for (const key of [...truth.keys()].sort()) {
      const { uid, object } = truth.get(key) as TrueObject;
      const expected = this.#hasher.digest(object);
      const entry = this.#entries.get(key);
      for (const id of handlerIds) {
        const actual = entry?.uid === uid ? entry.digests.get(id) : undefined;
        if (actual === expected) continue;
        return { key, expected: `${id} succeeded on ${expected}`, actual: actual ?? 'no successful call' };
      }
    }
    return undefined;
  }

  #digestOf(object: Resource): string {
    let digest = this.#digests.get(object);
    if (digest === undefined) {
      digest = this.#hasher.digest(object);
      this.#digests.set(object, digest);
    }
    return digest;
  }
}

function uidOf(object: Resource): string {
  const { uid } = object.metadata as { readonly uid?: string };
  return uid ?? '';
}
