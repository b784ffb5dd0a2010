import { jsonCodec } from '../../src/store/codecs.ts';
import type { Settings } from './program.ts';

const encoder = new TextEncoder();
const json = jsonCodec<unknown>();

/** The bytes that stand for a value: what etcd is given, and what answers of the embedded store are shown as. */
export function encodeValue(value: unknown, values: Settings['values']): Uint8Array {
  if (values === 'json') return json.encode(value);
  if (typeof value === 'string') return encoder.encode(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`Cannot encode a value: it is ${typeof value}, not text or bytes`);
}
