/**
 * Values to bytes and back, for backends that keep bytes. `decode(encode(v))` must equal `v`, and equal values should
 * encode to equal bytes. Runs before the commit section: a codec that throws leaves the store unchanged (M8). Both answer
 * at once: a promise is an error, whatever becomes of it.
 */
export interface Codec<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array): V;
}
