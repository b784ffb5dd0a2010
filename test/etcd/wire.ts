import type { Key, KeyRange } from '../../src/types/revision.ts';
import { encodeValue } from './encode-value.ts';
import type { WireRow } from './gateway.ts';
import type { OperationStep, RangeOptions, Settings } from './program.ts';
import { type CompareCall, keyBytes, type Row, showBytes } from './subject.ts';

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

export function wireRangeOptions({ limit, keysOnly, countOnly }: RangeOptions): object {
  return { ...(limit === undefined ? {} : { limit: String(limit) }), keys_only: keysOnly, count_only: countOnly };
}

export function wireCompare(compare: CompareCall, values: Settings['values'], base: number): object {
  const { key, target, value } = compare;
  const common = { key: base64(keyBytes(key)), result: RESULTS[compare.result] };
  switch (target) {
    case 'value':
      return { ...common, target: 'VALUE', value: base64(encodeValue(value, values)) };
    case 'lease':
      return { ...common, target: 'LEASE', lease: String(value) };
    case 'version':
      return { ...common, target: 'VERSION', version: String(value) };
    case 'create':
      return { ...common, target: 'CREATE', create_revision: String(absolute(Number(value), base)) };
    case 'mod':
      return { ...common, target: 'MOD', mod_revision: String(absolute(Number(value), base)) };
  }
}

const RESULTS = { '=': 'EQUAL', '!=': 'NOT_EQUAL', '<': 'LESS', '>': 'GREATER' } as const;

/** The operations of a branch. */
export function wireBranch(steps: readonly OperationStep[], values: Settings['values']): readonly object[] {
  const hasPut = steps.some(({ type }) => type === 'put');
  return steps.map((step) => wireOperation(step, values, hasPut));
}

function wireOperation(step: OperationStep, values: Settings['values'], isBesidePut: boolean): object {
  switch (step.type) {
    case 'put': {
      const { key, value, prevKv } = step;
      return {
        request_put: { key: base64(keyBytes(key)), value: base64(encodeValue(value, values)), prev_kv: prevKv },
      };
    }
    case 'delete': {
      const range = wireRange(step.range);
      return { request_delete_range: { ...(isBesidePut ? withoutNoEnd(range) : range), prev_kv: step.prevKv } };
    }
    case 'range':
      return { request_range: { ...wireRange(step.range), ...wireRangeOptions(step) } };
  }
}

/**
 * E1: etcd does not look for puts below a delete whose end is "no end", and takes the branch. So that such branches can
 * be compared too, their deletes get an end above every key, which is the same range.
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

/** A row of etcd, its revisions counted from the program's base. */
export function readRow(row: WireRow, base: number, keysOnly: boolean): Row {
  const isAbsent = keysOnly && row.value === undefined;
  return {
    key: showBytes(Buffer.from(row.key, 'base64')),
    value: isAbsent ? null : showBytes(Buffer.from(row.value ?? '', 'base64')),
    create: Number(row.create_revision ?? 0) - base,
    mod: Number(row.mod_revision ?? 0) - base,
    version: Number(row.version ?? 0),
    lease: row.lease ?? '0',
  };
}
