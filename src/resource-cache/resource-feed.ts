import type { InformerDelta } from '../kubernetes/informer-delta.ts';
import { identify, isMalformed, type MalformedObject, type ObjectIdentity } from '../kubernetes/object-identity.ts';
import type { CompareVersions } from '../kubernetes/resource-version.ts';
import { checkMembers } from '../store/checks.ts';
import { shown } from '../types/shown.ts';
import type { ApplyLoop } from './apply-loop.ts';
import { checkDelta } from './check-delta.ts';
import { checkText } from './checks.ts';
import type { Entry } from './entry.ts';
import { freezeJson } from './freeze-json.ts';
import type { KindTable } from './kind-table.ts';
import { type Metadata, metadataOf } from './resource.ts';
import type { GroupKind } from './resource-key.ts';
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

const REPLACE_NAMES: ReadonlySet<string> = new Set<keyof ReplaceOptions>(['namespace', 'resourceVersion']);

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

  /** Whether all that has come in up to now is visible, whenever it is asked. */
  mark(): () => boolean {
    const { loop } = this.#deps;
    const { arrivals } = loop;
    return () => loop.isApplied(arrivals);
  }

  /**
   * What comes next is of another version of the kind: a state of each object is another one from now on, though its `resourceVersion` is the one
   * that is known, and makes a commit. What is known stays until then. Throws TypeError in a handler, under which nothing may change.
   */
  restate(): void {
    this.#check('restate a kind');
    this.#deps.loop.restate(this.#table.entries.values());
  }

  /**
   * Takes deltas of an informer in, each of which follows the one before it of its key: versions are not compared here, that is what
   * an informer and its core are for. They are visible after `latencyMs`, or at
   * once where `pendingMax` wait.
   *
   * @throws TypeError for a delta without an object that has a name, a uid and a version, or of another type or key than its object; of an
   * array the others are applied all the same, and the first that was not is named. ClosedError
   */
  apply(deltas: InformerDelta<T> | readonly InformerDelta<T>[]): void {
    this.#check('apply a delta');
    if (!Array.isArray(deltas)) {
      this.#applyOne(deltas as InformerDelta<T>);
      return;
    }
    const errors: unknown[] = [];
    for (const delta of deltas as readonly InformerDelta<T>[]) {
      try {
        this.#applyOne(delta);
      } catch (error) {
        errors.push(error);
      }
    }
    const [first] = errors;
    if (errors.length < 2) {
      if (errors.length > 0) throw first;
      return;
    }
    const message = first instanceof Error ? first.message : String(first);
    throw new TypeError(`${message}; and ${errors.length - 1} more`, { cause: new AggregateError(errors) });
  }

  /**
   * Takes a complete list in, as the difference to what is known: what is equal makes no commit, what the list does not have is gone.
   * For who has no informer; marks the kind as synced unless it is of one namespace.
   *
   * @throws TypeError for what is no list, and for options that there are not: a misspelt namespace would take away those of all others.
   * ClosedError
   */
  replace(objects: readonly T[], options: ReplaceOptions = {}): ReplaceResult {
    this.#check('replace the objects of a kind');
    if (!Array.isArray(objects)) throw new TypeError('Cannot replace the objects of a kind: the list is not an array');
    const { resourceVersion, namespace } = checkReplace(options);
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
      if (!this.#isNews(identity, resourceVersion)) continue;
      changed++;
      this.#deps.loop.put(this.#entry(key, metadataOf(object)), uid, object);
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
    const metadata = checkDelta(delta);
    const entry = this.#table.entries.get(delta.key);
    // Handlers of events see it before it is applied, and must not change what others will see.
    if (loop.hasEventHandlers) loop.tellEvent(Object.freeze({ ...this.groupKind, delta: freezeJson(delta) }));
    if (delta.type === 'deleted') {
      // Nobody knows of it, so nobody is told (RC10).
      if (entry === undefined) return;
      const { object: final, reason } = delta;
      loop.end(entry, metadata.uid, { final: final === undefined ? undefined : freezeJson(final), reason });
      return;
    }
    loop.put(entry ?? this.#entry(delta.key, metadata), metadata.uid, delta.object);
  }

  #entry(key: string, { name, namespace }: Metadata): Entry<T, I> {
    return this.#deps.tables.entry(this.#table, key, { namespace: namespace ?? '', name });
  }

  /** Whether an item of a list is newer than what is known; of another life, than what a list of version `upTo` can know. */
  #isNews({ key, uid, resourceVersion }: ObjectIdentity, upTo: string | undefined): boolean {
    const { compare, loop } = this.#deps;
    const entry = this.#table.entries.get(key);
    const known = this.#newest(entry);
    if (entry === undefined || known === undefined) return true;
    if (known.uid !== uid) return upTo === undefined || compare(known.resourceVersion, upTo) !== 'newer';
    const order = compare(resourceVersion, known.resourceVersion);
    return order === 'same' ? loop.isRestated(entry) : order !== 'older';
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

function checkReplace(options: ReplaceOptions): ReplaceOptions {
  const action = 'replace the objects of a kind';
  checkMembers(options, REPLACE_NAMES, action, 'the options are not an object', 'option');
  const { namespace, resourceVersion } = options;
  if (namespace !== undefined) checkText('namespace', namespace, action);
  if (resourceVersion !== undefined) checkText('resourceVersion', resourceVersion, action);
  return options;
}
