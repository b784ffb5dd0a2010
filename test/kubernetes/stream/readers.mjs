// @ts-check
// Who reads: Node with either major of client-node, and Node, Deno and Bun with the platform's fetch.
import { fileURLToPath } from 'node:url';
import { findPrograms } from '../../../tools/runtimes.mjs';

/**
 * @typedef {object} Reader
 * @property {string} name
 * @property {string} command
 * @property {readonly string[]} args before the program
 * @property {import('./transports.mjs').TransportName} transport
 * @property {NodeJS.ProcessEnv} env
 */

/** Bun sends 256 requests at a time, and lets others wait, unless it is told otherwise; each watch is one. */
const BUN_REQUESTS_MAX = '4096';

/** What readers import by a computed name. */
const DIST = fileURLToPath(new URL('../../../dist', import.meta.url));

/** @type {readonly (Omit<Reader, 'command'> & { program: string })[]} */
const READERS = [
  { name: 'node fetch', program: 'node', args: [], transport: 'fetch', env: {} },
  { name: 'node client-node 1.4', program: 'node', args: [], transport: 'client-node-1', env: {} },
  { name: 'node client-node 2', program: 'node', args: [], transport: 'client-node-2', env: {} },
  {
    name: 'deno fetch',
    program: 'deno',
    args: [
      ...['run', '--quiet', '--no-prompt', '--node-modules-dir=manual'],
      ...['--allow-net=127.0.0.1', `--allow-read=${DIST}`],
    ],
    transport: 'fetch',
    env: { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
  },
  {
    name: 'bun fetch',
    program: 'bun',
    args: ['run', '--no-install'],
    transport: 'fetch',
    env: { NO_COLOR: '1', BUN_CONFIG_MAX_HTTP_REQUESTS: BUN_REQUESTS_MAX },
  },
];

export const READER_NAMES = READERS.map(({ name }) => name);

/**
 * These, ready to run. Rejects if one is not there: a runtime that is missing is not a pass.
 *
 * @param {readonly string[]} names of `READER_NAMES`
 * @returns {Promise<Reader[]>}
 */
export async function findReaders(names) {
  const chosen = READERS.filter(({ name }) => names.includes(name));
  const programs = await findPrograms([...new Set(chosen.map(({ program }) => program))]);
  return chosen.map(({ program, ...reader }) => {
    const found = programs.find(({ name }) => name === program);
    if (found === undefined) throw new Error(`Cannot run ${reader.name}: ${program} is not there`);
    return { ...reader, name: `${reader.name} (${found.version})`, command: found.command };
  });
}
