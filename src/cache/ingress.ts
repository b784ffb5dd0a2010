import { compareBytes } from '../core/key-order.ts';
import { type Change, tombstone } from '../store/commit.ts';
import { KEY_BYTES_MAX } from '../store/keyspace.ts';
import type { Mvcc } from '../store/mvcc.ts';
import type { PreparedOperation, PreparedTxn } from '../store/prepared.ts';
import type { PreparedSelection } from '../store/selection.ts';
import type {
  BackendEvent,
  BackendKeyValue,
  BackendOperationResponse,
  BackendPosition,
  BackendRangeResponse,
  BackendTxnResponse,
  BackendWatchItem,
} from '../types/backend.ts';
import { BackendError } from '../types/errors.ts';
import { isLeaseId } from '../types/lease-id.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { ReplicatedPrefixes } from './prefixes.ts';

/**
 * Where everything that a backend says comes in, and is checked before anything is made of it. A backend may be written
 * in JavaScript, and its types are a hope: a value that is text would be kept as no bytes at all, an event of an unknown
 * type would be taken for a delete.
 *
 * | from | what has to hold |
 * |---|---|
 * | every answer, `open` | `identity` is text, `revision` a revision (D8) |
 * | a row | the key has 1 to 65,535 bytes, the value is bytes, 1 <= create <= mod, version >= 1, '0' or a lease id |
 * | a list at S | rows ascend by key, each key once, inside the prefixes, mod <= S |
 * | a stream item at R | one of three types; each event a put or a delete, with the mod revision R |
 * | the answer of a transaction | `succeeded` is a boolean that can be; one response of its type for each operation, nested too |
 *
 * What does not hold is a `BackendError` that names it: the list or stream is tried again after the backoff, a write has
 * `maybeCommitted`. Events outside the prefixes are dropped: a backend may send more of a commit than was asked for.
 */

const ACTION = 'apply what the backend sent';

/** Revisions are safe integers, checked wherever they come in (D8). */
export function checkRevision(revision: unknown, what: string): asserts revision is Revision {
  if (!Number.isSafeInteger(revision) || (revision as number) < 0) {
    throw refusal(`${what} is ${text(revision)}, not a safe integer from 0 on`);
  }
}

export function checkPosition(answer: unknown): asserts answer is BackendPosition {
  checkObject(answer, 'an answer');
  const { identity, revision } = answer as Partial<BackendPosition>;
  if (typeof identity !== 'string') throw refusal(`the identity is ${text(identity)}, not a string`);
  checkRevision(revision, 'a revision');
}

/** The rows of a list as puts, in key order. */
export function rowsOf<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  prefixes: ReplicatedPrefixes,
  list: BackendRangeResponse,
): Change[] {
  const { kvs, revision } = list;
  if (!Array.isArray(kvs)) throw refusal('a list has no array of rows');
  const rows: Change[] = [];
  let last: Uint8Array | undefined;
  for (const kv of kvs as readonly BackendKeyValue[]) {
    const row = putOf(mvcc, kv);
    if (kv.modRevision > revision)
      throw refusal(`a row of a list at ${revision} has the mod revision ${kv.modRevision}`);
    if (!prefixes.has(row.text)) throw refusal('a row of a list is outside the prefixes that were asked for');
    if (last !== undefined && compareBytes(last, kv.key) >= 0) {
      throw refusal('the rows of a list do not ascend by the bytes of their keys, each key once');
    }
    last = kv.key;
    rows.push(row);
  }
  return rows;
}

/** The answer to a question about rows, where their number counts; the rows are checked when they are read. */
export function checkRange({ count, kvs }: Pick<BackendRangeResponse, 'count' | 'kvs'>): void {
  checkRevision(count, 'the count of a range');
  if (!Array.isArray(kvs)) throw refusal('a range was answered without an array of rows');
  if (kvs.length > count) throw refusal(`a range of ${count} keys was answered by ${kvs.length} rows`);
}

export function checkItem(item: unknown): asserts item is BackendWatchItem {
  checkObject(item, 'an item of a stream');
  const { type, revision } = item as { type?: unknown; revision?: unknown };
  if (type === 'open') return checkPosition(item);
  if (type !== 'change' && type !== 'progress') {
    throw refusal(`an item of a stream has the type ${text(type)}, allowed are open, change and progress`);
  }
  checkRevision(revision, 'a revision');
  const { events } = item as { events?: unknown };
  if (type === 'change' && !Array.isArray(events)) throw refusal(`the change at ${revision} has no array of events`);
}

/** The events of a change in the prefixes, in their order. */
export function changesOf<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  prefixes: ReplicatedPrefixes,
  item: Extract<BackendWatchItem, { type: 'change' }>,
): Change[] {
  const changes = item.events.map((event) => changeOf(mvcc, event, item.revision));
  return changes.filter(({ text: key }) => prefixes.has(key));
}

/**
 * Checks what a backend answered to a transaction, nested ones too; the rows in it are checked by {@link checkRow} when they
 * are read.
 */
export function checkTxnAnswer(answer: Pick<BackendTxnResponse, 'succeeded' | 'responses'>, txn: PreparedTxn): void {
  const { succeeded, responses } = answer as Partial<BackendTxnResponse>;
  if (typeof succeeded !== 'boolean') throw refusal(`succeeded is ${text(succeeded)}, not a boolean`);
  if (!succeeded && txn.compare.length === 0) throw refusal('a transaction without compares did not succeed');
  if (!Array.isArray(responses)) throw refusal('a transaction was answered without an array of responses');
  const operations = succeeded ? txn.then : txn.else;
  if (responses.length !== operations.length) {
    throw refusal(`${operations.length} operations were answered by ${responses.length} responses`);
  }
  for (const [index, operation] of operations.entries()) checkResponse(responses[index], operation);
}

/** A row as a backend told it. `keysOnly`: the value was not asked for and is not looked at. */
export function checkRow(row: unknown, keysOnly = false): asserts row is BackendKeyValue {
  checkObject(row, 'a row');
  const { key, value, createRevision, modRevision, version, lease } = row as Partial<BackendKeyValue>;
  checkKey(key);
  if (!keysOnly && !(value instanceof Uint8Array)) throw refusal(`a value is ${text(value)}, not a Uint8Array`);
  checkRevision(createRevision, 'a create revision');
  checkRevision(modRevision, 'a mod revision');
  checkRevision(version, 'a version');
  if (createRevision < 1 || createRevision > modRevision) {
    throw refusal(`a row was created at ${createRevision} and modified at ${modRevision}`);
  }
  if (version < 1) throw refusal(`a row has the version ${version}, not 1 or above`);
  if (lease !== '0' && !isLeaseId(lease)) {
    throw refusal(`a lease id is ${text(lease)}, neither '0' nor a decimal string of 64 bits`);
  }
}

function putOf<V, K extends Key>(mvcc: Mvcc<V, K>, kv: BackendKeyValue): Change {
  checkRow(kv);
  const { createRevision, modRevision, version, lease } = kv;
  const key = mvcc.keys.textOfBytes(kv.key, ACTION);
  return {
    text: key,
    type: 'put',
    cell: mvcc.values.admitBytes(kv.value),
    createRevision,
    modRevision,
    version,
    lease,
  };
}

function changeOf<V, K extends Key>(mvcc: Mvcc<V, K>, event: BackendEvent, revision: Revision): Change {
  checkObject(event, 'an event');
  const { type } = event;
  if (type !== 'put' && type !== 'delete') {
    throw refusal(`an event has the type ${text(type)}, allowed are put and delete`);
  }
  const change = type === 'put' ? putOf(mvcc, event.kv) : tombstoneOf(mvcc, event);
  if (change.modRevision !== revision) {
    throw refusal(`an event of the change at ${revision} has the mod revision ${text(change.modRevision)}`);
  }
  return change;
}

function tombstoneOf<V, K extends Key>(mvcc: Mvcc<V, K>, event: Extract<BackendEvent, { type: 'delete' }>): Change {
  checkKey(event.key);
  return tombstone(mvcc.keys.textOfBytes(event.key, ACTION), event.modRevision);
}

function checkResponse(response: unknown, operation: PreparedOperation): void {
  checkObject(response, 'a response');
  const { type } = response as BackendOperationResponse;
  if (type !== operation.type) throw refusal(`a ${operation.type} was answered by the type ${text(type)}`);
  if (operation.type === 'put') return;
  if (operation.type === 'txn') {
    checkTxnAnswer(response as Extract<BackendOperationResponse, { type: 'txn' }>, operation);
    return;
  }
  if (operation.type === 'range') {
    checkRangeResponse(response as Record<string, unknown>, operation.selection);
    return;
  }
  const { deleted, prevKvs } = response as Record<string, unknown>;
  checkRevision(deleted, 'the number of deleted keys');
  if (!operation.prevKv) return;
  const told = Array.isArray(prevKvs) ? prevKvs.length : 0;
  if (told !== deleted) throw refusal(`${deleted} keys were deleted, the states before of ${told} were told`);
}

function checkRangeResponse(response: Record<string, unknown>, { limit, countOnly }: PreparedSelection): void {
  checkRange(response as unknown as BackendRangeResponse);
  const { kvs, more } = response as unknown as { readonly kvs: readonly unknown[]; readonly more?: unknown };
  if (limit > 0 && !countOnly && kvs.length > limit) {
    throw refusal(`a range with the limit ${limit} was answered by ${kvs.length} rows`);
  }
  if (more !== undefined && typeof more !== 'boolean') throw refusal(`more is ${text(more)}, not a boolean`);
}

export function checkKey(key: unknown): asserts key is Uint8Array {
  if (!(key instanceof Uint8Array)) throw refusal(`a key is ${text(key)}, not a Uint8Array`);
  if (key.length === 0) throw refusal('a key is empty');
  if (key.length > KEY_BYTES_MAX) throw refusal(`a key has ${key.length} bytes, the most are ${KEY_BYTES_MAX}`);
}

export function checkObject(part: unknown, what: string): asserts part is object {
  if (typeof part !== 'object' || part === null) throw refusal(`${what} is ${text(part)}, not an object`);
}

export function refusal(reason: string): BackendError {
  return new BackendError(ACTION, reason);
}

/** A wrong thing in a few words: nothing of it can be long, and nothing of it is run. */
export function text(wrong: unknown): string {
  if (typeof wrong === 'string') return JSON.stringify(wrong.length > 40 ? `${wrong.slice(0, 40)}…` : wrong);
  if (typeof wrong === 'object' && wrong !== null) return Array.isArray(wrong) ? 'an array' : 'an object';
  return typeof wrong === 'function' ? 'a function' : String(wrong);
}
