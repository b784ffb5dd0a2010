import type { LeaseId } from '../types/lease.ts';
import type { LeaseDump } from '../types/lease-dump.ts';
import { isLeaseId } from '../types/lease-id.ts';
import type { Key, Revision } from '../types/revision.ts';
import { type Change, type Commit, tombstone } from './commit.ts';
import { KEY_BYTES_MAX } from './keyspace.ts';
import type { Mvcc } from './mvcc.ts';
import { checksumSteps } from './snapshot-checksum.ts';
import {
  badSnapshot,
  CHECKSUM_BYTES,
  END,
  FORM_CODEC,
  FORM_PLAIN,
  KEY_MODES,
  KIND_DELETE,
  KIND_JSON,
  MAGIC,
  PREAMBLE_BYTES,
  REVISION_MAX,
  type SnapshotHeader,
  VERSION,
  VERSION_MAX,
} from './snapshot-format.ts';
import { SnapshotReader } from './snapshot-reader.ts';
import { rowUnits, StepLength } from './snapshot-steps.ts';
import { checkForm, SnapshotValues } from './snapshot-values.ts';

const OPEN = 'open a store from a snapshot';
/** Entries of the log that are given back at once. */
const ENTRIES_MAX = 1024;
/** Work for a row or a change: it is checked, published, and leaves the log again. */
const ROW_UNITS = 3;
/** More for one that has a lease. */
const LEASE_UNITS = 3;

export interface RestoreTarget<V, K extends Key> {
  /** Of an empty store. */
  readonly mvcc: Mvcc<V, K>;
  /** Publishes a commit, and lets retention judge it. */
  readonly commit: (commit: Commit) => void;
}

/** What of a snapshot is not in the versioned state. */
export interface Restored {
  readonly identity: string;
  readonly wallTimeMs: number;
  readonly leases: readonly LeaseDump[];
  /** Lease by key text, of the newest state. */
  readonly attached: ReadonlyMap<string, LeaseId>;
}

/**
 * Brings an empty state to that of a snapshot, in steps. The rows come first, those of one step as one commit: nobody can
 * read what was before the last of them. They leave the log at once, as they had left the log of the old store. Then the
 * commits, as if they were made now, so that retention may trim what it does not want to keep.
 *
 * Throws `SnapshotError` for bytes that are no snapshot of such a store, and `StoreFullError`. Nobody may use the state then.
 */
export function* restoreSteps<V, K extends Key>(
  snapshot: Uint8Array,
  target: RestoreTarget<V, K>,
): Generator<void, Restored> {
  const { mvcc } = target;
  const { state } = mvcc;
  const end = checkPreamble(snapshot);
  const length = new StepLength();
  const checksum = yield* checksumSteps(state.module, snapshot.subarray(0, end), length);
  if (!checksum.every((byte, index) => byte === snapshot[end + index])) {
    throw badSnapshot('the snapshot is damaged or cut off: its checksum does not match');
  }
  const reader = new RowReader(mvcc, new SnapshotReader(snapshot, PREAMBLE_BYTES, end));
  const header = reader.header();
  const leases: LeaseDump[] = [];
  for (let lease = reader.lease(); lease !== undefined; lease = reader.lease()) {
    leases.push(lease);
    if (length.isOver(rowUnits(0))) yield;
  }
  yield* restoreRows(mvcc, header, reader, length);
  yield* restoreCommits(target, header, reader, length);
  while (!state.compactStep(ENTRIES_MAX)) yield;
  // What was read is what was checked: the bytes are the caller's, and other tasks have run meanwhile (R70').
  const after = yield* checksumSteps(state.module, snapshot.subarray(0, end), length);
  if (!after.every((byte, index) => byte === checksum[index])) {
    throw badSnapshot('the bytes of the snapshot have changed while it was read');
  }
  state.window.advance(header.revision);
  const { identity, wallTimeMs } = header;
  return { identity, wallTimeMs, leases, attached: reader.attached };
}

function* restoreRows<V, K extends Key>(
  { state }: Mvcc<V, K>,
  { compactRevision, watchFloor }: SnapshotHeader,
  reader: RowReader<V, K>,
  length: StepLength,
): Generator<void, void> {
  state.window.raise(compactRevision, watchFloor);
  let revision = 0;
  let changes: Change[] = [];
  /** Of the changes. */
  const texts = new Set<string>();
  const flush = () => {
    if (changes.length > 0) state.publish({ revision, changes }, OPEN);
    changes = [];
    texts.clear();
  };
  for (let row = reader.row(compactRevision); row !== undefined; row = reader.row(compactRevision)) {
    if (row.modRevision < revision)
      throw badSnapshot('the rows of the snapshot are not in the order of their revisions');
    revision = row.modRevision;
    if (state.hasKey(row.text) || texts.has(row.text)) throw badSnapshot('a key of the snapshot has two rows');
    changes.push(row);
    texts.add(row.text);
    if (!length.isOver(reader.units)) continue;
    flush();
    while (!state.compactStep(ENTRIES_MAX)) yield;
    yield;
  }
  flush();
  while (!state.compactStep(ENTRIES_MAX)) yield;
}

function* restoreCommits<V, K extends Key>(
  { commit }: RestoreTarget<V, K>,
  { compactRevision, revision: newest }: SnapshotHeader,
  reader: RowReader<V, K>,
  length: StepLength,
): Generator<void, void> {
  let last = compactRevision - 1;
  for (let revision = reader.revision(); revision !== END; revision = reader.revision()) {
    if (revision <= last) throw badSnapshot('the commits of the snapshot are not in the order of their revisions');
    if (revision > newest) throw badSnapshot(`a commit of the snapshot is above its revision ${newest}`);
    last = revision;
    const changes: Change[] = [];
    for (let change = reader.change(revision); change !== undefined; change = reader.change(revision)) {
      changes.push(change);
      if (length.isOver(reader.units)) yield;
    }
    if (changes.length === 0) throw badSnapshot('a commit of the snapshot is empty');
    commit({ revision, changes });
  }
  if (!reader.isAtEnd) throw badSnapshot('there is something behind the end of the snapshot');
}

/** Where the checksum begins. What is said of other versions has to be true without knowing them. */
function checkPreamble(snapshot: Uint8Array): number {
  if (!MAGIC.every((byte, index) => byte === snapshot[index]))
    throw badSnapshot('the bytes are no snapshot of a store');
  const end = snapshot.length - CHECKSUM_BYTES;
  if (end < PREAMBLE_BYTES) throw badSnapshot('the snapshot is cut off');
  const view = new DataView(snapshot.buffer, snapshot.byteOffset, snapshot.byteLength);
  const version = view.getUint32(MAGIC.length, true);
  if (version !== VERSION) throw badSnapshot(`the snapshot has version ${version}, known is ${VERSION}`);
  return end;
}

/** Reads the parts of a snapshot and checks each by itself. */
class RowReader<V, K extends Key> {
  readonly attached: Map<string, LeaseId> = new Map();
  /** Work of the last row or change. */
  units = 0;
  readonly #mvcc: Mvcc<V, K>;
  readonly #reader: SnapshotReader;
  readonly #values: SnapshotValues;

  constructor(mvcc: Mvcc<V, K>, reader: SnapshotReader) {
    this.#mvcc = mvcc;
    this.#reader = reader;
    this.#values = new SnapshotValues(mvcc.values);
  }

  get isAtEnd(): boolean {
    return this.#reader.isAtEnd;
  }

  header(): SnapshotHeader {
    const reader = this.#reader;
    const keys = KEY_MODES[reader.byte()];
    const form = reader.byte();
    if (keys === undefined) throw badSnapshot('the keys of the snapshot are of no known type');
    if (form !== FORM_PLAIN && form !== FORM_CODEC) throw badSnapshot('the values of the snapshot have no known form');
    const header: SnapshotHeader = {
      keys,
      form,
      identity: reader.text(),
      wallTimeMs: reader.number(),
      revision: reader.number(),
      compactRevision: reader.number() - 1,
      watchFloor: reader.number(),
    };
    const own = this.#mvcc.keys.mode;
    if (keys !== own) throw badSnapshot(`the keys of the snapshot are ${keys}, those of the store ${own}`);
    checkForm(header, this.#values);
    checkHeader(header);
    return header;
  }

  lease(): LeaseDump | undefined {
    const reader = this.#reader;
    const id = reader.text();
    if (id === '') return undefined;
    const lease = { id, ttlMs: reader.number(), remainingMs: reader.number() };
    const keyed = reader.byte();
    if (keyed > 1) throw badSnapshot('a lease of the snapshot is neither of one key nor of any');
    return { ...lease, keyed: keyed === 1 };
  }

  revision(): Revision {
    return this.#reader.number();
  }

  row(compactRevision: Revision): Change | undefined {
    const kind = this.#reader.byte();
    if (kind === END) return undefined;
    if (kind === KIND_DELETE) throw badSnapshot('a row of the snapshot is a delete');
    const row = this.#put(kind, undefined);
    if (row.modRevision >= compactRevision) throw badSnapshot('a row of the snapshot is not older than its history');
    return row;
  }

  change(revision: Revision): Change | undefined {
    const kind = this.#reader.byte();
    if (kind === END) return undefined;
    if (kind !== KIND_DELETE) return this.#put(kind, revision);
    const text = this.#key();
    this.#attach(text, '0');
    this.units = ROW_UNITS;
    return tombstone(text, revision);
  }

  #put(kind: number, revision: Revision | undefined): Change {
    const reader = this.#reader;
    const before = reader.position;
    const text = this.#key();
    const createRevision = reader.number();
    const modRevision = revision ?? reader.number();
    const version = reader.number();
    if (createRevision < 1 || createRevision > modRevision) {
      throw badSnapshot('a row of the snapshot was created after it was put');
    }
    if (version < 1 || version > VERSION_MAX) throw badSnapshot(`a row of the snapshot has the version ${version}`);
    const lease = this.#lease();
    const cell = this.#values.toCell(kind, reader);
    this.#attach(text, lease);
    this.units = ROW_UNITS * rowUnits(reader.position - before, kind === KIND_JSON) + (lease === '0' ? 0 : LEASE_UNITS);
    return { text, type: 'put', cell, createRevision, modRevision, version, lease };
  }

  #key(): string {
    const bytes = this.#reader.bytes();
    if (bytes.length === 0) throw badSnapshot('a key of the snapshot is empty');
    if (bytes.length > KEY_BYTES_MAX) throw badSnapshot(`a key of the snapshot is longer than ${KEY_BYTES_MAX} bytes`);
    const { keys } = this.#mvcc;
    return keys.mode === 'utf8' ? this.#reader.decode(bytes) : keys.textOfBytes(bytes, OPEN);
  }

  #lease(): LeaseId {
    const id = this.#reader.text();
    if (id === '') return '0';
    if (!isLeaseId(id)) throw badSnapshot('a row of the snapshot has a lease id that is none');
    return id;
  }

  #attach(text: string, lease: LeaseId): void {
    if (lease !== '0') this.attached.set(text, lease);
    else this.attached.delete(text);
  }
}

function checkHeader({ identity, revision, compactRevision, watchFloor }: SnapshotHeader): void {
  if (identity === '') throw badSnapshot('the snapshot has no identity');
  if (revision < 1) throw badSnapshot('the revision of the snapshot is 0');
  if (revision > REVISION_MAX) throw badSnapshot(`the revision of the snapshot is above ${REVISION_MAX}`);
  if (compactRevision > revision) throw badSnapshot('the snapshot is compacted above its revision');
  const isFloor = watchFloor === compactRevision || watchFloor === compactRevision + 1;
  if (!isFloor) throw badSnapshot('watches of the snapshot cannot start where its history does');
}
