import { SnapshotError } from '../types/errors.ts';
import type { LeaseDump } from '../types/lease-dump.ts';
import type { Key, Revision } from '../types/revision.ts';
import type { Mvcc } from './mvcc.ts';
import { checksumSteps } from './snapshot-checksum.ts';
import {
  END,
  KEY_MODES,
  KIND_DELETE,
  KIND_JSON,
  MAGIC,
  REVISION_MAX,
  type SnapshotHeader,
  VERSION,
  VERSION_MAX,
} from './snapshot-format.ts';
import { sortedPlaces } from './snapshot-sort.ts';
import { rowUnits, StepLength } from './snapshot-steps.ts';
import { SnapshotValues } from './snapshot-values.ts';
import { SnapshotWriter } from './snapshot-writer.ts';

/** Entries of history that are looked up at once. */
const PAGE_ENTRIES = 1024;
/** Work for a key that is only looked at, in parts of a row. */
const LOOK_UNITS = 0.25;

export interface SnapshotSource<V, K extends Key> {
  readonly mvcc: Mvcc<V, K>;
  readonly identity: string;
  readonly wallTimeMs: number;
  /** As they are now; read in the course of the work. */
  readonly leases: Iterable<LeaseDump>;
}

/**
 * The store as bytes, in steps. What is in the snapshot is the state at the first one: commits that come later are above
 * its revision, and the caller holds physical compaction back at its low watermark. Versions never change.
 *
 * ```text
 *   rows       what is live at C, and older           foo 4             in the order of their commits
 *   commits    everything from C on, deletes too      C: bar | 7: foo, -bar | 8: ...
 * ```
 *
 * Readable are the states from C on, and no others: what was superseded at C or before is not here.
 */
export function* snapshotSteps<V, K extends Key>(source: SnapshotSource<V, K>): Generator<void, Uint8Array> {
  const { mvcc } = source;
  const { state } = mvcc;
  const { window } = state;
  const writer = new RowWriter(mvcc);
  const header: SnapshotHeader = {
    keys: mvcc.keys.mode,
    form: writer.values.form,
    identity: source.identity,
    wallTimeMs: source.wallTimeMs,
    revision: window.revision,
    compactRevision: window.isCompacted ? window.compactRevision : -1,
    watchFloor: window.watchFloor,
  };
  if (header.revision > REVISION_MAX) throw tooHigh(`the revision of the store is above ${REVISION_MAX}`);
  const length = new StepLength();
  writer.header(header);
  for (const lease of source.leases) {
    writer.lease(lease);
    if (length.isOver(rowUnits(0))) yield;
  }
  writer.end();
  yield* rows(mvcc, header.compactRevision, writer, length);
  yield* commits(mvcc, header, writer, length);
  const all = yield* writer.bytes.join(length);
  const body = all.subarray(0, writer.bytes.length);
  all.set(yield* checksumSteps(state.module, body, length), body.length);
  return all;
}

/** Live at C, and put before it: a version that was put at C is in the commits. */
function* rows<V, K extends Key>(
  { state }: Mvcc<V, K>,
  compactRevision: Revision,
  writer: RowWriter<V, K>,
  length: StepLength,
): Generator<void, void> {
  const { core } = state;
  // Nothing is older than the first revision. Keys that come while this runs are younger than C, whatever id they get: the
  // end is fixed, or it would never be reached while keys come faster than they are looked at.
  const end = compactRevision > 1 ? state.keyIdsEnd : 0;
  // As long as they can get, once: what grows is copied, all of it in one step.
  const slots = new Uint32Array(end);
  const ranks = new Float64Array(end);
  let count = 0;
  for (let id = 0; id < end; id++) {
    const slot = state.hasKeyId(id) ? core.slotAt(id, compactRevision) : -1;
    if (slot >= 0 && !core.isTombstone(slot) && core.commitRevision(slot) < compactRevision) {
      slots[count] = slot;
      ranks[count++] = core.modRevision(slot);
    }
    if (length.isOver(LOOK_UNITS)) yield;
  }
  for (const place of yield* sortedPlaces(ranks.subarray(0, count), length)) {
    if (length.isOver(writer.row(slots[place] as number))) yield;
  }
  writer.end();
}

function* commits<V, K extends Key>(
  { state }: Mvcc<V, K>,
  { compactRevision, revision }: SnapshotHeader,
  writer: RowWriter<V, K>,
  length: StepLength,
): Generator<void, void> {
  const { core } = state;
  let commit = 0;
  for (let from = Math.max(compactRevision, 1); from <= revision; from = commit + 1) {
    // A copy: the view is gone with the next call.
    const page = state.slotsFrom(from, PAGE_ENTRIES).slice();
    for (const slot of page) {
      const at = core.commitRevision(slot);
      if (at > revision) break;
      if (at !== commit) {
        if (commit > 0) writer.end();
        commit = at;
        writer.bytes.number(commit);
      }
      if (length.isOver(writer.change(slot))) yield;
    }
    // There is none any more, or only those that came later.
    if (commit < from) break;
  }
  if (commit > 0) writer.end();
  writer.end();
}

/** Of a store that has come so far that none could be opened with what it has: better known now than then. */
function tooHigh(reason: string): SnapshotError {
  return new SnapshotError('create a snapshot', reason);
}

/** Puts the parts of a snapshot into bytes. What writes a row or a change answers the work it was. */
class RowWriter<V, K extends Key> {
  readonly bytes: SnapshotWriter = new SnapshotWriter();
  readonly values: SnapshotValues;
  readonly #mvcc: Mvcc<V, K>;

  constructor(mvcc: Mvcc<V, K>) {
    this.#mvcc = mvcc;
    this.values = new SnapshotValues(mvcc.values);
  }

  header(header: SnapshotHeader): void {
    const { bytes } = this;
    bytes.raw(MAGIC);
    bytes.u32(VERSION);
    bytes.byte(KEY_MODES.indexOf(header.keys));
    bytes.byte(header.form);
    bytes.text(header.identity);
    bytes.number(Math.max(0, Math.floor(header.wallTimeMs)));
    bytes.number(header.revision);
    bytes.number(header.compactRevision + 1);
    bytes.number(header.watchFloor);
  }

  lease({ id, ttlMs, remainingMs, keyed }: LeaseDump): void {
    this.bytes.text(id);
    this.bytes.number(ttlMs);
    this.bytes.number(remainingMs);
    this.bytes.byte(keyed ? 1 : 0);
  }

  end(): void {
    this.bytes.byte(END);
  }

  row(slot: number): number {
    return this.#put(slot, true);
  }

  change(slot: number): number {
    if (!this.#mvcc.core.isTombstone(slot)) return this.#put(slot, false);
    this.bytes.byte(KIND_DELETE);
    this.#key(slot);
    return rowUnits(0);
  }

  /** The revision of a change is that of its commit. */
  #put(slot: number, hasRevision: boolean): number {
    const { bytes } = this;
    const { core, keys, state } = this.#mvcc;
    const before = bytes.length;
    const { kind, content } = this.values.fromCell(state.cellAt(slot), () => keys.key(state.textAt(slot)));
    bytes.byte(kind);
    this.#key(slot);
    bytes.number(core.createRevision(slot));
    if (hasRevision) bytes.number(core.modRevision(slot));
    const version = core.version(slot);
    if (version > VERSION_MAX) throw tooHigh(`a key has the version ${version}, allowed is up to ${VERSION_MAX}`);
    bytes.number(version);
    const lease = state.leaseAt(slot);
    bytes.text(lease === '0' ? '' : lease);
    if (typeof content === 'string') bytes.text(content);
    else bytes.bytes(content);
    return rowUnits(bytes.length - before, kind === KIND_JSON);
  }

  #key(slot: number): void {
    const { keys, state } = this.#mvcc;
    const text = state.textAt(slot);
    if (keys.mode === 'utf8') this.bytes.text(text);
    else this.bytes.bytes(keys.bytes(text));
  }
}
