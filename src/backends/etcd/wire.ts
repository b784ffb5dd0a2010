import { compareBytes } from '../../core/key-order.ts';
import type { BackendKeyValue, BackendPosition, ByteRange } from '../../types/backend.ts';
import { Unreadable } from './errors.ts';

/**
 * etcd's messages. They have the names of its JSON gateway whatever transport they come over, and each kind of value the
 * forms that the transports bring at no cost:
 *
 * ```text
 *                 in requests      in answers of the gateway      in answers of gRPC
 *   int64         decimal text     decimal text, small: number    two halves of 32 bits
 *   bytes         Uint8Array       base64                         Uint8Array, a view of the whole answer
 *   enum          its name         its name                       its number
 *   zero, empty   as it likes      left out                       there: 0, [] for bytes, null for a message
 *   an answer     { header: { cluster_id, revision, ... }, ... }
 *   a range       key and range_end; without one it is a point, with a zero byte it has no upper bound
 * ```
 *
 * Since zero and empty may be left out, `{}` of whoever else answers would mean something: revision 0, no keys, no lease. So
 * nothing is taken for an answer that lacks what etcd always says. All readers here throw {@link Unreadable}.
 */
export type WireObject = Readonly<Record<string, unknown>>;

/** An int64 as readers of protobuf have it: no number of JavaScript holds all of them. */
interface Halves {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

const ZERO = Uint8Array.of(0);
const HALF = 0x1_0000_0000;
/** From a key to itself, which is no key; by any but a zero byte, which as an end would be none. */
const NOTHING = { key: Uint8Array.of(1), range_end: Uint8Array.of(1) };

/**
 * Whether no key can be in it. A range that ends at a zero byte is such a one: below it is only the empty key, which there is
 * not. On the wire that end would have no bound.
 */
export function holdsNothing({ start, end }: ByteRange): boolean {
  if (end === undefined || end.length === 0) return false;
  return compareBytes(start, end) >= 0 || (end.length === 1 && end[0] === 0);
}

/** No key sorts before a zero byte, so that is what an empty start becomes. */
export function wireRange(range: ByteRange): WireObject {
  const { start, end } = range;
  if (holdsNothing(range)) return NOTHING;
  const key = start.length === 0 ? ZERO : start;
  if (end === undefined) return { key };
  return { key, range_end: end.length === 0 ? ZERO : end };
}

/** Where the cluster was: each answer has it, and there is no revision 0. */
export function positionOf(answer: WireObject): BackendPosition {
  const { cluster_id, revision } = objectOf(answer.header, 'the header');
  const identity = idOf(cluster_id, 'the id of the cluster');
  if (identity === '0') throw new Unreadable('the header names no cluster');
  return { identity, revision: positiveOf(revision, 'the revision of the header') };
}

export function rowOf(value: unknown): BackendKeyValue {
  const row = objectOf(value, 'a row');
  return {
    key: keyOf(row),
    value: bytesOf(row.value ?? ''),
    createRevision: positiveOf(row.create_revision, 'a create revision'),
    modRevision: positiveOf(row.mod_revision, 'a mod revision'),
    version: positiveOf(row.version, 'a version'),
    lease: idOf(row.lease, 'a lease'),
  };
}

/** Of a row, or of what is left of one that was deleted. */
export function keyOf(row: WireObject): Uint8Array {
  const key = bytesOf(row.key ?? '');
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
  let number = value;
  if (typeof value === 'string' && /^-?\d+$/.test(value)) number = Number(value);
  else if (isHalves(value)) number = value.high * HALF + (value.low >>> 0);
  if (Number.isSafeInteger(number)) return number as number;
  throw new Unreadable(`${what} is ${shown(value)}, which is no safe integer`);
}

/** What etcd always says, and is never 0. */
export function positiveOf(value: unknown, what: string): number {
  const number = integerOf(value, what);
  if (number > 0) return number;
  throw new Unreadable(`${what} is ${value === undefined ? 'missing' : number}`);
}

/** A lease's id, or a cluster's: 64 bits of any size, which only text holds. */
export function idOf(value: unknown, what: string): string {
  if (isHalves(value)) {
    const id = (BigInt(value.high) << 32n) | BigInt(value.low >>> 0);
    return String(value.unsigned ? BigInt.asUintN(64, id) : id);
  }
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return value;
  return String(integerOf(value, what));
}

function isHalves(value: unknown): value is Halves {
  if (typeof value !== 'object' || value === null) return false;
  const { low, high } = value as Partial<Halves>;
  return typeof low === 'number' && typeof high === 'number';
}

/** Bytes of their own: what they were read from may be large, and need not live as long. */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  // What protobufjs has for bytes that are not there.
  return Array.isArray(value) && value.length === 0 ? new Uint8Array(0) : fromBase64(value);
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

function fromBase64(text: unknown): Uint8Array {
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
