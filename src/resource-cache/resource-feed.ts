import type { InformerDelta } from '../kubernetes/informer-delta.ts';
import { identify, isMalformed, type MalformedObject } from '../kubernetes/object-identity.ts';
import type { CompareVersions } from '../kubernetes/resource-version.ts';
import { shown } from '../types/shown.ts';
import type { ApplyLoop } from './apply-loop.ts';
import type { Entry } from './entry.ts';
import { freezeJson } from './freeze-json.ts';
import type { KindTable } from './kind-table.ts';
import { metadataOf } from './resource.ts';
import { type GroupKind, localKey } from './resource-key.ts';
import type { ResourceTables } from './resource-tables.ts';

export interface ReplaceOptions {
  /** Of the list: what is newer than it stays, whether it is in it or not. @default everything that is not in it goes */
  readonly resourceVersion?: string;
  /** The list is of this namespace alone. @default all of them */
  readonly namespace?: string;
}

/** What a complete list came to. `malformed` ones change nothing, and keep what is known from being taken away. */
export interface ReplaceResult {
  readonly changed: number;
  readonly removed: number;
  readonly malformed: readonly MalformedObject[];
}

export interface ResourceFeedDeps<T, I> {
  readonly tables: ResourceTables<T, I>;
  readonly loop: ApplyLoop<T, I>;
  readonly compare: CompareVersions;
  readonly removed: () => void;
}

/** What is newest of a key, applied or not. */
interface Newest {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The way in for the objects of one kind, from an informer or from lists. */
export class ResourceFeed<T = unknown, I = undefined> {
  readonly groupKind: GroupKind;
  readonly #deps: ResourceFeedDeps<T, I>;
  readonly #table: KindTable<T, I>;
  /** What had come in when the first list was complete. */
  #syncedAt: number | undefined;
  #isRemoved = false;

  constructor(groupKind: GroupKind, deps: ResourceFeedDeps<T, I>) {
    this.#deps = deps;
    this.#table = deps.tables.kind(groupKind);
    this.#table.isFed = true;
    this.groupKind = this.#table.groupKind;
  }

  /** Everything that the server had was told once, and is visible: what is not here was not there (RC14). */
  get isSynced(): boolean {
    return this.#syncedAt !== undefined && this.#deps.loop.isApplied(this.#syncedAt);
  }

  /** Objects that are visible. */
  get size(): number {
    let size = 0;
    for (const bucket of this.#table.buckets.values()) size += bucket.size;
    return size;
  }

  /** The first list has come to its end: synced, once what has come in is visible. `false`, when all has to be listed again. */
  markSynced(isSynced = true): void {
    if (!isSynced) this.#syncedAt = undefined;
    else this.#syncedAt ??= this.#deps.loop.arrivals;
  }

  /**
   * Takes deltas of an informer in, each of which follows the one before it of its key: versions are not compared here, that is what
   * an informer and its core are for. They are visible after `latencyMs`, or at
   * once where `pendingMax` wait.
   *
   * @throws TypeError for a delta without an object that has a name, a uid and a version, and ClosedError
   */
  apply(deltas: InformerDelta<T> | readonly InformerDelta<T>[]): void {
    this.#check('apply a delta');
    if (Array.isArray(deltas)) for (const delta of deltas as readonly InformerDelta<T>[]) this.#applyOne(delta);
    else this.#applyOne(deltas as InformerDelta<T>);
  }

  /**
   * Takes a complete list in, as the difference to what is known: what is equal makes no commit, what the list does not have is gone.
   * For who has no informer; marks the kind as synced unless it is of one namespace.
   *
   * @throws TypeError for what is no list, and ClosedError
   */
  replace(objects: readonly T[], options: ReplaceOptions = {}): ReplaceResult {
    this.#check('replace the objects of a kind');
    if (!Array.isArray(objects)) throw new TypeError('Cannot replace the objects of a kind: the list is not an array');
    const { resourceVersion, namespace } = options;
    const malformed: MalformedObject[] = [];
    const listed = new Set<string>();
    let changed = 0;
    for (const object of objects) {
      const identity = identify(object);
      if (isMalformed(identity)) {
        malformed.push(identity);
        if (identity.key !== undefined) listed.add(identity.key);
        continue;
      }
      listed.add(identity.key);
      const { key, uid } = identity;
      const known = this.#newest(this.#table.entries.get(key));
      const order = known?.uid === uid ? this.#deps.compare(identity.resourceVersion, known.resourceVersion) : 'newer';
      if (order === 'same' || order === 'older') continue;
      changed++;
      this.#deps.loop.put(this.#entry(key, object), uid, object);
    }
    const isReadable = malformed.every(({ key }) => key !== undefined);
    const removed = isReadable ? this.#removeUnlisted(listed, namespace, resourceVersion) : 0;
    if (isReadable && namespace === undefined) this.markSynced();
    return { changed, removed, malformed };
  }

  /** The kind is gone, and all its objects with it: an end for each. The feed takes nothing more. */
  remove(): void {
    if (this.#isRemoved) return;
    this.#check('remove a kind');
    this.removeAll();
    this.#isRemoved = true;
    this.markSynced(false);
    this.#table.isFed = false;
    this.#deps.tables.tidyKind(this.#table);
    this.#deps.removed();
  }

  /** An end for each object; those of one namespace, if it is given. */
  removeAll(namespace?: string): void {
    this.#removeUnlisted(new Set(), namespace, undefined);
  }

  #applyOne(delta: InformerDelta<T>): void {
    if (typeof delta !== 'object' || delta === null) throw new TypeError(`Cannot apply a delta: it is ${shown(delta)}`);
    const { loop } = this.#deps;
    // Handlers of events see it before it is applied, and must not change what others will see.
    if (loop.hasEventHandlers) loop.tellEvent(Object.freeze({ ...this.groupKind, delta: freezeJson(delta) }));
    if (delta.type === 'deleted') {
      const entry = this.#table.entries.get(delta.key);
      // Nobody knows of it, so nobody is told (RC10).
      if (entry === undefined) return;
      const { object: final, reason, old } = delta;
      loop.end(entry, metadataOf(old).uid, { final: final === undefined ? undefined : freezeJson(final), reason });
      return;
    }
    const { object, key } = delta;
    const uid = (object as { metadata?: { uid?: unknown } } | null | undefined)?.metadata?.uid;
    if (typeof uid !== 'string' || uid === '')
      throw new TypeError(`Cannot apply a delta: the object ${key} has no uid`);
    loop.put(this.#table.entries.get(key) ?? this.#entry(key, object), uid, object);
  }

  #entry(local: string, object: T): Entry<T, I> {
    const { name, namespace = '' } = metadataOf(object);
    if (localKey(namespace, name) !== local) {
      throw new TypeError(
        `Cannot apply a delta: its key is ${local}, that of its object is ${localKey(namespace, name)}`,
      );
    }
    return this.#deps.tables.entry(this.#table, local, { namespace, name });
  }

  #newest(entry: Entry<T, I> | undefined): Newest | undefined {
    if (entry === undefined) return undefined;
    if (entry.pending === undefined) return entry.current?.resource;
    const { object } = entry.pending;
    return object === undefined ? undefined : metadataOf(object);
  }

  #removeUnlisted(listed: ReadonlySet<string>, namespace: string | undefined, upTo: string | undefined): number {
    let removed = 0;
    for (const [local, entry] of [...this.#table.entries]) {
      if (listed.has(local) || (namespace !== undefined && entry.key.namespace !== namespace)) continue;
      const known = this.#newest(entry);
      if (known === undefined) continue;
      if (upTo !== undefined && this.#deps.compare(known.resourceVersion, upTo) === 'newer') continue;
      removed++;
      this.#deps.loop.end(entry, known.uid, { final: undefined, reason: 'deleted' });
    }
    return removed;
  }

  #check(action: string): void {
    this.#deps.loop.check(action);
    if (this.#isRemoved) throw new TypeError(`Cannot ${action}: the kind ${this.#table.text} was removed`);
  }
}
