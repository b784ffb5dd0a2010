// @ts-check
// What a process of a run can be started in, and how each runtime is told to hand out its garbage collector.
import { findPrograms } from '../../tools/runtimes.mjs';

/**
 * @typedef {object} Runtime
 * @property {string} command
 * @property {readonly string[]} args before the path of the module
 * @property {NodeJS.ProcessEnv} env besides that of this process
 */

/**
 * Deno gets what somebody needs: files to read, and for lmdb its native part, its folder, and variables that it asks for.
 * Nobody gets the network. Bun needs no flag, `Bun.gc` is always there.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const ARGUMENTS = {
  node: ['--expose-gc'],
  node24: ['--expose-gc'],
  deno: [
    'run',
    '--quiet',
    '--no-prompt',
    '--node-modules-dir=manual',
    '--allow-read',
    '--allow-write',
    '--allow-env',
    '--allow-ffi',
    '--v8-flags=--expose-gc',
  ],
  bun: ['run', '--no-install'],
};

/** The first is the one that runs the command. */
export const RUNTIMES = /** @type {const} */ (['node', 'node24', 'deno', 'bun']);

/**
 * Ready to run: `node` is this very Node, the others are the pinned packages of test/runtimes, installed on first use.
 *
 * @param {string} name one of `RUNTIMES`
 * @param {string} cache folder for what a runtime keeps of the modules it has read
 * @returns {Promise<Runtime>}
 */
export async function findRuntime(name, cache) {
  const args = ARGUMENTS[name];
  const [program] = await findPrograms([name]);
  if (args === undefined || program === undefined) throw new RangeError(`Cannot measure in ${name}: it is unknown`);
  return { command: program.command, args, env: { DENO_DIR: cache, DENO_NO_UPDATE_CHECK: '1' } };
}
