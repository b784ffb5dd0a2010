import type { BackendKeyValue, ByteRange } from '../../types/backend.ts';
import { BackendError } from '../../types/errors.ts';

/**
 * etcd's JSON gateway. What a reader has to know of it:
 *
 * ```text
 *   int64       decimal text in both directions, since most readers would lose digits; zero is left out of answers
 *   bytes       base64; what is empty is left out
 *   an answer   { header: { cluster_id, revision, ... }, ... }, or a status with { error, message, code }
 *   a stream    one JSON text a line: { "result": ... } or { "error": ... }
 *   a range     key and range_end; without one it is a point, with a zero byte it has no upper bound
 * ```
 */
export interface Header {
  readonly cluster_id?: string;
  readonly revision?: string;
}

export interface WireRow {
  readonly key?: string;
  readonly value?: string;
  readonly create_revision?: string;
  readonly mod_revision?: string;
  readonly version?: string;
  readonly lease?: string;
}

export interface WireRange {
  readonly key: string;
  readonly range_end?: string;
}

const ZERO = Uint8Array.of(0);
const NO_END = 'AA==';

/** No key sorts before a zero byte, so that is what an empty start becomes. */
export function wireRange({ start, end }: ByteRange): WireRange {
  const key = toBase64(start.length === 0 ? ZERO : start);
  if (end === undefined) return { key };
  return { key, range_end: end.length === 0 ? NO_END : toBase64(end) };
}

export function rowOf(row: WireRow): BackendKeyValue {
  return {
    key: fromBase64(row.key ?? ''),
    value: fromBase64(row.value ?? ''),
    createRevision: integerOf(row.create_revision, 'a create revision'),
    modRevision: integerOf(row.mod_revision, 'a mod revision'),
    version: integerOf(row.version, 'a version'),
    lease: row.lease ?? '0',
  };
}

/** An int64 that has to fit a number (D8). Newer gateways may tell small ones as numbers. */
export function integerOf(value: unknown, what: string): number {
  const number = value === undefined ? 0 : Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new BackendError('read what etcd answered', `${what} is ${String(value)}, which is no safe integer`);
}

/** Characters that `String.fromCharCode` is given at once: of a longer list some engines run out of stack. */
const CHUNK = 8192;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new BackendError('read what etcd answered', 'bytes are not base64', { cause });
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
