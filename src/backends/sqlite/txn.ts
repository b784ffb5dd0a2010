import { compareBytes } from '../../core/key-order.ts';
import type { PreparedCompare, PreparedOperation, PreparedPut, PreparedTxn } from '../../store/prepared.ts';
import { select } from '../../store/selection.ts';
import type { BackendKeyValue, BackendOperationResponse } from '../../types/backend.ts';
import { CompactedError, FutureRevisionError, KeyNotFoundError, LeaseNotFoundError } from '../../types/errors.ts';
import { compareLeaseIds } from '../../types/lease-id.ts';
import type { Revision } from '../../types/revision.ts';
import type { CompareResult } from '../../types/txn.ts';
import type { SqliteState, SqliteTables } from './tables.ts';

const ACTION = 'run a transaction';

/** What a transaction answered, and whether it wrote anything: then the revision is its own. */
export interface TxnOutcome {
  readonly revision: Revision;
  readonly succeeded: boolean;
  readonly responses: readonly BackendOperationResponse[];
}

/**
 * Runs one transaction on the tables, inside a write of SQLite that is under way. Everything that can be refused is refused
 * before the first row is written, so that what was refused leaves nothing to undo and others can share that write.
 */
export class SqliteTxn {
  readonly #tables: SqliteTables;
  readonly #state: SqliteState;
  readonly #keyBytes: (text: string) => Uint8Array;
  /** Which branch each transaction takes: judged on the state before the whole of it (store:R19). */
  readonly #path = new Map<PreparedTxn, boolean>();
  #hasWritten = false;

  constructor(tables: SqliteTables, state: SqliteState, keyBytes: (text: string) => Uint8Array) {
    this.#tables = tables;
    this.#state = state;
    this.#keyBytes = keyBytes;
  }

  run(txn: PreparedTxn): TxnOutcome {
    this.#choose(txn);
    this.#check(txn);
    const responses = this.#branch(txn).map((operation) => this.#run(operation));
    const revision = this.#hasWritten ? this.#next : this.#state.revision;
    return { revision, succeeded: this.#path.get(txn) === true, responses };
  }

  get #next(): Revision {
    return this.#state.revision + 1;
  }

  #branch(txn: PreparedTxn): readonly PreparedOperation[] {
    return this.#path.get(txn) === true ? txn.then : txn.else;
  }

  #choose(txn: PreparedTxn): void {
    this.#path.set(
      txn,
      txn.compare.every((one) => this.#holds(one)),
    );
    for (const operation of this.#branch(txn)) if (operation.type === 'txn') this.#choose(operation);
  }

  /** For every key of the range; a range without keys is as one missing key (store:R18). */
  #holds(compare: PreparedCompare): boolean {
    const { range } = compare;
    const rows = range.empty ? [] : this.#tables.rows(range.bytes, 0);
    return rows.length === 0 ? rowHolds(undefined, compare) : rows.every((row) => rowHolds(row, compare));
  }

  #check(txn: PreparedTxn): void {
    for (const operation of this.#branch(txn)) {
      if (operation.type === 'txn') this.#check(operation);
      else if (operation.type === 'range') checkReadable(operation.revision, this.#state, ACTION);
      else if (operation.type === 'put') this.#checkPut(operation);
    }
  }

  #checkPut({ text, lease, ignoreValue }: PreparedPut): void {
    if (lease.type === 'id' && lease.id !== '0' && this.#tables.lease(lease.id) === undefined) {
      throw new LeaseNotFoundError(ACTION, lease.id);
    }
    if (!ignoreValue && lease.type !== 'keep') return;
    const key = this.#keyBytes(text);
    if (this.#tables.live(key) === undefined) throw new KeyNotFoundError(ACTION, key);
  }

  #run(operation: PreparedOperation): BackendOperationResponse {
    switch (operation.type) {
      case 'put':
        return this.#put(operation);
      case 'delete': {
        const { range } = operation;
        const prevKvs = range.empty ? [] : this.#tables.rows(range.bytes, 0);
        for (const { key } of prevKvs) this.#tables.delete(key, this.#next);
        if (prevKvs.length > 0) this.#hasWritten = true;
        return operation.prevKv
          ? { type: 'delete', deleted: prevKvs.length, prevKvs }
          : { type: 'delete', deleted: prevKvs.length };
      }
      case 'range': {
        const { range, revision, selection } = operation;
        if (selection.countOnly) {
          const count = range.empty ? 0 : this.#tables.count(range.bytes, revision);
          return { type: 'range', count, kvs: [], more: false };
        }
        // Of the newest state, with what this transaction has written: the tables have it already (store:R20).
        const rows = range.empty ? [] : this.#tables.rows(range.bytes, revision);
        const { page, more } = select(rows, selection, ({ value }) => value);
        const kvs = selection.keysOnly ? page.map(withoutValue) : page;
        return { type: 'range', count: rows.length, kvs, more };
      }
      case 'txn':
        return {
          type: 'txn',
          succeeded: this.#path.get(operation) === true,
          responses: this.#branch(operation).map((one) => this.#run(one)),
        };
    }
  }

  #put(put: PreparedPut): BackendOperationResponse {
    const key = this.#keyBytes(put.text);
    const previous = this.#tables.live(key);
    const { lease } = put;
    this.#tables.put({
      key,
      // What a put keeps is there: it was checked, and nothing before it in the transaction has written its key.
      value: put.ignoreValue ? (previous as BackendKeyValue).value : (put.cell as Uint8Array),
      createRevision: previous?.createRevision ?? this.#next,
      modRevision: this.#next,
      version: (previous?.version ?? 0) + 1,
      lease: lease.type === 'id' ? lease.id : (previous as BackendKeyValue).lease,
    });
    this.#hasWritten = true;
    return put.prevKv && previous !== undefined ? { type: 'put', prevKv: previous } : { type: 'put' };
  }
}

/**
 * Refuses a revision that cannot be read; 0 is the newest.
 *
 * @throws CompactedError, FutureRevisionError
 */
export function checkReadable(revision: Revision, { revision: newest, compacted }: SqliteState, action: string): void {
  if (revision === 0) return;
  if (revision > newest) throw new FutureRevisionError(action, { revision, currentRevision: newest });
  if (revision < compacted) throw new CompactedError(action, { minRevision: compacted, compactRevision: compacted });
}

export function withoutValue(kv: BackendKeyValue): BackendKeyValue {
  return { ...kv, value: new Uint8Array(0) };
}

function rowHolds(row: BackendKeyValue | undefined, { target, result, value }: PreparedCompare): boolean {
  switch (target) {
    case 'value':
      // A missing key's value satisfies nothing, not even `!=` (store:R17).
      return row !== undefined && outcome(compareBytes(row.value, value as Uint8Array), result);
    case 'lease':
      return outcome(compareLeaseIds(row?.lease ?? '0', value as string), result);
    case 'create':
      return outcome((row?.createRevision ?? 0) - (value as number), result);
    case 'mod':
      return outcome((row?.modRevision ?? 0) - (value as number), result);
    case 'version':
      return outcome((row?.version ?? 0) - (value as number), result);
  }
}

function outcome(difference: number, result: CompareResult): boolean {
  if (result === '=') return difference === 0;
  if (result === '!=') return difference !== 0;
  return result === '<' ? difference < 0 : difference > 0;
}
