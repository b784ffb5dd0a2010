import type { BackendEvent, BackendKeyValue, ByteRange } from '../../types/backend.ts';
import type { LeaseId } from '../../types/lease.ts';
import type { Revision } from '../../types/revision.ts';
import type { SqliteDriver, SqliteRow, SqliteValue } from '../../types/sqlite-driver.ts';

/** The one row about everything. */
export interface SqliteState {
  readonly identity: string;
  readonly revision: Revision;
  /** Oldest revision that can be read; -1 before the first compaction, which may be one at 0 (M16). */
  readonly compacted: Revision;
  /** Every revision below has been looked at by compaction; below `compacted` while it has work left. */
  readonly cleaned: Revision;
}

export interface LeaseRow {
  readonly id: LeaseId;
  readonly ttlMs: number;
  readonly deadlineMs: number;
}

/** Which of the rows of a range are asked for. */
export interface RowBounds {
  readonly minModRevision?: Revision;
  /** Negative is all of them. */
  readonly rowsMax?: number;
}

/** Of an id; the bits above are the revision. As many events may be in one transaction: deletes of a range, or of a lease's keys. */
const NUMBER_BITS = 22;
const NUMBER_MAX = 2 ** NUMBER_BITS - 1;
/** Room for one more below the 63 bits that SQLite has. */
const REVISION_MAX = 2 ** 40;

const FIRST_ID = `(? << ${NUMBER_BITS})`;
const REVISION = `e.id >> ${NUMBER_BITS} AS revision`;
const COLUMNS = `e.key, e.value, e.create_revision, ${REVISION}, e.version, e.lease`;
const LIVE = 'plimsoll_key k JOIN plimsoll_event e ON e.id = k.event';
/**
 * The newest event of each key up to a revision, if it is no delete. Of two events of one key in one revision, which nested
 * transactions can make, the newer one has the larger id.
 */
const AT =
  `e.id < ${FIRST_ID} AND e.deleted = 0 AND NOT EXISTS ` +
  `(SELECT 1 FROM plimsoll_event n WHERE n.key = e.key AND n.id > e.id AND n.id < ${FIRST_ID})`;

const INSERT_EVENT = 'INSERT INTO plimsoll_event (id, key, value, create_revision, version, lease, deleted)';
const NEWEST = `SELECT id >> ${NUMBER_BITS} FROM plimsoll_event ORDER BY id DESC LIMIT 1`;
const REVISION_BEHIND = `SELECT id >> ${NUMBER_BITS} AS revision FROM plimsoll_event WHERE id >= ${FIRST_ID} ORDER BY id LIMIT 1 OFFSET ?`;

/**
 * What is in the tables, and what is written to them: SQL is here and in `schema.ts` only. Nothing is remembered from one
 * transaction of SQLite to the next, since another process may have written between them.
 */
export class SqliteTables {
  readonly #driver: SqliteDriver;
  /** As the transaction that is under way has read or left it. */
  #state: SqliteState | undefined;
  #nextLease: { readonly row: LeaseRow | undefined } | undefined;
  /** Of the next event, if it is of the revision of the one before. */
  #number = 0;

  constructor(driver: SqliteDriver) {
    this.#driver = driver;
  }

  /** To be called when a transaction of SQLite has begun, and before a look without one. */
  begin(): void {
    this.#state = undefined;
    this.#nextLease = undefined;
    this.#number = 0;
  }

  /** The revision begins at 1, as that of etcd; the newest event is never compacted (`clean`). */
  state(): SqliteState {
    this.#state ??= this.#readState();
    return this.#state;
  }

  live(key: Uint8Array): BackendKeyValue | undefined {
    const row = this.#one(`SELECT ${COLUMNS} FROM ${LIVE} WHERE k.key = ?`, key);
    return row === undefined ? undefined : kvOf(row);
  }

  /**
   * Keys ascending, at most `rowsMax` of those changed at or above a revision. `revision` 0 is the newest. The plus keeps SQLite
   * from going through all events from that revision on, and sorting what it finds.
   */
  rows(range: ByteRange, revision: Revision, { minModRevision = 0, rowsMax = -1 }: RowBounds = {}): BackendKeyValue[] {
    if (revision === 0) {
      const { where, parameters } = within('k.key', range);
      const sql = `SELECT ${COLUMNS} FROM ${LIVE} WHERE ${where} AND +e.id >= ${FIRST_ID} ORDER BY k.key LIMIT ?`;
      return this.#all(sql, ...parameters, bound(minModRevision), rowsMax).map(kvOf);
    }
    const { where, parameters } = within('e.key', range);
    const sql = `SELECT ${COLUMNS} FROM plimsoll_event e WHERE ${where} AND ${AT} AND +e.id >= ${FIRST_ID} ORDER BY e.key LIMIT ?`;
    return this.#all(sql, ...parameters, revision + 1, revision + 1, bound(minModRevision), rowsMax).map(kvOf);
  }

  count(range: ByteRange, revision: Revision): number {
    if (revision === 0) {
      const { where, parameters } = within('k.key', range);
      return countOf(this.#one(`SELECT count(*) AS n FROM plimsoll_key k WHERE ${where}`, ...parameters));
    }
    const { where, parameters } = within('e.key', range);
    const sql = `SELECT count(*) AS n FROM plimsoll_event e WHERE ${where} AND ${AT}`;
    return countOf(this.#one(sql, ...parameters, revision + 1, revision + 1));
  }

  /** `modRevision` is the present revision, when this transaction of SQLite has made it, or the next one. */
  put({ key, value, createRevision, modRevision, version, lease }: BackendKeyValue): void {
    this.#run(
      `${INSERT_EVENT} VALUES (${FIRST_ID} | ?, ?, ?, ?, ?, ?, 0)`,
      modRevision,
      this.#numberAt(modRevision),
      key,
      value,
      createRevision,
      version,
      lease,
    );
    this.#run('INSERT OR REPLACE INTO plimsoll_key (key, event, lease) VALUES (?, last_insert_rowid(), ?)', key, lease);
  }

  /** The key goes first: what it frees the event can have, in a file that is full. */
  delete(key: Uint8Array, revision: Revision): void {
    this.#run('DELETE FROM plimsoll_key WHERE key = ?', key);
    const number = this.#numberAt(revision);
    this.#run(`${INSERT_EVENT} VALUES (${FIRST_ID} | ?, ?, NULL, 0, 0, '0', 1)`, revision, number, key);
  }

  setCompacted(revision: Revision): void {
    this.#run('UPDATE plimsoll_state SET compacted = ?', revision);
    this.#state = undefined;
  }

  setCleaned(revision: Revision): void {
    this.#run('UPDATE plimsoll_state SET cleaned = ?', revision);
    this.#state = undefined;
  }

  /**
   * Whole revisions from one on, ascending, about `eventsMax` events: as many as it takes to end with a revision. Events of
   * one revision are in the order in which they were made.
   */
  history(from: Revision, eventsMax: number): { readonly revision: Revision; readonly event: BackendEvent }[] {
    const sql =
      `SELECT ${COLUMNS}, e.deleted FROM plimsoll_event e WHERE e.id >= ${FIRST_ID} ` +
      `AND e.id < (coalesce((${REVISION_BEHIND}), ${REVISION_MAX}) + 1 << ${NUMBER_BITS}) ORDER BY e.id`;
    return this.#all(sql, bound(from), bound(from), eventsMax - 1).map((row) => {
      const revision = row.revision as number;
      if (row.deleted === 0) return { revision, event: { type: 'put', kv: kvOf(row) } };
      return { revision, event: { type: 'delete', key: row.key as Uint8Array, modRevision: revision } };
    });
  }

  /**
   * One step of a compaction, over the events of revisions from `from` to `to`: what they replaced goes, which no read at or
   * above `to` can see, and the deletes among them that are below `compacted`. Events at `compacted` itself all stay, for a
   * watch that starts there (store:R23): also one that another of the same revision replaced, in a nested transaction. A
   * delete goes together with what it deleted, so that nothing comes back (store:U23).
   */
  clean(from: Revision, to: Revision, compacted: Revision): void {
    this.#run(
      'DELETE FROM plimsoll_event WHERE id IN (SELECT p.id FROM plimsoll_event e JOIN plimsoll_event p ' +
        `ON p.key = e.key AND p.id < e.id AND p.id < ${FIRST_ID} WHERE e.id >= ${FIRST_ID} AND e.id < ${FIRST_ID})`,
      compacted,
      from,
      to + 1,
    );
    this.#run(
      `DELETE FROM plimsoll_event WHERE id >= ${FIRST_ID} AND id < ${FIRST_ID} AND deleted = 1`,
      from,
      Math.min(to + 1, compacted),
    );
  }

  /** The revision of the event that is `eventsMax` events behind the first one of a revision; `undefined` if there are fewer. */
  revisionBehind(from: Revision, eventsMax: number): Revision | undefined {
    return this.#one(REVISION_BEHIND, from, eventsMax)?.revision as number | undefined;
  }

  lease(id: LeaseId): LeaseRow | undefined {
    const row = this.#one('SELECT id, ttl_ms, deadline_ms FROM plimsoll_lease WHERE id = ?', id);
    return row === undefined ? undefined : leaseOf(row);
  }

  leases(): LeaseId[] {
    return this.#all('SELECT id FROM plimsoll_lease ORDER BY length(id), id').map(({ id }) => id as string);
  }

  leaseCount(): number {
    return countOf(this.#one('SELECT count(*) AS n FROM plimsoll_lease'));
  }

  /** In the order in which they expire: by deadline, then by id as a number (store:R41). */
  nextLease(): LeaseRow | undefined {
    if (this.#nextLease === undefined) {
      const sql = 'SELECT id, ttl_ms, deadline_ms FROM plimsoll_lease ORDER BY deadline_ms, length(id), id LIMIT 1';
      const row = this.#one(sql);
      this.#nextLease = { row: row === undefined ? undefined : leaseOf(row) };
    }
    return this.#nextLease.row;
  }

  setLease({ id, ttlMs, deadlineMs }: LeaseRow): void {
    this.#run(
      'INSERT OR REPLACE INTO plimsoll_lease (id, ttl_ms, deadline_ms) VALUES (?, ?, ?)',
      id,
      ttlMs,
      deadlineMs,
    );
    this.#nextLease = undefined;
  }

  deleteLease(id: LeaseId): void {
    this.#run('DELETE FROM plimsoll_lease WHERE id = ?', id);
    this.#nextLease = undefined;
  }

  /** Keys attached to a lease, ascending. */
  keysOf(id: LeaseId): Uint8Array[] {
    const sql = "SELECT key FROM plimsoll_key WHERE lease = ? AND lease <> '0' ORDER BY key";
    return this.#all(sql, id).map(({ key }) => key as Uint8Array);
  }

  #readState(): SqliteState {
    const sql = `SELECT identity, compacted, cleaned, coalesce((${NEWEST}), 1) AS revision FROM plimsoll_state`;
    const row = this.#one(sql) as SqliteRow;
    return {
      identity: row.identity as string,
      revision: row.revision as number,
      compacted: row.compacted as number,
      cleaned: row.cleaned as number,
    };
  }

  /** Makes that revision the present one. What does not fit is refused, and with it all that shares the commit. */
  #numberAt(revision: Revision): number {
    const state = this.state();
    if (state.revision !== revision) {
      this.#state = { ...state, revision };
      this.#number = 0;
    }
    if (this.#number > NUMBER_MAX)
      throw new RangeError(`revision ${revision} would have more than ${NUMBER_MAX + 1} events`);
    if (revision >= REVISION_MAX)
      throw new RangeError(`revision ${revision} is beyond the last one that fits into a file`);
    return this.#number++;
  }

  #all(sql: string, ...parameters: readonly SqliteValue[]): SqliteRow[] {
    return this.#driver.all(sql, ...parameters);
  }

  #one(sql: string, ...parameters: readonly SqliteValue[]): SqliteRow | undefined {
    return this.#driver.all(sql, ...parameters)[0];
  }

  #run(sql: string, ...parameters: readonly SqliteValue[]): void {
    this.#driver.run(sql, ...parameters);
  }
}

/** An empty bound is left out instead of being compared with: what some drivers make of no bytes is above or below nothing. */
function within(column: string, { start, end }: ByteRange): { where: string; parameters: readonly SqliteValue[] } {
  if (end === undefined) return { where: `${column} = ?`, parameters: [start] };
  const conditions: string[] = [];
  const parameters: SqliteValue[] = [];
  if (start.length > 0) {
    conditions.push(`${column} >= ?`);
    parameters.push(start);
  }
  if (end.length > 0) {
    conditions.push(`${column} < ?`);
    parameters.push(end);
  }
  return { where: conditions.length === 0 ? '1' : conditions.join(' AND '), parameters };
}

function kvOf(row: SqliteRow): BackendKeyValue {
  return {
    key: row.key as Uint8Array,
    value: (row.value as Uint8Array | null) ?? new Uint8Array(0),
    createRevision: row.create_revision as number,
    modRevision: row.revision as number,
    version: row.version as number,
    lease: row.lease as string,
  };
}

function leaseOf(row: SqliteRow): LeaseRow {
  return { id: row.id as string, ttlMs: row.ttl_ms as number, deadlineMs: row.deadline_ms as number };
}

/** A revision that was asked for: above all that can be there are as many events as at the last. */
function bound(revision: Revision): Revision {
  return Math.min(revision, REVISION_MAX);
}

function countOf(row: SqliteRow | undefined): number {
  return row?.n as number;
}
