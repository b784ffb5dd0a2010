// @ts-check
// The Chromium of the system: the one on the PATH, else that of Debian's package, which is installed if it is not there.
// No browser of any registry: those packages fetch one from elsewhere while they are installed.
import { execFile, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/**
 * Where it is and what it says of itself. Rejects when it cannot be had.
 *
 * @returns {Promise<{ path: string, version: string }>}
 */
export async function findOrInstallChromium() {
  const path = findProgram() ?? (await install());
  const { stdout } = await promisify(execFile)(path, ['--version']);
  const version = /\d+(?:\.\d+)+/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`Cannot run ${path}: it does not say its version: ${stdout.trim()}`);
  return { path, version };
}

/** @returns {string | undefined} */
function findProgram() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function install() {
  if (process.getuid?.() !== 0) {
    throw new Error('Cannot install Chromium: it is not on the PATH, and only root may install the package "chromium"');
  }
  console.error('Chromium is not on the PATH: installing the package chromium');
  await apt(['update']);
  await apt(['install', '-y', '--no-install-recommends', 'chromium']);
  const path = findProgram();
  if (path === undefined) throw new Error('Cannot find Chromium: the package chromium brought none');
  return path;
}

/** @param {readonly string[]} args */
async function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn('apt-get', [...args], { stdio: ['ignore', 'pipe', 'inherit'], env });
  child.stdout.pipe(process.stderr);
  const code = await new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new Error('Cannot install Chromium: there is no apt-get here', { cause })));
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`Cannot install Chromium: apt-get ${args[0]} ended with ${code}`);
}
