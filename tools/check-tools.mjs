// @ts-check
// Programs of test/check: installed there on first use, from its lockfile.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputOf } from './child-output.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = join(root, 'test/check');

/**
 * Runs a program at the root; resolves with what it printed where it failed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string | undefined>}
 */
export async function run(command, args, env = {}) {
  const { output, end } = await outputOf(command, args, { cwd: root, env });
  return end === 0 ? undefined : `${output.trim()}\n(ended with ${end})`;
}

/**
 * The same with a script of one of these packages, and this very Node.
 *
 * @param {string} script
 * @param {readonly string[]} args
 */
export function tool(script, ...args) {
  return run(process.execPath, [join(folder, 'node_modules', script), ...args]);
}

/** `npm ci` beside the manifest, where a tool is not there in the version of the manifest. */
export async function installTools() {
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  for (const [name, wanted] of Object.entries(dependencies)) {
    if ((await versionOf(name)) === wanted) continue;
    console.error('Installing the tools of this command (test/check)');
    const problem = await run('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts']);
    if (problem !== undefined) throw new Error(`Cannot install the tools: ${problem}`);
    return;
  }
}

/** @param {string} name */
async function versionOf(name) {
  try {
    return JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}
