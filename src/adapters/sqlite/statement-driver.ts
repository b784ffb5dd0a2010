import type { SqliteDriver, SqliteRow, SqliteValue } from '../../types/sqlite-driver.ts';

/** What every library for SQLite in JavaScript has in common, once its names are evened out. */
export interface StatementDatabase {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  all(parameters: readonly SqliteValue[]): readonly unknown[];
  run(parameters: readonly SqliteValue[]): void;
  /** Lets go of it, where the library does not do so by itself. */
  finalize?(): void;
}

export interface StatementDriverOptions {
  readonly name: string;
  readonly location: string;
  /** Run once, after the data were found to be those of a store: they change the file. */
  readonly pragmas: readonly string[];
  readonly checkFile?: () => void;
}

/** A driver over prepared statements, each made once: there are as many as texts of SQL in this package. */
export class StatementDriver implements SqliteDriver {
  readonly name: string;
  readonly location: string;
  readonly isShared = true;
  readonly checkFile?: () => void;
  readonly #database: StatementDatabase;
  readonly #pragmas: readonly string[];
  readonly #statements = new Map<string, Statement>();

  constructor(database: StatementDatabase, { name, location, pragmas, checkFile }: StatementDriverOptions) {
    this.#database = database;
    this.name = name;
    this.location = location;
    this.#pragmas = pragmas;
    if (checkFile !== undefined) this.checkFile = checkFile;
  }

  tune(): void {
    for (const pragma of this.#pragmas) this.#database.exec(`PRAGMA ${pragma}`);
  }

  all(sql: string, ...parameters: readonly SqliteValue[]): SqliteRow[] {
    const rows = this.#attempt(sql, (statement) => statement.all(parameters));
    return rows.map((row) => plainRow(row as Record<string, unknown>));
  }

  run(sql: string, ...parameters: readonly SqliteValue[]): void {
    this.#attempt(sql, (statement) => statement.run(parameters));
  }

  write<T>(work: () => T): T {
    return this.#transaction('BEGIN IMMEDIATE', work);
  }

  read<T>(work: () => T): T {
    return this.#transaction('BEGIN', work);
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize?.();
    this.#statements.clear();
    this.#database.close();
  }

  #transaction<T>(begin: string, work: () => T): T {
    this.run(begin);
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack(error);
      throw error;
    }
  }

  /** SQLite may have done so by itself, and says then that there is nothing to roll back. */
  #rollBack(failure: unknown): void {
    try {
      this.run('ROLLBACK');
    } catch (error) {
      if (!/no transaction/.test(String(error))) throw new AggregateError([failure, error], String(failure));
    }
  }

  /** A statement that failed is made anew: some libraries cannot use it again, and end it with the same error once more. */
  #attempt<T>(sql: string, use: (statement: Statement) => T): T {
    const statement = this.#statement(sql);
    try {
      return use(statement);
    } catch (error) {
      this.#statements.delete(sql);
      statement.finalize?.();
      throw error;
    }
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Libraries of Node give a `Buffer`, some of them a `bigint` for what is a number. */
function plainRow(row: Record<string, unknown>): SqliteRow {
  for (const name of Object.keys(row)) {
    const value = row[name];
    if (typeof value === 'bigint') row[name] = Number(value);
    else if (value instanceof Uint8Array && value.constructor !== Uint8Array) row[name] = new Uint8Array(value);
  }
  return row as SqliteRow;
}
