import { BadRequestError } from './errors.ts';

/**
 * Keys of a storage are paths, and prefixes of them whole segments, so that `/pods/ns1` is not `/pods/ns11` (K12).
 *
 * ```text
 *   prefix '/registry', key '/pods/ns1'      object  /registry/pods/ns1
 *                                            below   [/registry/pods/ns1/, /registry/pods/ns10)      '0' is the byte behind '/'
 * ```
 */
export class StorageKeys {
  /** Empty, or with a slash at its end. */
  readonly root: string;

  constructor(prefix: string) {
    this.root = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  }

  /** The key of an object in the store. Throws `BadRequestError`. */
  object(key: unknown, action: string): string {
    if (typeof key !== 'string') throw new TypeError(`Cannot ${action}: the key is not a string`);
    if (key === '' || key === '/') throw new BadRequestError(action, 'the key is empty');
    if (!key.isWellFormed()) throw new BadRequestError(action, 'the key has a lone surrogate');
    if (key.split('/').some((segment) => segment === '.' || segment === '..')) {
      throw new BadRequestError(action, 'the key has a segment "." or ".."');
    }
    // Without a root the slash in front stays, so that keys are as they are given.
    return this.root === '' ? key : `${this.root}${key.startsWith('/') ? key.slice(1) : key}`;
  }

  /** What is below a key. */
  below(key: unknown, action: string): KeyInterval {
    const object = this.object(key, action);
    const start = object.endsWith('/') ? object : `${object}/`;
    return { start, end: `${start.slice(0, -1)}0` };
  }
}

/** Half-open. */
export interface KeyInterval {
  readonly start: string;
  readonly end: string;
}

/** The smallest key behind this one. */
export function successor(key: string): string {
  return `${key}\0`;
}
