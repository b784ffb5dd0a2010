import type { Core } from '../core/core.ts';
import { compareKeyText } from '../core/key-order.ts';
import type { WatchBatch, WatchEvent } from '../types/event.ts';
import type { ResolvedRange } from '../types/resolved-range.ts';
import type { Key, KeyRange, KeyValue, Revision } from '../types/revision.ts';
import type { WatchFilter } from '../types/watch.ts';
import type { KeptRows } from './kept-rows.ts';
import type { KeySpace } from './keyspace.ts';
import { keyRow, row } from './row.ts';
import type { VersionedState } from './state.ts';
import { readValue, type ValuePolicy } from './values.ts';
import type { Window } from './window.ts';

/**
 * Typed eyes on the versioned state: keys as their users know them, values as their policy reads them.
 *
 * ```text
 *   the whole store         Mvcc { keys, values } ----\
 *   store.prefix('jobs/')   Mvcc { keys below 'jobs/', values of another codec } ----> one VersionedState
 * ```
 */
export class Mvcc<V, K extends Key> {
  readonly state: VersionedState;
  readonly keys: KeySpace<K>;
  readonly values: ValuePolicy<V>;
  readonly #kept: KeptRows<KeyValue<V, K>> | undefined;
  #lastBatch: LastBatch<V, K> | undefined;

  /** `kept`: rows to read again, those that the state drops. */
  constructor(
    state: VersionedState,
    keys: KeySpace<K>,
    values: ValuePolicy<V>,
    kept: KeptRows<KeyValue<V, K>> | undefined,
  ) {
    this.state = state;
    this.keys = keys;
    this.values = values;
    // Bytes are each reader's own (store:R38).
    this.#kept = keys.mode === 'utf8' ? kept : undefined;
  }

  get window(): Window {
    return this.state.window;
  }

  get core(): Core {
    return this.state.core;
  }

  /** The row of a version for a reader: the one that was made before, if nobody can change what is in it. */
  kv(slot: number): KeyValue<V, K> {
    const kept = this.#kept;
    if (kept === undefined) return this.#row(slot);
    const known = kept.get(slot);
    if (known !== undefined) return known;
    const made = this.#row(slot);
    if (this.values.isShareable(this.state.cellAt(slot))) kept.keep(slot, made);
    return made;
  }

  /** The same without its value. */
  keyRow(slot: number): KeyValue<V, K> {
    return this.#row(slot, true);
  }

  #row(slot: number, keysOnly = false): KeyValue<V, K> {
    const { core } = this.state;
    const key = this.keys.key(this.state.textAt(slot));
    const numbers = {
      createRevision: core.createRevision(slot),
      modRevision: core.modRevision(slot),
      version: core.version(slot),
      lease: this.state.leaseAt(slot),
    };
    return keysOnly ? keyRow(key, numbers) : row(key, readValue(this.values, this.state.cellAt(slot), key), numbers);
  }

  resolve(range: KeyRange<K>, action: string): ResolvedRange {
    return this.keys.resolve(range, action);
  }

  // What a watch needs (see WatchSource in src/watch/watcher.ts).

  nextCommit(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined): Revision {
    return this.state.nextCommit(range, from, filter);
  }

  entriesFrom(from: Revision): number {
    return this.state.entriesFrom(from);
  }

  /**
   * The batch of one commit, as this range and filter see it. Ten thousand watchers of one prefix ask for the same one in
   * a row, so the last one is kept, if nobody can change what is in it.
   */
  batchAt(range: ResolvedRange, commit: Revision, filter: WatchFilter | undefined, prevKv: boolean): WatchBatch<V, K> {
    const last = this.#lastBatch;
    const { state } = this;
    const { compactRevision } = state.window;
    if (
      last !== undefined &&
      last.core === state.core &&
      last.batch.revision === commit &&
      last.filter === filter &&
      last.prevKv === prevKv &&
      last.compactRevision === compactRevision &&
      sameRange(last.range, range)
    ) {
      return last.batch;
    }
    // Copied: building events calls the core, which reuses the view.
    const slots = state.eventsAt(range, commit, filter).slice();
    const span = state.window.spanAt(commit);
    const before = span === undefined ? commit - 1 : span.after;
    // Bytes, and what a codec makes that cannot be frozen, are each consumer's own (store:R38).
    let isShareable = this.keys.mode === 'utf8';
    const events: WatchEvent<V, K>[] = [];
    for (const slot of slots) {
      const previous = prevKv ? state.previous(slot, before) : -1;
      events.push(this.#event(slot, previous));
      isShareable &&= this.#isShareable(slot) && (previous < 0 || this.#isShareable(previous));
    }
    const own = { revision: commit, events: Object.freeze(events) };
    const batch: WatchBatch<V, K> = Object.freeze(span === undefined ? own : { ...own, after: span.after, span: true });
    this.#lastBatch = isShareable ? { core: state.core, range, filter, prevKv, compactRevision, batch } : undefined;
    return batch;
  }

  /**
   * The difference between the state before `from` and now, made for one watcher that lags (M14). A key that came and
   * went in between is left out unless the older state is compacted, when nobody can tell.
   */
  difference(range: ResolvedRange, from: Revision, filter: WatchFilter | undefined, prevKv: boolean): WatchBatch<V, K> {
    const { state } = this;
    const { core, window } = state;
    // A watcher at the end of a span is one that a repair woke: it has the state before the span (M13).
    const after = window.spanAt(from)?.after ?? from - 1;
    const ids = new Set<number>();
    for (const slot of core.replay(range.bytes, from, 0, Number.MAX_SAFE_INTEGER)) ids.add(core.keyOf(slot));
    const ordered = [...ids].sort((a, b) => compareKeyText(state.keyText(a), state.keyText(b)));
    const events: WatchEvent<V, K>[] = [];
    for (const id of ordered) {
      const slot = core.headSlot(id);
      const isDelete = core.isTombstone(slot);
      const previous = state.previous(slot, after);
      if (isDelete && previous < 0 && window.isReadable(after)) continue;
      if (filter === (isDelete ? 'nodelete' : 'noput')) continue;
      events.push(this.#event(slot, prevKv ? previous : -1));
    }
    return Object.freeze({ revision: window.revision, after, span: true, events: Object.freeze(events) });
  }

  /** Everything there is now, as the first batch of list + watch (M28); one batch also when empty. */
  initial(range: ResolvedRange): WatchBatch<V, K> {
    const { revision } = this.state.window;
    const slots = this.state.slots(range, revision, 0);
    const events: WatchEvent<V, K>[] = [];
    for (const slot of slots) events.push(Object.freeze({ type: 'put', kv: this.kv(slot) }));
    return Object.freeze({ revision, initial: true, events: Object.freeze(events) });
  }

  #event(slot: number, previous: number): WatchEvent<V, K> {
    const prevKv = previous < 0 ? undefined : this.kv(previous);
    const { core } = this.state;
    if (core.isTombstone(slot)) {
      const key = this.keys.key(this.state.textAt(slot));
      const kv = Object.freeze({ key, modRevision: core.modRevision(slot) });
      return Object.freeze(prevKv === undefined ? { type: 'delete', kv } : { type: 'delete', kv, prevKv });
    }
    const kv = this.kv(slot);
    return Object.freeze(prevKv === undefined ? { type: 'put', kv } : { type: 'put', kv, prevKv });
  }

  #isShareable(slot: number): boolean {
    return this.state.core.isTombstone(slot) || this.values.isShareable(this.state.cellAt(slot));
  }
}

interface LastBatch<V, K extends Key> {
  /** A replaced data set uses revisions again, in a new core (M24). */
  readonly core: Core;
  readonly range: ResolvedRange;
  readonly filter: WatchFilter | undefined;
  readonly prevKv: boolean;
  /** Whether the state before can be read depends on it (M29). */
  readonly compactRevision: Revision;
  readonly batch: WatchBatch<V, K>;
}

function sameRange(a: ResolvedRange, b: ResolvedRange): boolean {
  return a === b || (a.kind === b.kind && a.text === b.text && endOf(a) === endOf(b));
}

function endOf(range: ResolvedRange): string | undefined {
  return range.kind === 'interval' ? range.endText : undefined;
}
