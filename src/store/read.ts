import { rangeHas } from '../core/key-order.ts';
import { checkInteger } from '../types/check-integer.ts';
import { IdentityChangedError } from '../types/errors.ts';
import type { GetOptions, RangeRequest, RangeResult } from '../types/requests.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import { shown } from '../types/shown.ts';
import { checkMembers, checkOptions, GET_NAMES, REQUEST_NAMES } from './checks.ts';
import type { Mvcc } from './mvcc.ts';
import { type PreparedSelection, prepareSelection, select } from './selection.ts';
import { bytesOf } from './values.ts';

/**
 * The state of one key. Throws TypeError and RangeError for a bad request, `CompactedError` and `FutureRevisionError`,
 * `ValueError` for a value that the codec cannot read, and for a bad key what `KeySpace.text` throws.
 */
export function get<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  key: K,
  options: GetOptions,
  data: ReadData,
): KeyValue<V, K> | undefined {
  checkOptions(options, GET_NAMES, 'get a key');
  const text = mvcc.keys.text(key, 'get a key');
  data.checkCoversKey(text, 'get a key');
  const slot = mvcc.state.slotOf(text, mvcc.window.readable(options.revision, 'get a key'));
  return slot < 0 ? undefined : mvcc.kv(slot);
}

/** Which data set it is. */
interface DataSet {
  readonly identity: string;
  readonly epoch: number;
}

/** The data that are read: a `continue` may be about others, a range may be about more than is there. */
export interface ReadData extends DataSet {
  /** Throw `NotCachedError`. */
  checkCovers(range: ResolvedRange, action: string): void;
  checkCoversKey(text: string, action: string): void;
}

/**
 * Keys of a range in unsigned byte order, a page at a time if `limit` is given. With `continue`, `count` is that of the
 * rest. Throws TypeError and RangeError for a bad request, `CompactedError` and `FutureRevisionError`, `ValueError` for a
 * value that the codec cannot read, and `IdentityChangedError` for a `continue` of other data.
 */
export function range<V, K extends Key>(mvcc: Mvcc<V, K>, request: RangeRequest<K>, data: ReadData): RangeResult<V, K> {
  const action = 'range over keys';
  // First: a range whose name is misspelt is told by that name.
  checkMembers(request, REQUEST_NAMES, action, 'the range is not an object', 'option');
  let resolved = mvcc.resolve(request, action);
  data.checkCovers(resolved, action);
  const selection = prepareSelection(request, action);
  let { revision = 0 } = request;
  const { continue: token } = request;
  if (token !== undefined) {
    if (!isAscending(selection)) throw new TypeError(`Cannot ${action}: continue needs rows in ascending key order`);
    const position = parseContinue(token, action);
    if (!mvcc.keys.isText(position.text)) throw new RangeError(`Cannot ${action}: the continue token is malformed`);
    if (!isOf(position, data)) throw new IdentityChangedError(action, data.epoch);
    checkInteger('the revision', revision, action);
    if (revision > 0 && revision !== position.revision) {
      throw new RangeError(
        `Cannot ${action}: the continue token is for revision ${position.revision}, not ${revision}`,
      );
    }
    revision = position.revision;
    resolved = behind(mvcc, resolved, position.text, action);
  }
  const at = mvcc.window.readable(revision, action);
  const now = mvcc.window.revision;
  if (selection.countOnly) {
    return Object.freeze({ revision: now, count: mvcc.state.count(resolved, at), kvs: Object.freeze([]), more: false });
  }
  const { slots, count, more } = selection.isPlain
    ? plainRows(mvcc, resolved, at, selection.limit)
    : selectedRows(mvcc, resolved, at, selection, action);
  const kvs: KeyValue<V, K>[] = [];
  const { length } = slots;
  for (let index = 0; index < length; index++) {
    const slot = slots[index] as number;
    kvs.push(selection.keysOnly ? mvcc.keyRow(slot) : mvcc.kv(slot));
  }
  const page = { revision: now, count, kvs: Object.freeze(kvs), more };
  if (!more || !isAscending(selection)) return Object.freeze(page);
  const last = mvcc.state.textAt(slots[slots.length - 1] as number);
  return Object.freeze({ ...page, continue: formatContinue(data, at, last) });
}

interface SelectedRows {
  readonly slots: ArrayLike<number> & Iterable<number>;
  readonly count: number;
  readonly more: boolean;
}

/** The common case: the index stops at the limit. */
function plainRows<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  range: ResolvedRange,
  at: Revision,
  limit: number,
): SelectedRows {
  const slots = mvcc.state.slots(range, at, limit);
  // A page that is not full holds all there is, which spares the second walk.
  const count = limit === 0 || slots.length < limit ? slots.length : mvcc.state.count(range, at);
  return { slots, count, more: count > slots.length };
}

/** Every row is looked at, and sorted, before the limit cuts (store:R10). */
function selectedRows<V, K extends Key>(
  mvcc: Mvcc<V, K>,
  range: ResolvedRange,
  at: Revision,
  selection: PreparedSelection,
  action: string,
): SelectedRows {
  const { state, core, values, keys } = mvcc;
  const rows = Array.from(state.slots(range, at, 0), (slot) => ({
    slot,
    createRevision: core.createRevision(slot),
    modRevision: core.modRevision(slot),
    version: core.version(slot),
  }));
  const { page, more } = select(rows, selection, ({ slot }) =>
    bytesOf(values, state.cellAt(slot), action, () => keys.key(state.textAt(slot))),
  );
  return { slots: page.map(({ slot }) => slot), count: rows.length, more };
}

function isAscending({ target, isDescending }: PreparedSelection): boolean {
  return target === 'key' && !isDescending;
}

/** The rest of a range behind one of its keys: from that key's successor, itself plus a zero byte. */
function behind<V, K extends Key>(mvcc: Mvcc<V, K>, range: ResolvedRange, text: string, action: string): ResolvedRange {
  const { bytes } = range;
  if (bytes.end === undefined) throw new RangeError(`Cannot ${action}: a single key has no next page`);
  if (!rangeHas(range, text)) throw new RangeError(`Cannot ${action}: the continue token is of another range`);
  const start = mvcc.keys.bytes(`${text}\0`);
  return { kind: 'interval', bytes: { start, end: bytes.end }, text: `${text}\0`, endText: undefined, empty: false };
}

interface Position {
  readonly epoch: number;
  readonly identity: string;
  readonly revision: Revision;
  readonly text: string;
}

/** A revision and the last key mean something in their own data only (D22): `<epoch>:<identity>:<revision>:<key>`. */
function formatContinue({ epoch, identity }: DataSet, revision: Revision, text: string): string {
  return `${epoch}:${encodeURIComponent(identity.toWellFormed())}:${revision}:${encodeURIComponent(text)}`;
}

function parseContinue(token: unknown, action: string): Position {
  if (typeof token !== 'string') {
    throw new TypeError(`Cannot ${action}: continue is ${shown(token)}, allowed is the continue token of a page`);
  }
  const match = /^(\d{1,16}):([^:]*):(\d{1,16}):(.+)$/.exec(token);
  const [, epoch, identity = '', digits, text = ''] = match ?? [];
  // NaN without a match.
  const revision = Number(digits);
  if (!Number.isSafeInteger(revision) || revision < 1) {
    throw new RangeError(`Cannot ${action}: the continue token is malformed`);
  }
  try {
    return { epoch: Number(epoch), identity: decodeURIComponent(identity), revision, text: decodeURIComponent(text) };
  } catch (error) {
    throw new RangeError(`Cannot ${action}: the continue token is malformed`, { cause: error });
  }
}

/** Data without a name may have got one since. */
function isOf(position: Position, { epoch, identity }: DataSet): boolean {
  return position.epoch === epoch && (position.identity === '' || position.identity === identity.toWellFormed());
}
