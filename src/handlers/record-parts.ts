import { BackendError } from '../types/errors.ts';
import type { ProgressStore } from './progress.ts';
import type { ProgressDocument, ProgressHead } from './record.ts';
import type { Overflow } from './record-layout.ts';

/**
 * Parts of documents that are too large for their object, in another progress store (A43').
 *
 * ```text
 *   uid of a part   uid of the object + "#" + id of the write that made it, and "bases" or "all"
 *   document        bases, and for "all" the records; gen 1, never changed
 * ```
 *
 * A process that dies between a part and the patch of the object leaves the part behind: it is found by the next list, and
 * goes with the next write of that object, or with the object.
 */
export class RecordParts {
  readonly #store: ProgressStore | undefined;
  /** Parts known to be there, by uid: no more than the store has. */
  readonly #known = new Map<string, Set<string>>();

  constructor(store: ProgressStore | undefined) {
    this.#store = store;
  }

  /** Whether there is room elsewhere. */
  get isKept(): boolean {
    return this.#store !== undefined;
  }

  async read(uid: string, part: string, name: string): Promise<ProgressDocument | undefined> {
    const found = await this.#store?.get(part, name);
    if (found !== undefined) this.#note(uid, part);
    return found;
  }

  /** Throws what the store throws, and `BackendError` for a part that is there: then nobody knows whose it is. */
  async write(uid: string, part: string, document: ProgressDocument, overflow: Overflow): Promise<void> {
    this.#note(uid, part);
    const records = overflow === 'all' ? document.records : {};
    const { name, writeId, tick, resourceVersion, bases } = document;
    const next = { uid: part, name, gen: 1, writeId, tick, resourceVersion, records, bases };
    if ((await this.#store?.compareAndSet(part, 0, next)) === true) return;
    throw new BackendError(`write the progress of ${JSON.stringify(name)}`, `the overflow store has a part ${part}`);
  }

  /** Parts of an object that are known to be there. */
  known(uid: string): readonly string[] {
    return [...(this.#known.get(uid) ?? [])];
  }

  /**
   * Deletes parts of an object. Never rejects: the write that has made them garbage has landed, which is what its caller
   * asks. Those that cannot be deleted stay known, and are tried again with the next write.
   */
  async drop(uid: string, parts: readonly string[]): Promise<void> {
    const ends = await Promise.allSettled(parts.map(async (part) => this.#store?.delete(part)));
    for (const [index, part] of parts.entries()) if (ends[index]?.status === 'fulfilled') this.#unnote(uid, part);
  }

  /** The object is gone. Throws what the store throws. */
  async forget(uid: string): Promise<void> {
    for (const part of this.known(uid)) {
      await this.#store?.delete(part);
      this.#unnote(uid, part);
    }
  }

  /** Objects that have parts, each once, with the highest version of them. */
  async list(compare: (a: string, b: string) => number): Promise<readonly ProgressHead[]> {
    const heads = new Map<string, ProgressHead>();
    for (const { uid: part, name, resourceVersion } of (await this.#store?.list()) ?? []) {
      const end = part.lastIndexOf('#');
      // Not a part: the store is shared.
      if (end < 0) continue;
      const uid = part.slice(0, end);
      this.#note(uid, part);
      const before = heads.get(uid)?.resourceVersion ?? '';
      const isNewer = before === '' || (resourceVersion !== '' && compare(resourceVersion, before) > 0);
      heads.set(uid, { uid, name, resourceVersion: isNewer ? resourceVersion : before });
    }
    return [...heads.values()];
  }

  #note(uid: string, part: string): void {
    const known = this.#known.get(uid);
    if (known === undefined) this.#known.set(uid, new Set([part]));
    else known.add(part);
  }

  #unnote(uid: string, part: string): void {
    const known = this.#known.get(uid);
    known?.delete(part);
    if (known?.size === 0) this.#known.delete(uid);
  }
}
