import { Core, type CoreNeed } from '../core/core.ts';
import type { CoreOptions } from '../core/instance.ts';
import { compareKeyText } from '../core/key-order.ts';
import { StoreFullError } from '../types/errors.ts';
import type { WatchBatch, WatchEvent } from '../types/event.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type { WatchFilter } from '../types/store.ts';
import type { Commit } from './commit.ts';
import type { KeySpace } from './keyspace.ts';
import { keyRow, row } from './row.ts';
import { readValue, type ValuePolicy } from './values.ts';
import { Window } from './window.ts';

/**
 * A delete adds a version before compaction can take any away. Puts leave room for so many, or a full store could never
 * be emptied.
 */
const DELETES_AHEAD = 7;
/**
 * Freed memory may be in pieces too small to promise that room again; a store that holds only this part of the versions
 * that once filled it has it all the same.
 */
const EMPTIED_PART = 0.75;

const ALL_KEYS = { start: new Uint8Array(0), end: new Uint8Array(0) };

export interface MvccOptions<V, K extends Key> extends CoreOptions {
  readonly module: WebAssembly.Module;
  readonly keys: KeySpace<K>;
  readonly values: ValuePolicy<V>;
  /** Revision of the empty state: 1 for an embedded store (store:R1), 0 for a replica before its first snapshot. */
  readonly revision: Revision;
}

/**
 * The versioned state of one store: what every key was at every readable revision. Embedded stores and replicas share
 * it; they differ in who makes the commits.
 *
 * ```text
 *   key text --Map--> key id --core--> versions of the key, by commit revision --slot--> value cell (JS array)
 *                                        \__ log: slots in commit order           \____> lease, if any (JS map)
 * ```
 *
 * One applier: `publish` is the only way state changes, and it publishes (revision, snapshot) together. Nothing here
 * calls user code inside it; values were admitted before (M8).
 */
export class Mvcc<V, K extends Key> {
  readonly keys: KeySpace<K>;
  readonly values: ValuePolicy<V>;
  readonly #options: MvccOptions<V, K>;
  #core: Core;
  #window: Window;
  /** Key text to key id: an exact look-up needs no order, and this one does not cross into the core. */
  #ids = new Map<string, number>();
  #texts: string[] = [];
  #cells: unknown[] = [];
  #leases = new Map<number, string>();
  /** Most versions that were there when a put was refused. */
  #fullVersions = 0;
  #lastBatch: LastBatch<V, K> | undefined;

  constructor(options: MvccOptions<V, K>) {
    this.#options = options;
    this.keys = options.keys;
    this.values = options.values;
    this.#core = new Core(options.module, options);
    this.#window = new Window(options.revision);
  }

  get window(): Window {
    return this.#window;
  }

  get core(): Core {
    return this.#core;
  }

  /** Forgets everything, for a replica whose data were replaced (M24). Watchers are the caller's affair. */
  clear(): void {
    this.#core = new Core(this.#options.module, this.#options);
    this.#window = new Window(this.#options.revision);
    this.#ids = new Map();
    this.#texts = [];
    this.#cells = [];
    this.#leases = new Map();
    this.#fullVersions = 0;
    this.#lastBatch = undefined;
  }

  /**
   * Forgets everything and starts with one list, as its first (M15). Throws `StoreFullError` with nothing changed: until
   * the list is in, the old state is kept beside the new one.
   */
  restart(list: Commit, action: string): void {
    const old = {
      core: this.#core,
      window: this.#window,
      ids: this.#ids,
      texts: this.#texts,
      cells: this.#cells,
      leases: this.#leases,
    };
    this.clear();
    try {
      this.publish(list, action);
    } catch (error) {
      this.#core = old.core;
      this.#window = old.window;
      this.#ids = old.ids;
      this.#texts = old.texts;
      this.#cells = old.cells;
      this.#leases = old.leases;
      throw error;
    }
    this.#window.prime(list.revision);
  }

  /** Applies one commit. Throws `StoreFullError` with nothing changed. */
  publish(commit: Commit, action: string): void {
    this.#reserve(commit, action);
    const core = this.#core;
    for (const change of commit.changes) {
      let id = this.#ids.get(change.text);
      if (id === undefined) {
        id = core.internKey(this.keys.mode === 'utf8' ? change.text : this.keys.bytes(change.text));
        this.#ids.set(change.text, id);
        this.#texts[id] = change.text;
      }
      const { modRevision, createRevision, version } = change;
      const isDelete = change.type === 'delete';
      const slot = core.append(id, commit.revision, modRevision, createRevision, version, 0, isDelete);
      this.#cells[slot] = change.cell;
      if (change.lease !== '0') this.#leases.set(slot, change.lease);
    }
    this.#window.advance(commit.revision, commit.after);
  }

  /** One slice of physical compaction; `true` when nothing is left to do. Never changes an answer (M16). */
  compactStep(budget: number): boolean {
    for (let left = budget; ; ) {
      const step = this.#core.compactStep(this.#window.compactRevision, left);
      for (const slot of step.freedSlots) {
        this.#cells[slot] = undefined;
        this.#leases.delete(slot);
      }
      for (const id of step.droppedKeys) {
        this.#ids.delete(this.#texts[id] as string);
        this.#texts[id] = '';
      }
      left -= step.entries;
      if (step.done || left <= 0 || step.entries === 0) return step.done;
    }
  }

  /** The live version of a key at a readable revision, -1 if there was none. */
  slotOf(text: string, revision: Revision): number {
    const id = this.#ids.get(text);
    if (id === undefined) return -1;
    const core = this.#core;
    const slot = revision >= this.#window.revision ? core.headSlot(id) : core.slotAt(id, revision);
    return slot < 0 || core.isTombstone(slot) ? -1 : slot;
  }

  /** Whether history holds a change of this key at exactly this commit. */
  hasCommit(text: string, commit: Revision): boolean {
    const id = this.#ids.get(text);
    if (id === undefined) return false;
    const slot = this.#core.slotAt(id, commit);
    return slot >= 0 && this.#core.commitRevision(slot) === commit;
  }

  /** Live slots of a range in key order at a readable revision. A view: valid until the next call of the core. */
  slots(range: ResolvedRange, revision: Revision, limit: number): Uint32Array {
    return range.empty ? new Uint32Array(0) : this.#core.range(range.bytes, revision, limit);
  }

  count(range: ResolvedRange, revision: Revision): number {
    return range.empty ? 0 : this.#core.count(range.bytes, revision);
  }

  textAt(slot: number): string {
    return this.#texts[this.#core.keyOf(slot)] as string;
  }

  cellAt(slot: number): unknown {
    return this.#cells[slot];
  }

  leaseAt(slot: number): string {
    return this.#leases.size === 0 ? '0' : (this.#leases.get(slot) ?? '0');
  }

  kv(slot: number, keysOnly = false): KeyValue<V, K> {
    const core = this.#core;
    const key = this.keys.key(this.textAt(slot));
    const numbers = {
      createRevision: core.createRevision(slot),
      modRevision: core.modRevision(slot),
      version: core.version(slot),
      lease: this.leaseAt(slot),
    };
    return keysOnly ? keyRow(key, numbers) : row(key, readValue(this.values, this.#cells[slot], key), numbers);
  }

  // What a watch needs (see WatchSource in src/watch/hub.ts).

  resolve(range: KeyRange<K>, action: string): ResolvedRange {
    return this.keys.resolve(range, action);
  }

  /** The first commit from `from` on with an event for this range and filter; 0 if there is none yet. */
  nextCommit(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined): Revision {
    // Asked by each watcher that has read everything: not worth a call of the core.
    return from > this.#window.revision ? 0 : this.#core.nextCommit(range.bytes, from, filterCode(filter));
  }

  /** Log entries from a revision on: how far behind a watcher at that position is. */
  entriesFrom(from: Revision): number {
    return this.#core.entriesFrom(from);
  }

  // What retention needs (see RetainedLog).

  entries(): number {
    return this.#core.logEntries;
  }

  commitFromEnd(entries: number): Revision {
    return this.#core.commitFromEnd(entries);
  }

  commitFrom(from: Revision): Revision {
    return this.#core.nextCommit(ALL_KEYS, from, 0);
  }

  /**
   * The batch of one commit, as this range and filter see it. Ten thousand watchers of one prefix ask for the same one in
   * a row, so the last one is kept, if nobody can change what is in it.
   */
  batchAt(range: ResolvedRange, commit: Revision, filter: WatchFilter | undefined, prevKv: boolean): WatchBatch<V, K> {
    const last = this.#lastBatch;
    const { compactRevision } = this.#window;
    if (
      last !== undefined &&
      last.batch.revision === commit &&
      last.filter === filter &&
      last.prevKv === prevKv &&
      last.compactRevision === compactRevision &&
      sameRange(last.range, range)
    ) {
      return last.batch;
    }
    // Copied: building events calls the core, which reuses the view.
    const slots = this.#core.eventsAt(range.bytes, commit, filterCode(filter)).slice();
    const span = this.#window.spanAt(commit);
    const before = span === undefined ? commit - 1 : span.after;
    // Bytes, and what a codec makes that cannot be frozen, are each consumer's own (store:R38).
    let isShareable = this.keys.mode === 'utf8';
    const events: WatchEvent<V, K>[] = [];
    for (const slot of slots) {
      const previous = prevKv ? this.#previous(slot, before) : -1;
      events.push(this.#event(slot, previous));
      isShareable &&= this.#isShareable(slot) && (previous < 0 || this.#isShareable(previous));
    }
    const own = { revision: commit, events: Object.freeze(events) };
    const batch: WatchBatch<V, K> = Object.freeze(span === undefined ? own : { ...own, after: span.after, span: true });
    this.#lastBatch = isShareable ? { range, filter, prevKv, compactRevision, batch } : undefined;
    return batch;
  }

  /**
   * The difference between the state before `from` and now, made for one watcher that lags (M14). A key that came and
   * went in between is left out unless the older state is compacted, when nobody can tell.
   */
  difference(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined, prevKv: boolean): WatchBatch<V, K> {
    const core = this.#core;
    // A watcher at the end of a span is one that a repair woke: it has the state before the span (M13).
    const after = this.#window.spanAt(from)?.after ?? from - 1;
    const ids = new Set<number>();
    for (const slot of core.replay(range.bytes, from, 0, Number.MAX_SAFE_INTEGER)) ids.add(core.keyOf(slot));
    const ordered = [...ids].sort((a, b) => compareKeyText(this.#texts[a] as string, this.#texts[b] as string));
    const events: WatchEvent<V, K>[] = [];
    for (const id of ordered) {
      const slot = core.headSlot(id);
      const isDelete = core.isTombstone(slot);
      const previous = this.#previous(slot, after);
      if (isDelete && previous < 0 && this.#window.isReadable(after)) continue;
      if (filter === (isDelete ? 'nodelete' : 'noput')) continue;
      events.push(this.#event(slot, prevKv ? previous : -1));
    }
    return Object.freeze({ revision: this.#window.revision, after, span: true, events: Object.freeze(events) });
  }

  /** Everything there is now, as the first batch of list + watch (M28); one batch also when empty. */
  initial(range: ResolvedRange): WatchBatch<V, K> {
    const revision = this.#window.revision;
    const slots = this.slots(range, revision, 0).slice();
    const events: WatchEvent<V, K>[] = [];
    for (const slot of slots) events.push(Object.freeze({ type: 'put', kv: this.kv(slot) }));
    return Object.freeze({ revision, initial: true, events: Object.freeze(events) });
  }

  #event(slot: number, previous: number): WatchEvent<V, K> {
    const prevKv = previous < 0 ? undefined : this.kv(previous);
    const core = this.#core;
    if (core.isTombstone(slot)) {
      const key = this.keys.key(this.textAt(slot));
      const kv = Object.freeze({ key, modRevision: core.modRevision(slot) });
      return Object.freeze(prevKv === undefined ? { type: 'delete', kv } : { type: 'delete', kv, prevKv });
    }
    const kv = this.kv(slot);
    return Object.freeze(prevKv === undefined ? { type: 'put', kv } : { type: 'put', kv, prevKv });
  }

  #isShareable(slot: number): boolean {
    return this.#core.isTombstone(slot) || this.values.isShareable(this.#cells[slot]);
  }

  /** The live version of an event's key at `before`, -1 if there was none or compaction took it (M29). */
  #previous(slot: number, before: Revision): number {
    if (!this.#window.isReadable(before)) return -1;
    const core = this.#core;
    const previous = core.slotAt(core.keyOf(slot), before);
    return previous < 0 || core.isTombstone(previous) ? -1 : previous;
  }

  #reserve(commit: Commit, action: string): void {
    const events = commit.changes.length;
    let newKeys = 0;
    let newKeyBytes = 0;
    let longestKeyBytes = 0;
    let hasPut = false;
    for (const { text, type } of commit.changes) {
      if (type === 'put') hasPut = true;
      if (this.#ids.has(text)) continue;
      const length = this.keys.byteLength(text);
      newKeys++;
      newKeyBytes += length;
      if (length > longestKeyBytes) longestKeyBytes = length;
    }
    const need = { events, newKeys, newKeyBytes, longestKeyBytes };
    if (hasPut) this.#reserveWithRoom(need, action);
    else this.#core.reserve(action, need);
  }

  #reserveWithRoom(need: CoreNeed, action: string): void {
    const core = this.#core;
    try {
      core.reserve(action, { ...need, events: need.events + DELETES_AHEAD });
    } catch (error) {
      if (!(error instanceof StoreFullError)) throw error;
      const { versions } = core.stats();
      if (versions > this.#fullVersions * EMPTIED_PART) {
        this.#fullVersions = Math.max(this.#fullVersions, versions);
        throw error;
      }
      core.reserve(action, need);
    }
  }
}

interface LastBatch<V, K extends Key> {
  readonly range: ResolvedRange;
  readonly filter: WatchFilter | undefined;
  readonly prevKv: boolean;
  /** Whether the state before can be read depends on it (M29). */
  readonly compactRevision: Revision;
  readonly batch: WatchBatch<V, K>;
}

function sameRange(a: ResolvedRange, b: ResolvedRange): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.text !== b.text) return false;
  return a.kind !== 'interval' || b.kind !== 'interval' || a.endText === b.endText;
}

function filterCode(filter: WatchFilter | undefined): 0 | 1 | 2 {
  if (filter === undefined) return 0;
  return filter === 'noput' ? 1 : 2;
}
