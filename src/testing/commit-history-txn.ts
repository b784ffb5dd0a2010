import { byteRangeHas, byteText, compareBytes } from '../core/key-order.ts';
import type {
  BackendCompare,
  BackendEvent,
  BackendKeyValue,
  BackendOperation,
  BackendOperationResponse,
  BackendPutOperation,
  BackendRangeOperation,
  BackendTxnRequest,
  ByteRange,
} from '../types/backend.ts';
import { DuplicateKeyError, KeyNotFoundError } from '../types/errors.ts';
import type { Revision } from '../types/revision.ts';

/** Live keys by the text of their bytes. */
export type HistoryState = ReadonlyMap<string, BackendKeyValue>;

type Answer = Extract<BackendOperationResponse, { type: 'txn' }>;
type Branches = Omit<BackendTxnRequest, 'signal'>;

/** One transaction on a naive state: what it answers, and the events it would be. Nothing of the state given changes. */
export class HistoryTxn {
  readonly events: BackendEvent[] = [];
  readonly #before: HistoryState;
  readonly #state: Map<string, BackendKeyValue>;
  readonly #revision: Revision;
  readonly #rowsAt: (revision: Revision) => readonly BackendKeyValue[];

  constructor(before: HistoryState, revision: Revision, rowsAt: (revision: Revision) => readonly BackendKeyValue[]) {
    this.#before = before;
    this.#state = new Map(before);
    this.#revision = revision;
    this.#rowsAt = rowsAt;
  }

  run(request: Branches): Answer {
    checkDuplicates(request.then);
    checkDuplicates(request.else);
    return this.#branch(request);
  }

  operate(operation: BackendOperation): BackendOperationResponse {
    switch (operation.type) {
      case 'put':
        return this.#put(operation);
      case 'delete': {
        const rows = rowsIn(this.#state.values(), operation.range);
        for (const { key } of rows) {
          this.#state.delete(byteText(key));
          this.events.push({ type: 'delete', key, modRevision: this.#revision });
        }
        return { type: 'delete', deleted: rows.length, prevKvs: rows };
      }
      case 'range':
        return this.#range(operation);
      case 'txn':
        return this.#branch(operation);
    }
  }

  #branch(request: Branches): Answer {
    const succeeded = request.compare.every((compare) => holds(compare, this.#before));
    const responses = (succeeded ? request.then : request.else).map((operation) => this.operate(operation));
    return { type: 'txn', succeeded, responses };
  }

  #put(operation: BackendPutOperation): BackendOperationResponse {
    const text = byteText(operation.key);
    const prevKv = this.#state.get(text);
    const { ignoreValue = false, ignoreLease = false, lease = '0' } = operation;
    if ((ignoreValue || ignoreLease) && !this.#before.has(text)) {
      throw new KeyNotFoundError('run a transaction', operation.key);
    }
    const kv: BackendKeyValue = {
      key: operation.key.slice(),
      value: ignoreValue && prevKv !== undefined ? prevKv.value : operation.value.slice(),
      createRevision: prevKv?.createRevision ?? this.#revision,
      modRevision: this.#revision,
      version: (prevKv?.version ?? 0) + 1,
      lease: ignoreLease && prevKv !== undefined ? prevKv.lease : lease,
    };
    this.#state.set(text, kv);
    this.events.push({ type: 'put', kv });
    return prevKv === undefined ? { type: 'put' } : { type: 'put', prevKv };
  }

  #range(operation: BackendRangeOperation): BackendOperationResponse {
    const { revision = 0, limit = 0, countOnly, keysOnly, sortTarget = 'key', sortOrder } = operation;
    const { minModRevision = 0, minCreateRevision = 0 } = operation;
    const maxModRevision = operation.maxModRevision || Number.POSITIVE_INFINITY;
    const maxCreateRevision = operation.maxCreateRevision || Number.POSITIVE_INFINITY;
    const rows = rowsIn(revision > 0 ? this.#rowsAt(revision) : this.#state.values(), operation.range);
    const count = rows.length;
    if (countOnly === true) return { type: 'range', count, kvs: [], more: false };
    const compare = (a: BackendKeyValue, b: BackendKeyValue) => compareRows(a, b, sortTarget);
    const chosen = rows
      .filter(({ modRevision }) => modRevision >= minModRevision && modRevision <= maxModRevision)
      .filter(({ createRevision }) => createRevision >= minCreateRevision && createRevision <= maxCreateRevision)
      .sort(sortOrder === 'descend' ? (a, b) => compare(b, a) : compare);
    const page = limit > 0 ? chosen.slice(0, limit) : chosen;
    const kvs = keysOnly === true ? page.map((row) => ({ ...row, value: new Uint8Array(0) })) : page;
    return { type: 'range', count, kvs, more: page.length < chosen.length };
  }
}

/** A state with the events of one commit behind it. */
export function stateAfter(state: HistoryState, events: readonly BackendEvent[]): HistoryState {
  const after = new Map(state);
  for (const event of events) {
    if (event.type === 'put') after.set(byteText(event.kv.key), event.kv);
    else after.delete(byteText(event.key));
  }
  return after;
}

function rowsIn(rows: Iterable<BackendKeyValue>, range: ByteRange): BackendKeyValue[] {
  return [...rows].filter(({ key }) => byteRangeHas(range, key)).sort((a, b) => compareBytes(a.key, b.key));
}

function compareRows(
  a: BackendKeyValue,
  b: BackendKeyValue,
  target: NonNullable<BackendRangeOperation['sortTarget']>,
): number {
  switch (target) {
    case 'key':
      return compareBytes(a.key, b.key);
    case 'value':
      return compareBytes(a.value, b.value);
    case 'version':
      return a.version - b.version;
    case 'create':
      return a.createRevision - b.createRevision;
    case 'mod':
      return a.modRevision - b.modRevision;
  }
}

/** Puts and deleted ranges of a branch, nested ones included; throws for a key that would be written twice (store:R20). */
function checkDuplicates(operations: readonly BackendOperation[]): { puts: Set<string>; deletes: ByteRange[] } {
  const puts = new Map<string, Uint8Array>();
  const deletes = operations.flatMap((one) => (one.type === 'delete' ? [one.range] : []));
  const add = (key: Uint8Array) => {
    const text = byteText(key);
    if (puts.has(text) || deletes.some((range) => byteRangeHas(range, key))) {
      throw new DuplicateKeyError('run a transaction', key);
    }
    puts.set(text, key);
  };
  for (const one of operations) {
    if (one.type !== 'txn') continue;
    const branches = [checkDuplicates(one.then), checkDuplicates(one.else)];
    for (const text of new Set(branches.flatMap((branch) => [...branch.puts]))) {
      add(Uint8Array.from(text, (character) => character.charCodeAt(0)));
    }
    deletes.push(...branches.flatMap((branch) => branch.deletes));
  }
  for (const one of operations) if (one.type === 'put') add(one.key);
  return { puts: new Set(puts.keys()), deletes };
}

/** For every key of a range; without any, as for a missing key (store:R18). */
function holds(compare: BackendCompare, state: HistoryState): boolean {
  if (compare.range === undefined) return holdsFor(compare, state.get(byteText(compare.key)));
  const rows = rowsIn(state.values(), compare.range);
  return rows.length === 0 ? holdsFor(compare, undefined) : rows.every((row) => holdsFor(compare, row));
}

/** A missing key counts as 0; its value satisfies nothing (store:R17). */
function holdsFor({ target, value, result }: BackendCompare, kv: BackendKeyValue | undefined): boolean {
  if (target === 'value') {
    return kv !== undefined && value instanceof Uint8Array && outcome(compareBytes(kv.value, value), result);
  }
  if (target === 'lease') {
    const [actual, expected] = [BigInt(kv?.lease ?? 0), BigInt(String(value))];
    return outcome(Number(actual > expected) - Number(actual < expected), result);
  }
  const found = { create: kv?.createRevision, mod: kv?.modRevision, version: kv?.version };
  return outcome((found[target] ?? 0) - Number(value), result);
}

function outcome(difference: number, result: BackendCompare['result']): boolean {
  if (result === '=') return difference === 0;
  if (result === '!=') return difference !== 0;
  return result === '<' ? difference < 0 : difference > 0;
}
