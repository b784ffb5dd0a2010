import { FileReplacedError } from '../../backends/sqlite/errors.ts';
import { BackendError } from '../../types/errors.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';
import { loadModule } from '../load-module.ts';
import type { FileSystem, Paths } from './file-system.ts';
import { OPENERS, type SqliteLibrary } from './libraries.ts';
import { StatementDriver } from './statement-driver.ts';

export interface OpenDriverOptions {
  readonly file: string;
  /** @default the first one that is there: see `librariesHere` */
  readonly library: SqliteLibrary | undefined;
  readonly synchronous: 'normal' | 'full' | 'extra';
  readonly fileBytesMax: number | undefined;
}

const ACTION = 'open an SQLite backend';
/** Of files that are made here: that of SQLite itself. */
const PAGE_BYTES = 4096;

/**
 * Opens a file with a library that is there.
 *
 * @throws BackendError, permanent, when there is none, and when the file cannot be opened
 */
export async function openDriver({
  file: path,
  library,
  synchronous,
  fileBytesMax,
}: OpenDriverOptions): Promise<SqliteDriver> {
  const { file, files } = await locate(path);
  const names = library === undefined ? librariesHere() : [library];
  const missing: unknown[] = [];
  for (const name of names) {
    const loaded = await loadModule(name);
    if ('error' in loaded) {
      missing.push(loaded.error);
      continue;
    }
    const database = openFile(name, loaded.module, file, files);
    const pragmas = [
      // Without shared memory, as in WebAssembly, SQLite keeps its rollback journal, and says nothing.
      'journal_mode = WAL',
      `synchronous = ${synchronous.toUpperCase()}`,
      ...(fileBytesMax === undefined ? [] : [`max_page_count = ${Math.max(1, Math.floor(fileBytesMax / PAGE_BYTES))}`]),
    ];
    const facts = { name, location: file, pragmas };
    return new StatementDriver(database, files === undefined ? facts : { ...facts, checkFile: fileCheck(file, files) });
  }
  const install =
    'on Node 20 run "npm install better-sqlite3", or "npm install node-sqlite3-wasm" for one without native code';
  throw new BackendError(ACTION, `none of ${names.join(', ')} is here; ${install}`, {
    cause: new AggregateError(missing, 'no library for SQLite could be loaded'),
    permanent: true,
  });
}

/** In the order in which they are tried: what the runtime brings along first. */
function librariesHere(): readonly SqliteLibrary[] {
  return 'Bun' in globalThis ? ['bun:sqlite'] : ['node:sqlite', 'better-sqlite3', 'node-sqlite3-wasm'];
}

function openFile(name: SqliteLibrary, module: unknown, file: string, files: FileSystem | undefined) {
  let bytes: bigint | undefined;
  try {
    bytes = files === undefined ? undefined : tooShort(file, files);
    if (bytes === undefined) return OPENERS[name](module, file, files);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new BackendError(ACTION, `${file} cannot be opened with ${name} (${said})`, { cause, permanent: true });
  }
  throw new BackendError(ACTION, `${file} is no SQLite file (it has ${bytes} bytes)`, { permanent: true });
}

interface Located {
  readonly file: string;
  /** `undefined` for a database that is in no file, and where there are none. */
  readonly files: FileSystem | undefined;
}

/** Once and for all: the folder that a path is relative to may be another one later, and SQLite stays with the first. */
async function locate(path: string): Promise<Located> {
  if (path === ':memory:' || path === '') return { file: path, files: undefined };
  const folder = currentFolder();
  const [files, paths] = await Promise.all([loadModule('node:fs'), loadModule('node:path')]);
  if ('error' in files || 'error' in paths) return { file: path, files: undefined };
  return { file: (paths.module as Paths).resolve(folder, path), files: files.module as FileSystem };
}

/** As long as nothing was waited for it is that of the call. Empty where there is none, which is no harm to an absolute path. */
function currentFolder(): string {
  const { process } = globalThis as { readonly process?: { cwd?(): string } };
  try {
    return process?.cwd?.() ?? '';
  } catch {
    return '';
  }
}

/** The smallest file of SQLite has one page of this size. What is shorter it takes for empty, and writes over. */
const FILE_BYTES_MIN = 512n;

function tooShort(file: string, files: FileSystem): bigint | undefined {
  const stat = files.statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size > 0n && stat.size < FILE_BYTES_MIN ? stat.size : undefined;
}

/** Tells a file that was put in the place of the one that was opened: SQLite goes on with that one, unseen by everybody else. */
function fileCheck(file: string, files: FileSystem): () => void {
  const idOf = () => {
    const stat = files.statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? 'no file' : `${stat.dev}:${stat.ino}`;
  };
  const opened = idOf();
  return () => {
    const now = idOf();
    if (now !== opened) throw new FileReplacedError(`it was ${opened} when it was opened, and is ${now}`);
  };
}
