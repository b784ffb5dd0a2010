import type { Key, KeyRange } from '../../src/types/revision.ts';
import { encodeValue } from './encode-value.ts';
import type { WireRow } from './gateway.ts';
import type { LeaseNames } from './lease-names.ts';
import type { Attachment, Selection, Settings } from './program.ts';
import { type CompareCall, keyBytes, type OperationCall, type Row, showBytes, type TxnCall } from './subject.ts';

/**
 * Calls in the words of etcd's gateway. Written without a look at the library: a wrong prefix end there must not be
 * wrong here too.
 *
 * | a range here | `key` | `range_end` |
 * | --- | --- | --- |
 * | `{ key }` | the key | none |
 * | `{ prefix }` | the prefix | its last byte below 0xff raised, the rest cut; else "no end" |
 * | `{ start }` | the start | a zero byte, which is etcd's word for "no end" |
 * | `{ start, end }` | the start | the end |
 *
 * No key sorts before a zero byte, so that is what an empty prefix or start becomes. Two ends cannot be said in etcd's
 * words, an empty one (etcd: a single key) and a zero byte (etcd: no end); both select nothing, and become a range that
 * selects nothing.
 */
export interface WireRange {
  readonly key: string;
  readonly range_end?: string;
}

const ZERO = Uint8Array.of(0);
const NOTHING: WireRange = { key: base64(Uint8Array.of(1)), range_end: base64(Uint8Array.of(1)) };
const NO_END = base64(ZERO);
/** Above every key of the programs. */
const ABOVE_ALL = base64(new Uint8Array(16).fill(0xff));

export function wireRange(range: KeyRange<Key>): WireRange {
  if ('key' in range) return { key: base64(keyBytes(range.key)) };
  if ('prefix' in range) {
    const prefix = keyBytes(range.prefix);
    return { key: base64(orZero(prefix)), range_end: base64(prefixEnd(prefix)) };
  }
  const key = base64(orZero(keyBytes(range.start)));
  if (range.end === undefined) return { key, range_end: NO_END };
  const end = keyBytes(range.end);
  const isUnsayable = end.length === 0 || (end.length === 1 && end[0] === 0);
  return isUnsayable ? NOTHING : { key, range_end: base64(end) };
}

/** What turns the words of one program into etcd's. */
export interface Words {
  readonly values: Settings['values'];
  readonly base: number;
  readonly leases: LeaseNames;
}

/**
 * etcd's order NONE is the key's, or that of the target if there is one. With a limit and no bounds it cuts before it
 * sorts by that target, which nobody asks for here: so the order is said then.
 */
export function wireSelection(selection: Selection<number>, base: number): object {
  const { limit, keysOnly, countOnly, sortTarget, sortOrder, bounds } = selection;
  const order = sortOrder ?? (sortTarget !== undefined && limit !== undefined ? 'ascend' : undefined);
  return {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    keys_only: keysOnly,
    count_only: countOnly,
    ...(sortTarget === undefined ? {} : { sort_target: sortTarget.toUpperCase() }),
    ...(order === undefined ? {} : { sort_order: order.toUpperCase() }),
    ...wireBound('min_mod_revision', bounds.minModRevision, base),
    ...wireBound('max_mod_revision', bounds.maxModRevision, base),
    ...wireBound('min_create_revision', bounds.minCreateRevision, base),
    ...wireBound('max_create_revision', bounds.maxCreateRevision, base),
  };
}

function wireBound(name: string, revision: number | undefined, base: number): object {
  return revision === undefined ? {} : { [name]: String(absolute(revision, base)) };
}

export function wireAt(revision: number | undefined, base: number): object {
  return revision === undefined ? {} : { revision: String(absolute(revision, base)) };
}

/** The value too is left out only if it is not there: `ignore_value` with one is an error. */
export function wirePut(
  put: { readonly key: Key; readonly value: unknown; readonly prevKv?: boolean } & Attachment,
  { values, leases }: Words,
): object {
  return {
    key: base64(keyBytes(put.key)),
    ...(put.value === undefined ? {} : { value: base64(encodeValue(put.value, values)) }),
    ...(put.lease === undefined ? {} : { lease: leases.id(put.lease) }),
    ignore_value: put.ignoreValue,
    ignore_lease: put.ignoreLease,
    prev_kv: put.prevKv ?? false,
  };
}

export function wireTxn(txn: TxnCall, words: Words, isBesidePut = hasPut(txn)): object {
  return {
    compare: txn.compare.map((one) => wireCompare(one, words)),
    success: txn.then.map((one) => wireOperation(one, words, isBesidePut)),
    failure: txn.else.map((one) => wireOperation(one, words, isBesidePut)),
  };
}

export function wireCompare(compare: CompareCall, { values, base, leases }: Words): object {
  const { range, target, value } = compare;
  const common = { ...wireRange(range), result: RESULTS[compare.result] };
  switch (target) {
    case 'value':
      return { ...common, target: 'VALUE', value: base64(encodeValue(value, values)) };
    case 'lease':
      return { ...common, target: 'LEASE', lease: leases.id(String(value)) };
    case 'version':
      return { ...common, target: 'VERSION', version: String(value) };
    case 'create':
      return { ...common, target: 'CREATE', create_revision: String(absolute(Number(value), base)) };
    case 'mod':
      return { ...common, target: 'MOD', mod_revision: String(absolute(Number(value), base)) };
  }
}

const RESULTS = { '=': 'EQUAL', '!=': 'NOT_EQUAL', '<': 'LESS', '>': 'GREATER' } as const;

function wireOperation(step: OperationCall, words: Words, isBesidePut: boolean): object {
  switch (step.type) {
    case 'put':
      return { request_put: wirePut(step, words) };
    case 'delete': {
      const range = wireRange(step.range);
      return { request_delete_range: { ...(isBesidePut ? withoutNoEnd(range) : range), prev_kv: step.prevKv } };
    }
    case 'range': {
      // E3: etcd does not take one below 0 for the newest here.
      const at = wireAt(step.revision === undefined ? undefined : Math.max(0, step.revision), words.base);
      return { request_range: { ...wireRange(step.range), ...at, ...wireSelection(step, words.base) } };
    }
    case 'txn':
      return { request_txn: wireTxn(step, words, isBesidePut) };
  }
}

/** Whether a transaction writes a key, in whatever branch. */
function hasPut(txn: TxnCall): boolean {
  return [...txn.then, ...txn.else].some((step) => step.type === 'put' || (step.type === 'txn' && hasPut(step)));
}

/**
 * E1: etcd does not look for puts below a delete whose end is "no end", and takes the branch. So that such transactions
 * can be compared too, their deletes get an end above every key, which is the same range.
 */
function withoutNoEnd(range: WireRange): WireRange {
  return range.range_end === NO_END ? { ...range, range_end: ABOVE_ALL } : range;
}

/** A revision of a program as etcd's own; 0, "absent" or "newest", and what is below stay. */
export function absolute(revision: number, base: number): number {
  return revision <= 0 ? revision : revision + base;
}

function prefixEnd(prefix: Uint8Array): Uint8Array {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return ZERO;
  const end = prefix.slice(0, length);
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}

function orZero(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? ZERO : bytes;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** A row of etcd, its revisions counted from the program's base and its lease by name. */
export function readRow(row: WireRow, { base, leases }: Pick<Words, 'base' | 'leases'>, keysOnly = false): Row {
  const isAbsent = keysOnly && row.value === undefined;
  return {
    key: showBytes(Buffer.from(row.key, 'base64')),
    value: isAbsent ? null : showBytes(Buffer.from(row.value ?? '', 'base64')),
    create: Number(row.create_revision ?? 0) - base,
    mod: Number(row.mod_revision ?? 0) - base,
    version: Number(row.version ?? 0),
    lease: leases.name(row.lease ?? '0'),
  };
}
