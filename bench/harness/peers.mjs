// @ts-check
// The packages that only the benchmarks need. They have a lockfile of their own and are installed on first use, so that
// nobody who just builds or tests the library gets them.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const folder = new URL('../', import.meta.url);

/**
 * Installs them unless they are there in exactly the pinned versions; only then is the network used.
 *
 * @param {(line: string) => void} log
 */
export async function ensurePeers(log) {
  const missing = await missingPeers();
  if (missing.length === 0) return;
  log(`installing the packages of bench/ once: ${missing.join(', ')}`);
  // Run through npm, its own path is known; otherwise it has to be on the PATH.
  const npm = process.env.npm_execpath;
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', fileURLToPath(folder)];
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const failure = await run(command, [...first, ...args]);
  if (failure !== undefined) {
    throw new Error(
      `Cannot install the packages of bench/: ${failure}. They are needed once, over the network; try: npm ci --prefix bench`,
    );
  }
  const stillMissing = await missingPeers();
  if (stillMissing.length > 0) throw new Error(`Cannot find ${stillMissing.join(', ')} after npm ci --prefix bench`);
}

async function missingPeers() {
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8'));
  const missing = [];
  for (const [name, version] of Object.entries(dependencies)) {
    if ((await installedVersion(name)) !== version) missing.push(`${name}@${version}`);
  }
  return missing;
}

/** @param {string} name */
async function installedVersion(name) {
  try {
    return JSON.parse(await readFile(new URL(`node_modules/${name}/package.json`, folder), 'utf8')).version;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>} why it failed
 */
function run(command, args) {
  return new Promise((resolve) => {
    // Both streams to standard error: standard output belongs to the result.
    const child = spawn(command, args, { stdio: ['ignore', 2, 2] });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : `npm ci ended with ${code}`));
  });
}
