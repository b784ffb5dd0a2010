import { compareBytes, compareKeyText, rangeHas } from '../core/key-order.ts';
import { DuplicateKeyError, LimitExceededError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { Compare, Operation, OperationResult, TxnRequest } from '../types/store.ts';
import type { Change } from './commit.ts';
import type { Mvcc } from './mvcc.ts';
import { checkLimit } from './read.ts';

/** Most compares, and most operations of a branch, in one transaction (store:R21). */
export const TXN_OPERATIONS_MAX = 128;

const ACTION = 'run a transaction';

/** A transaction checked and encoded: nothing in it can fail any more, but for memory. */
export interface PreparedTxn {
  readonly compare: readonly PreparedCompare[];
  readonly then: readonly PreparedOperation[];
  readonly else: readonly PreparedOperation[];
}

interface PreparedCompare {
  readonly text: string;
  readonly target: Compare<unknown>['target'];
  readonly result: Compare<unknown>['result'];
  readonly value: number | string | Uint8Array;
}

export type PreparedOperation =
  | { readonly type: 'put'; readonly text: string; readonly cell: unknown; readonly prevKv: boolean }
  | { readonly type: 'delete'; readonly range: ResolvedRange; readonly prevKv: boolean }
  | {
      readonly type: 'range';
      readonly range: ResolvedRange;
      readonly limit: number;
      readonly keysOnly: boolean;
      readonly countOnly: boolean;
    };

/**
 * Checks a transaction and admits its values, before anything happens. Throws TypeError, RangeError, `InvalidKeyError`,
 * `LimitExceededError`, `DuplicateKeyError`, `ValueError`, and what a codec throws.
 */
export function prepareTxn<V, K extends Key>(mvcc: Mvcc<V, K>, request: TxnRequest<V, K>): PreparedTxn {
  if (typeof request !== 'object' || request === null) throw new TypeError(`Cannot ${ACTION}: it is not an object`);
  const { compare = [], then = [], else: otherwise = [] } = request;
  for (const [name, list] of Object.entries({ compare, then, else: otherwise })) {
    if (!Array.isArray(list)) throw new TypeError(`Cannot ${ACTION}: ${name} is not an array`);
  }
  const sizes = [compare.length, then.length, otherwise.length];
  if (Math.max(...sizes) > TXN_OPERATIONS_MAX) {
    throw new LimitExceededError(ACTION, {
      limit: 'txnOperationsMax',
      max: TXN_OPERATIONS_MAX,
      actual: Math.max(...sizes),
    });
  }
  return {
    compare: compare.map((one) => prepareCompare(mvcc, one)),
    then: prepareBranch(mvcc, then),
    else: prepareBranch(mvcc, otherwise),
  };
}

/** Compares are a conjunction over the state before the transaction; none at all is true (store:R19). */
export function compareHolds<V, K extends Key>(mvcc: Mvcc<V, K>, txn: PreparedTxn): boolean {
  return txn.compare.every((one) => holds(mvcc, one));
}

/**
 * Runs one branch: what it answers and the changes it makes, in order, all at `revision`. Ranges see the branch's own
 * earlier writes (store:R20). Publishes nothing.
 */
export function runBranch<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operations: readonly PreparedOperation[],
  revision: Revision,
): { responses: OperationResult<V, K>[]; changes: Change[] } {
  const branch = new Branch(mvcc, revision);
  const responses = operations.map((operation): OperationResult<V, K> => {
    if (operation.type === 'put') return branch.put(operation.text, operation.cell, operation.prevKv);
    if (operation.type === 'delete') return branch.delete(operation.range, operation.prevKv);
    return branch.range(operation.range, operation.limit, operation.keysOnly, operation.countOnly);
  });
  return { responses, changes: branch.changes };
}

/** The state a branch sees: the store's newest, with the branch's own changes laid over it. */
class Branch<V, K extends Key> {
  readonly changes: Change[] = [];
  readonly #mvcc: Mvcc<V, K>;
  readonly #revision: Revision;
  /** Newest change by key text. */
  readonly #overlay = new Map<string, Change>();

  constructor(mvcc: Mvcc<V, K>, revision: Revision) {
    this.#mvcc = mvcc;
    this.#revision = revision;
  }

  put(text: string, cell: unknown, wantsPrevKv: boolean): OperationResult<V, K> {
    const previous = this.#live(text);
    this.#change({
      text,
      type: 'put',
      cell,
      createRevision: previous?.createRevision ?? this.#revision,
      modRevision: this.#revision,
      version: (previous?.version ?? 0) + 1,
      lease: '0',
    });
    return wantsPrevKv && previous !== undefined ? { type: 'put', prevKv: this.#kv(previous) } : { type: 'put' };
  }

  delete(range: ResolvedRange, wantsPrevKv: boolean): OperationResult<V, K> {
    const rows = this.#rows(range);
    for (const { text } of rows) this.#change(tombstone(text, this.#revision));
    const deleted = rows.length;
    if (!wantsPrevKv) return { type: 'delete', deleted };
    return { type: 'delete', deleted, prevKvs: rows.map((row) => this.#kv(row)) };
  }

  range(range: ResolvedRange, limit: number, keysOnly: boolean, countOnly: boolean): OperationResult<V, K> {
    const rows = this.#rows(range);
    const count = rows.length;
    if (countOnly) return { type: 'range', kvs: [], count, more: false };
    const page = limit > 0 ? rows.slice(0, limit) : rows;
    return { type: 'range', kvs: page.map((row) => this.#kv(row, keysOnly)), count, more: page.length < count };
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
    const rows = stored.filter((row) => !this.#overlay.has(row.text));
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

  #kv(row: Change, keysOnly = false): KeyValue<V, K> {
    const { createRevision, modRevision, version, lease } = row;
    const head = { key: this.#mvcc.keys.key(row.text), createRevision, modRevision, version, lease };
    if (keysOnly) return Object.freeze(head) as KeyValue<V, K>;
    return Object.freeze({ ...head, value: this.#mvcc.values.read(row.cell) });
  }
}

/** The change that a delete makes: key and revision, nothing else (store:R5). */
export function tombstone(text: string, revision: Revision): Change {
  return { text, type: 'delete', cell: undefined, createRevision: 0, modRevision: revision, version: 0, lease: '0' };
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

function prepareCompare<V, K extends Key>(mvcc: Mvcc<V, K>, compare: Compare<V, K>): PreparedCompare {
  checkObject(compare, 'a compare');
  const { target, result } = compare;
  const text = mvcc.keys.text(compare.key, ACTION);
  if (!['=', '!=', '<', '>'].includes(result)) {
    throw new TypeError(`Cannot ${ACTION}: compare.result is ${String(result)}, allowed are =, !=, < and >`);
  }
  switch (compare.target) {
    case 'value':
      return { text, target, result, value: mvcc.values.bytes(mvcc.values.admit(compare.value, ACTION)) };
    case 'lease':
      if (typeof compare.value !== 'string' || !/^\d{1,19}$/.test(compare.value)) {
        throw new TypeError(`Cannot ${ACTION}: compare.value is not a decimal lease id`);
      }
      return { text, target, result, value: compare.value };
    case 'create':
    case 'mod':
    case 'version':
      if (!Number.isSafeInteger(compare.value)) {
        throw new RangeError(`Cannot ${ACTION}: compare.value is not a safe integer`);
      }
      return { text, target, result, value: compare.value };
    default:
      throw new TypeError(`Cannot ${ACTION}: compare.target is ${String(target)}`);
  }
}

function prepareBranch<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  operations: readonly Operation<V, K>[],
): PreparedOperation[] {
  const prepared = operations.map((operation) => prepareOperation(mvcc, operation));
  checkDuplicates(mvcc, prepared);
  return prepared;
}

function prepareOperation<V, K extends Key>(mvcc: Mvcc<V, K>, operation: Operation<V, K>): PreparedOperation {
  checkObject(operation, 'an operation');
  switch (operation.type) {
    case 'put': {
      const text = mvcc.keys.text(operation.key, ACTION);
      return { type: 'put', text, cell: mvcc.values.admit(operation.value, ACTION), prevKv: operation.prevKv === true };
    }
    case 'delete':
      return { type: 'delete', range: mvcc.resolve(operation, ACTION), prevKv: operation.prevKv === true };
    case 'range':
      return {
        type: 'range',
        range: mvcc.resolve(operation, ACTION),
        limit: checkLimit(operation.limit, ACTION),
        keysOnly: operation.keysOnly === true,
        countOnly: operation.countOnly === true,
      };
    default:
      throw new TypeError(`Cannot ${ACTION}: an operation has the type ${String((operation as Operation<V>).type)}`);
  }
}

function checkObject(part: unknown, name: string): void {
  if (typeof part !== 'object' || part === null) throw new TypeError(`Cannot ${ACTION}: ${name} is not an object`);
}

/** One branch may not write a key twice: two puts, or a put of a key that a delete of the same branch covers (store:R20). */
function checkDuplicates<V, K extends Key>(mvcc: Mvcc<V, K>, operations: readonly PreparedOperation[]): void {
  const puts = new Set<string>();
  for (const operation of operations) {
    if (operation.type !== 'put') continue;
    if (puts.has(operation.text)) throw new DuplicateKeyError(ACTION, mvcc.keys.key(operation.text));
    puts.add(operation.text);
  }
  for (const operation of operations) {
    if (operation.type !== 'delete' || operation.range.empty) continue;
    for (const text of puts) {
      if (rangeHas(operation.range, text)) throw new DuplicateKeyError(ACTION, mvcc.keys.key(text));
    }
  }
}
