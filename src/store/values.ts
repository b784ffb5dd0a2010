import { compareBytes } from '../core/key-order.ts';
import type { Codec } from '../types/codec.ts';
import { ValueError } from '../types/errors.ts';

/** Deepest nesting of a plain JSON value; deeper ones are refused rather than overflow the stack. */
export const VALUE_DEPTH_MAX = 1000;

/**
 * How a store keeps values: what is put in (`admit`), what is handed out (`read`), and their bytes when needed.
 * The *cell* it makes is opaque to everybody else. `admit` runs before the commit section, so a throw changes nothing.
 */
export interface ValuePolicy<V> {
  admit(value: V, action: string): unknown;
  /** A cell for bytes that a backend sent. */
  admitBytes(bytes: Uint8Array): unknown;
  read(cell: unknown): V;
  bytes(cell: unknown): Uint8Array;
}

/**
 * Values live as they are: strings and other primitives as themselves, bytes copied in and out (`Object.freeze` cannot
 * protect them), plain JSON data as a deep-frozen private copy (M34). The caller's object is never frozen.
 */
export class PlainValues<V> implements ValuePolicy<V> {
  readonly #encoder = new TextEncoder();
  /** Roots this policy froze itself: putting back what was read needs no second copy. */
  readonly #own = new WeakSet<object>();

  admit(value: V, action: string): unknown {
    if (typeof value === 'string') {
      if (!value.isWellFormed()) throw new ValueError(action, { path: '', reason: 'has a lone surrogate' });
      return value;
    }
    if (value instanceof Uint8Array) return value.slice();
    if (typeof value === 'object' && value !== null) {
      if (this.#own.has(value)) return value;
      const copy = frozenCopy(value, action, '', 0) as object;
      this.#own.add(copy);
      return copy;
    }
    return frozenCopy(value, action, '', 0);
  }

  admitBytes(bytes: Uint8Array): unknown {
    return bytes.slice();
  }

  read(cell: unknown): V {
    return (cell instanceof Uint8Array ? cell.slice() : cell) as V;
  }

  bytes(cell: unknown): Uint8Array {
    if (cell instanceof Uint8Array) return cell;
    return this.#encoder.encode(typeof cell === 'string' ? cell : JSON.stringify(cell));
  }
}

/** `values: 'trusted'`: what comes in goes out, shared. Nobody may change it after. */
export class TrustedValues<V> extends PlainValues<V> {
  override admit(value: V, _action: string): unknown {
    return value;
  }

  override read(cell: unknown): V {
    return cell as V;
  }
}

/** A value as bytes, decoded on first read. The bytes stay: a relist compares them (M11). */
interface EncodedCell {
  readonly bytes: Uint8Array;
  decoded: unknown;
  isDecoded: boolean;
}

/**
 * Values live as the bytes of a codec. Decoded plain data is deep-frozen and kept beside the bytes; anything a freeze
 * cannot protect (bytes, a Map, a class instance) is decoded anew for each read.
 */
export class EncodedValues<V> implements ValuePolicy<V> {
  readonly #codec: Codec<V>;

  constructor(codec: Codec<V>) {
    this.#codec = codec;
  }

  admit(value: V, action: string): unknown {
    const bytes = this.#codec.encode(value);
    if (!(bytes instanceof Uint8Array)) {
      throw new ValueError(action, { path: '', reason: 'was not encoded to a Uint8Array by the codec' });
    }
    return this.admitBytes(bytes);
  }

  admitBytes(bytes: Uint8Array): unknown {
    return { bytes: bytes.slice(), decoded: undefined, isDecoded: false } satisfies EncodedCell;
  }

  read(cell: unknown): V {
    const encoded = cell as EncodedCell;
    if (encoded.isDecoded) return encoded.decoded as V;
    const value = this.#codec.decode(encoded.bytes);
    if (freezePlain(value, 0)) {
      encoded.decoded = value;
      encoded.isDecoded = true;
    }
    return value;
  }

  bytes(cell: unknown): Uint8Array {
    return (cell as EncodedCell).bytes;
  }
}

/** Whether two cells hold the same bytes. */
export function cellsEqual<V>(policy: ValuePolicy<V>, a: unknown, b: unknown): boolean {
  return a === b || compareBytes(policy.bytes(a), policy.bytes(b)) === 0;
}

function frozenCopy(value: unknown, action: string, path: string, depth: number): unknown {
  if (depth > VALUE_DEPTH_MAX) {
    throw new ValueError(action, { path, reason: `is nested deeper than ${VALUE_DEPTH_MAX} levels` });
  }
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new ValueError(action, { path, reason: 'has a lone surrogate' });
      return value;
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new ValueError(action, { path, reason: 'is not a finite number' });
      return value;
    case 'object':
      break;
    default:
      throw new ValueError(action, { path, reason: `is not JSON data but ${typeof value}` });
  }
  if (value === null) return null;
  if (Array.isArray(value)) {
    const length = value.length;
    const copy: unknown[] = new Array(length);
    for (let index = 0; index < length; index++) {
      copy[index] = frozenCopy(value[index], action, `${path}/${index}`, depth + 1);
    }
    return Object.freeze(copy);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new ValueError(action, { path, reason: 'is not a plain object' });
  }
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // As in JSON text: a member without a value is absent.
    if (member === undefined) continue;
    const child = frozenCopy(member, action, `${path}/${name}`, depth + 1);
    if (name === '__proto__') Object.defineProperty(copy, name, { value: child, enumerable: true });
    else copy[name] = child;
  }
  return Object.freeze(copy);
}

/** Freezes plain data in place; `false` (and nothing promised) if part of it is something a freeze cannot protect. */
function freezePlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > VALUE_DEPTH_MAX) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false;
  for (const member of Object.values(value)) if (!freezePlain(member, depth + 1)) return false;
  Object.freeze(value);
  return true;
}
