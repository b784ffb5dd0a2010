import type { Codec } from '../types/codec.ts';
import {
  CompactedError,
  ConflictError,
  DuplicateKeyError,
  FutureRevisionError,
  InvalidKeyError,
  LimitExceededError,
} from '../types/errors.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type {
  CompactResult,
  Compare,
  DeleteOptions,
  DeleteResult,
  GetOptions,
  Operation,
  OperationResult,
  PutOptions,
  PutResult,
  RangeRequest,
  RangeResult,
  TxnRequest,
  TxnResult,
  WatchOptions,
} from '../types/store.ts';
import { type ModelEvent, type ModelHistory, type ModelWatch, ReferenceWatch } from './model-watch.ts';

export type { ModelWatch } from './model-watch.ts';

export interface ReferenceModelOptions<V = unknown> {
  /** The store's codec: values are compared by their bytes. @default strings as UTF-8, bytes, else JSON text */
  readonly codec?: Codec<V>;
  readonly retention?: { readonly events?: number };
}

/**
 * An embedded store as a specification would write it: the whole state is kept once per revision, every question is a
 * scan, nothing is ever forgotten. Slow, synchronous, and short enough to be checked by reading. Answers and errors
 * are those of {@link Store}, but that tokens of `continue` are its own and messages may differ.
 */
export interface ReferenceModel<V, K extends Key = string> {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  get(key: K, options?: GetOptions): KeyValue<V, K> | undefined;
  range(request: RangeRequest<K>): RangeResult<V, K>;
  put(key: K, value: V, options?: PutOptions): PutResult<V, K>;
  delete(range: K | KeyRange<K>, options?: DeleteOptions): DeleteResult<V, K>;
  txn(request: TxnRequest<V, K>): TxnResult<V, K>;
  compact(revision: Revision): CompactResult;
  watch(range: KeyRange<K>, options?: WatchOptions): ModelWatch<V, K>;
}

/**
 * Makes a {@link ReferenceModel} for tests that compare: run the same operations on a store and on the model.
 *
 * @example
 * ```ts
 * import { createReferenceModel } from 'plimsoll/testing';
 *
 * const model = createReferenceModel<string>();
 * model.put('a', 'x'); // { revision: 2 }
 * model.range({ prefix: '' }).count; // 1
 * ```
 */
export function createReferenceModel<V = unknown, K extends Key = string>(
  options: ReferenceModelOptions<V> = {},
): ReferenceModel<V, K> {
  const { codec } = options;
  const encode = codec === undefined ? valueBytes : (value: V) => codec.encode(value);
  return new Model<V, K>(options.retention?.events ?? 10_000, encode);
}

type State<V, K extends Key> = ReadonlyMap<string, KeyValue<V, K>>;
type Predicate = (id: string) => boolean;

const OPERATIONS_MAX = 128;

class Model<V, K extends Key> implements ReferenceModel<V, K>, ModelHistory<V, K> {
  revision: Revision = 1;
  readonly commits = new Map<Revision, readonly ModelEvent<V, K>[]>();
  /** By revision. Not bounded, and `commits` neither: for tests. */
  readonly #states: State<V, K>[] = [new Map(), new Map()];
  /** Those that are not over; the others are dropped when a new one is opened. */
  #watches: ReferenceWatch<V, K>[] = [];
  readonly #eventsMax: number;
  readonly #encode: (value: V) => Uint8Array;
  #compacted: Revision = -1;

  constructor(eventsMax: number, encode: (value: V) => Uint8Array) {
    this.#eventsMax = eventsMax;
    this.#encode = encode;
  }

  get compactRevision(): Revision {
    return Math.max(this.#compacted, 0);
  }

  stateAt(revision: Revision): State<V, K> {
    return this.#states[revision] as State<V, K>;
  }

  get(key: K, options: GetOptions = {}): KeyValue<V, K> | undefined {
    const id = keyId(key);
    return this.stateAt(this.#readable(options.revision)).get(id);
  }

  range(request: RangeRequest<K>): RangeResult<V, K> {
    const has = predicate(request);
    const limit = safeInteger(request.limit ?? 0);
    let { revision } = request;
    let behind = '';
    if (request.continue !== undefined) {
      const [at, id] = request.continue.split('/') as [string, string];
      if (revision !== undefined && revision > 0 && revision !== Number(at)) throw new RangeError('another revision');
      revision = Number(at);
      behind = id;
      if ('key' in request || !has(behind)) throw new RangeError('another range');
    }
    const at = this.#readable(revision);
    const rows = [...this.stateAt(at)].filter(([id]) => has(id) && id > behind);
    const head = { revision: this.revision, count: rows.length };
    if (request.countOnly === true) return { ...head, kvs: [], more: false };
    const page = limit > 0 ? rows.slice(0, limit) : rows;
    const kvs = page.map(([, kv]) => (request.keysOnly === true ? withoutValue(kv) : kv));
    if (page.length === rows.length) return { ...head, kvs, more: false };
    return { ...head, kvs, more: true, continue: `${at}/${page.at(-1)?.[0]}` };
  }

  put(key: K, value: V, options: PutOptions = {}): PutResult<V, K> {
    this.#expect(options.expect, key);
    const draft = this.#draft();
    const prevKv = draft.put(key, value);
    const revision = this.#commit(draft);
    return options.prevKv === true && prevKv !== undefined ? { revision, prevKv } : { revision };
  }

  delete(range: K | KeyRange<K>, options: DeleteOptions = {}): DeleteResult<V, K> {
    const isKey = typeof range === 'string' || range instanceof Uint8Array;
    const selected: KeyRange<K> = isKey ? { key: range } : range;
    const has = predicate(selected);
    if (options.expect !== undefined) {
      if (!('key' in selected)) throw new TypeError('expect needs a single key');
      this.#expect(options.expect, selected.key);
    }
    const draft = this.#draft();
    const prevKvs = draft.delete(has);
    const revision = this.#commit(draft);
    const result = { revision, deleted: prevKvs.length };
    return options.prevKv === true ? { ...result, prevKvs } : result;
  }

  txn(request: TxnRequest<V, K>): TxnResult<V, K> {
    const { compare = [], then = [], else: otherwise = [] } = request;
    const size = Math.max(compare.length, then.length, otherwise.length);
    if (size > OPERATIONS_MAX) {
      throw new LimitExceededError('run', { limit: 'txnOperationsMax', max: OPERATIONS_MAX, actual: size });
    }
    for (const one of compare) keyId(one.key);
    for (const branch of [then, otherwise]) checkBranch(branch);
    const succeeded = compare.every((one) => this.#holds(one));
    const draft = this.#draft();
    const responses = (succeeded ? then : otherwise).map((operation) => draft.run(operation));
    return { revision: this.#commit(draft), succeeded, responses };
  }

  compact(revision: Revision): CompactResult {
    if (!Number.isSafeInteger(revision) || revision < 0) throw new RangeError('a safe integer from 0 on');
    if (revision <= this.#compacted) {
      const facts = { minRevision: this.#compacted + 1, compactRevision: this.compactRevision };
      throw new CompactedError('compact', facts);
    }
    if (revision > this.revision) {
      throw new FutureRevisionError('compact', { revision, currentRevision: this.revision });
    }
    this.#raise(revision);
    return { requested: revision, compactRevision: revision };
  }

  watch(range: KeyRange<K>, options: WatchOptions = {}): ModelWatch<V, K> {
    const { fromRevision = 0 } = options;
    const has = predicate(range);
    if (!Number.isSafeInteger(fromRevision) || fromRevision < 0 || isEmpty(range)) throw new RangeError('watch');
    if (options.initial === true && options.fromRevision !== undefined) throw new TypeError('watch');
    const watch = new ReferenceWatch<V, K>(this, has, options);
    this.#watches = [...this.#watches.filter(({ isDone }) => !isDone), watch];
    return watch;
  }

  #readable(revision: Revision | undefined): Revision {
    const at = safeInteger(revision ?? 0);
    if (at <= 0) return this.revision;
    if (at > this.revision) throw new FutureRevisionError('read', { revision: at, currentRevision: this.revision });
    if (at < this.#compacted) {
      throw new CompactedError('read', { minRevision: this.#compacted, compactRevision: this.compactRevision });
    }
    return at;
  }

  #expect(expect: PutOptions['expect'], key: K): void {
    const actualRevision = this.stateAt(this.revision).get(keyId(key))?.modRevision ?? 0;
    const expectedRevision = expect?.modRevision ?? actualRevision;
    if (expectedRevision !== actualRevision)
      throw new ConflictError('write', { key, expectedRevision, actualRevision });
  }

  #holds(compare: Compare<V, K>): boolean {
    const kv = this.stateAt(this.revision).get(keyId(compare.key));
    const { target, result } = compare;
    if (target === 'value') {
      return kv !== undefined && decide(hex(this.#encode(kv.value)), hex(this.#encode(compare.value)), result);
    }
    if (target === 'lease') return decide(0, Number(compare.value), result);
    const actual = { create: kv?.createRevision, mod: kv?.modRevision, version: kv?.version }[target] ?? 0;
    return decide(actual, compare.value as number, result);
  }

  #draft(): Draft<V, K> {
    return new Draft(this.revision + 1, this.stateAt(this.revision));
  }

  /** Publishes what a draft changed, or nothing at all; then retention. */
  #commit(draft: Draft<V, K>): Revision {
    if (draft.events.length === 0) return this.revision;
    this.revision++;
    this.commits.set(this.revision, draft.events);
    this.#states.push(new Map([...draft.state].sort(([a], [b]) => (a < b ? -1 : 1))));
    this.#retain();
    return this.revision;
  }

  /** Keeps the most whole commits that hold at most so many events, and the newest one in any case (M18). */
  #retain(): void {
    let entries = 0;
    let floor = this.revision;
    for (const [commit, events] of [...this.commits].reverse()) {
      entries += events.length;
      if (entries > this.#eventsMax) {
        if (commit >= this.compactRevision && floor > this.compactRevision) this.#raise(floor);
        return;
      }
      floor = commit;
    }
  }

  #raise(floor: Revision): void {
    this.#compacted = floor;
    for (const watch of this.#watches) watch.compacted();
  }
}

/** A state in the making: that before a commit, and what the operations of the commit have done to it. */
class Draft<V, K extends Key> {
  readonly events: ModelEvent<V, K>[] = [];
  readonly state: Map<string, KeyValue<V, K>>;
  readonly #revision: Revision;

  constructor(revision: Revision, before: State<V, K>) {
    this.#revision = revision;
    this.state = new Map(before);
  }

  run(operation: Operation<V, K>): OperationResult<V, K> {
    if (operation.type === 'put') {
      const prevKv = this.put(operation.key, operation.value);
      return operation.prevKv === true && prevKv !== undefined ? { type: 'put', prevKv } : { type: 'put' };
    }
    const has = predicate(operation);
    if (operation.type === 'delete') {
      const prevKvs = this.delete(has);
      const result = { type: 'delete', deleted: prevKvs.length } as const;
      return operation.prevKv === true ? { ...result, prevKvs } : result;
    }
    const rows = this.#rows(has);
    const { limit = 0, keysOnly = false, countOnly = false } = operation;
    const count = rows.length;
    if (countOnly) return { type: 'range', kvs: [], count, more: false };
    const page = (limit > 0 ? rows.slice(0, limit) : rows).map(([, kv]) => (keysOnly ? withoutValue(kv) : kv));
    return { type: 'range', kvs: page, count, more: page.length < count };
  }

  put(key: K, value: V): KeyValue<V, K> | undefined {
    const id = keyId(key);
    const previous = this.state.get(id);
    const kv: KeyValue<V, K> = {
      key,
      value,
      createRevision: previous?.createRevision ?? this.#revision,
      modRevision: this.#revision,
      version: (previous?.version ?? 0) + 1,
      lease: '0',
    };
    this.state.set(id, kv);
    this.events.push({ id, event: { type: 'put', kv } });
    return previous;
  }

  delete(has: Predicate): KeyValue<V, K>[] {
    const rows = this.#rows(has);
    for (const [id, { key }] of rows) {
      this.state.delete(id);
      this.events.push({ id, event: { type: 'delete', kv: { key, modRevision: this.#revision } } });
    }
    return rows.map(([, kv]) => kv);
  }

  #rows(has: Predicate): [string, KeyValue<V, K>][] {
    return [...this.state].filter(([id]) => has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** A key as the hex digits of its bytes: equal order, and prefixes stay prefixes. */
function keyId<K extends Key>(key: K): string {
  if (key.length === 0) throw new InvalidKeyError('use a key', 'the key is empty', key);
  return hex(bytesOf(key));
}

function bytesOf(key: Key): Uint8Array {
  return typeof key === 'string' ? new TextEncoder().encode(key) : key;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function predicate<K extends Key>(range: KeyRange<K>): Predicate {
  if ('key' in range) {
    const wanted = keyId(range.key);
    return (id) => id === wanted;
  }
  if ('prefix' in range) {
    const prefix = hex(bytesOf(range.prefix));
    return (id) => id.startsWith(prefix);
  }
  const start = hex(bytesOf(range.start));
  const end = range.end === undefined ? undefined : hex(bytesOf(range.end));
  return (id) => id >= start && (end === undefined || id < end);
}

function isEmpty<K extends Key>(range: KeyRange<K>): boolean {
  return 'start' in range && range.end !== undefined && hex(bytesOf(range.start)) >= hex(bytesOf(range.end));
}

/** One branch may not write a key twice (store:R20). */
function checkBranch<V, K extends Key>(operations: readonly Operation<V, K>[]): void {
  const puts = new Map<string, K>();
  const deletes: Predicate[] = [];
  let twice: K | undefined;
  for (const operation of operations) {
    if (operation.type === 'put') {
      const id = keyId(operation.key);
      if (puts.has(id)) twice ??= operation.key;
      puts.set(id, operation.key);
    } else if (operation.type === 'delete') deletes.push(predicate(operation));
    else {
      predicate(operation);
      safeInteger(operation.limit ?? 0);
    }
  }
  for (const has of deletes) for (const [id, key] of puts) if (has(id)) twice ??= key;
  if (twice !== undefined) throw new DuplicateKeyError('run', twice);
}

function valueBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
}

function decide<T extends string | number>(actual: T, wanted: T, result: Compare<unknown>['result']): boolean {
  if (result === '=') return actual === wanted;
  if (result === '!=') return actual !== wanted;
  return result === '<' ? actual < wanted : actual > wanted;
}

function safeInteger(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('not a safe integer');
  return value;
}

function withoutValue<V, K extends Key>(kv: KeyValue<V, K>): KeyValue<V, K> {
  const { value: _, ...rest } = kv;
  return rest as KeyValue<V, K>;
}
