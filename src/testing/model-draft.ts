import type { LeaseId } from '../types/lease.ts';
import type { LeaseAttachment, RangeSelection } from '../types/requests.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { Compare, Operation, OperationResult } from '../types/txn.ts';
import { hex, type ModelKeys, type Predicate } from './model-keys.ts';
import { compareIds } from './model-leases.ts';
import { type Row, type State, selectRows } from './model-rows.ts';
import type { ModelEvent } from './model-watch.ts';

/** What a draft starts from, and what it needs of the model. */
export interface DraftBase<V, K extends Key> {
  /** That of the commit. */
  readonly revision: Revision;
  readonly before: State<V, K>;
  /** A state that can be read: path checks have seen to it. */
  readonly stateAt: (revision: Revision) => State<V, K>;
  readonly keys: ModelKeys<K>;
  readonly encode: (value: V) => Uint8Array;
  readonly newLeaseId: () => LeaseId;
}

/** A state in the making: that before a commit, and what the operations of the commit have done to it. */
export class Draft<V, K extends Key> {
  readonly events: ModelEvent<V, K>[] = [];
  /** Leases of single keys that puts have made. */
  readonly leases: { readonly id: LeaseId; readonly ttlMs: number }[] = [];
  readonly state: Map<string, KeyValue<V, K>>;
  readonly #base: DraftBase<V, K>;

  constructor(base: DraftBase<V, K>) {
    this.#base = base;
    this.state = new Map(base.before);
  }

  run(operation: Operation<V, K>): OperationResult<V, K> {
    switch (operation.type) {
      case 'put': {
        const { previous, lease } = this.put(operation.key, operation.value as V, operation);
        const prevKv = operation.prevKv === true && previous !== undefined ? { prevKv: previous } : {};
        return { type: 'put', ...prevKv, ...(operation.ttlMs === undefined ? {} : { lease }) };
      }
      case 'delete': {
        const prevKvs = this.delete(this.#base.keys.has(operation));
        const result = { type: 'delete', deleted: prevKvs.length } as const;
        return operation.prevKv === true ? { ...result, prevKvs } : result;
      }
      case 'range': {
        const has = this.#base.keys.has(operation);
        return { type: 'range', ...this.#range(has, operation, operation.revision ?? 0) };
      }
      case 'txn': {
        const { compare = [], then = [], else: otherwise = [] } = operation;
        const succeeded = compare.every((one) => compareHolds(this.#base, one));
        return {
          type: 'txn',
          succeeded,
          responses: (succeeded ? then : otherwise).map((one) => this.run(one)),
        };
      }
    }
  }

  put(key: K, value: V, how: LeaseAttachment): { previous: KeyValue<V, K> | undefined; lease: LeaseId } {
    const { revision, keys, newLeaseId } = this.#base;
    const id = keys.id(key);
    const previous = this.state.get(id);
    let lease = how.lease ?? '0';
    if (how.ignoreLease === true) lease = previous?.lease ?? '0';
    if (how.ttlMs !== undefined) {
      lease = newLeaseId();
      this.leases.push({ id: lease, ttlMs: how.ttlMs });
    }
    const kv: KeyValue<V, K> = {
      key,
      value: how.ignoreValue === true ? (previous?.value as V) : value,
      createRevision: previous?.createRevision ?? revision,
      modRevision: revision,
      version: (previous?.version ?? 0) + 1,
      lease,
    };
    this.state.set(id, kv);
    this.events.push({ id, event: { type: 'put', kv } });
    return { previous, lease };
  }

  /** Deletes in key order. */
  delete(has: Predicate): KeyValue<V, K>[] {
    const rows = rowsOf(this.state, has);
    for (const [id, { key }] of rows) {
      this.state.delete(id);
      this.events.push({ id, event: { type: 'delete', kv: { key, modRevision: this.#base.revision } } });
    }
    return rows.map(([, kv]) => kv);
  }

  /** At 0 with what was written so far, at a revision without (store:R20). */
  #range(has: Predicate, selection: RangeSelection, revision: Revision) {
    const state = revision > 0 ? this.#base.stateAt(revision) : this.state;
    const { kvs, count, more } = selectRows(rowsOf(state, has), selection, this.#base.encode);
    return { kvs, count, more };
  }
}

/** Live keys of a range, ascending. */
export function rowsOf<V, K extends Key>(state: State<V, K>, has: Predicate): Row<V, K>[] {
  return [...state].filter(([id]) => has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Whether a compare holds for every key of its range in the state before the transaction; a range without keys is as one
 * missing key (store:R17, R18).
 */
export function compareHolds<V, K extends Key>(
  base: Pick<DraftBase<V, K>, 'before' | 'keys' | 'encode'>,
  compare: Compare<V, K>,
): boolean {
  const rows = rowsOf(base.before, base.keys.has(compare));
  const candidates = rows.length === 0 ? [undefined] : rows.map(([, kv]) => kv);
  return candidates.every((kv) => holds(kv, compare, base.encode));
}

function holds<V, K extends Key>(
  kv: KeyValue<V, K> | undefined,
  compare: Compare<V, K>,
  encode: (value: V) => Uint8Array,
): boolean {
  const { result } = compare;
  switch (compare.target) {
    case 'value':
      return kv !== undefined && decide(order(hex(encode(kv.value)), hex(encode(compare.value))), result);
    case 'lease':
      return decide(compareIds(kv?.lease ?? '0', compare.value), result);
    case 'create':
      return decide(order(kv?.createRevision ?? 0, compare.value), result);
    case 'mod':
      return decide(order(kv?.modRevision ?? 0, compare.value), result);
    case 'version':
      return decide(order(kv?.version ?? 0, compare.value), result);
  }
}

function order<T extends string | number>(actual: T, wanted: T): number {
  return actual < wanted ? -1 : actual > wanted ? 1 : 0;
}

function decide(sign: number, result: Compare<unknown>['result']): boolean {
  if (result === '=') return sign === 0;
  if (result === '!=') return sign !== 0;
  return result === '<' ? sign < 0 : sign > 0;
}
