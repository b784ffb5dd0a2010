import { byteText, compareKeyText, prefixEnd, prefixEndText } from '../core/key-order.ts';
import type { ByteRange } from '../types/backend.ts';
import { InvalidKeyError, LimitExceededError } from '../types/errors.ts';
import { isDetached } from '../types/is-detached.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyRange } from '../types/revision.ts';

/** Longest key in bytes. */
export const KEY_BYTES_MAX = 65_535;

const UNBOUNDED = new Uint8Array(0);

/**
 * The key type of one store: checks keys where they come in and turns them into key text and bytes.
 *
 * | `keys` | type of a key | key text | refused |
 * |---|---|---|---|
 * | `utf8` | string | the string | lone surrogates (two strings, one key), empty |
 * | `bytes` | Uint8Array | one UTF-16 unit a byte | empty |
 *
 * One below a prefix (`below`) takes and gives keys without it; key text and bytes are always those of the whole key.
 */
export class KeySpace<K extends Key> {
  readonly mode: 'utf8' | 'bytes';
  /** Key text that stands before every key here. */
  readonly base: string;
  readonly #bytesMax: number;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(mode: 'utf8' | 'bytes', options: { readonly base?: string; readonly bytesMax?: number } = {}) {
    this.mode = mode;
    this.base = options.base ?? '';
    this.#bytesMax = options.bytesMax ?? KEY_BYTES_MAX;
  }

  /** The keys behind a prefix. Throws what `text` throws; an empty prefix is fine. */
  below(prefix: K, action: string): KeySpace<K> {
    return new KeySpace(this.mode, { base: this.#part(prefix, action, 'prefix'), bytesMax: this.#bytesMax });
  }

  /** Text of a whole key. Throws TypeError, `InvalidKeyError` or `LimitExceededError`. */
  text(key: K, action: string): string {
    const text = this.#part(key, action, 'key');
    if (text.length === 0) throw new InvalidKeyError(action, 'the key is empty', key);
    return text;
  }

  /** The key as the user sees it; bytes are a copy of their own. */
  key(text: string): K {
    const own = this.base === '' ? text : text.slice(this.base.length);
    return (this.mode === 'utf8' ? own : this.bytes(own)) as K;
  }

  bytes(text: string): Uint8Array {
    if (this.mode === 'utf8') return this.#encoder.encode(text);
    const bytes = new Uint8Array(text.length);
    for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
    return bytes;
  }

  /** Whether a text can be that of a key. */
  isText(text: string): boolean {
    if (this.mode === 'utf8') return text.isWellFormed();
    for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0xff) return false;
    return true;
  }

  /** Number of bytes of a key. */
  byteLength(text: string): number {
    return this.mode === 'utf8' ? utf8Length(text) : text.length;
  }

  /** Text of a key that a backend sent. A key that is not UTF-8 is an error in a store of text keys, never replaced. */
  textOfBytes(bytes: Uint8Array, action: string): string {
    if (this.mode === 'bytes') return byteText(bytes);
    try {
      return this.#decoder.decode(bytes);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new InvalidKeyError(action, 'the key is not UTF-8', new Uint8Array(bytes));
    }
  }

  /** Checks and encodes a range. Throws TypeError for anything but exactly one of the three shapes. */
  resolve(range: KeyRange<K>, action: string): ResolvedRange {
    if (typeof range !== 'object' || range === null)
      throw new TypeError(`Cannot ${action}: the range is not an object`);
    const shapes = Number('key' in range) + Number('prefix' in range) + Number('start' in range);
    if (shapes !== 1 || ('end' in range && !('start' in range))) {
      throw new TypeError(`Cannot ${action}: a range has exactly one of key, prefix, or start with an optional end`);
    }
    if ('key' in range) {
      const text = this.text(range.key, action);
      return new PointRange(text, this);
    }
    if ('prefix' in range) {
      const text = this.#part(range.prefix, action, 'prefix');
      const start = this.bytes(text);
      return { kind: 'prefix', bytes: { start, end: prefixEnd(start) }, text, empty: false };
    }
    const { start, end: before } = range;
    const text = this.#part(start, action, 'start');
    const endText = before === undefined ? prefixEndText(this.base, this.mode) : this.#part(before, action, 'end');
    const end = endText === undefined ? UNBOUNDED : this.bytes(endText);
    const empty = endText !== undefined && compareKeyText(text, endText) >= 0;
    return { kind: 'interval', bytes: { start: this.bytes(text), end }, text, endText, empty };
  }

  /** The opposite of `resolve`, for an error that has only the resolved range. */
  rangeOf(range: ResolvedRange): KeyRange<K> {
    if (range.kind === 'point') return { key: this.key(range.text) };
    if (range.kind === 'prefix') return { prefix: this.key(range.text) };
    const start = this.key(range.text);
    // Undefined on both sides where nothing is above all keys.
    const isOpen = range.endText === prefixEndText(this.base, this.mode);
    return isOpen ? { start } : { start, end: this.key(range.endText as string) };
  }

  #part(key: K, action: string, name: string): string {
    return this.base + this.#own(key, action, name);
  }

  #own(key: K, action: string, name: string): string {
    if (this.mode === 'utf8') {
      if (typeof key !== 'string') throw new TypeError(`Cannot ${action}: the ${name} is not a string`);
      if (!key.isWellFormed()) throw new TypeError(`Cannot ${action}: the ${name} has a lone surrogate`);
      // A unit takes at most 3 bytes, so only long keys have to be measured.
      if ((this.base.length + key.length) * 3 > this.#bytesMax) {
        this.#checkLength(utf8Length(this.base) + utf8Length(key), action);
      }
      return key;
    }
    if (!(key instanceof Uint8Array)) throw new TypeError(`Cannot ${action}: the ${name} is not a Uint8Array`);
    if (isDetached(key)) throw new TypeError(`Cannot ${action}: the buffer of the ${name} is detached`);
    this.#checkLength(this.base.length + key.length, action);
    return byteText(key);
  }

  #checkLength(length: number, action: string): void {
    if (length <= this.#bytesMax) return;
    throw new LimitExceededError(action, { limit: 'keyBytes', max: this.#bytesMax, actual: length });
  }
}

/** A single key. Its bytes are made when they are asked for: of a hundred thousand watches that wait nobody asks. */
class PointRange {
  readonly kind = 'point' as const;
  readonly text: string;
  readonly empty = false as const;
  readonly #keys: { bytes(text: string): Uint8Array };

  constructor(text: string, keys: { bytes(text: string): Uint8Array }) {
    this.text = text;
    this.#keys = keys;
  }

  get bytes(): ByteRange {
    return { start: this.#keys.bytes(this.text) };
  }
}

/** Of well-formed text: a pair of surrogates is 4 bytes, 2 a unit. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) length += 2;
    else length += 3;
  }
  return length;
}
