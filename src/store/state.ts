import { Core, type ExactNeed } from '../core/core.ts';
import type { CoreOptions } from '../core/instance.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Revision } from '../types/revision.ts';
import type { StoreStats } from '../types/store.ts';
import type { WatchFilter } from '../types/watch.ts';
import type { Commit } from './commit.ts';
import type { KeptRows } from './kept-rows.ts';
import { SizeLedger, type SizeLedgerOptions } from './size-ledger.ts';
import { Window } from './window.ts';

/**
 * A delete adds a version before compaction can take any away. Puts leave room for so many, or a full store could never
 * be emptied (M37).
 */
const DELETES_AHEAD = 7;
/**
 * Deletes of one commit leave room for one more: their tombstones stay until another revision follows, so a commit that used
 * all there is could be the last one. A single delete may use what it finds: the tombstones of the commit before it can be
 * compacted then.
 */
const DELETES_AHEAD_OF_SEVERAL = 1;
/** From this distance on the core keeps a number in a block of its own, which `reserveExact` has no room for. */
const FAR = 2 ** 32 - 2;

const ALL_KEYS = { start: new Uint8Array(0), end: new Uint8Array(0) };

/** Key text to bytes, for the core; a `KeySpace` has this shape. */
export interface KeyEncoding {
  readonly mode: 'utf8' | 'bytes';
  bytes(text: string): Uint8Array;
  byteLength(text: string): number;
}

export interface StateOptions extends CoreOptions {
  readonly module: WebAssembly.Module;
  readonly keys: KeyEncoding;
  /** Revision of the empty state: 1 for an embedded store (store:R1), 0 for a replica before its first snapshot. */
  readonly revision: Revision;
  /** Bounds the bytes of the retained values. @default no bound, and nothing is measured */
  readonly sizes?: SizeLedgerOptions;
  /** What was made of versions: told when their slots are free. */
  readonly kept?: Pick<KeptRows<unknown>, 'drop' | 'clear'>;
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
 * calls user code; values were admitted before (M8), and `Mvcc` makes rows of them.
 */
export class VersionedState {
  readonly #options: StateOptions;
  #core: Core;
  #window: Window;
  /** Key text to key id: an exact look-up needs no order, and this one does not cross into the core. */
  #ids = new Map<string, number>();
  #texts: string[] = [];
  #cells: unknown[] = [];
  #leases = new Map<number, string>();
  #sizes: SizeLedger | undefined;
  /** Where physical compaction has to stop, whatever the low watermark is. */
  readonly #holds = new Set<{ readonly revision: Revision }>();

  constructor(options: StateOptions) {
    this.#options = options;
    this.#core = new Core(options.module, options);
    this.#window = new Window(options.revision);
    this.#sizes = options.sizes === undefined ? undefined : new SizeLedger(options.sizes);
  }

  get window(): Window {
    return this.#window;
  }

  /** What is stored, as `Store.stats()` says it. */
  stats(): Pick<StoreStats, 'keys' | 'logEntries' | 'storedVersions' | 'memoryBytes' | 'valueBytes'> {
    const { liveKeys, logEntries, versions, memoryBytes } = this.#core.stats();
    const values = this.#sizes === undefined ? {} : { valueBytes: this.#sizes.bytes };
    return { keys: liveKeys, logEntries, storedVersions: versions, memoryBytes, ...values };
  }

  get core(): Core {
    return this.#core;
  }

  get module(): WebAssembly.Module {
    return this.#options.module;
  }

  /** Forgets everything, for a replica whose data were replaced (M24). Watchers are the caller's affair. */
  clear(): void {
    this.#core = new Core(this.#options.module, this.#options);
    this.#window = new Window(this.#options.revision);
    this.#ids = new Map();
    this.#texts = [];
    this.#cells = [];
    this.#leases = new Map();
    const { sizes, kept } = this.#options;
    kept?.clear();
    this.#sizes = sizes === undefined ? undefined : new SizeLedger(sizes);
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
      sizes: this.#sizes,
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
      this.#sizes = old.sizes;
      throw error;
    }
    this.#window.prime(list.revision);
  }

  /** Applies one commit. Throws `StoreFullError` with nothing changed. */
  publish(commit: Commit, action: string): void {
    this.#reserve(commit, action);
    this.#sizes?.reserve(commit.changes, action);
    const core = this.#core;
    for (const change of commit.changes) {
      let id = this.#ids.get(change.text);
      if (id === undefined) {
        id = core.internKey(this.#encoded(change.text));
        this.#ids.set(change.text, id);
        this.#texts[id] = change.text;
      }
      const { modRevision, createRevision, version } = change;
      const isDelete = change.type === 'delete';
      const slot = core.append(id, commit.revision, modRevision, createRevision, version, 0, isDelete);
      this.#cells[slot] = change.cell;
      this.#sizes?.add(slot);
      if (change.lease !== '0') this.#leases.set(slot, change.lease);
    }
    this.#window.advance(commit.revision, commit.after, commit.changes.length === 0);
  }

  /**
   * Keeps the versions that can be read from a revision on, the low watermark or above, while the watermark goes on: for a
   * snapshot that is being made. What compaction left undone is to be done when the returned function was called.
   */
  hold(revision: Revision): () => void {
    const hold = { revision };
    this.#holds.add(hold);
    return () => this.#holds.delete(hold);
  }

  /**
   * One slice of physical compaction; `true` when nothing is left to do, or nothing that no one holds. Never changes an
   * answer (M16).
   */
  compactStep(budget: number): boolean {
    let floor = this.#window.compactRevision;
    for (const { revision } of this.#holds) floor = Math.min(floor, revision);
    for (let left = budget; ; ) {
      const step = this.#core.compactStep(floor, left);
      for (const slot of step.freedSlots) {
        this.#cells[slot] = undefined;
        this.#sizes?.free(slot);
        this.#leases.delete(slot);
        this.#options.kept?.drop(slot);
      }
      for (const id of step.droppedKeys) {
        this.#ids.delete(this.#texts[id] as string);
        this.#texts[id] = '';
      }
      left -= step.work;
      if (step.done || left <= 0) return step.done;
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

  /** Live slots of a range in key order at a readable revision. A copy: the view of the core is gone with its next call. */
  slots(range: ResolvedRange, revision: Revision, limit: number): Uint32Array {
    return range.empty ? new Uint32Array(0) : this.#core.range(range.bytes, revision, limit).slice();
  }

  count(range: ResolvedRange, revision: Revision): number {
    return range.empty ? 0 : this.#core.count(range.bytes, revision);
  }

  textAt(slot: number): string {
    return this.#texts[this.#core.keyOf(slot)] as string;
  }

  /** All ids of keys are below. Those of keys that are gone are given out again. */
  get keyIdsEnd(): number {
    return this.#texts.length;
  }

  /** Whether some key with versions has this id. */
  hasKeyId(id: number): boolean {
    return this.#texts[id] !== '';
  }

  hasKey(text: string): boolean {
    return this.#ids.has(text);
  }

  keyText(id: number): string {
    return this.#texts[id] as string;
  }

  cellAt(slot: number): unknown {
    return this.#cells[slot];
  }

  leaseAt(slot: number): string {
    return this.#leases.size === 0 ? '0' : (this.#leases.get(slot) ?? '0');
  }

  // What a watch needs.

  /** The first commit from `from` on with an event for this range and filter; 0 if there is none yet. */
  nextCommit(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined): Revision {
    // Asked by each watcher that has read everything: not worth a call of the core.
    return from > this.#window.revision ? 0 : this.#core.nextCommit(range.bytes, from, filterCode(filter));
  }

  /** Slots of the events of one commit. A view: valid until the next call of the core. */
  eventsAt(range: ResolvedRange, commit: Revision, filter: WatchFilter | undefined): Uint32Array {
    return this.#core.eventsAt(range.bytes, commit, filterCode(filter));
  }

  /** Log entries from a revision on: how far behind a watcher at that position is. */
  entriesFrom(from: Revision): number {
    return this.#core.entriesFrom(from);
  }

  /** The live version of an event's key at `before`, -1 if there was none or compaction took it (M29). */
  previous(slot: number, before: Revision): number {
    if (!this.#window.isReadable(before)) return -1;
    const core = this.#core;
    const previous = core.slotAt(core.keyOf(slot), before);
    return previous < 0 || core.isTombstone(previous) ? -1 : previous;
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
   * Slots of the log from a revision on, in its order: whole commits, up to the one with the `most`-th. A view: valid until
   * the next call of the core.
   */
  slotsFrom(from: Revision, most: number = Number.MAX_SAFE_INTEGER): Uint32Array {
    return this.#core.replay(ALL_KEYS, from, 0, most);
  }

  /** A key as the core takes it: text it encodes itself. */
  #encoded(text: string): string | Uint8Array {
    const { keys } = this.#options;
    return keys.mode === 'utf8' ? text : keys.bytes(text);
  }

  #reserve(commit: Commit, action: string): void {
    const { changes } = commit;
    let deletesAhead = changes.length > 1 ? DELETES_AHEAD_OF_SEVERAL : 0;
    let newKeys = 0;
    let newKeyBytes = 0;
    let longestKeyBytes = 0;
    for (const { text, type } of changes) {
      if (type === 'put') deletesAhead = DELETES_AHEAD;
      if (this.#ids.has(text)) continue;
      const length = this.#options.keys.byteLength(text);
      newKeys++;
      newKeyBytes += length;
      if (length > longestKeyBytes) longestKeyBytes = length;
    }
    try {
      this.#core.reserve(action, { events: changes.length + deletesAhead, newKeys, newKeyBytes, longestKeyBytes });
    } catch (error) {
      const need = this.#exactNeed(commit);
      if (need === undefined) throw error;
      this.#core.reserveExact(action, { ...need, longestKeyBytes, deletesAhead });
    }
  }

  /**
   * What a commit needs to the byte, for a store that is full; `undefined` for one that writes a key twice, as a transaction
   * may that deletes what it has put, or whose numbers are far below its revision.
   */
  #exactNeed({ revision, changes }: Commit): Pick<ExactNeed, 'keyIds' | 'newKeys'> | undefined {
    const keyIds = new Set<number>();
    const texts = new Set<string>();
    for (const { text, type, modRevision, createRevision } of changes) {
      if (revision - modRevision >= FAR || (type === 'put' && revision - createRevision >= FAR)) return undefined;
      const id = this.#ids.get(text);
      if (id === undefined) texts.add(text);
      else keyIds.add(id);
    }
    if (keyIds.size + texts.size < changes.length) return undefined;
    return { keyIds: [...keyIds], newKeys: [...texts].map((text) => this.#encoded(text)) };
  }
}

function filterCode(filter: WatchFilter | undefined): 0 | 1 | 2 {
  if (filter === undefined) return 0;
  return filter === 'noput' ? 1 : 2;
}
