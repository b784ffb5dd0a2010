import { jsonCodec } from '../store/codecs.ts';
import { checkMethods } from '../types/check-methods.ts';
import { LimitExceededError, ValueError } from '../types/errors.ts';
import type { ObjectSource } from '../types/source.ts';
import type { Store } from '../types/store.ts';
import type { Operation, OperationResult, TxnResult } from '../types/txn.ts';
import { checkNames } from './checks.ts';
import { deepFreeze } from './freeze.ts';
import type { ProgressStore } from './progress.ts';
import type { ProgressDocument, ProgressHead } from './record.ts';
import { StoreSource } from './store-source.ts';
import { UidKeys } from './uid-key.ts';

/** Options of {@link createStoreProgress}. */
export interface StoreProgressOptions {
  /** The keys that are documents: nobody else may write below it, and one controller uses it. Not empty. */
  readonly prefix: string;
}

/** Documents read at a time for a list of all of them. */
const PAGE = 100;

/**
 * Makes a progress store of the keys under a prefix of a store, embedded or a replica: records live as long as its data (A41').
 *
 * ```text
 *   key      prefix + uid, escaped so that any uid will do and none has a "/"
 *   value    the document, as JSON, whatever the codec of the store
 *   version  the document's gen, since both begin at 1 and rise by one with each write
 *
 *   get              transaction: range                                     asks whoever has the data, also on a replica
 *   compareAndSet    transaction: if the version is gen: put; else range    one question, one commit
 *   list             transactions: ranges of 100 documents
 * ```
 *
 * All of it are transactions, because a replica answers plain reads with what it has applied, and a record that was missed
 * is work that nobody does. The prefix need not be among the `prefixes` of a replica.
 *
 * A document above `limits.valueBytes` (1.5 MiB) of the store is refused with `LimitExceededError`: its object waits by
 * backoff, visible in the log and in `stats().waiting`, and nothing is called for it. So is one above the limits of a
 * backend, with the backend's error. Old versions of documents are history of the store, which its `retention` bounds.
 *
 * @example
 * ```ts
 * import { createController, createStoreProgress, createStoreSource, openStore } from 'plimsoll';
 *
 * const store = await openStore<{ image: string }>();
 * const source = createStoreSource(store, { prefix: 'apps/' });
 * createController({ source, progress: createStoreProgress(store, { prefix: 'progress/apps/' }) });
 * ```
 *
 * @throws TypeError for a prefix that is no string or empty, and for unknown options.
 */
export function createStoreProgress<V>(store: Store<V, string>, options: StoreProgressOptions): ProgressStore {
  const action = 'create a store progress';
  checkMethods('store', store, action, ['prefix', 'txn']);
  checkNames(action, options, NAMES);
  const { prefix } = options;
  if (typeof prefix !== 'string' || prefix === '') {
    throw new TypeError(`Cannot ${action}: prefix is not a string with content`);
  }
  return new StoreProgress(store, prefix);
}

const NAMES: readonly (keyof StoreProgressOptions)[] = ['prefix'];

/**
 * Refuses a source and a progress store whose keys overlap: documents would be objects, and objects documents. It sees what
 * was made of the same `store` object, not of views of it or of two replicas.
 *
 * Throws TypeError.
 */
export function checkApart(action: string, source: ObjectSource, progress: ProgressStore | undefined): void {
  if (!(source instanceof StoreSource && progress instanceof StoreProgress)) return;
  if (source.place.store !== progress.place.store) return;
  const [objects, documents] = [source.place.prefix, progress.place.prefix];
  if (!documents.startsWith(objects) && !objects.startsWith(documents)) return;
  const [inner, outer] = documents.startsWith(objects) ? ['progress', 'objects'] : ['objects', 'progress'];
  throw new TypeError(
    `Cannot ${action}: the prefix of its ${inner} is below that of its ${outer} (${JSON.stringify(documents)}, ${JSON.stringify(objects)})`,
  );
}

class StoreProgress implements ProgressStore {
  readonly place: { readonly store: unknown; readonly prefix: string };
  readonly #store: Store<ProgressDocument, string>;
  readonly #keys = new UidKeys();

  constructor(store: Store<unknown, string>, prefix: string) {
    this.place = { store, prefix };
    this.#store = store.prefix(prefix, { codec: jsonCodec<ProgressDocument>() });
  }

  async get(uid: string): Promise<ProgressDocument | undefined> {
    const { responses } = await this.#store.txn({ then: [this.#read(uid)] });
    return documentIn(uid, responses[0])?.document;
  }

  async compareAndSet(uid: string, gen: number, next: ProgressDocument): Promise<boolean> {
    const key = this.#keys.keyOf(uid);
    const first = await this.#put(uid, next, { key, target: 'version', result: '=', value: gen });
    if (first.succeeded) return true;
    const found = documentIn(uid, first.responses[0]);
    if (found === undefined || found.document.gen !== gen) return false;
    // Somebody has copied the documents into this store, so versions are not generations.
    return (await this.#put(uid, next, { key, target: 'mod', result: '=', value: found.modRevision })).succeeded;
  }

  async delete(uid: string): Promise<void> {
    await this.#store.delete(this.#keys.keyOf(uid));
  }

  async list(): Promise<readonly ProgressHead[]> {
    const heads: ProgressHead[] = [];
    let start = '';
    for (;;) {
      const page = (await this.#store.txn({ then: [{ type: 'range', start, limit: PAGE }] })).responses[0];
      if (page?.type !== 'range') return heads;
      for (const { key, value } of page.kvs) {
        // Keys with a "/" are not from here: of a store progress below this prefix.
        if (!key.includes('/') && isDocument(value)) heads.push(headOf(value));
      }
      const last = page.kvs.at(-1);
      if (!page.more || last === undefined) return heads;
      start = `${last.key}\0`;
    }
  }

  async #put(
    uid: string,
    next: ProgressDocument,
    compare: { key: string; target: 'version' | 'mod'; result: '='; value: number },
  ): Promise<TxnResult<ProgressDocument>> {
    try {
      const put = { type: 'put', key: compare.key, value: plain(next) } as const;
      return await this.#store.txn({ compare: [compare], then: [put], else: [this.#read(uid)] });
    } catch (error) {
      if (!(error instanceof LimitExceededError)) throw error;
      const { limit, max, actual } = error;
      throw new LimitExceededError(`write the progress of ${JSON.stringify(uid)}`, { limit, max, actual });
    }
  }

  #read(uid: string): Operation<ProgressDocument> {
    return { type: 'range', key: this.#keys.keyOf(uid) };
  }
}

interface Found {
  readonly document: ProgressDocument;
  readonly modRevision: number;
}

/** Throws `ValueError` for what is no document of this uid: to go on without would be to do everything anew. */
function documentIn(uid: string, response: OperationResult<ProgressDocument> | undefined): Found | undefined {
  const kv = response?.type === 'range' ? response.kvs[0] : undefined;
  if (kv === undefined) return undefined;
  const { key, value, modRevision } = kv;
  if (!isDocument(value) || value.uid !== uid) {
    const reason = 'is no progress document of it';
    throw new ValueError(`read the progress of ${JSON.stringify(uid)}`, { path: '', reason, key });
  }
  return { document: deepFreeze(value), modRevision };
}

/** The codec says that it is one, but not who wrote it. */
export function isDocument(value: unknown): value is ProgressDocument {
  if (typeof value !== 'object' || value === null) return false;
  const { uid, name, gen, records, bases } = value as Partial<Record<keyof ProgressDocument, unknown>>;
  const isTable = (table: unknown): boolean => typeof table === 'object' && table !== null && !Array.isArray(table);
  return (
    typeof uid === 'string' &&
    typeof name === 'string' &&
    Number.isSafeInteger(gen) &&
    isTable(records) &&
    isTable(bases)
  );
}

/** Without the getters of a document that is made as it is read. */
function plain(document: ProgressDocument): ProgressDocument {
  return { ...document };
}

function headOf({ uid, name, resourceVersion }: ProgressDocument): ProgressHead {
  return { uid, name, resourceVersion };
}
