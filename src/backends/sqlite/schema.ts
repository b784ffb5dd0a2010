import { BackendError } from '../../types/errors.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';

/**
 * The tables. History is the truth, and is only appended to; what is live is an index into it.
 *
 * ```text
 *   plimsoll_state   one row: format, identity, compacted, cleaned. The revision is that of the newest event
 *
 *   plimsoll_event   id     key    value  create  version  lease  deleted
 *                    4, 0   a      x           4        1  0            0     <--+  compaction takes it
 *                    5, 0   b      y           5        1  17           0  <-+   |
 *                    5, 1   a      z           4        2  0            0  <-|---+
 *                    6, 0   c      -           0        0  0            1    |   |  a delete
 *                    |  +- its number within the revision                    |   |
 *                    +---- the revision, in the bits above                   |   |
 *                                                                            |   |
 *   plimsoll_key     a -> 5, 1  lease 0   -----------------------------------|---+
 *                    b -> 5, 0  lease 17  -----------------------------------+
 *
 *   plimsoll_lease   id 17, ttl_ms, deadline_ms: wall-clock time, which is all that a restart leaves (store:R45)
 * ```
 *
 * A durable put waits for the disk, and for each page that it changes: one of events, one of the index by key, one of keys.
 * An index by revision would be one more, and a row with the revision another.
 *
 * A blob of no bytes reaches some drivers as NULL, so no answer is ever read off a value that is missing.
 */
const TABLES = [
  `CREATE TABLE plimsoll_state (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     format INTEGER NOT NULL,
     identity TEXT NOT NULL,
     compacted INTEGER NOT NULL,
     cleaned INTEGER NOT NULL
   )`,
  `CREATE TABLE plimsoll_event (
     id INTEGER PRIMARY KEY,
     key BLOB NOT NULL,
     value BLOB,
     create_revision INTEGER NOT NULL,
     version INTEGER NOT NULL,
     lease TEXT NOT NULL,
     deleted INTEGER NOT NULL
   )`,
  // And by the id of the row, as every index of SQLite.
  'CREATE INDEX plimsoll_event_key ON plimsoll_event (key)',
  'CREATE TABLE plimsoll_key (key BLOB PRIMARY KEY, event INTEGER NOT NULL, lease TEXT NOT NULL) WITHOUT ROWID',
  "CREATE INDEX plimsoll_key_lease ON plimsoll_key (lease, key) WHERE lease <> '0'",
  'CREATE TABLE plimsoll_lease (id TEXT PRIMARY KEY, ttl_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL) WITHOUT ROWID',
  'CREATE INDEX plimsoll_lease_deadline ON plimsoll_lease (deadline_ms)',
];

/** Of the tables above. A file of a larger one is refused: what it means only a newer version knows. */
const FORMAT = 2;

const ACTION = 'open an SQLite backend';

/**
 * Makes the tables where there are none. The revision begins at 1, as that of etcd.
 *
 * @throws BackendError, permanent, for a file of another program or of a newer version of this one
 */
export function prepareSchema(driver: SqliteDriver, identity: string): void {
  const format = formatOf(driver);
  driver.tune?.();
  if (format === FORMAT) return;
  driver.write(() => {
    // Somebody else may have been first.
    if (formatOf(driver) === FORMAT) return;
    for (const sql of TABLES) driver.run(sql);
    driver.run('INSERT INTO plimsoll_state VALUES (1, ?, ?, -1, 0)', FORMAT, identity);
  });
}

/**
 * `undefined` for data without these tables.
 *
 * @throws BackendError, permanent, for a file that has something else in it, be it only the mark of a program that has not begun
 */
function formatOf(driver: SqliteDriver): number | undefined {
  const things = driver.all("SELECT type, name FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'");
  if (!things.some(({ type, name }) => type === 'table' && name === 'plimsoll_state')) {
    if (!driver.isShared) return undefined;
    const found = [...things.slice(0, 3).map(({ type, name }) => `${type} ${name}`), ...marksOf(driver)];
    if (found.length === 0) return undefined;
    throw refusal(driver, `is the file of another program: it has ${found.join(', ')}, but not the tables of a store`);
  }
  const format = Number(driver.all('SELECT format FROM plimsoll_state')[0]?.format);
  if (format === FORMAT) return format;
  throw refusal(
    driver,
    `has format ${format}, made by another version of this package; this one knows format ${FORMAT}`,
  );
}

/** What programs put into the head of a file to know it again; 0 when nobody has. */
function marksOf(driver: SqliteDriver): readonly string[] {
  return ['application_id', 'user_version'].flatMap((name) => {
    const mark = Number(driver.all(`PRAGMA ${name}`)[0]?.[name]);
    return mark === 0 ? [] : [`${name} ${mark}`];
  });
}

function refusal(driver: SqliteDriver, reason: string): BackendError {
  return new BackendError(ACTION, `${driver.location} ${reason}`, { permanent: true });
}
