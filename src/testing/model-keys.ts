import { InvalidKeyError, LimitExceededError } from '../types/errors.ts';
import type { Key, KeyRange } from '../types/revision.ts';

/** Whether a key, by its id, is in a range. */
export type Predicate = (id: string) => boolean;

/** Key ids: the hex digits of a key's bytes, two a byte. Their order is that of the bytes, and prefixes stay prefixes. */
export class ModelKeys<K extends Key> {
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  id(key: K): string {
    if (key.length === 0) throw new InvalidKeyError('use a key', 'the key is empty', key);
    return this.#hex(key);
  }

  has(range: KeyRange<K>): Predicate {
    if ('key' in range) {
      const wanted = this.id(range.key);
      return (id) => id === wanted;
    }
    if ('prefix' in range) {
      const prefix = this.#hex(range.prefix);
      return (id) => id.startsWith(prefix);
    }
    const [start, end] = [this.#hex(range.start), range.end === undefined ? undefined : this.#hex(range.end)];
    return (id) => id >= start && (end === undefined || id < end);
  }

  isEmpty(range: KeyRange<K>): boolean {
    return 'start' in range && range.end !== undefined && this.#hex(range.start) >= this.#hex(range.end);
  }

  #hex(key: K): string {
    const id = hex(bytesOf(key));
    const actual = id.length / 2;
    if (actual <= this.#bytesMax) return id;
    throw new LimitExceededError('use a key', { limit: 'keyBytes', max: this.#bytesMax, actual });
  }
}

export function bytesOf(key: Key): Uint8Array {
  return typeof key === 'string' ? new TextEncoder().encode(key) : key;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What a store without a codec takes for the bytes of a value. */
export function valueBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
}
