// @ts-check
import { garbageCollector } from '../harness/timers.mjs';
import { putEtcdCase } from './etcd-puts.mjs';
import { fanOutCase } from './fan-out.mjs';
import { prepareGround } from './ground.mjs';
import { loadLibraries, showToPackage } from './libraries.mjs';
import { listCase } from './lists.mjs';
import { PRAGMAS, putSqliteCase } from './sqlite-puts.mjs';
import { fileSystem, syncMs } from './usage.mjs';

/**
 * @typedef {import('./lists.mjs').Store} Store
 * @typedef {import('../../src/types/backend.ts').Backend} Backend
 * @typedef {(options: { backend: Backend, prefixes?: readonly string[] }) => Promise<Store>} OpenStore
 */

export const name = 'backends';
export const summary = 'lists, fan-out and puts through the list manager, against clients of etcd and bare SQLite';
/** Clients of gRPC and native parts, of Node. */
export const runtimes = ['node', 'node24'];
export { prepareGround as prepare };

const LISTS = { 'list 1k': { count: 1000, listsATurn: 20 }, 'list 100k': { count: 100_000, listsATurn: 1 } };
const FAN_OUT = { 'fan-out 1000': 1000 };
const ETCD_PUTS = { 'put etcd': 1, 'put etcd 32 writers': 32 };
const SQLITE_PUTS = {
  'put sqlite': { isGrouped: false, inMemory: false },
  'put sqlite 32 writers': { isGrouped: true, inMemory: false },
  'put sqlite tmpfs': { isGrouped: false, inMemory: true },
  'put sqlite tmpfs 32 writers': { isGrouped: true, inMemory: true },
};

/** @returns {string[]} */
export function caseNames() {
  return [LISTS, FAN_OUT, ETCD_PUTS, SQLITE_PUTS].flatMap((cases) => Object.keys(cases));
}

/**
 * @param {import('../harness/process.mjs').Context} context
 * @returns {Promise<import('../harness/process.mjs').OpenSuite>}
 */
export async function open({ loadPackage, given }) {
  const ground = /** @type {import('./ground.mjs').Ground} */ (given);
  showToPackage();
  const { openStore } = /** @type {{ openStore: OpenStore }} */ (await loadPackage());
  const { libraries, absent } = await loadLibraries();
  /** @type {Record<string, import('./lists.mjs').ListMemory>} */
  const listMemory = {};
  /** @type {Record<string, import('./fan-out.mjs').FanOutFacts>} */
  const fanOut = {};
  const facts = {
    keys: 'one of 50 namespaces and a number, 33 to 48 bytes; each put is of a new key',
    values: 'objects of four members, 130 to 150 bytes as JSON',
    etcd: ground.etcd ?? 'not started, no case needs it',
    sqlite: { library: libraries[0]?.name, pragmas: PRAGMAS, folders: folderFacts(ground) },
    absent,
    // Filled in by the cases.
    listMemory,
    fanOut,
  };
  const openCase = async (/** @type {string} */ caseName) => {
    if (isIn(SQLITE_PUTS, caseName)) {
      const { isGrouped, inMemory } = SQLITE_PUTS[caseName];
      const folder = inMemory ? ground.memoryFolder : ground.folder;
      if (folder === undefined) throw new Error(`Cannot open the case "${caseName}": no file system in memory is here`);
      const { openSqliteBackend } = /** @type {typeof import('../../src/adapters/sqlite/mod.ts')} */ (
        await loadPackage('sqlite')
      );
      const openOne = async (/** @type {{ file: string, library: string }} */ { file, library }) => {
        const backend = await openSqliteBackend({ file, library: /** @type {'node:sqlite'} */ (library) });
        return { backend, store: await openStore({ backend }) };
      };
      return putSqliteCase(caseName, isGrouped, { openStore: openOne, libraries, folder });
    }
    const tools = await etcdTools(ground, openStore, loadPackage);
    if (isIn(LISTS, caseName)) {
      return listCase(caseName, LISTS[caseName], tools, (memory) => {
        listMemory[caseName] = memory;
      });
    }
    if (isIn(FAN_OUT, caseName)) {
      return fanOutCase(caseName, FAN_OUT[caseName], tools, (contestant, found) => {
        fanOut[contestant] = found;
      });
    }
    if (isIn(ETCD_PUTS, caseName)) return putEtcdCase(caseName, ETCD_PUTS[caseName], tools);
    throw new RangeError(`Cannot open the case "${caseName}": there is none of that name`);
  };
  return { facts, openCase };
}

/**
 * @template {object} T
 * @param {T} cases
 * @param {string} caseName
 * @returns {caseName is Extract<keyof T, string>}
 */
function isIn(cases, caseName) {
  return Object.hasOwn(cases, caseName);
}

/**
 * @param {import('./ground.mjs').Ground} ground
 * @param {OpenStore} openStore
 * @param {import('../harness/process.mjs').Context['loadPackage']} loadPackage
 * @returns {Promise<import('./lists.mjs').Tools>}
 */
async function etcdTools({ etcd }, openStore, loadPackage) {
  if (etcd === undefined) throw new Error('Cannot open a case of etcd: none was started');
  const { openEtcdBackend } = /** @type {typeof import('../../src/adapters/etcd/mod.ts')} */ (
    await loadPackage('etcd')
  );
  return {
    address: etcd.address,
    serverPid: etcd.pid,
    collectGarbage: garbageCollector(),
    openReplica: async (prefix) => {
      const backend = await openEtcdBackend({ endpoints: [etcd.address], timeoutMs: 60_000 });
      return { backend, store: await openStore({ backend, prefixes: [prefix] }) };
    },
  };
}

/** @param {import('./ground.mjs').Ground} ground */
function folderFacts({ folder, memoryFolder }) {
  const of = (/** @type {string} */ path) => ({ fileSystem: fileSystem(path), syncMs: syncMs(path) });
  return { 'put sqlite': of(folder), ...(memoryFolder === undefined ? {} : { 'put sqlite tmpfs': of(memoryFolder) }) };
}
