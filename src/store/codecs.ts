import type { Codec } from '../types/codec.ts';
import { ValueError } from '../types/errors.ts';
import { isDetached } from '../types/is-detached.ts';
import { checkJsonData } from './json-data.ts';

/**
 * Plain JSON data as UTF-8 JSON text: the default wherever values have to be bytes. Strings become JSON strings.
 *
 * `encode` throws `ValueError` for bytes and for everything that JSON text would lose or change (NaN, Date, Map, class
 * instances, lone surrogates): the same values that a store without a codec refuses. `decode` throws the platform's
 * SyntaxError for what is not JSON, and TypeError for what is not UTF-8.
 *
 * @example
 * ```ts
 * import { jsonCodec } from 'plimsoll';
 *
 * const codec = jsonCodec<{ image: string }>();
 * console.log(codec.decode(codec.encode({ image: 'web:2' })).image); // web:2
 * ```
 */
export function jsonCodec<V = unknown>(): Codec<V> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return {
    encode(value: V): Uint8Array {
      if (value instanceof Uint8Array) {
        throw new ValueError('encode a value', { path: '', reason: 'is bytes, use bytesCodec() for a store of bytes' });
      }
      checkJsonData(value, 'encode a value');
      return encoder.encode(JSON.stringify(value));
    },
    decode(bytes: Uint8Array): V {
      return JSON.parse(decoder.decode(bytes)) as V;
    },
  };
}

/**
 * Strings as UTF-8. A lone surrogate is a `ValueError`; bytes that are not UTF-8 are a TypeError when read.
 *
 * @example
 * ```ts
 * import { openStore, textCodec } from 'plimsoll';
 *
 * const store = await openStore({ codec: textCodec() });
 * await store.put('config/theme', 'dark');
 * ```
 */
export function textCodec(): Codec<string> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return {
    encode(value: string): Uint8Array {
      if (typeof value !== 'string') throw new ValueError('encode a value', { path: '', reason: 'is not a string' });
      if (!value.isWellFormed()) throw new ValueError('encode a value', { path: '', reason: 'has a lone surrogate' });
      return encoder.encode(value);
    },
    decode: (bytes: Uint8Array): string => decoder.decode(bytes),
  };
}

/**
 * Bytes as they are, copied in and out. What is no Uint8Array is a `ValueError`.
 *
 * @example
 * ```ts
 * import { bytesCodec, openStore } from 'plimsoll';
 *
 * const store = await openStore({ codec: bytesCodec() });
 * await store.put('logo', Uint8Array.of(0x89, 0x50));
 * ```
 */
export function bytesCodec(): Codec<Uint8Array> {
  return {
    encode(value: Uint8Array): Uint8Array {
      if (!(value instanceof Uint8Array)) {
        throw new ValueError('encode a value', { path: '', reason: 'is not a Uint8Array' });
      }
      if (isDetached(value)) {
        throw new ValueError('encode a value', { path: '', reason: 'is bytes whose buffer is detached' });
      }
      return new Uint8Array(value);
    },
    decode: (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes),
  };
}
