import type { LeaseId } from './lease.ts';
import type { Random } from './random.ts';

/**
 * Lease ids are 64-bit numbers above 0 in decimal, as text: most of them are too large for a JavaScript number (D8). One
 * number has one text, so ids are equal exactly when their texts are, and no id is ever turned into a number to look it up.
 *
 * ```text
 *   '1' .. '9223372036854775807'   ids
 *   '0'                            "none": what a key without a lease has, and what no lease is called
 *   '01' '+1' '1.0' '' ' 1'        refused
 * ```
 */
const ID = /^[1-9]\d{0,18}$/;
const ID_MAX = '9223372036854775807';
const NONE = '0';

/** Characters of a wrong id that a message repeats. */
const SHOWN_CHARS_MAX = 24;

/** Whether a value is the id of a lease that could be; '0' is not. */
export function isLeaseId(value: unknown): value is LeaseId {
  return typeof value === 'string' && ID.test(value) && compareLeaseIds(value, ID_MAX) <= 0;
}

/**
 * Returns an id that is one. `name` is what the message calls the argument.
 *
 * @throws TypeError for what is no string, RangeError for a string that is no id, '0' included
 */
export function checkLeaseId(value: unknown, action: string, name: string = 'the lease id'): LeaseId {
  if (isLeaseId(value)) return value;
  throw refusal(value, action, name, "'1'");
}

/** The same where '0' stands for no lease at all, as in a put: the answer to it is `undefined`. */
export function parseLeaseId(value: unknown, action: string, name: string = 'the lease id'): LeaseId | undefined {
  if (value === NONE) return undefined;
  if (isLeaseId(value)) return value;
  throw refusal(value, action, name, "'0'");
}

/** The order of ids as numbers: of two texts without leading zeros the longer one is the larger number. */
export function compareLeaseIds(a: LeaseId, b: LeaseId): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * An id that is not in use: 63 random bits, and should these be 0 or taken, the next number that is free (after the
 * largest comes 1). So it ends with any `random`, also with one that always says the same.
 */
export function generateLeaseId(random: Random, isTaken: (id: LeaseId) => boolean): LeaseId {
  const high = BigInt((random() * 2 ** 31) & 0x7fffffff);
  const low = BigInt((random() * 2 ** 32) >>> 0);
  for (let number = (high << 32n) | low; ; number = BigInt.asUintN(63, number + 1n)) {
    const id = number.toString();
    if (number !== 0n && !isTaken(id)) return id;
  }
}

function refusal(value: unknown, action: string, name: string, least: string): Error {
  const allowed = `allowed is a decimal string from ${least} to '${ID_MAX}'`;
  if (typeof value !== 'string') {
    return new TypeError(`Cannot ${action}: ${name} is of type ${typeof value}, ${allowed}`);
  }
  const isLong = value.length > SHOWN_CHARS_MAX;
  const shown = isLong ? `${JSON.stringify(value.slice(0, SHOWN_CHARS_MAX))}...` : JSON.stringify(value);
  return new RangeError(`Cannot ${action}: ${name} is ${shown}, ${allowed}`);
}
