import type { BackendKeyValue, BackendPosition, ByteRange } from '../../types/backend.ts';
import { Unreadable } from './errors.ts';

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
 *
 * Since zero and empty are left out, `{}` of whoever else answers would mean something: revision 0, no keys, no lease. So
 * nothing is taken for an answer that lacks what etcd always says. All readers here throw {@link Unreadable}.
 */
export type WireObject = Readonly<Record<string, unknown>>;

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

/** Where the cluster was: each answer has it, and there is no revision 0. */
export function positionOf(answer: WireObject): BackendPosition {
  const { cluster_id, revision } = objectOf(answer.header, 'the header');
  if (typeof cluster_id !== 'string' || cluster_id === '') throw new Unreadable('the header names no cluster');
  return { identity: cluster_id, revision: positiveOf(revision, 'the revision of the header') };
}

export function rowOf(value: unknown): BackendKeyValue {
  const row = objectOf(value, 'a row');
  return {
    key: keyOf(row),
    value: fromBase64(row.value ?? ''),
    createRevision: positiveOf(row.create_revision, 'a create revision'),
    modRevision: positiveOf(row.mod_revision, 'a mod revision'),
    version: positiveOf(row.version, 'a version'),
    lease: idOf(row.lease, 'a lease'),
  };
}

/** Of a row, or of what is left of one that was deleted. */
export function keyOf(row: WireObject): Uint8Array {
  const key = fromBase64(row.key ?? '');
  if (key.length === 0) throw new Unreadable('a row has no key');
  return key;
}

export function objectOf(value: unknown, what: string): WireObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as WireObject;
  throw new Unreadable(`${what} is ${shown(value)}, which is no object`);
}

/** What is empty is left out. */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Unreadable(`${what} is ${shown(value)}, which is no list`);
}

/** What is false is left out. */
export function flagOf(value: unknown, what: string): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw new Unreadable(`${what} is ${shown(value)}, which is neither true nor false`);
}

/** An int64 that has to fit a number (D8). Newer gateways may tell small ones as numbers. */
export function integerOf(value: unknown, what: string): number {
  if (value === undefined) return 0;
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number as number;
  throw new Unreadable(`${what} is ${shown(value)}, which is no safe integer`);
}

/** What etcd always says, and is never 0. */
export function positiveOf(value: unknown, what: string): number {
  const number = integerOf(value, what);
  if (number > 0) return number;
  throw new Unreadable(`${what} is ${value === undefined ? 'missing' : number}`);
}

/** A lease's id: an int64 of any size, which only text holds. */
export function idOf(value: unknown, what: string): string {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return value;
  return String(integerOf(value, what));
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

export function fromBase64(text: unknown): Uint8Array {
  if (typeof text !== 'string') throw new Unreadable(`bytes are ${shown(text)}, which is no text`);
  let binary: string;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new Unreadable('bytes are not base64', { cause });
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
}
