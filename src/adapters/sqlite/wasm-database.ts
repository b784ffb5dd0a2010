import { TornFileError } from '../../backends/sqlite/errors.ts';
import type { SqliteValue } from '../../types/sqlite-driver.ts';
import type { FileSystem } from './file-system.ts';
import type { Statement, StatementDatabase } from './statement-driver.ts';

/** What node-sqlite3-wasm gives. */
export interface WasmLibraryDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): WasmLibraryStatement;
  close(): unknown;
}

interface WasmLibraryStatement {
  all(parameters: readonly SqliteValue[]): unknown[];
  run(parameters: readonly SqliteValue[]): unknown;
  finalize(): void;
}

/**
 * A file in node-sqlite3-wasm, which locks it by making the folder `FILE.lock` and unlocks it by taking the folder away, for
 * reads as well.
 *
 * ```text
 *   killed while it reads or writes    FILE  FILE.lock                 locked for everybody, for ever
 *   killed while it commits            FILE  FILE.lock  FILE-journal   and half of the transaction may be in FILE
 * ```
 *
 * The folder says nothing about who made it, and how old it is says nothing either: a long transaction holds it, too. So it is
 * never taken away here; the error names it, and tells when somebody may. The journal would be rolled back by any other build
 * of SQLite. This one takes its own lock for that of a writer who is at work, and reads on over the half of a transaction;
 * hence the file is refused until it was rolled back elsewhere.
 */
export class WasmDatabase implements StatementDatabase {
  readonly #database: WasmLibraryDatabase;
  readonly #file: string;
  /** `undefined` for a database in memory. */
  readonly #files: FileSystem | undefined;
  #isChecked = false;

  constructor(database: WasmLibraryDatabase, file: string, files: FileSystem | undefined) {
    this.#database = database;
    this.#file = file;
    this.#files = files;
  }

  exec(sql: string): void {
    this.#explained(() => this.#database.exec(sql));
  }

  prepare(sql: string): Statement {
    const statement = this.#explained(() => this.#database.prepare(sql));
    return {
      all: (parameters) => this.#explained(() => statement.all(parameters)),
      run: (parameters) => void this.#explained(() => statement.run(parameters)),
      // Says once more what went wrong.
      finalize: () => this.#explained(() => statement.finalize()),
    };
  }

  close(): void {
    this.#database.close();
  }

  #explained<T>(work: () => T): T {
    try {
      if (!this.#isChecked) this.#checkJournal();
      this.#isChecked = true;
      return work();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      if (this.#files === undefined || !said.includes('database is locked')) throw error;
      const rule = 'a process that was killed leaves it behind: remove it when no process has the file open';
      throw new Error(`${said} by the folder ${this.#lock}; ${rule}`, { cause: error });
    }
  }

  get #lock(): string {
    return `${this.#file}.lock`;
  }

  /** Under the lock, so that the journal is not that of a writer who is at work. */
  #checkJournal(): void {
    const files = this.#files;
    if (files === undefined) return;
    try {
      files.mkdirSync(this.#lock);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 'EEXIST') throw new Error('database is locked');
      // Of a folder that cannot be written to the library says so itself.
      return;
    }
    try {
      const journal = `${this.#file}-journal`;
      // Nothing was in a file that has nothing in it.
      if (sizeOf(files, this.#file) === 0n || !isHot(files, journal)) return;
      const rule = 'node-sqlite3-wasm cannot roll it back; opening the file with another program for SQLite does';
      throw new TornFileError(`${journal} is there; ${rule}`);
    } finally {
      files.rmdirSync(this.#lock);
    }
  }
}

/** As SQLite has it: a journal that begins with no zero is one of a transaction that was not completed. */
function isHot(files: FileSystem, journal: string): boolean {
  if (sizeOf(files, journal) === 0n) return false;
  const bytes = files.readFileSync(journal);
  return bytes.length > 0 && bytes[0] !== 0;
}

function sizeOf(files: FileSystem, file: string): bigint {
  return files.statSync(file, { bigint: true, throwIfNoEntry: false })?.size ?? 0n;
}
