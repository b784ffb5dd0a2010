import { compareBytes, compareKeyText, rangeHas } from '../core/key-order.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { Compare, OperationResult } from '../types/store.ts';
import { type Change, putChange, tombstone } from './commit.ts';
import type { Mvcc } from './mvcc.ts';
import type { PreparedCompare, PreparedOperation, PreparedTxn } from './prepare-txn.ts';
import { keyRow, row } from './row.ts';
import { readValue } from './values.ts';

/** Compares are a conjunction over the state before the transaction; none at all is true (store:R19). */
export function compareHolds<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn): boolean {
  return txn.compare.every((one) => holds(mvcc, one));
}

/**
 * One branch of a transaction, run: what its operations answer, and the changes they make, in order, all at `revision`.
 * An operation sees the store's newest state with the branch's own changes laid over it (store:R20). Nothing is
 * published here.
 */
export class Branch<V, K extends Key> {
  readonly changes: Change[] = [];
  readonly #mvcc: Mvcc<V, K>;
  readonly #revision: Revision;
  /** Newest change by key text. */
  readonly #overlay = new Map<string, Change>();

  constructor(mvcc: Mvcc<V, K>, revision: Revision) {
    this.#mvcc = mvcc;
    this.#revision = revision;
  }

  run(operations: readonly PreparedOperation[]): OperationResult<V, K>[] {
    return operations.map((operation) => {
      if (operation.type === 'put') return this.put(operation.text, operation.cell, operation.prevKv);
      if (operation.type === 'delete') return this.delete(operation.range, operation.prevKv);
      return this.range(operation.range, operation.limit, operation.keysOnly, operation.countOnly);
    });
  }

  put(text: string, cell: unknown, wantsPrevKv: boolean): OperationResult<V, K> {
    const previous = this.#live(text);
    this.#change(putChange(text, cell, this.#revision, previous));
    return wantsPrevKv && previous !== undefined ? { type: 'put', prevKv: this.#kv(previous) } : { type: 'put' };
  }

  delete(range: ResolvedRange, wantsPrevKv: boolean): Extract<OperationResult<V, K>, { type: 'delete' }> {
    if (!wantsPrevKv && this.#overlay.size === 0) return { type: 'delete', deleted: this.#deleteStored(range) };
    const rows = this.#rows(range);
    for (const { text } of rows) this.#change(tombstone(text, this.#revision));
    const deleted = rows.length;
    if (!wantsPrevKv) return { type: 'delete', deleted };
    return { type: 'delete', deleted, prevKvs: rows.map((one) => this.#kv(one)) };
  }

  range(range: ResolvedRange, limit: number, keysOnly: boolean, countOnly: boolean): OperationResult<V, K> {
    const rows = this.#rows(range);
    const count = rows.length;
    if (countOnly) return { type: 'range', kvs: [], count, more: false };
    const page = limit > 0 ? rows.slice(0, limit) : rows;
    return { type: 'range', kvs: page.map((one) => this.#kv(one, keysOnly)), count, more: page.length < count };
  }

  /** The common case, for which the keys alone will do. */
  #deleteStored(range: ResolvedRange): number {
    // Copied: reading the text of a slot calls the core, which reuses the view.
    const slots = this.#mvcc.slots(range, this.#mvcc.window.revision, 0).slice();
    for (const slot of slots) this.#change(tombstone(this.#mvcc.textAt(slot), this.#revision));
    return slots.length;
  }

  #change(change: Change): void {
    this.changes.push(change);
    this.#overlay.set(change.text, change);
  }

  #live(text: string): Change | undefined {
    const own = this.#overlay.get(text);
    if (own !== undefined) return own.type === 'put' ? own : undefined;
    const slot = this.#mvcc.slotOf(text, this.#mvcc.window.revision);
    return slot < 0 ? undefined : this.#stored(slot);
  }

  /** Live keys of a range in order, own writes included. */
  #rows(range: ResolvedRange): Change[] {
    const slots = this.#mvcc.slots(range, this.#mvcc.window.revision, 0).slice();
    const stored = Array.from(slots, (slot) => this.#stored(slot));
    if (this.#overlay.size === 0) return stored;
    const rows = stored.filter(({ text }) => !this.#overlay.has(text));
    for (const own of this.#overlay.values()) if (own.type === 'put' && rangeHas(range, own.text)) rows.push(own);
    return rows.sort((a, b) => compareKeyText(a.text, b.text));
  }

  #stored(slot: number): Change {
    const { core } = this.#mvcc;
    return {
      text: this.#mvcc.textAt(slot),
      type: 'put',
      cell: this.#mvcc.cellAt(slot),
      createRevision: core.createRevision(slot),
      modRevision: core.modRevision(slot),
      version: core.version(slot),
      lease: this.#mvcc.leaseAt(slot),
    };
  }

  #kv(change: Change, keysOnly = false): KeyValue<V, K> {
    const key = this.#mvcc.keys.key(change.text);
    return keysOnly ? keyRow(key, change) : row(key, readValue(this.#mvcc.values, change.cell, key), change);
  }
}

function holds<V, K extends Key>(mvcc: Mvcc<V, K>, compare: PreparedCompare): boolean {
  const slot = mvcc.slotOf(compare.text, mvcc.window.revision);
  const { core } = mvcc;
  switch (compare.target) {
    case 'value':
      // A missing key's value satisfies nothing, not even `!=` (store:R17).
      if (slot < 0) return false;
      return outcome(compareBytes(mvcc.values.bytes(mvcc.cellAt(slot)), compare.value as Uint8Array), compare.result);
    case 'lease': {
      const difference = BigInt(slot < 0 ? '0' : mvcc.leaseAt(slot)) - BigInt(compare.value as string);
      return outcome(Number(difference > 0n) - Number(difference < 0n), compare.result);
    }
    case 'create':
      return outcome((slot < 0 ? 0 : core.createRevision(slot)) - (compare.value as number), compare.result);
    case 'mod':
      return outcome((slot < 0 ? 0 : core.modRevision(slot)) - (compare.value as number), compare.result);
    case 'version':
      return outcome((slot < 0 ? 0 : core.version(slot)) - (compare.value as number), compare.result);
  }
}

function outcome(difference: number, result: Compare<unknown>['result']): boolean {
  if (result === '=') return difference === 0;
  if (result === '!=') return difference !== 0;
  return result === '<' ? difference < 0 : difference > 0;
}
