/**
 * The seam to SQLite. Every driver there is for JavaScript runs in the thread of its caller, so the seam is synchronous: what
 * is between two calls of it nobody else of this process can have changed. `plimsoll/sqlite` has one for `node:sqlite`,
 * `bun:sqlite`, better-sqlite3, node-sqlite3-wasm and the storage of Durable Objects.
 *
 * **Experimental**: it may change before 1.0.
 */
export interface SqliteDriver {
  /** For messages: `node:sqlite`. */
  readonly name: string;
  /** What was opened, for messages: a path, or what the host calls its storage. */
  readonly location: string;
  /**
   * Whether other processes may have the same data open: then they are asked about every `pollMs` what they have written,
   * and the file is refused when it holds the tables of another program.
   */
  readonly isShared: boolean;
  /** Rows as objects, by the names of their columns; blobs are a `Uint8Array` that belongs to the caller. */
  all(sql: string, ...parameters: readonly SqliteValue[]): SqliteRow[];
  run(sql: string, ...parameters: readonly SqliteValue[]): void;
  /** All of `work` or nothing of it, durable when this returns. Takes the lock of writers before `work` begins. */
  write<T>(work: () => T): T;
  /** `work` reads one state of the data, whatever others write meanwhile. */
  read<T>(work: () => T): T;
  /** Called once, when the data were found to be those of a store or empty: what it changes may stay in the file. */
  tune?(): void;
  /** Throws when the file at `location` is not the one that was opened. */
  checkFile?(): void;
  close(): void;
}

/** Integers are safe ones: nothing else is written here. An empty blob may come back as null. */
export type SqliteValue = number | string | Uint8Array | null;
export type SqliteRow = Readonly<Record<string, SqliteValue>>;
