import { checkChoice } from '../store/checks.ts';
import type { Clock } from '../types/clock.ts';
import { shown } from '../types/shown.ts';
import type { DeletedReason, IgnoredReason, InformerDelta } from './informer-delta.ts';
import { isUnchanged, type Known, letGo } from './known-object.ts';
import { identify, isMalformed, type MalformedObject, type ObjectIdentity } from './object-identity.ts';
import type { CompareVersions } from './resource-version.ts';
import { Tombstones } from './tombstones.ts';

export type InformerEvent = { readonly type: (typeof EVENT_TYPES)[number]; readonly object: unknown };

export interface InformerCoreOptions {
  /** Of tombstones. @default the platform's clock */
  readonly clock?: Pick<Clock, 'now'>;
  /** What is listed and watched has a selector, so DELETED may only mean that an object stopped matching. @default false */
  readonly isSelective?: boolean;
  /** @default integers of up to 128 bits, all else equal or unknown */
  readonly compare?: CompareVersions;
  /** How long an object that has gone is remembered, in ms, from 1. @default 600000 (10 min) */
  readonly tombstoneMs?: number;
  /** Objects that are remembered so at a time; the oldest one is forgotten for a new one. From 0. @default 10000 */
  readonly tombstonesMax?: number;
}

const EVENT_TYPES = ['ADDED', 'MODIFIED', 'DELETED'] as const;

/** What an event came to. `deltas` has none of what was `ignored` or `malformed`, and up to two of what was applied. */
export interface AppliedEvent<T> {
  readonly deltas: readonly InformerDelta<T>[];
  readonly ignored?: IgnoredReason;
  readonly malformed?: MalformedObject;
}

export interface AppliedPage<T> {
  readonly deltas: readonly InformerDelta<T>[];
  readonly malformed: readonly MalformedObject[];
}

/** One list, in pages. Only its end takes anything away, and only if all of it could be read. */
export interface InformerList<T> {
  /** Takes a page in. Throws TypeError when the list has ended, or another one has begun. */
  add(items: readonly unknown[]): AppliedPage<T>;
  /**
   * All pages are in: what the list does not have is gone. `resourceVersion` is that of the list; of pages that have several, as
   * after a continue token that was too old, the oldest one. Nothing is deleted where an item without a name came, since it
   * could have been any: `isComplete` is `false` then. Throws TypeError as `add` does.
   */
  end(resourceVersion: string): AppliedPage<T> & { readonly isComplete: boolean };
}

/** An item that is only believed of a list that is newer than what is known, as it was read when it came. */
interface Doubtful<T> {
  readonly identity: ObjectIdentity;
  readonly object: T;
}

/** How a life ended; `object`: its final state, if anybody told. */
interface End<T> {
  readonly object?: T;
  readonly reason: DeletedReason;
  readonly goneAt: string;
}

/**
 * What is known of the objects of one kind, from lists and events, whatever brings them: the part of an informer that does no
 * I/O, has no timer and calls nobody (IN1). What changes it says what came of it, as deltas.
 *
 * ```text
 *   absent --ADDED, MODIFIED, listed--> present(uid, version) --DELETED, not listed--> absent + tombstone(uid, version)
 *     ^                                   |  older, same: ignored                          late events of that uid: ignored
 *     +-----------------------------------+  another uid: deleted, then added
 * ```
 *
 * Promised: the deltas of a key follow each other (an `old` is always the `object` before it); no state is older than one before it,
 * as far as versions can be compared, and once the object has gone for as long as it has a tombstone; an event that is delivered again makes no delta; a list that is not complete takes
 * nothing away; equal versions of one uid make no delta, however often they are listed. Not promised: every state in between;
 * anything where versions go back, as after a cluster was restored from a backup: that takes a new core.
 *
 * Its memory is one entry for each object that is there, and `tombstonesMax` tombstones.
 */
export class InformerCore<T = unknown> {
  readonly #compare: CompareVersions;
  readonly #isSelective: boolean;
  readonly #tombstones: Tombstones;
  readonly #known = new Map<string, Known<T>>();
  readonly #counts = {
    lists: 0,
    events: 0,
    missed: 0,
    ignored: { 'same-version': 0, older: 0, tombstone: 0, unlisted: 0, 'unknown-object': 0 },
    malformed: 0,
  };
  #resourceVersion = '';
  /** The newest version of a list that was complete: what is not known then was not there then. */
  #listedUpTo = '';
  /** Lists begun; the newest one, while it is under way. */
  #generation = 0;
  #listing = 0;
  /** How many objects that are there the list that is under way has had. */
  #listed = 0;
  /** The last one of them, behind which its neighbour is expected. */
  #last: Known<T> | undefined;
  #isSynced = false;

  /** Of options that were checked; `createInformerCore` is for everybody else. */
  constructor({ clock, compare, isSelective, tombstoneMs, tombstonesMax }: Required<InformerCoreOptions>) {
    this.#compare = compare;
    this.#isSelective = isSelective;
    this.#tombstones = new Tombstones({ clock, ttlMs: tombstoneMs, max: tombstonesMax });
  }

  /** Where a watch goes on from: of the last list, event or bookmark; empty before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** A list has come to its end: what is not here was not there. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  get size(): number {
    return this.#known.size;
  }

  /** `missed`: what lists have found after the first one and no event had told. */
  get stats(): Readonly<{
    lists: number;
    events: number;
    missed: number;
    ignored: Readonly<Record<IgnoredReason, number>>;
    malformed: number;
    tombstones: number;
  }> {
    const { ignored, ...counts } = this.#counts;
    return { ...counts, ignored: { ...ignored }, tombstones: this.#tombstones.size };
  }

  get(key: string): T | undefined {
    return this.#known.get(key)?.object;
  }

  entries(): readonly (readonly [key: string, object: T])[] {
    return [...this.#known].map(([key, { object }]) => [key, object]);
  }

  /**
   * Takes one event of a watch in. What is no object is told as `malformed` and changes nothing.
   *
   * @throws TypeError for what is no event, and for another type of event: of a BOOKMARK tell its version to `bookmark`, an
   * ERROR ends the watch
   */
  apply(event: InformerEvent): AppliedEvent<T> {
    const action = 'apply an event';
    if (typeof event !== 'object' || event === null) {
      throw new TypeError(`Cannot ${action}: the event is ${shown(event)}, not an object`);
    }
    const { type, object } = event;
    checkChoice('the type', type, action, EVENT_TYPES);
    this.#counts.events++;
    const identity = identify(object);
    if (isMalformed(identity)) {
      this.#counts.malformed++;
      return { deltas: [], malformed: identity };
    }
    this.#advance(identity.resourceVersion);
    const outcome =
      type === 'DELETED' ? this.#remove(identity, object as T) : this.#upsert(identity, object as T, 'event');
    if (typeof outcome !== 'string') return { deltas: outcome };
    this.#counts.ignored[outcome]++;
    return { deltas: [], ignored: outcome };
  }

  /**
   * The server has nothing older to say.
   *
   * @throws TypeError for what is no text with a character in it
   */
  bookmark(resourceVersion: string): void {
    checkVersion(resourceVersion, 'take a bookmark');
    this.#advance(resourceVersion);
  }

  /** Begins a list; one that was under way is void, and has taken nothing away. */
  beginList(): InformerList<T> {
    this.#generation++;
    const generation = this.#generation;
    this.#listing = generation;
    this.#listed = 0;
    this.#last = undefined;
    let isReadable = true;
    const doubtful: Doubtful<T>[] = [];
    const check = () => {
      if (this.#listing !== generation)
        throw new TypeError('Cannot go on with a list: it has ended, or another one has begun');
    };
    return {
      add: (items) => {
        check();
        if (!Array.isArray(items))
          throw new TypeError(`Cannot take a page: the items are ${shown(items)}, not an array`);
        const page = this.#addPage(items, doubtful);
        if (page.malformed.some(({ key }) => key === undefined)) isReadable = false;
        return page;
      },
      end: (resourceVersion) => {
        check();
        checkVersion(resourceVersion, 'end a list');
        const deltas = [
          ...this.#addDoubtful(doubtful, resourceVersion),
          ...(isReadable ? this.#removeUnlisted(generation, resourceVersion) : []),
        ];
        if (this.#isSynced) this.#counts.missed += deltas.length;
        this.#listing = 0;
        this.#counts.lists++;
        this.#resourceVersion = resourceVersion;
        this.#isSynced ||= isReadable;
        if (isReadable && this.#compare(resourceVersion, this.#listedUpTo) !== 'older')
          this.#listedUpTo = resourceVersion;
        return { deltas, malformed: [], isComplete: isReadable };
      },
    };
  }

  /** What had ended by all that was known goes to `doubtful`: whether the list knows better, its version will tell. */
  #addPage(items: readonly unknown[], doubtful: Doubtful<T>[]): AppliedPage<T> {
    const deltas: InformerDelta<T>[] = [];
    const malformed: MalformedObject[] = [];
    for (const object of items) {
      const next = this.#last?.next;
      // Lists come in the same order each time, so most of a relist is found without a look at the table.
      if (next !== undefined && isUnchanged(next, object)) {
        this.#counts.ignored['same-version']++;
        this.#markKnown(next);
        continue;
      }
      const identity = identify(object);
      if (isMalformed(identity)) {
        this.#counts.malformed++;
        malformed.push(identity);
        // It is there, whatever it is.
        if (identity.key !== undefined) this.#markListed(identity.key);
        continue;
      }
      const outcome = this.#upsert(identity, object as T, 'page');
      // Also where what is known is newer, or another life: the list is the older one then.
      this.#markListed(identity.key);
      if (outcome === 'tombstone' || outcome === 'unlisted') doubtful.push({ identity, object: object as T });
      else if (typeof outcome === 'string') this.#counts.ignored[outcome]++;
      else deltas.push(...outcome);
    }
    if (this.#isSynced) this.#counts.missed += deltas.length;
    return { deltas, malformed };
  }

  /** A list that is newer than what is known, and has something else, is right: an earlier one was wrong. */
  #addDoubtful(doubtful: readonly Doubtful<T>[], resourceVersion: string): readonly InformerDelta<T>[] {
    const deltas: InformerDelta<T>[] = [];
    for (const { identity, object } of doubtful) {
      const goneAt = this.#tombstones.get(identity.uid)?.goneAt ?? '';
      const isOld = [goneAt, this.#listedUpTo].some((known) => this.#isUpTo(resourceVersion, known));
      const outcome = this.#upsert(identity, object, isOld ? 'page' : 'newer list');
      this.#markListed(identity.key);
      if (typeof outcome === 'string') this.#counts.ignored[outcome]++;
      else deltas.push(...outcome);
    }
    return deltas;
  }

  #markListed(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    if (this.#last !== undefined && this.#last !== known) this.#last.next = known;
    this.#markKnown(known);
  }

  #markKnown(known: Known<T>): void {
    if (known.listedIn !== this.#listing) this.#listed++;
    known.listedIn = this.#listing;
    this.#last = known;
  }

  /** An event may have made something while the list was under way: what is newer than the list stays. */
  #removeUnlisted(generation: number, resourceVersion: string): readonly InformerDelta<T>[] {
    const deltas: InformerDelta<T>[] = [];
    // It has all of them.
    if (this.#listed === this.#known.size) return deltas;
    for (const [key, known] of this.#known) {
      if (known.listedIn === generation) continue;
      const order = this.#compare(known.resourceVersion, resourceVersion);
      if (order === 'newer' || (order === 'unknown' && known.changedIn === generation)) continue;
      const reason = this.#isSelective ? 'left-selector-or-deleted' : 'deleted';
      deltas.push(this.#delete(key, known, { reason, goneAt: resourceVersion }));
    }
    return deltas;
  }

  #upsert(
    identity: ObjectIdentity,
    object: T,
    from: 'event' | 'page' | 'newer list',
  ): readonly InformerDelta<T>[] | IgnoredReason {
    const { key, uid, resourceVersion } = identity;
    const known = this.#known.get(key);
    const order = known === undefined ? 'newer' : this.#compare(resourceVersion, known.resourceVersion);
    if (order === 'older') return 'older';
    if (known?.uid === uid && order === 'same') return 'same-version';
    const isNewLife = known?.uid !== uid;
    if (isNewLife && from !== 'newer list') {
      if (this.#isBuried(identity)) return 'tombstone';
      // From before a list that did not have it: what came and went unseen, told late (IN10).
      if (this.#isUpTo(resourceVersion, this.#listedUpTo)) return 'unlisted';
    }
    const changedIn = from === 'event' ? this.#listing : 0;
    if (known !== undefined && !isNewLife) {
      this.#tombstones.delete(uid);
      const updated = { type: 'updated', key: known.key, object, old: known.object } as const;
      known.resourceVersion = resourceVersion;
      known.object = object;
      known.changedIn = changedIn;
      return [updated];
    }
    // Its name is taken: whatever the selector, that life is over (IN9).
    const end = known && this.#delete(key, known, { reason: 'deleted', goneAt: resourceVersion });
    this.#tombstones.delete(uid);
    this.#known.set(key, { key, uid, resourceVersion, object, listedIn: 0, changedIn, next: undefined });
    const added = { type: 'added', key, object } as const;
    return end === undefined ? [added] : [end, added];
  }

  /** Whether this is a late word about a life that has ended. One that only left the selector may come back, in a newer state. */
  #isBuried({ uid, resourceVersion }: ObjectIdentity): boolean {
    const tombstone = this.#tombstones.get(uid);
    if (tombstone === undefined) return false;
    if (tombstone.isFinal) return true;
    return this.#isUpTo(resourceVersion, tombstone.goneAt);
  }

  /** Certainly not newer. */
  #isUpTo(resourceVersion: string, known: string): boolean {
    const order = this.#compare(resourceVersion, known);
    return order === 'older' || order === 'same';
  }

  #remove(identity: ObjectIdentity, object: T): readonly InformerDelta<T>[] | IgnoredReason {
    const { key, uid, resourceVersion, isDeleting } = identity;
    const known = this.#known.get(key);
    const order = known === undefined ? 'unknown' : this.#compare(resourceVersion, known.resourceVersion);
    const reason = isDeleting || !this.#isSelective ? 'deleted' : 'left-selector-or-deleted';
    if (known?.uid === uid) {
      if (order === 'older') return 'older';
      return [this.#delete(key, known, { object, reason, goneAt: resourceVersion })];
    }
    if (known !== undefined && this.#tombstones.get(uid)?.isFinal === true) return 'tombstone';
    this.#bury(uid, resourceVersion, reason === 'deleted');
    // A later life has ended, so the one that is known has too (IN8).
    if (known === undefined || order !== 'newer') return 'unknown-object';
    return [this.#delete(key, known, { reason: 'deleted', goneAt: resourceVersion })];
  }

  #delete(key: string, known: Known<T>, end: End<T>): InformerDelta<T> {
    const { uid, object: old } = known;
    const { object, reason, goneAt } = end;
    // First: a clock or a compare that throws leaves the object where it is.
    this.#bury(uid, goneAt, reason === 'deleted');
    this.#known.delete(key);
    if (known.listedIn === this.#listing) this.#listed--;
    letGo(known);
    return { type: 'deleted', key, object, old, reason };
  }

  #bury(uid: string, goneAt: string, isFinal: boolean): void {
    const before = this.#tombstones.get(uid);
    const isOlder = before !== undefined && this.#compare(goneAt, before.goneAt) === 'older';
    this.#tombstones.add(uid, {
      goneAt: isOlder ? before.goneAt : goneAt,
      isFinal: isFinal || before?.isFinal === true,
    });
  }

  /** Never back: an event that is replayed is older than what came after it. */
  #advance(resourceVersion: string): void {
    if (this.#compare(resourceVersion, this.#resourceVersion) !== 'older') this.#resourceVersion = resourceVersion;
  }
}

function checkVersion(resourceVersion: unknown, action: string): void {
  if (typeof resourceVersion === 'string' && resourceVersion !== '') return;
  throw new TypeError(
    `Cannot ${action}: the resource version is ${shown(resourceVersion)}, not a text with a character in it`,
  );
}
