import { BackendError } from '../types/errors.ts';
import { isPromise } from '../types/is-promise.ts';
import type { MergePatch } from '../types/patch.ts';
import type { ObjectSource, SourceObject } from '../types/source.ts';
import { CONFLICTS_MAX, tooManyConflicts } from './conflicts.ts';
import type { ProgressStore } from './progress.ts';
import type { ProgressDocument, ProgressHead } from './record.ts';
import { layOut, type Overflow, readLayout, type Stored } from './record-layout.ts';
import { RecordParts } from './record-parts.ts';
import type { RecordPlace } from './record-place.ts';

/** Objects remembered as the last write left them, so that the next one need not read them first. */
const SEEN_MAX = 1000;

/** Everything that {@link createObjectProgress} needs, checked. */
export interface ObjectProgressOptions<T> {
  readonly source: ObjectSource<T>;
  readonly place: RecordPlace;
  readonly overflow: ProgressStore | undefined;
  /** Whether views of this object may be kept. */
  readonly keepsViews: (object: T) => boolean;
}

/**
 * A progress store on the objects themselves (A42').
 *
 * ```text
 *   get             object --texts--> document, with its part from elsewhere, if it has one
 *
 *   compareAndSet   object, as the last write left it, or read
 *      |            its gen is not the one --------------------------------------------> no
 *      v
 *      [what is too large as a part of its own into the overflow] -> patch, by resource version
 *      ^                                                               |  patched -----> yes; older parts go
 *      |                                                               |  gone --------> no
 *      +---- read, at most 16 times <---- somebody has changed it -----+  rejects -----> nobody knows, a read will tell
 * ```
 *
 * A change of the object by somebody else makes no `no`: with it the pass would begin anew on each of them, and edits
 * faster than a write would keep everybody from being called. What the call is then made for is decided by the state that
 * the controller has, as with any other store (A10', A12').
 *
 * Parts have names of their own and never change, so the patch alone decides what is in force, at any crash. When it has
 * landed, every other part of this object that was there before is garbage: whoever wrote it read an older version of the
 * object, so its patch is refused.
 */
export function createObjectProgress<T>(options: ObjectProgressOptions<T>): ProgressStore {
  const store = new ObjectProgress(options);
  return {
    get: (uid, name) => store.get(uid, name),
    compareAndSet: (uid, gen, next) => store.compareAndSet(uid, gen, next),
    delete: (uid) => store.delete(uid),
    list: () => store.list(),
    conceal: (object) => options.place.conceal(object),
    reachesRecords: (patch) => options.place.reaches(patch),
  };
}

class ObjectProgress<T> implements ProgressStore {
  readonly #source: ObjectSource<T>;
  readonly #place: RecordPlace;
  readonly #keepsViews: (object: T) => boolean;
  readonly #parts: RecordParts;
  readonly #seen = new Map<string, SourceObject<T>>();

  constructor({ source, place, overflow, keepsViews }: ObjectProgressOptions<T>) {
    this.#source = source;
    this.#place = place;
    this.#keepsViews = keepsViews;
    this.#parts = new RecordParts(overflow);
  }

  async get(uid: string, name: string): Promise<ProgressDocument | undefined> {
    const missing: string[] = [];
    for (;;) {
      const object = await this.#read(uid, name);
      const stored = object && this.#stored(object);
      if (stored?.part === undefined) return stored?.document;
      const part = await this.#parts.read(uid, stored.part, name);
      if (part !== undefined) return withPart(stored, part);
      // Another process may have replaced it since the object was read; a part that is missing twice is lost.
      if (missing.includes(stored.part) || missing.length === CONFLICTS_MAX) return lost(stored);
      missing.push(stored.part);
    }
  }

  async compareAndSet(uid: string, gen: number, next: ProgressDocument): Promise<boolean> {
    const written = new Set<string>();
    let object = await this.#objectAt(uid, next.name, gen);
    for (let conflicts = 0; conflicts < CONFLICTS_MAX && object !== undefined; conflicts++) {
      const { name, resourceVersion } = object;
      const { patch, part } = await this.#prepare(object, next, written);
      // Whoever has made a part by now has read the object before the patch lands.
      const older = this.#parts.known(uid);
      this.#seen.delete(uid);
      const result = await this.#source.patch?.({ name, uid, resourceVersion, patches: [patch] }, {});
      if (result?.type === 'patched') {
        this.#remember(result.object);
        await this.#parts.drop(
          uid,
          older.filter((other) => other !== part),
        );
        return true;
      }
      object = result?.type === 'conflict' ? await this.#objectAt(uid, name, gen) : undefined;
    }
    await this.#parts.drop(uid, [...written]);
    if (object === undefined) return false;
    throw tooManyConflicts(`write the progress of ${JSON.stringify(next.name)}`, 'the object');
  }

  /** The object, if its document has this generation: as it is remembered, or else read. */
  async #objectAt(uid: string, name: string, gen: number): Promise<SourceObject<T> | undefined> {
    const isAt = (object: SourceObject<T> | undefined): boolean =>
      object !== undefined && (this.#stored(object)?.document.gen ?? 0) === gen;
    const seen = this.#seen.get(uid);
    if (isAt(seen)) return seen;
    const object = await this.#read(uid, name);
    return isAt(object) ? object : undefined;
  }

  /** The patch that writes a document into an object, once its part is where it has to be. */
  async #prepare(
    { uid, object }: SourceObject<T>,
    next: ProgressDocument,
    written: Set<string>,
  ): Promise<{ readonly patch: MergePatch; readonly part: string | undefined }> {
    this.#place.check(`keep the progress of ${JSON.stringify(next.name)} in its ${this.#place.title}`, object);
    const content = this.#place.read(object);
    const keepsViews: unknown = this.#keepsViews(object);
    if (isPromise(keepsViews) || typeof keepsViews !== 'boolean') {
      throw new TypeError('Cannot write records: keepsViews returned no boolean');
    }
    const document = keepsViews ? next : { ...next, bases: {} };
    const partOf = (overflow: Overflow): string => `${uid}#${next.writeId}.${overflow}`;
    const { texts, overflow } = layOut(this.#place, content, document, this.#parts.isKept ? partOf : undefined);
    const part = overflow === 'nothing' ? undefined : partOf(overflow);
    if (part !== undefined && !written.has(part)) {
      written.add(part);
      await this.#parts.write(uid, part, document, overflow);
    }
    const changes = new Map<string, string | null>();
    for (const name of content.texts.keys()) if (isOwn(name) && !texts.has(name)) changes.set(name, null);
    for (const [name, text] of texts) if (content.texts.get(name) !== text) changes.set(name, text);
    return { patch: this.#place.patchOf(changes), part };
  }

  async delete(uid: string): Promise<void> {
    this.#seen.delete(uid);
    await this.#parts.forget(uid);
  }

  list(): Promise<readonly ProgressHead[]> {
    return this.#parts.list((a, b) => this.#source.compare(a, b));
  }

  /** The object of this life; it is remembered. */
  async #read(uid: string, name: string): Promise<SourceObject<T> | undefined> {
    const object = await this.#source.get(name, {});
    if (object?.uid !== uid) {
      this.#seen.delete(uid);
      return undefined;
    }
    this.#remember(object);
    return object;
  }

  #stored({ uid, name, object }: SourceObject<T>): Stored | undefined {
    return readLayout(uid, name, this.#place.read(object));
  }

  #remember(object: SourceObject<T>): void {
    this.#seen.delete(object.uid);
    const oldest = this.#seen.keys().next();
    if (this.#seen.size >= SEEN_MAX && oldest.done !== true) this.#seen.delete(oldest.value);
    this.#seen.set(object.uid, object);
  }
}

/** Names that this store gives; a place may have others. */
function isOwn(name: string): boolean {
  return name === 'progress' || name.startsWith('base.');
}

function withPart({ document, overflow }: Stored, part: ProgressDocument): ProgressDocument {
  const { records } = overflow === 'all' ? part : document;
  return { ...document, records, bases: part.bases };
}

/** Without views there is no `old`, which is no error (A6'); without records all would be done again, which is one. */
function lost({ document, overflow, part }: Stored): ProgressDocument {
  if (overflow === 'bases') return document;
  throw new BackendError(
    `read the progress of ${JSON.stringify(document.name)}`,
    `its records should be in the overflow store under ${JSON.stringify(part)}, which has none`,
  );
}
