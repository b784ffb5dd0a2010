// @ts-check
// Compiles assembly/ (target `release` of asconfig.json) into a temporary folder and returns the bytes, with
// the section that names the build. Nothing in the tree is touched, so that a check can run beside an edit.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import binaryen from 'assemblyscript/binaryen';
import { withCoreId } from './embed-wasm.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js');

/** @returns {Promise<Buffer>} */
export async function compileWasm() {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-wasm-'));
  const outFile = join(folder, 'core.wasm');
  const args = [compiler, '--config', 'asconfig.json', '--target', 'release', '--outFile', outFile];
  try {
    await promisify(execFile)(process.execPath, args, { cwd: root });
    return withCoreId(inOrderOfUse(await readFile(outFile)));
  } catch (cause) {
    const output = /** @type {{ stderr?: string }} */ (cause).stderr ?? String(cause);
    throw new Error(`Cannot compile assembly/: the compiler failed\n${output}`, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Functions that are called from most places first: their numbers are in every call, and take one byte below 128. The compiler does so
 * too, but in an order of equals by which the module compresses less well.
 *
 * @param {Uint8Array} bytes
 */
function inOrderOfUse(bytes) {
  const module = binaryen.readBinary(bytes);
  module.setFeatures(binaryen.Features.All);
  module.runPasses(['reorder-functions']);
  const ordered = module.emitBinary();
  module.dispose();
  return Buffer.from(ordered);
}
