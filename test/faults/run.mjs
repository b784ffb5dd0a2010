// @ts-check
// Faults from outside: `npm run test:faults`. Processes that are killed, that share a file, disks that are full. Ends with
// `N passed, N failed` alone on a line; exit code 1 when anything failed.
import { rmSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../../tools/build.mjs';
import { findPrograms, HAS_OTHER_NODES } from '../../tools/runtimes.mjs';
import { loadBundle } from '../support/load-bundle.mjs';
import { parseCount, SEED_MAX } from '../support/proof.mjs';
import { hurtConnections, hurtLeaders, hurtServer } from './etcd.mjs';
import { stopHolder } from './etcd-lock.mjs';
import { createRandom } from './random.mjs';
import { checkIds, tellRows } from './rows/command.mjs';
import { fillDisk, fillFile, killWriters, refuseForeign, shareFile } from './sqlite.mjs';
import { recover } from './wasm-leftovers.mjs';

const HELP = `Usage: npm run test:faults -- [--smoke] [--kills N] [--seed N] [--only ROW] [--broken ROW] [--json]

First F1 to F40 of docs/spec/store.md, a line each: shown by several processes on a file of SQLite and on an etcd, or by the
test that is named. Then it kills processes that write to a file of SQLite, lets several write to one, fills files and disks. Then etcd: three members
whose leader is killed or stopped again and again while 32 writers write, one that stops, dies, compacts and is replaced, and
a proxy that breaks connections. Everything that was acknowledged has to be there, watchers see each commit once, replicas are
as the list. Some minutes; needs Linux on x64 or arm64, since Node 24 comes from test/runtimes.

  --smoke     10 kills instead of 200, and a few thousand writes instead of 100,000
  --kills N   so many
  --seed N    the chance of an earlier run, 0 to ${SEED_MAX}: when processes are killed, but not where they are then
  --only ROW  this row of F1 to F40 and nothing else; may be given again
  --broken ROW  this row with its fault put into a naive cache: it has to fail
  --self-check  each row that has such a fault, passed where its check says what is wrong; with --only some of them
  --json      the rows and nothing else, as one line of JSON
  --help      this text

Exit code: 0 all passed, 1 something failed, 2 wrong arguments.`;

const KILLS = { smoke: 10, full: 200 };
const COUNT = { smoke: 20, full: 300 };
/** Acknowledged ones: while leaders are hurt, and while connections are. */
const LEADER_WRITES = { smoke: 2_000, full: 100_000 };
const CONNECTION_WRITES = { smoke: 500, full: 20_000 };

const dist = fileURLToPath(new URL('../../dist', import.meta.url));

/** @param {readonly string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      kills: { type: 'string' },
      seed: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      broken: { type: 'string', multiple: true, default: [] },
      'self-check': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const size = values.smoke ? 'smoke' : 'full';
  const kills = values.kills === undefined ? KILLS[size] : parseCount('--kills', values.kills, 1, 100_000);
  const seed =
    values.seed === undefined ? Math.floor(Math.random() * SEED_MAX) : parseCount('--seed', values.seed, 0, SEED_MAX);
  checkIds('--only', values.only, values['self-check']);
  checkIds('--broken', values.broken, true);
  if (!values.json) console.log(`seed ${seed}`);
  await build({ frozen: true, ifStale: true });
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-faults-'));
  // Servers and processes end at the exit, whatever leads to it; then what they wrote to can go.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.once('exit', remove);
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    process.once(signal, () => process.exit(code));
  }
  const { only, broken, smoke: isSmoke, json: isJson, 'self-check': isSelfCheck } = values;
  const isRowsOnly = isJson || isSelfCheck || only.length + broken.length > 0;
  try {
    const told = await tellRows({ dist, folder, findEtcd, isSmoke, seed, only, broken, isSelfCheck, isJson });
    if (!isRowsOnly) {
      if (!isSmoke) {
        const checked = await tellRows({
          dist,
          folder,
          findEtcd,
          isSmoke,
          seed,
          only,
          broken,
          isSelfCheck: true,
          isJson,
        });
        told.passed += checked.passed;
        told.failed += checked.failed;
      }
      return await runAll(folder, size, kills, seed, told);
    }
    if (!isJson) console.log(`\n${told.passed} passed, ${told.failed} failed`);
    return told.failed === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {'smoke' | 'full'} size
 * @param {number} kills
 * @param {number} seed
 * @param {{ passed: number, failed: number }} rows what was shown before
 */
async function runAll(folder, size, kills, seed, rows) {
  let { passed, failed } = rows;
  /**
   * @param {string} name
   * @param {() => Promise<string | undefined | void>} work
   */
  const run = async (name, work) => {
    const start = Date.now();
    try {
      const reason = await work();
      const seconds = ((Date.now() - start) / 1000).toFixed(1);
      if (typeof reason === 'string') {
        console.log(`not run  ${name}: ${reason}`);
        return;
      }
      passed++;
      console.log(`ok       ${name} (${seconds} s)`);
    } catch (error) {
      failed++;
      console.log(`failed   ${name}\n${error instanceof Error ? error.stack : String(error)}`);
    }
  };
  for (const { title, command, library, recover } of await findWorlds()) {
    const random = createRandom(seed);
    const own = await mkdtemp(join(folder, 'w-'));
    const sqlite = { folder: own, dist, command, args: [], library, random, say: console.log };
    const world = recover === undefined ? sqlite : { ...sqlite, recover };
    await run(`${title}: kill -9, ${kills} times`, () => killWriters(world, kills));
    if (recover !== undefined) continue;
    await run(`${title}: several processes on one file`, () => shareFile(world, COUNT[size]));
    await run(`${title}: a file at its bound`, () => fillFile(world));
    await run(`${title}: a foreign file`, () => refuseForeign(world));
    await run(`${title}: a full disk, and one that can only be read`, () => fillDisk(world));
  }
  const command = await findEtcd();
  const random = createRandom(seed);
  const world = { folder: await mkdtemp(join(folder, 'etcd-')), dist, command, random, say: console.log };
  await run(`etcd: three members, whoever leads is hurt, ${LEADER_WRITES[size]} writes`, () =>
    hurtLeaders(world, LEADER_WRITES[size]),
  );
  await run('etcd: a server that stops, dies, compacts, is replaced', () => hurtServer(world));
  for (const kind of /** @type {const} */ (['lock', 'election'])) {
    await run(`etcd: who holds the ${kind} is stopped for longer than its lease lives`, () => stopHolder(world, kind));
  }
  await run(`etcd: connections that break, ${CONNECTION_WRITES[size]} writes`, () =>
    hurtConnections(world, CONNECTION_WRITES[size]),
  );
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** From the system's packages, which are asked for it where it is missing. */
async function findEtcd() {
  /** @type {typeof import('../etcd/install.ts')} */
  const { findOrInstallEtcd } = await loadBundle(new URL('../etcd/install.ts', import.meta.url));
  return findOrInstallEtcd();
}

/** node:sqlite of a newer Node, and the help that node-sqlite3-wasm needs from it; better-sqlite3 where somebody has installed it beside this Node. */
async function findWorlds() {
  /** @type {{ title: string, command: string, library: import('./sqlite.mjs').World['library'], recover?: (file: string) => void }[]} */
  const worlds = [];
  if (HAS_OTHER_NODES) {
    const [program] = await findPrograms(['node24']);
    if (program !== undefined) {
      worlds.push({
        title: `node:sqlite of Node ${program.version}`,
        command: program.command,
        library: 'node:sqlite',
      });
      worlds.push({
        title: 'node-sqlite3-wasm, made good by hand',
        command: process.execPath,
        library: 'node-sqlite3-wasm',
        recover: (file) => recover(file, program.command),
      });
    }
  }
  if (await isThere('better-sqlite3')) {
    worlds.push({ title: 'better-sqlite3', command: process.execPath, library: 'better-sqlite3' });
  }
  if (worlds.length === 0) throw new Error('Cannot run the faults: no library for SQLite that writes a log is here');
  return worlds;
}

/** @param {string} name */
async function isThere(name) {
  try {
    await access(createRequire(import.meta.url).resolve(name));
    return true;
  } catch {
    return false;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
