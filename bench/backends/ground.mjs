// @ts-check
// What the processes of a run share: an etcd on loopback, and folders for files of SQLite. The process of the command starts
// them, and takes them away again: at the end, on an error, and on Ctrl-C.
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { loadBundle } from '../../test/support/load-bundle.mjs';
import { fileSystem } from './usage.mjs';

/**
 * @typedef {object} Ground
 * @property {{ address: string, version: string, pid: number, fileSystem: string, isSynced: boolean }} [etcd]
 * @property {string} folder On a disk, where the machine has its temporary files on one.
 * @property {string} [memoryFolder] On a file system in memory; `undefined` where there is none.
 */

/** Where Linux has a file system in memory for everybody. */
const SHARED_MEMORY = '/dev/shm';

/**
 * @param {{ cases: readonly string[], folder: string, log: (line: string) => void }} job
 * @returns {Promise<import('../harness/process.mjs').Prepared & { given: Ground }>}
 */
export async function prepareGround({ cases, folder, log }) {
  /** @type {typeof import('../../test/support/etcd.ts')} */
  const { cleanUpAtExit, findOrInstallEtcd, onExit, startEtcd } = await loadBundle(
    new URL('../../test/support/etcd.ts', import.meta.url),
  );
  cleanUpAtExit();
  const undo = [onExit(() => rmSync(folder, { recursive: true, force: true }))];
  /** @type {Ground} */
  const given = { folder };
  const memoryFolder = await folderInMemory();
  if (memoryFolder !== undefined) {
    given.memoryFolder = memoryFolder;
    undo.push(onExit(() => rmSync(memoryFolder, { recursive: true, force: true })));
  }
  if (cases.some((name) => !name.startsWith('put sqlite'))) {
    const server = await startEtcd(await findOrInstallEtcd());
    undo.push(() => server.stop());
    const { address, version, pid, isSynced } = server;
    given.etcd = { address, version, pid, isSynced, fileSystem: fileSystem(server.folder) };
    log(`etcd ${version} at ${address}, data on ${given.etcd.fileSystem}${isSynced ? '' : ', without waiting for it'}`);
  }
  return {
    given,
    close: () => {
      for (const one of undo.reverse()) one();
    },
  };
}

async function folderInMemory() {
  try {
    return await mkdtemp(`${SHARED_MEMORY}/plimsoll-bench-`);
  } catch (error) {
    console.error(`no ${SHARED_MEMORY} here: ${error}`);
    return undefined;
  }
}
