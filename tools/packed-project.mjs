// @ts-check
// The package as somebody gets it: packed, and installed in an empty folder.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Packs what is built into a folder; returns the path of the tarball.
 *
 * @param {string} folder
 */
export async function packPackage(folder) {
  // No scripts: `prepack` would build once more.
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  return join(folder, stdout.trim());
}

/**
 * A project with the package installed, and nothing else.
 *
 * @param {string} folder that is not there yet
 * @param {string} archive
 */
export async function makeProject(folder, archive) {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--silent', archive];
  await promisify(execFile)('npm', args, { cwd: folder });
}
