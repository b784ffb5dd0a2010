// @ts-check
// Compiles assembly/ (target `release` of asconfig.json) into a temporary folder and returns the bytes, with
// the section that names the build. Nothing in the tree is touched, so that a check can run beside an edit.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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
    return withCoreId(await readFile(outFile));
  } catch (cause) {
    const output = /** @type {{ stderr?: string }} */ (cause).stderr ?? String(cause);
    throw new Error(`Cannot compile assembly/: the compiler failed\n${output}`, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
