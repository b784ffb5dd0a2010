import { rangeHas } from '../core/key-order.ts';
import { IdentityChangedError } from '../types/errors.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { GetOptions, RangeRequest, RangeResult } from '../types/store.ts';
import { checkOptions, GET_NAMES, REQUEST_NAMES } from './checks.ts';
import type { Mvcc } from './mvcc.ts';

/** The state of one key. Throws `CompactedError`, `FutureRevisionError`, and for a bad key what `KeySpace.text` throws. */
export function get<V, K extends Key>(mvcc: Mvcc<V, K>, key: K, options: GetOptions): KeyValue<V, K> | undefined {
  checkOptions(options, GET_NAMES, 'get a key');
  const text = mvcc.keys.text(key, 'get a key');
  const slot = mvcc.slotOf(text, mvcc.window.readable(options.revision, 'get a key'));
  return slot < 0 ? undefined : mvcc.kv(slot);
}

/** The data that are read, for a `continue` that may be about others. */
export interface ReadData {
  readonly identity: string;
  readonly epoch: number;
}

/**
 * Keys of a range in unsigned byte order, a page at a time if `limit` is given. With `continue`, `count` is that of the
 * rest. Throws TypeError and RangeError for a bad request, `CompactedError` and `FutureRevisionError`, and
 * `IdentityChangedError` for a `continue` of other data.
 */
export function range<V, K extends Key>(mvcc: Mvcc<V, K>, request: RangeRequest<K>, data: ReadData): RangeResult<V, K> {
  const action = 'range over keys';
  let resolved = mvcc.resolve(request, action);
  checkOptions(request, REQUEST_NAMES, action);
  const limit = checkLimit(request.limit, action);
  let { revision } = request;
  if (request.continue !== undefined) {
    const position = parseContinue(request.continue, action);
    if (!isOf(position, data)) throw new IdentityChangedError(action, data.epoch);
    if (revision !== undefined && !(revision <= 0) && revision !== position.revision) {
      throw new RangeError(
        `Cannot ${action}: the continue token is for revision ${position.revision}, not ${revision}`,
      );
    }
    revision = position.revision;
    resolved = behind(mvcc, resolved, position.text, action);
  }
  const at = mvcc.window.readable(revision, action);
  const now = mvcc.window.revision;
  if (request.countOnly === true) {
    return Object.freeze({ revision: now, count: mvcc.count(resolved, at), kvs: Object.freeze([]), more: false });
  }
  // Copied: making rows calls the core, which reuses the view.
  const slots = mvcc.slots(resolved, at, limit).slice();
  // A page that is not full holds all there is, which spares the second walk.
  const count = limit === 0 || slots.length < limit ? slots.length : mvcc.count(resolved, at);
  const kvs: KeyValue<V, K>[] = [];
  for (const slot of slots) kvs.push(mvcc.kv(slot, request.keysOnly === true));
  const page = { revision: now, count, kvs: Object.freeze(kvs), more: count > slots.length };
  if (!page.more) return Object.freeze(page);
  const last = mvcc.textAt(slots[slots.length - 1] as number);
  return Object.freeze({ ...page, continue: formatContinue(data, at, last) });
}

/** 0 and below are "no limit" (store:C07). Throws RangeError for what is no safe integer. */
export function checkLimit(limit: number | undefined, action: string): number {
  if (limit === undefined) return 0;
  if (!Number.isSafeInteger(limit)) throw new RangeError(`Cannot ${action}: the limit is not a safe integer`);
  return Math.min(Math.max(limit, 0), 0x7fffffff);
}

/** The rest of a range behind one of its keys: from that key's successor, itself plus a zero byte. */
function behind<V, K extends Key>(mvcc: Mvcc<V, K>, range: ResolvedRange, text: string, action: string): ResolvedRange {
  const { bytes } = range;
  if (bytes.end === undefined) throw new RangeError(`Cannot ${action}: a single key has no next page`);
  if (!rangeHas(range, text)) throw new RangeError(`Cannot ${action}: the continue token is of another range`);
  const start = mvcc.keys.bytes(`${text}\0`);
  return { kind: 'interval', bytes: { start, end: bytes.end }, text: `${text}\0`, endText: undefined, empty: false };
}

interface Position extends ReadData {
  readonly revision: Revision;
  readonly text: string;
}

/** A revision and the last key mean something in their own data only (D22): `<epoch>:<identity>:<revision>:<key>`. */
function formatContinue({ epoch, identity }: ReadData, revision: Revision, text: string): string {
  return `${epoch}:${encodeURIComponent(identity.toWellFormed())}:${revision}:${encodeURIComponent(text)}`;
}

function parseContinue(token: string, action: string): Position {
  const match = typeof token === 'string' ? /^(\d{1,16}):([^:]*):(\d{1,16}):(.+)$/.exec(token) : null;
  const revision = Number(match?.[3]);
  if (match === null || !Number.isSafeInteger(revision) || revision < 1) {
    throw new RangeError(`Cannot ${action}: the continue token is malformed`);
  }
  const [, epoch, identity = '', , text = ''] = match;
  try {
    return { epoch: Number(epoch), identity: decodeURIComponent(identity), revision, text: decodeURIComponent(text) };
  } catch (error) {
    throw new RangeError(`Cannot ${action}: the continue token is malformed`, { cause: error });
  }
}

/** Data without a name may have got one since. */
function isOf(position: Position, { epoch, identity }: ReadData): boolean {
  return position.epoch === epoch && (position.identity === '' || position.identity === identity.toWellFormed());
}
