import { compareBytes } from '../core/key-order.ts';
import { checkMethods } from '../types/check-methods.ts';
import type { Codec } from '../types/codec.ts';
import { ValueError } from '../types/errors.ts';
import { isDetached } from '../types/is-detached.ts';
import { isPromise } from '../types/is-promise.ts';
import { keyName } from '../types/key-name.ts';
import type { Key } from '../types/revision.ts';
import { freezePlain, measuredCopy } from './json-data.ts';
import { utf8Length } from './keyspace.ts';
import { checkTextBytes, checkValueBytes } from './size-value.ts';

/** What cells are: `plain` private copies, `trusted` what was put in itself, `encoded` a codec's bytes. */
export type ValueForm = 'plain' | 'trusted' | 'encoded';

/**
 * How a store keeps values: what is put in (`admit`), what is handed out (`read`), and their bytes when needed.
 * The *cell* it makes is opaque to everybody else. `admit` runs before the commit section, so a throw changes nothing.
 */
export interface ValuePolicy<V> {
  readonly form: ValueForm;
  /** One for all policies of a store. */
  readonly scope: CodecScope;
  /** Most bytes of a value that is put in; what a backend or a snapshot sent is not bounded by it. */
  readonly bytesMax: number;
  /** Throws `ValueError`, `LimitExceededError`, and what a codec throws. */
  admit(value: V, action: string): unknown;
  /** A cell for bytes that a backend sent. */
  admitBytes(bytes: Uint8Array): unknown;
  read(cell: unknown): V;
  /** Whether every `read` of the cell gives the same thing, which nobody can change: then one row serves many readers. */
  isShareable(cell: unknown): boolean;
  /** Of a trusted value that is neither string nor bytes this runs `toJSON`, which is the user's. */
  bytes(cell: unknown): Uint8Array;
  /** Number of bytes, 0 for such a trusted value. Runs no user code. */
  size(cell: unknown): number;
  /** What `size` is at most, at no cost. */
  sizeBound(cell: unknown): number;
}

/** Whether a codec of the store is running: what calls the store now is called from inside it. */
export class CodecScope {
  #depth = 0;

  get isActive(): boolean {
    return this.#depth > 0;
  }

  run<T>(code: () => T): T {
    this.#depth++;
    try {
      return code();
    } finally {
      this.#depth--;
    }
  }
}

/** As `policy.read`; what the codec cannot read is a `ValueError` that names the key, with the codec's error as cause. */
export function readValue<V>(policy: ValuePolicy<V>, cell: unknown, key: Key): V {
  try {
    return policy.read(cell);
  } catch (cause) {
    const facts = { path: '', reason: `of key ${keyName(key)} was not decoded by the codec`, key };
    throw new ValueError('read a value', facts, { cause });
  }
}

/**
 * As `policy.bytes`, for a compare, a sort, a measurement. Of a shared value that JSON text does not have, or whose `toJSON`
 * throws, a `ValueError` that names what it belongs to, with what was thrown as cause: one such value must not make the
 * others look at fault.
 */
export function bytesOf<V>(
  policy: ValuePolicy<V>,
  cell: unknown,
  action: string,
  key: (() => Key) | undefined,
): Uint8Array {
  try {
    return policy.bytes(cell);
  } catch (cause) {
    if (key === undefined)
      throw new ValueError(action, { path: '', reason: 'of a compare has no JSON text' }, { cause });
    const owner = key();
    const facts = { path: '', reason: `of key ${keyName(owner)} has no JSON text`, key: owner };
    throw new ValueError(action, facts, { cause });
  }
}

/**
 * Values live as they are: strings and other primitives as themselves, bytes copied in and out (`Object.freeze` cannot
 * protect them), plain JSON data as a deep-frozen private copy (M34). The caller's object is never frozen.
 */
export class PlainValues<V> implements ValuePolicy<V> {
  readonly form: ValueForm = 'plain';
  readonly scope: CodecScope = new CodecScope();
  readonly bytesMax: number;
  readonly #encoder = new TextEncoder();
  /**
   * Roots this policy froze itself, with what their text takes at most: putting back what was read needs no second copy,
   * and it was measured then.
   */
  readonly #own = new WeakMap<object, number>();

  constructor(bytesMax: number = Number.POSITIVE_INFINITY) {
    this.bytesMax = bytesMax;
  }

  admit(value: V, action: string): unknown {
    const { bytesMax } = this;
    if (typeof value === 'string') {
      if (!value.isWellFormed()) throw new ValueError(action, { path: '', reason: 'has a lone surrogate' });
      checkTextBytes(value, bytesMax, action);
      return value;
    }
    if (value instanceof Uint8Array) {
      checkAttached(value, action);
      const copy = copyOf(value);
      checkValueBytes(copy.length, bytesMax, action);
      return copy;
    }
    const isObject = typeof value === 'object' && value !== null;
    if (isObject && this.#own.has(value)) return value;
    const { copy, bytesMost } = measuredCopy(value, action);
    if (bytesMost > bytesMax) checkValueBytes(this.size(copy), bytesMax, action);
    if (isObject) this.#own.set(copy as object, bytesMost);
    return copy;
  }

  admitBytes(bytes: Uint8Array): unknown {
    return copyOf(bytes);
  }

  read(cell: unknown): V {
    return (cell instanceof Uint8Array ? cell.slice() : cell) as V;
  }

  isShareable(cell: unknown): boolean {
    return !(cell instanceof Uint8Array);
  }

  bytes(cell: unknown): Uint8Array {
    if (cell instanceof Uint8Array) return cell;
    return this.#encoder.encode(typeof cell === 'string' ? cell : JSON.stringify(cell));
  }

  size(cell: unknown): number {
    if (cell instanceof Uint8Array) return cell.length;
    return utf8Length(typeof cell === 'string' ? cell : JSON.stringify(cell));
  }

  sizeBound(cell: unknown): number {
    if (typeof cell === 'string') return cell.length * 3;
    // Of no object, a weak map knows nothing.
    return this.#own.get(cell as object) ?? this.size(cell);
  }
}

/**
 * `values: 'trusted'`: what comes in goes out, shared. Nobody may change it after. To measure data would be to walk through
 * them, which is what those who trust them want to save, so only strings and bytes are measured.
 */
export class TrustedValues<V> extends PlainValues<V> {
  override readonly form = 'trusted';

  override admit(value: V, action: string): unknown {
    if (typeof value === 'string') checkTextBytes(value, this.bytesMax, action);
    else if (value instanceof Uint8Array) {
      checkAttached(value, action);
      checkValueBytes(value.length, this.bytesMax, action);
    }
    return value;
  }

  override size(cell: unknown): number {
    return typeof cell === 'string' || cell instanceof Uint8Array ? super.size(cell) : 0;
  }

  override read(cell: unknown): V {
    return cell as V;
  }

  /** `toJSON` of a shared value is user code. */
  override bytes(cell: unknown): Uint8Array {
    return this.scope.run(() => super.bytes(cell));
  }

  override isShareable(_cell: unknown): boolean {
    return true;
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
  readonly form = 'encoded';
  readonly scope: CodecScope = new CodecScope();
  readonly bytesMax: number;
  readonly #codec: Codec<V>;

  constructor(codec: Codec<V>, bytesMax: number = Number.POSITIVE_INFINITY) {
    this.#codec = codec;
    this.bytesMax = bytesMax;
  }

  admit(value: V, action: string): unknown {
    return this.admitBytes(encode(this, this.#codec, value, action));
  }

  admitBytes(bytes: Uint8Array): unknown {
    return { bytes: copyOf(bytes), decoded: undefined, isDecoded: false } satisfies EncodedCell;
  }

  read(cell: unknown): V {
    const encoded = cell as EncodedCell;
    if (encoded.isDecoded) return encoded.decoded as V;
    const value = decode(this, this.#codec, encoded.bytes);
    if (freezePlain(value)) {
      encoded.decoded = value;
      encoded.isDecoded = true;
    }
    return value;
  }

  /** Known once it was read: only what a freeze protects is kept decoded. */
  isShareable(cell: unknown): boolean {
    return (cell as EncodedCell).isDecoded;
  }

  bytes(cell: unknown): Uint8Array {
    return (cell as EncodedCell).bytes;
  }

  size(cell: unknown): number {
    return (cell as EncodedCell).bytes.length;
  }

  sizeBound(cell: unknown): number {
    return this.size(cell);
  }
}

/**
 * The values of a part of a store, through a codec of its own. Cells are those of the whole store, so that everything else
 * there (compares, relists, snapshots) knows no difference.
 */
export class CodecValues<V> implements ValuePolicy<V> {
  readonly scope: CodecScope;
  readonly #store: ValuePolicy<unknown>;
  readonly #codec: Codec<V>;
  /** What a freeze protects, by cell. */
  readonly #decoded = new WeakMap<object, { readonly value: V }>();

  /** Throws TypeError for what is no codec. */
  static of<V>(store: ValuePolicy<unknown>, codec: Codec<V>, action: string): CodecValues<V> {
    checkMethods('codec', codec, action, ['encode', 'decode']);
    return new CodecValues(store, codec);
  }

  private constructor(store: ValuePolicy<unknown>, codec: Codec<V>) {
    this.scope = store.scope;
    this.#store = store;
    this.#codec = codec;
  }

  /** That of the whole store: its cells are the same. */
  get form(): ValueForm {
    return this.#store.form;
  }

  admit(value: V, action: string): unknown {
    return this.#store.admitBytes(encode(this, this.#codec, value, action));
  }

  get bytesMax(): number {
    return this.#store.bytesMax;
  }

  admitBytes(bytes: Uint8Array): unknown {
    return this.#store.admitBytes(bytes);
  }

  read(cell: unknown): V {
    const known = this.#known(cell);
    if (known !== undefined) return known.value;
    const value = decode(this, this.#codec, this.#store.bytes(cell));
    if (typeof cell === 'object' && cell !== null && freezePlain(value)) this.#decoded.set(cell, { value });
    return value;
  }

  isShareable(cell: unknown): boolean {
    return this.#known(cell) !== undefined;
  }

  bytes(cell: unknown): Uint8Array {
    return this.#store.bytes(cell);
  }

  size(cell: unknown): number {
    return this.#store.size(cell);
  }

  sizeBound(cell: unknown): number {
    return this.#store.sizeBound(cell);
  }

  #known(cell: unknown): { readonly value: V } | undefined {
    return this.#decoded.get(cell as object);
  }
}

/** What a codec makes of a value that is put in, not copied yet. */
function encode<V>(policy: ValuePolicy<V>, codec: Codec<V>, value: V, action: string): Uint8Array {
  const bytes = policy.scope.run(() => codec.encode(value));
  if (bytes instanceof Uint8Array) {
    if (isDetached(bytes)) {
      throw new ValueError(action, { path: '', reason: 'was encoded to bytes whose buffer is detached by the codec' });
    }
    checkValueBytes(bytes.length, policy.bytesMax, action);
    return bytes;
  }
  const reason = isPromise(bytes) ? 'was encoded to a promise' : 'was not encoded to a Uint8Array';
  throw new ValueError(action, { path: '', reason: `${reason} by the codec` });
}

/** What a codec makes of stored bytes; of a copy, since it may hand out views on what it was given. */
function decode<V>(policy: ValuePolicy<V>, codec: Codec<V>, bytes: Uint8Array): V {
  const value = policy.scope.run(() => codec.decode(bytes.slice()));
  if (isPromise(value)) throw new TypeError('Cannot decode a value: the codec returned a promise');
  return value;
}

/** Throws `ValueError` for bytes that are gone. */
function checkAttached(bytes: Uint8Array, action: string): void {
  if (isDetached(bytes)) throw new ValueError(action, { path: '', reason: 'is bytes whose buffer is detached' });
}

/** A copy that shares nothing. `slice()` would not do: on Node's `Buffer` it is a view. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** Whether two cells hold the same bytes. */
export function cellsEqual<V>(policy: ValuePolicy<V>, a: unknown, b: unknown): boolean {
  return a === b || compareBytes(policy.bytes(a), policy.bytes(b)) === 0;
}
