import { CompactedError, ConflictError } from '../types/errors.ts';
import type { Key, KeyValue, Revision } from '../types/revision.ts';
import type { Store } from '../types/store.ts';
import type { Compare, Operation } from '../types/txn.ts';
import type { Isolation, UpdateOptions, UpdateResult, UpdateTxn } from '../types/update.ts';
import { checkOptions } from './checks.ts';

const ACTION = 'update';
const RETRIES_DEFAULT = 100;
const NAMES: ReadonlySet<string> = new Set<keyof UpdateOptions>(['isolation', 'retries', 'signal']);
const ISOLATIONS: readonly Isolation[] = [
  'serializable-snapshot',
  'serializable',
  'repeatable-reads',
  'read-committed',
];

/** The parts of a store that an update needs. */
type UpdatedStore<V, K extends Key> = Pick<Store<V, K>, 'revision' | 'get' | 'txn'>;

/**
 * Runs a function on a snapshot and commits what it wrote as one transaction whose compares are what it depends on
 * (store:R50); runs it again when one does not hold. A failed compare has waited until its revision is applied (M3), so
 * that the next run sees what the last one missed.
 */
export async function runUpdate<V, K extends Key, R>(
  store: UpdatedStore<V, K>,
  fn: (txn: UpdateTxn<V, K>) => R | PromiseLike<R>,
  options: UpdateOptions,
): Promise<UpdateResult<R>> {
  checkOptions(options, NAMES, ACTION);
  const { isolation = 'serializable-snapshot', retries = RETRIES_DEFAULT, signal } = options;
  if (typeof fn !== 'function') throw new TypeError(`Cannot ${ACTION}: fn is not a function`);
  if (!ISOLATIONS.includes(isolation)) {
    throw new TypeError(`Cannot ${ACTION}: isolation is ${String(isolation)}, allowed are ${ISOLATIONS.join(', ')}`);
  }
  if (!Number.isSafeInteger(retries) || retries < 0) {
    throw new RangeError(`Cannot ${ACTION}: retries is ${String(retries)}, allowed is a safe integer from 0 on`);
  }
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted();
    const run = new UpdateRun(store, isolation);
    let value: R;
    try {
      value = await fn(run);
    } catch (error) {
      // The snapshot went while the function ran: the next run has a newer one.
      if (!(error instanceof CompactedError) || !run.isSnapshotGone(error) || attempts > retries) throw error;
      continue;
    } finally {
      run.end();
    }
    signal?.throwIfAborted();
    const { succeeded, revision } = await store.txn(run.request(), signal === undefined ? {} : { signal });
    if (succeeded) return { revision, value, attempts };
    if (attempts > retries) throw run.conflict();
  }
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
  #compacted: unknown;
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
    this.#checkRunning('put a key');
    this.#writes.set(nameOf(key), { ...options, type: 'put', key: ownKey(key), value });
  }

  delete(key: K): void {
    this.#checkRunning('delete a key');
    this.#writes.set(nameOf(key), { type: 'delete', key: ownKey(key) });
  }

  end(): void {
    this.#isOver = true;
  }

  /** Whether this error is what a read of this run has thrown because its snapshot was compacted. */
  isSnapshotGone(error: unknown): boolean {
    return this.#compacted === error;
  }

  request(): { compare: Compare<V, K>[]; then: Operation<V, K>[] } {
    return { compare: this.#compares(), then: [...this.#writes.values()] };
  }

  /** The first key that is not as it was when this run depended on it. */
  conflict(): ConflictError {
    for (const { key, kv } of this.#reads.values()) {
      const expectedRevision = kv?.modRevision ?? 0;
      const actualRevision = this.#store.get(key)?.modRevision ?? 0;
      if (actualRevision !== expectedRevision) return conflictOf(key, expectedRevision, actualRevision);
    }
    for (const { key } of this.#writes.values()) {
      const actualRevision = this.#store.get(key)?.modRevision ?? 0;
      if (actualRevision > this.#first) return conflictOf(key, this.#first, actualRevision);
    }
    const [one] = [...this.#reads.values(), ...this.#writes.values()];
    return conflictOf((one as { readonly key: K }).key, this.#first, this.#store.revision);
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
      this.#reads.set(name, { key: ownKey(key), kv });
      return kv;
    } catch (error) {
      if (error instanceof CompactedError) this.#compacted = error;
      throw error;
    }
  }

  #checkRunning(action: string): void {
    if (this.#isOver) throw new TypeError(`Cannot ${action}: the update's function has returned`);
  }
}

function conflictOf(key: Key, expectedRevision: Revision, actualRevision: Revision): ConflictError {
  return new ConflictError(ACTION, { key, expectedRevision, actualRevision });
}

/** A Map key: byte keys as their bytes, told apart from text. */
function nameOf(key: Key): string {
  return typeof key === 'string' ? key : `bytes:${key}`;
}

function ownKey<K extends Key>(key: K): K {
  return (key instanceof Uint8Array ? new Uint8Array(key) : key) as K;
}
