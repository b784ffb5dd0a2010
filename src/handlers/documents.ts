import { checkDocument } from './document-shape.ts';
import { type DocumentVersion, versionOf } from './document-version.ts';
import { memoryOf, type ProgressStore } from './progress.ts';

/**
 * The documents of a progress store in the form in which they are worked on. Answers without a promise where the store
 * is in memory: a pass over objects whose handlers never wait does not wait for their records either.
 */
export interface Documents {
  /** Both methods answer without a promise, and never fail. */
  readonly areInMemory: boolean;
  /** `known`: the version that was read or written last, taken again if the document is still that one. */
  get(
    uid: string,
    name: string,
    known: DocumentVersion | undefined,
  ): DocumentVersion | undefined | Promise<DocumentVersion | undefined>;
  /** Stores `next` if the present generation is `gen`, and says whether it did. */
  swap(uid: string, gen: number, next: DocumentVersion): boolean | Promise<boolean>;
}

export function documentsOf(progress: ProgressStore): Documents {
  return memoryOf(progress) ?? new StoredDocuments(progress);
}

class StoredDocuments implements Documents {
  readonly areInMemory = false;
  readonly #progress: ProgressStore;

  constructor(progress: ProgressStore) {
    this.#progress = progress;
  }

  async get(uid: string, name: string, known: DocumentVersion | undefined): Promise<DocumentVersion | undefined> {
    const document = await this.#progress.get(uid, name);
    if (document === undefined) return undefined;
    if (known?.isStoredAs(document) === true) return known;
    checkDocument(name, document);
    return versionOf(document);
  }

  async swap(uid: string, gen: number, next: DocumentVersion): Promise<boolean> {
    return this.#progress.compareAndSet(uid, gen, next.toDocument());
  }
}
