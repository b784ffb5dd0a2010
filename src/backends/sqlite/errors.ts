import { BackendError, PlimsollError } from '../../types/errors.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';

/** What SQLite says, in the words of each driver, as one of these; `undefined` for what none of them is. */
export type SqliteFailure = 'busy' | 'full' | 'readonly' | 'corrupt' | 'foreign' | 'open' | 'io' | 'replaced' | 'torn';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html); extended ones have them in their lowest byte. */
const BY_NUMBER: Readonly<Record<number, SqliteFailure>> = {
  5: 'busy',
  6: 'busy',
  8: 'readonly',
  10: 'io',
  11: 'corrupt',
  13: 'full',
  14: 'open',
  26: 'foreign',
};

const BY_NAME: readonly (readonly [RegExp, SqliteFailure])[] = [
  [/SQLITE_(BUSY|LOCKED)|database (table )?is locked/, 'busy'],
  [/SQLITE_FULL|database or disk is full/, 'full'],
  [/SQLITE_READONLY|readonly database/, 'readonly'],
  // A table or a column of the store that is gone is damage, too: the driver says so as of any wrong SQL.
  [/SQLITE_CORRUPT|disk image is malformed|no such (table|column)/, 'corrupt'],
  [/SQLITE_NOTADB|not a database/, 'foreign'],
  [/SQLITE_CANTOPEN|unable to open database file/, 'open'],
  [/SQLITE_IOERR|disk I\/O error/, 'io'],
];

const REASONS: Readonly<Record<SqliteFailure, string>> = {
  busy: 'is locked by another process',
  full: 'cannot grow: the disk is full, or the bound of the file is reached',
  readonly: 'cannot be written to',
  corrupt: 'is damaged',
  foreign: 'is no SQLite file',
  open: 'cannot be opened',
  io: 'cannot be read or written: the disk reports an error',
  replaced: 'is another file than the one that was opened',
  torn: 'was left by a process in the middle of a commit',
};

/** What trying again does not change: somebody has to do something about the file. */
const PERMANENT: ReadonlySet<SqliteFailure> = new Set(['readonly', 'corrupt', 'foreign', 'open', 'replaced', 'torn']);

export class FileReplacedError extends Error {
  override readonly name: string = 'FileReplacedError';
}

/** A transaction that was not completed is in the file, and has to be rolled back before anybody reads. */
export class TornFileError extends Error {
  override readonly name: string = 'TornFileError';
}

export function failureOf(error: unknown): SqliteFailure | undefined {
  if (error instanceof FileReplacedError) return 'replaced';
  if (error instanceof TornFileError) return 'torn';
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, errno, code, message } = error as Readonly<Record<string, unknown>>;
  for (const number of [errcode, errno]) {
    const known = typeof number === 'number' && number > 0 ? BY_NUMBER[number & 0xff] : undefined;
    if (known !== undefined) return known;
  }
  const text = `${String(code ?? '')} ${String(message ?? '')}`;
  return BY_NAME.find(([pattern]) => pattern.test(text))?.[1];
}

/** What a driver threw, as an error of the contract that names the file. What is one already stays. */
export function backendError(
  driver: Pick<SqliteDriver, 'location' | 'name'>,
  action: string,
  error: unknown,
  maybeCommitted: boolean,
): Error {
  if (error instanceof PlimsollError) return error;
  const failure = failureOf(error);
  const said = error instanceof Error ? error.message : String(error);
  const reason = failure === undefined ? `failed in ${driver.name}` : REASONS[failure];
  const permanent = failure !== undefined && PERMANENT.has(failure);
  return new BackendError(action, `${driver.location} ${reason} (${said})`, {
    cause: error,
    maybeCommitted,
    permanent,
  });
}
