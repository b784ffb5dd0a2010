// @ts-check
// What is used beside time: processors of another process, memory, the kind of a file system.
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../harness/statistics.mjs';

/** Of Linux, from `magic.h`; what is not here is told as its number. */
const FILE_SYSTEMS = new Map([
  [0x01021994, 'tmpfs (memory)'],
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlayfs'],
]);

/** @param {string} folder */
export function fileSystem(folder) {
  const { type } = statfsSync(folder);
  return FILE_SYSTEMS.get(type) ?? `a file system of type 0x${type.toString(16)}`;
}

/** How long this disk takes to have what was appended to a file: median of some, in milliseconds. @param {string} folder */
export function syncMs(folder) {
  const file = join(folder, 'sync-probe');
  const descriptor = openSync(file, 'w');
  const page = new Uint8Array(4096);
  const times = Array.from({ length: 21 }, () => {
    writeSync(descriptor, page);
    const start = performance.now();
    fsyncSync(descriptor);
    return performance.now() - start;
  });
  closeSync(descriptor);
  rmSync(file);
  return Number(median(times).toFixed(3));
}

/** Linux counts in hundredths of a second for everybody who reads /proc. */
const TICK_MS = 10;

/**
 * What a process has had of the processors, in milliseconds; `undefined` where nobody tells.
 *
 * @param {number} pid
 * @param {(file: string) => string} [read]
 */
export function processCpuMs(pid, read = (file) => readFileSync(file, 'utf8')) {
  let text;
  try {
    text = read(`/proc/${pid}/stat`);
  } catch {
    return undefined;
  }
  // The name of the program, in brackets, may have spaces and brackets in it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return Number.isFinite(user + system) ? (user + system) * TICK_MS : undefined;
}

/**
 * Memory of this process once its garbage is gone: its heap, and what is beside it, WebAssembly included.
 *
 * @param {() => void} collectGarbage
 */
export async function usedBytes(collectGarbage) {
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    // A turn, for what is freed by finalizers.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
