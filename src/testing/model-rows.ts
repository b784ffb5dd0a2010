import type { RangeSelection } from '../types/requests.ts';
import type { Key, KeyValue } from '../types/revision.ts';
import { hex } from './model-keys.ts';

/** A whole state: live keys by id, ascending. */
export type State<V, K extends Key> = ReadonlyMap<string, KeyValue<V, K>>;
export type Row<V, K extends Key> = readonly [id: string, kv: KeyValue<V, K>];

/** The page of a range, with the id of its last row. */
export interface Selected<V, K extends Key> {
  readonly kvs: KeyValue<V, K>[];
  readonly count: number;
  readonly more: boolean;
  readonly lastId: string | undefined;
}

/** What of the rows of a range is answered, step by step as store:R8-R12 have it: count, bounds, order, limit, form. */
export function selectRows<V, K extends Key>(
  rows: readonly Row<V, K>[],
  selection: RangeSelection,
  encode: (value: V) => Uint8Array,
): Selected<V, K> {
  const limit = safeInteger(selection.limit ?? 0);
  const within = boundsOf(selection);
  const sorted = rows.filter(([, kv]) => within(kv)).sort(orderOf(selection, encode));
  const page = limit > 0 ? sorted.slice(0, limit) : sorted;
  if (selection.countOnly === true) return { kvs: [], count: rows.length, more: false, lastId: undefined };
  return {
    kvs: page.map(([, kv]) => (selection.keysOnly === true ? withoutValue(kv) : kv)),
    count: rows.length,
    more: page.length < sorted.length,
    lastId: page.at(-1)?.[0],
  };
}

/** Pages can be continued in this order alone. */
export function isKeyAscending({ sortTarget = 'key', sortOrder = 'ascend' }: RangeSelection): boolean {
  return sortTarget === 'key' && sortOrder === 'ascend';
}

/** Bounds are inclusive, and off at 0 (store:R11). */
function boundsOf(selection: RangeSelection): (kv: KeyValue<unknown, Key>) => boolean {
  const { minModRevision = 0, maxModRevision = 0, minCreateRevision = 0, maxCreateRevision = 0 } = selection;
  for (const bound of [minModRevision, maxModRevision, minCreateRevision, maxCreateRevision]) {
    if (safeInteger(bound) < 0) throw new RangeError('a bound below 0');
  }
  const isBetween = (value: number, min: number, max: number) => value >= min && (max === 0 || value <= max);
  return ({ modRevision, createRevision }) =>
    isBetween(modRevision, minModRevision, maxModRevision) &&
    isBetween(createRevision, minCreateRevision, maxCreateRevision);
}

/** Ties ascend by key in both directions (store:R8). */
function orderOf<V, K extends Key>(
  { sortTarget = 'key', sortOrder = 'ascend' }: RangeSelection,
  encode: (value: V) => Uint8Array,
): (a: Row<V, K>, b: Row<V, K>) => number {
  const compare = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);
  const sign = sortOrder === 'descend' ? -1 : 1;
  const byTarget = ([idA, a]: Row<V, K>, [idB, b]: Row<V, K>): number => {
    switch (sortTarget) {
      case 'key':
        return compare(idA, idB);
      case 'value':
        return compare(hex(encode(a.value)), hex(encode(b.value)));
      case 'version':
        return compare(a.version, b.version);
      case 'create':
        return compare(a.createRevision, b.createRevision);
      case 'mod':
        return compare(a.modRevision, b.modRevision);
    }
  };
  return (a, b) => sign * byTarget(a, b) || compare(a[0], b[0]);
}

export function safeInteger(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('not a safe integer');
  return value;
}

function withoutValue<V, K extends Key>(kv: KeyValue<V, K>): KeyValue<V, K> {
  const { value: _, ...rest } = kv;
  return rest as KeyValue<V, K>;
}
