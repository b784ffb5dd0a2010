/** What is asked of `node:fs` about a file of SQLite, and beside it. */
export interface FileSystem {
  statSync(
    file: string,
    options: object,
  ): { readonly dev: bigint; readonly ino: bigint; readonly size: bigint; isFile(): boolean } | undefined;
  readFileSync(file: string): Uint8Array;
  mkdirSync(folder: string): unknown;
  rmdirSync(folder: string): void;
}

/** What is asked of `node:path`. */
export interface Paths {
  resolve(...parts: readonly string[]): string;
}
