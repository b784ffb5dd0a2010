import { existsSync, readFileSync } from 'node:fs';

/** The version of the package that this file is a part of: one folder up from `dist/`, two up from `src/cli/`. */
export function readVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    const url = new URL(path, import.meta.url);
    if (!existsSync(url)) continue;
    const { name, version } = JSON.parse(readFileSync(url, 'utf8')) as { name?: string; version?: string };
    if (name === 'plimsoll' && version !== undefined) return version;
  }
  throw new Error('Cannot tell the version: package.json is not where it has to be');
}
