import type { Patch } from '../types/patch.ts';
import { MemoryDocuments } from './memory-documents.ts';
import type { ProgressDocument, ProgressHead } from './record.ts';

/**
 * Where a controller keeps what it has done: one document per uid, replaced as a whole by compare-and-set on its `gen`.
 * Documents are plain JSON data; `Infinity` and `undefined` do not occur. Of one that is to be stored, `records` and
 * `bases` are made when they are read, so a store that keeps it by reference does not pay for them.
 *
 * What a store has to keep, by number, is A40' of `docs/spec/handlers.md`; `testProgressStore` of `plimsoll/testing` checks
 * it. A store refuses what it cannot keep with a typed error, and never keeps less.
 *
 * One store serves one controller: at every list, documents of objects that are gone are deleted, and so are those of
 * data that was replaced (`ObjectSource.owns`).
 *
 * A rejected write may have happened or not; the controller reads again and recognises its own by `writeId`.
 */
export interface ProgressStore {
  /**
   * The document, or `undefined` if there is none. Sees every write that was answered before the call, whoever made it: one
   * that is missed may hold an attempt which nobody would make again (A40'a). `name` is the object's, for a store that keeps
   * records there.
   */
  get(uid: string, name: string): Promise<ProgressDocument | undefined>;
  /**
   * Stores `next` if the present generation is `gen` (0 for "there is none") and says whether it did. Atomic.
   * `next.gen` is `gen + 1`.
   */
  compareAndSet(uid: string, gen: number, next: ProgressDocument): Promise<boolean>;
  /** Drops a document; no error if there is none. */
  delete(uid: string): Promise<void>;
  /** All documents in short, to find those whose object is gone; not of those that go with their object. */
  list(): Promise<readonly ProgressHead[]>;
  /**
   * For a store that keeps records on the objects: the content of an object without them, which is what handlers see (A42').
   * Pure; the content itself where there are none. @default records are elsewhere
   */
  conceal?(object: unknown): unknown;
  /**
   * Whether a patch, made for an object as `conceal` shows it, names records or what they are in. Then the object is read and
   * the patch is made anew, so that the records stay as they are (A42'). Pure. @default every patch
   */
  reachesRecords?(patch: Patch): boolean;
}

/** A {@link ProgressStore} in memory. */
export interface MemoryProgress extends ProgressStore {
  /** The name is not needed. */
  get(uid: string, name?: string): Promise<ProgressDocument | undefined>;
  /** Number of documents: at most one for each object that lives. */
  readonly size: number;
}

/**
 * Makes a progress store that lives as long as it is referenced: it may outlive a controller, but not the process.
 *
 * A controller works on its documents at once, without its methods: to see what is written, give it a copy, `{ ...memory }`,
 * with methods of your own.
 *
 * @example
 * ```ts
 * import { createController, createEssenceHasher, createMemoryProgress, createStoreSource, openStore } from 'plimsoll';
 *
 * const source = createStoreSource(await openStore<number>(), { prefix: 'jobs/' });
 * const progress = createMemoryProgress();
 * createController({ source, progress, essence: createEssenceHasher({ defaults: false }) });
 * ```
 */
export function createMemoryProgress(): MemoryProgress {
  const documents = new MemoryDocuments();
  const progress: MemoryProgress = {
    get: async (uid) => documents.read(uid),
    compareAndSet: async (uid, gen, next) => documents.swap(uid, gen, next),
    async delete(uid) {
      documents.delete(uid);
    },
    list: async () => documents.heads(),
    get size() {
      return documents.size;
    },
  };
  inMemory.set(progress, documents);
  return progress;
}

/** The documents of a store that `createMemoryProgress` has made: of the very object, not of copies of it. */
export function memoryOf(progress: ProgressStore): MemoryDocuments | undefined {
  return inMemory.get(progress);
}

const inMemory = new WeakMap<ProgressStore, MemoryDocuments>();
