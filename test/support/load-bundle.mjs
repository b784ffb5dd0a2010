// @ts-check
// Loads a TypeScript module of a tool, which Node 20 does not run: it is bundled, imported, and the bundle is gone again
// before the work begins.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

/**
 * @param {URL} entry
 * @returns {Promise<any>}
 */
export async function loadBundle(entry) {
  // Within the packages: what is imported by a name at run time is found from here.
  const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'plimsoll-bundle-'));
  const outfile = join(folder, 'main.mjs');
  try {
    await esbuild.build({
      entryPoints: [fileURLToPath(entry)],
      outfile,
      bundle: true,
      format: 'esm',
      target: 'node20',
      platform: 'node',
      sourcemap: 'inline',
      tsconfigRaw: {},
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await esbuild.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
