// @ts-check
// The runtimes of the conformance suite and how each of them runs it.
import { findPrograms, HAS_NODE_24 } from '../../tools/runtimes.mjs';

/**
 * A module that is run, or the configuration of a worker (workerd.mjs).
 *
 * @typedef {'module' | 'worker'} Program
 */

/**
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} version
 * @property {string} command
 * @property {readonly string[]} args before the path of what to run
 * @property {Program} program
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * How to run a module. Deno gets no permission at all: the package needs none.
 *
 * @type {Readonly<Record<string, { args: readonly string[], program: Program, env: NodeJS.ProcessEnv }>>}
 */
const COMMANDS = {
  node: { args: [], program: 'module', env: {} },
  ...(HAS_NODE_24 ? { node24: { args: [], program: 'module', env: {} } } : {}),
  deno: {
    args: ['run', '--quiet', '--no-prompt', '--node-modules-dir=manual'],
    program: 'module',
    env: { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
  },
  bun: { args: ['run', '--no-install'], program: 'module', env: { NO_COLOR: '1' } },
  workerd: { args: ['test'], program: 'worker', env: {} },
};

/** All that this platform has; Node 24 is not there for every one. */
export const RUNTIMES = Object.keys(COMMANDS);

/**
 * The runtimes asked for, of `RUNTIMES`, ready to run. Rejects when one cannot be had: a runtime that is missing is not a
 * pass.
 *
 * @param {readonly string[]} names
 * @returns {Promise<Runtime[]>}
 */
export async function findRuntimes(names) {
  const programs = await findPrograms(names);
  return programs.map((program) => {
    const command = COMMANDS[program.name];
    if (command === undefined) throw new RangeError(`Cannot run ${program.name}: it is no runtime of this suite`);
    return { ...program, ...command };
  });
}
