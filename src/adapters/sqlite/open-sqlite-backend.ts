import { SqliteBackend } from '../../backends/sqlite/backend.ts';
import { checkChoice, checkMembers } from '../../store/checks.ts';
import { randomId } from '../../system/random-id.ts';
import { systemClock } from '../../system/system-clock.ts';
import { systemRandom } from '../../system/system-random.ts';
import type { Backend } from '../../types/backend.ts';
import { checkInteger } from '../../types/check-integer.ts';
import { CLOCK_METHODS, checkMethods } from '../../types/check-methods.ts';
import type { Clock } from '../../types/clock.ts';
import type { Random } from '../../types/random.ts';
import type { SqliteDriver } from '../../types/sqlite-driver.ts';
import type { SqliteLibrary } from './libraries.ts';
import { openDriver } from './open-driver.ts';

/** Options of {@link openSqliteBackend}: one of `file` and `driver`, and what has defaults. */
export interface SqliteBackendOptions {
  /** Path of the file; it is made if there is none. `:memory:` is a database that ends with the process. */
  readonly file?: string;
  /** Something else that speaks SQLite, in the place of a file. Closed with the backend. */
  readonly driver?: SqliteDriver;
  /**
   * Which library opens the file. @default `bun:sqlite` on Bun; elsewhere the first that is there of `node:sqlite` (Node 22.13
   * and later, Deno), `better-sqlite3` and `node-sqlite3-wasm`
   */
  readonly library?: SqliteLibrary;
  /**
   * When a write is acknowledged: `full` after the disk has it; `extra` also after the folder has the name of the journal;
   * `normal` before that, so that a crash of the machine may take acknowledged writes, while one of the process does not.
   * @default 'full'
   */
  readonly synchronous?: 'normal' | 'full' | 'extra';
  /** Bound of the file in bytes, from 1 MiB; at the bound writes get a `BackendError`. @default that of the disk */
  readonly fileBytesMax?: number;
  /** How long a call waits for the lock of another process, in ms from 0. @default 5000 */
  readonly busyTimeoutMs?: number;
  /** How often a stream that waits looks for what other processes wrote, in ms from 1. @default 100 */
  readonly pollMs?: number;
  /** @default the platform's clock. Deadlines of leases are in its wall-clock time */
  readonly clock?: Clock;
  /** Chance for the identity of new data, for ids of leases and for pauses. @default the platform's randomness */
  readonly random?: Random;
}

const ACTION = 'open an SQLite backend';
/** 128 bits: files are copied from machine to machine, and must not be taken for one another. */
const ID_WORDS = 4;

const NAMES: ReadonlySet<string> = new Set<keyof SqliteBackendOptions>([
  'busyTimeoutMs',
  'clock',
  'driver',
  'file',
  'fileBytesMax',
  'library',
  'pollMs',
  'random',
  'synchronous',
]);

const LIBRARIES: readonly SqliteLibrary[] = ['node:sqlite', 'bun:sqlite', 'better-sqlite3', 'node-sqlite3-wasm'];

/**
 * Opens a file of SQLite as the backend of stores: durable, on one machine, for several processes. History, leases and what
 * was compacted are in the file; a store in front of it is a replica, as of any backend.
 *
 * @example
 * ```ts
 * import { openStore } from 'plimsoll';
 * import { openSqliteBackend } from 'plimsoll/sqlite';
 *
 * async function openDurable(file: string) {
 *   const backend = await openSqliteBackend({ file });
 *   const store = await openStore<string>({ backend });
 *   await store.put('config/theme', 'dark'); // on disk when this resolves
 *   return { store, backend }; // close the store, then the backend
 * }
 * ```
 *
 * @throws TypeError and RangeError for options that cannot be; `BackendError`, permanent, for a file that cannot be opened, that
 *   is no SQLite file, that is another program's or of a newer format, and where no library for SQLite is there
 */
export async function openSqliteBackend(options: SqliteBackendOptions): Promise<Backend> {
  checkMembers(options, NAMES, ACTION, 'the options are not an object', 'option');
  const {
    file,
    driver: given,
    library,
    synchronous = 'full',
    fileBytesMax,
    busyTimeoutMs = 5000,
    pollMs = 100,
  } = options;
  if ((file === undefined) === (given === undefined)) {
    throw new TypeError(`Cannot ${ACTION}: exactly one of file and driver has to be given`);
  }
  if (file !== undefined && (typeof file !== 'string' || file === '')) {
    throw new TypeError(`Cannot ${ACTION}: file is not a path`);
  }
  checkChoice('synchronous', synchronous, ACTION, ['normal', 'full', 'extra']);
  if (library !== undefined) checkChoice('library', library, ACTION, LIBRARIES);
  if (fileBytesMax !== undefined) checkInteger('fileBytesMax', fileBytesMax, ACTION, 1_048_576);
  checkInteger('busyTimeoutMs', busyTimeoutMs, ACTION, 0, 0x7fffffff);
  checkInteger('pollMs', pollMs, ACTION, 1, 0x7fffffff);
  const { clock = systemClock, random = systemRandom } = options;
  checkMethods('clock', clock, ACTION, CLOCK_METHODS);
  if (typeof random !== 'function') throw new TypeError(`Cannot ${ACTION}: random is not a function`);
  if (given !== undefined) checkMethods('driver', given, ACTION, ['all', 'run', 'write', 'read', 'close']);
  const driver = given ?? (await openDriver({ file: file as string, library, synchronous, fileBytesMax }));
  const backend = new SqliteBackend(driver, { clock, random, busyTimeoutMs, pollMs });
  try {
    await backend.open(randomId(random, ID_WORDS));
  } catch (error) {
    await backend[Symbol.asyncDispose]();
    throw error;
  }
  return backend;
}
