import { compareKeyText, rangeHas } from '../core/key-order.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { OperationResult } from '../types/txn.ts';
import { type Change, putChange, tombstone } from './commit.ts';
import type { Mvcc } from './mvcc.ts';
import type { PreparedOperation, PreparedPut, PreparedRange } from './prepared.ts';
import { keyRow, row } from './row.ts';
import { select } from './selection.ts';
import { branchOf, type TxnPath } from './txn-path.ts';
import { bytesOf, readValue } from './values.ts';

/**
 * One branch of a transaction, run: what its operations answer, and the changes they make, in order, all at `revision`.
 * An operation sees the store's newest state with the branch's own changes laid over it (store:R20). Nothing is
 * published here. What has to be there was checked before (`checkPath`); one thing may throw all the same, with nothing
 * committed: a value that is asked for and that the codec cannot read, or to sort by and without bytes (`ValueError`).
 */
export class Branch<V, K extends Key> {
  readonly changes: Change[] = [];
  readonly #mvcc: Mvcc<V, K>;
  readonly #revision: Revision;
  /** For messages. */
  readonly #action: string;
  /** Makes a lease for one key; returns its id. */
  readonly #grantOwn: (ttlMs: number) => string;
  /** Newest change by key text. */
  readonly #overlay = new Map<string, Change>();

  constructor(mvcc: Mvcc<V, K>, revision: Revision, action: string, grantOwn: (ttlMs: number) => string) {
    this.#mvcc = mvcc;
    this.#revision = revision;
    this.#action = action;
    this.#grantOwn = grantOwn;
  }

  run(operations: readonly PreparedOperation[], path: TxnPath): OperationResult<V, K>[] {
    return operations.map((operation) => this.#run(operation, path));
  }

  #run(operation: PreparedOperation, path: TxnPath): OperationResult<V, K> {
    switch (operation.type) {
      case 'put':
        return this.put(operation);
      case 'delete':
        return this.delete(operation.range, operation.prevKv);
      case 'range':
        return operation.revision > 0 ? this.#rangeAt(operation) : this.#range(operation);
      case 'txn': {
        const succeeded = path.get(operation) === true;
        return { type: 'txn', succeeded, responses: this.run(branchOf(operation, path), path) };
      }
    }
  }

  put(put: PreparedPut): Extract<OperationResult<V, K>, { type: 'put' }> {
    const previous = this.#live(put.text);
    const { lease: wanted } = put;
    const own = wanted.type === 'own' ? { lease: this.#grantOwn(wanted.ttlMs) } : undefined;
    // What a put keeps is there (`checkPut`).
    const lease = own?.lease ?? (wanted.type === 'id' ? wanted.id : (previous as Change).lease);
    const cell = put.ignoreValue ? (previous as Change).cell : put.cell;
    this.#change(putChange({ text: put.text, cell, lease }, this.#revision, previous));
    const prevKv = put.prevKv && previous !== undefined ? { prevKv: this.#kv(previous) } : undefined;
    return { type: 'put', ...prevKv, ...own };
  }

  delete(range: ResolvedRange, wantsPrevKv: boolean): Extract<OperationResult<V, K>, { type: 'delete' }> {
    if (!wantsPrevKv && this.#overlay.size === 0) return { type: 'delete', deleted: this.#deleteStored(range) };
    const rows = this.#rows(range);
    for (const { text } of rows) this.#change(tombstone(text, this.#revision));
    const deleted = rows.length;
    if (!wantsPrevKv) return { type: 'delete', deleted };
    return { type: 'delete', deleted, prevKvs: rows.map((one) => this.#kv(one)) };
  }

  #range({ range, selection }: PreparedRange): OperationResult<V, K> {
    return this.#answer(this.#rows(range), selection);
  }

  /** History has no writes of this transaction. */
  #rangeAt({ range, revision, selection }: PreparedRange): OperationResult<V, K> {
    return this.#answer(this.#storedRows(range, revision), selection);
  }

  #answer(rows: readonly Change[], selection: PreparedRange['selection']): OperationResult<V, K> {
    const count = rows.length;
    if (selection.countOnly) return { type: 'range', kvs: [], count, more: false };
    const { values, keys } = this.#mvcc;
    const { page, more } = select(rows, selection, ({ cell, text }) =>
      bytesOf(values, cell, this.#action, () => keys.key(text)),
    );
    return { type: 'range', kvs: page.map((one) => this.#kv(one, selection.keysOnly)), count, more };
  }

  /** The common case, for which the keys alone will do. */
  #deleteStored(range: ResolvedRange): number {
    const { state, window } = this.#mvcc;
    const slots = state.slots(range, window.revision, 0);
    for (const slot of slots) this.#change(tombstone(state.textAt(slot), this.#revision));
    return slots.length;
  }

  #change(change: Change): void {
    this.changes.push(change);
    this.#overlay.set(change.text, change);
  }

  /** What a put replaces: nothing before it in the transaction has written its key (store:R20). */
  #live(text: string): Change | undefined {
    const slot = this.#mvcc.state.slotOf(text, this.#mvcc.window.revision);
    return slot < 0 ? undefined : this.#stored(slot);
  }

  /** Live keys of a range in order, own writes included. */
  #rows(range: ResolvedRange): Change[] {
    const stored = this.#storedRows(range, this.#mvcc.window.revision);
    if (this.#overlay.size === 0) return stored;
    const rows = stored.filter(({ text }) => !this.#overlay.has(text));
    for (const own of this.#overlay.values()) if (own.type === 'put' && rangeHas(range, own.text)) rows.push(own);
    return rows.sort((a, b) => compareKeyText(a.text, b.text));
  }

  #storedRows(range: ResolvedRange, revision: Revision): Change[] {
    const slots = this.#mvcc.state.slots(range, revision, 0);
    return Array.from(slots, (slot) => this.#stored(slot));
  }

  #stored(slot: number): Change {
    const { core, state } = this.#mvcc;
    return {
      text: state.textAt(slot),
      type: 'put',
      cell: state.cellAt(slot),
      createRevision: core.createRevision(slot),
      modRevision: core.modRevision(slot),
      version: core.version(slot),
      lease: state.leaseAt(slot),
    };
  }

  #kv(change: Change, keysOnly = false): KeyValue<V, K> {
    const key = this.#mvcc.keys.key(change.text);
    return keysOnly ? keyRow(key, change) : row(key, readValue(this.#mvcc.values, change.cell, key), change);
  }
}
