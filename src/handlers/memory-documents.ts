import { DocumentVersion, versionOf } from './document-version.ts';
import type { ProgressDocument, ProgressHead } from './record.ts';

/**
 * Documents in memory, each kept in the form in which it came: what a controller writes is a version, of which no document
 * is made before somebody reads it as one.
 */
export class MemoryDocuments {
  readonly areInMemory = true;
  readonly #kept = new Map<string, DocumentVersion | ProgressDocument>();

  get size(): number {
    return this.#kept.size;
  }

  get(uid: string): DocumentVersion | undefined {
    const kept = this.#kept.get(uid);
    return kept === undefined || kept instanceof DocumentVersion ? kept : versionOf(kept);
  }

  /** Atomic, and at once. */
  swap(uid: string, gen: number, next: DocumentVersion | ProgressDocument): boolean {
    const kept = this.#kept.get(uid);
    if ((kept === undefined ? 0 : headOf(kept).gen) !== gen) return false;
    this.#kept.set(uid, next);
    return true;
  }

  read(uid: string): ProgressDocument | undefined {
    const kept = this.#kept.get(uid);
    return kept instanceof DocumentVersion ? kept.toDocument() : kept;
  }

  delete(uid: string): void {
    this.#kept.delete(uid);
  }

  heads(): readonly ProgressHead[] {
    return [...this.#kept.values()]
      .map(headOf)
      .map(({ uid, name, resourceVersion }) => ({ uid, name, resourceVersion }));
  }
}

function headOf(kept: DocumentVersion | ProgressDocument): ProgressHead & Pick<ProgressDocument, 'gen'> {
  return kept instanceof DocumentVersion ? kept.header : kept;
}
