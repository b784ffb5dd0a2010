import type { BackendOperation, BackendRangeRequest, BackendTxnRequest, ByteRange } from '../types/backend.ts';
import { checkInteger } from '../types/check-integer.ts';
import { checkSignal } from '../types/check-signal.ts';
import { shown } from '../types/shown.ts';

/**
 * What calls of a backend check in what they are given, before anything is asked or written: what is wrong here would be an answer
 * that nobody can read, stored for every replica. Keys, leases and revisions of a transaction are checked where it is prepared.
 */

/** Throws TypeError for a range without bytes, RangeError for a fraction. Numbers of 0 and below are none, as in etcd. */
export function checkRangeRequest(request: BackendRangeRequest, action: string): void {
  const { ranges, revision, minModRevision, limit, signal } = request;
  checkSignal(signal, action);
  if (!Array.isArray(ranges)) throw new TypeError(`Cannot ${action}: the ranges are ${shown(ranges)}, not an array`);
  for (const range of ranges) checkRange(range, action);
  for (const [name, value] of Object.entries({ revision, minModRevision, limit })) {
    if (value !== undefined) checkInteger(name, value, action);
  }
}

/** Throws TypeError for a value that is no bytes, and for a compare of a key and a range. */
export function checkTxnRequest(request: BackendTxnRequest, action: string): void {
  const { compare, then, else: otherwise, signal } = request;
  checkSignal(signal, action);
  for (const [name, part] of Object.entries({ compare, then, else: otherwise })) {
    if (!Array.isArray(part)) throw new TypeError(`Cannot ${action}: ${name} is ${shown(part)}, not an array`);
  }
  for (const { key, range, target, value } of compare) {
    if (key !== undefined && range !== undefined) {
      throw new TypeError(`Cannot ${action}: a compare has both a key and a range`);
    }
    if (range !== undefined) checkRange(range, action);
    if (target === 'value') checkBytes('the value of a compare', value, action);
  }
  for (const operation of [...then, ...otherwise]) checkOperation(operation, action);
}

function checkOperation(operation: BackendOperation, action: string): void {
  if (operation.type === 'txn') checkTxnRequest(operation, action);
  else if (operation.type === 'put') {
    if (operation.ignoreValue !== true) checkBytes('the value', operation.value, action);
  } else checkRange(operation.range, action);
}

function checkRange(range: ByteRange, action: string): void {
  if (typeof range !== 'object' || range === null) {
    throw new TypeError(`Cannot ${action}: the range is ${shown(range)}, not an object`);
  }
  checkBytes('the start of a range', range.start, action);
  if (range.end !== undefined) checkBytes('the end of a range', range.end, action);
}

function checkBytes(what: string, value: unknown, action: string): void {
  if (!(value instanceof Uint8Array)) throw new TypeError(`Cannot ${action}: ${what} is ${shown(value)}, not bytes`);
}
