import { FileReplacedError } from '../../backends/sqlite/errors.ts';
import { BackendError } from '../../types/errors.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';
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
  file,
  library,
  synchronous,
  fileBytesMax,
}: OpenDriverOptions): Promise<SqliteDriver> {
  const names = library === undefined ? librariesHere() : [library];
  const missing: unknown[] = [];
  for (const name of names) {
    const loaded = await load(name);
    if ('error' in loaded) {
      missing.push(loaded.error);
      continue;
    }
    const database = await openFile(name, loaded.module, file);
    const pragmas = [
      // Without shared memory, as in WebAssembly, SQLite keeps its rollback journal, and says nothing.
      'journal_mode = WAL',
      `synchronous = ${synchronous.toUpperCase()}`,
      ...(fileBytesMax === undefined ? [] : [`max_page_count = ${Math.max(1, Math.floor(fileBytesMax / PAGE_BYTES))}`]),
    ];
    const checkFile = await fileCheck(file);
    const facts = { name, location: file, pragmas };
    return new StatementDriver(database, checkFile === undefined ? facts : { ...facts, checkFile });
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

type Loaded = { readonly module: unknown } | { readonly error: unknown };

/** By a name that no bundler follows: none of them has to be there. */
async function load(name: string): Promise<Loaded> {
  try {
    return { module: await import(name) };
  } catch (error) {
    return { error };
  }
}

async function openFile(name: SqliteLibrary, module: unknown, file: string) {
  try {
    return OPENERS[name](module, file);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new BackendError(ACTION, `${file} cannot be opened with ${name} (${said})`, { cause, permanent: true });
  }
}

interface FileSystem {
  statSync(file: string, options: object): { readonly dev: bigint; readonly ino: bigint } | undefined;
}

/** Tells a file that was put in the place of the one that was opened: SQLite goes on with that one, unseen by everybody else. */
async function fileCheck(file: string): Promise<(() => void) | undefined> {
  if (file === ':memory:' || file === '') return undefined;
  const { module } = (await load('node:fs')) as { readonly module: FileSystem };
  const idOf = () => {
    const stat = module.statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? 'no file' : `${stat.dev}:${stat.ino}`;
  };
  const opened = idOf();
  return () => {
    const now = idOf();
    if (now !== opened) throw new FileReplacedError(`it was ${opened} when it was opened, and is ${now}`);
  };
}
