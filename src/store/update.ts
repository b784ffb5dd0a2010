import { byteText } from '../core/key-order.ts';
import { checkInteger } from '../types/check-integer.ts';
import { CompactedError, ConflictError, NotAppliedError, ValueError } from '../types/errors.ts';
import { isDetached } from '../types/is-detached.ts';
import type { LeaseAttachment } from '../types/requests.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { Compare, Operation, TxnResult } from '../types/txn.ts';
import { raceAborted } from '../types/until-aborted.ts';
import type { Isolation, UpdateOptions, UpdateResult, UpdateTxn } from '../types/update.ts';
import { checkChoice, checkMembers, checkOptions, LEASE_NAMES } from './checks.ts';
import { shaped } from './not-applied.ts';
import { checkValue, prepareLease } from './prepare-put.ts';

const ACTION = 'update';
const RETRIES_DEFAULT = 100;
const NAMES: ReadonlySet<string> = new Set<keyof UpdateOptions>(['isolation', 'retries', 'signal']);
const PUT_NAMES: ReadonlySet<string> = new Set(LEASE_NAMES);
const ISOLATIONS: readonly Isolation[] = [
  'serializable-snapshot',
  'serializable',
  'repeatable-reads',
  'read-committed',
];

/** The parts of a store that an update needs. */
type UpdatedStore<V, K extends Key> = Pick<Store<V, K>, 'revision' | 'get' | 'range' | 'txn'>;

/**
 * Runs a function on a snapshot and commits what it wrote as one transaction whose compares are what it depends on
 * (store:R50); runs it again when one does not hold. A failed compare has waited until its revision is applied (M3), so
 * that the next run sees what the last one missed.
 *
 * It ends with one of the `lifetimes` as it does with the caller's signal, whether the function ever settles or not; then
 * `checkOpen` says why. What the function comes to later is dropped.
 */
export async function runUpdate<V, K extends Key, R>(
  store: UpdatedStore<V, K>,
  fn: (txn: UpdateTxn<V, K>) => R | PromiseLike<R>,
  options: UpdateOptions,
  checkOpen: (action: string) => void,
  lifetimes: readonly AbortSignal[],
): Promise<UpdateResult<R>> {
  const signal = checkOptions(options, NAMES, ACTION);
  const ends = signal === undefined ? lifetimes : [signal, ...lifetimes];
  const { isolation = 'serializable-snapshot', retries = RETRIES_DEFAULT } = options;
  if (typeof fn !== 'function') throw new TypeError(`Cannot ${ACTION}: fn is not a function`);
  checkChoice('isolation', isolation, ACTION, ISOLATIONS);
  checkInteger('retries', retries, ACTION, 0);
  for (let attempts = 1; ; attempts++) {
    const run = new UpdateRun(store, isolation);
    let value: R;
    try {
      throwIfEnded(ends);
      const answer = fn(run);
      // Most functions answer at once: nothing to wait for, and no listener.
      const pending = pendingOf(answer);
      value = pending === undefined ? (answer as R) : await raceAborted(pending, ends);
      throwIfEnded(ends);
    } catch (error) {
      checkOpen(ACTION);
      // The snapshot went while the function ran: the next run has a newer one.
      if (!(error instanceof CompactedError) || !run.isOfRead(error) || attempts > retries) throw error;
      continue;
    } finally {
      run.end();
    }
    const shape = ({ succeeded, revision }: TxnResult<V, K>) => succeeded && { revision, value, attempts };
    const answer = store.txn(run.request(), signal === undefined ? {} : { signal });
    const result = await shaped(answer, ACTION, shape).catch((error: unknown) => {
      // A compare that did not hold has written nothing: what cut the wait short is all there is to say.
      throw error instanceof NotAppliedError && error.result === false ? error.cause : error;
    });
    if (result !== false) return result;
    if (attempts > retries) throw run.conflict();
  }
}

function throwIfEnded(ends: readonly AbortSignal[]): void {
  for (const end of ends) end.throwIfAborted();
}

/** What is to be waited for, if anything is. Its `then` is read once: a getter may give something else the next time. */
function pendingOf<R>(answer: R | PromiseLike<R>): PromiseLike<R> | undefined {
  if (answer instanceof Promise) return answer;
  const then: unknown = (answer as Partial<PromiseLike<R>> | null | undefined)?.then;
  if (typeof then !== 'function') return undefined;
  return new Promise((resolve, reject) => then.call(answer, resolve, reject));
}

/** One run of the function: what it has read, and what it wants written. */
class UpdateRun<V, K extends Key> implements UpdateTxn<V, K> {
  readonly #store: UpdatedStore<V, K>;
  readonly #isolation: Isolation;
  /** By key text. Each key is read once, so that one run sees one value of it. */
  readonly #reads = new Map<string, { readonly key: K; readonly kv: KeyValue<V, K> | undefined }>();
  readonly #writes = new Map<string, Extract<Operation<V, K>, { type: 'put' | 'delete' }> & { readonly key: K }>();
  /** The revision of the first read, at which all others are; 0 before. */
  #first: Revision = 0;
  #readError: unknown;
  #isOver = false;

  constructor(store: UpdatedStore<V, K>, isolation: Isolation) {
    this.#store = store;
    this.#isolation = isolation;
  }

  get(key: K): V | undefined {
    this.#checkRunning('get a key');
    const write = this.#writes.get(nameOf(key));
    if (write !== undefined) return write.type === 'put' ? write.value : undefined;
    return this.#read(key)?.value;
  }

  modRevision(key: K): Revision {
    this.#checkRunning('get a key');
    return this.#read(key)?.modRevision ?? 0;
  }

  put(key: K, value: V, options: Parameters<UpdateTxn<V, K>['put']>[2] = {}): void {
    const action = 'put a key';
    this.#checkRunning(action);
    checkMembers(options, PUT_NAMES, action, 'the options are not an object', 'option');
    const attachment = attachmentOf(options);
    prepareLease(attachment, action);
    checkValue(value, action);
    const write = { type: 'put', key: own(key, 'key', action), value: own(value, 'value', action) } as const;
    this.#writes.set(nameOf(key), { ...attachment, ...write });
  }

  delete(key: K): void {
    const action = 'delete a key';
    this.#checkRunning(action);
    this.#writes.set(nameOf(key), { type: 'delete', key: own(key, 'key', action) });
  }

  end(): void {
    this.#isOver = true;
  }

  /** Whether this error is what a read of this run has thrown, and not another one of its kind. */
  isOfRead(error: unknown): boolean {
    return this.#readError === error;
  }

  request(): { compare: Compare<V, K>[]; then: Operation<V, K>[] } {
    return { compare: this.#compares(), then: [...this.#writes.values()] };
  }

  /** The first key that is not as it was when this run depended on it. */
  conflict(): ConflictError {
    for (const { key, kv } of this.#reads.values()) {
      const expectedRevision = kv?.modRevision ?? 0;
      const actualRevision = this.#revisionOf(key);
      if (actualRevision !== expectedRevision) return conflictOf(key, expectedRevision, actualRevision);
    }
    const written = this.#isolation === 'serializable-snapshot' ? this.#writes.values() : [];
    for (const { key } of written) {
      const actualRevision = this.#revisionOf(key);
      if (actualRevision > this.#first) return conflictOf(key, this.#revisionAtFirst(key), actualRevision);
    }
    // What had changed is as it was again: a key that was made and deleted since.
    const [read] = this.#reads.values();
    const [{ key }] = [...this.#reads.values(), ...this.#writes.values()] as unknown as [{ readonly key: K }];
    return conflictOf(key, read?.kv?.modRevision ?? 0, this.#revisionOf(key));
  }

  /** Without its value, which may be none that the codec can read. */
  #revisionOf(key: K, revision: Revision = 0): Revision {
    return this.#store.range({ key, revision, keysOnly: true }).kvs[0]?.modRevision ?? 0;
  }

  /** The mod revision of a key at the first read; the newest that it can have been if that is compacted by now. */
  #revisionAtFirst(key: K): Revision {
    try {
      return this.#revisionOf(key, this.#first);
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      return this.#first;
    }
  }

  #compares(): Compare<V, K>[] {
    if (this.#isolation === 'read-committed') return [];
    const compares: Compare<V, K>[] = [];
    for (const { key, kv } of this.#reads.values()) {
      compares.push({ key, target: 'mod', result: '=', value: kv?.modRevision ?? 0 });
    }
    if (this.#isolation !== 'serializable-snapshot' || this.#first === 0) return compares;
    for (const [name, { key }] of this.#writes) {
      if (!this.#reads.has(name)) compares.push({ key, target: 'mod', result: '<', value: this.#first + 1 });
    }
    return compares;
  }

  #read(key: K): KeyValue<V, K> | undefined {
    const name = nameOf(key);
    const known = this.#reads.get(name);
    if (known !== undefined) return known.kv;
    const isPinned = this.#isolation === 'serializable-snapshot' || this.#isolation === 'serializable';
    if (this.#first === 0) this.#first = this.#store.revision;
    try {
      const kv = this.#store.get(key, isPinned ? { revision: this.#first } : {});
      this.#reads.set(name, { key: own(key, 'key', 'get a key'), kv });
      return kv;
    } catch (error) {
      this.#readError = error;
      throw error;
    }
  }

  #checkRunning(action: string): void {
    if (this.#isOver) throw new TypeError(`Cannot ${action}: the update is over`);
  }
}

function conflictOf(key: Key, expectedRevision: Revision, actualRevision: Revision): ConflictError {
  return new ConflictError(ACTION, { key, expectedRevision, actualRevision });
}

/** A Map key. One store has one type of keys, so bytes as text and text never meet. */
function nameOf(key: Key): string {
  return key instanceof Uint8Array ? byteText(key) : key;
}

/** Each member read once. */
function attachmentOf(options: Omit<LeaseAttachment, 'ignoreValue'>): Omit<LeaseAttachment, 'ignoreValue'> {
  const { lease, ttlMs, ignoreLease } = options;
  return {
    ...(lease === undefined ? undefined : { lease }),
    ...(ttlMs === undefined ? undefined : { ttlMs }),
    ...(ignoreLease === undefined ? undefined : { ignoreLease }),
  };
}

/**
 * Bytes are copied like in any put; other keys and values are kept as they are until the function has returned. Throws
 * TypeError for a key, `ValueError` for a value, whose buffer is detached.
 */
function own<T>(one: T, what: 'key' | 'value', action: string): T {
  if (one instanceof Uint8Array && isDetached(one)) {
    if (what === 'value') throw new ValueError(action, { path: '', reason: 'is bytes whose buffer is detached' });
    throw new TypeError(`Cannot ${action}: the buffer of the key is detached`);
  }
  return (one instanceof Uint8Array ? new Uint8Array(one) : one) as T;
}
