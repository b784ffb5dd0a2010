// @ts-check
// Compares the embedded store with a real etcd: `npm run test:etcd`. See test/README.md, and `--help`.
//
// The sources are TypeScript and Node 20 does not run that: they are bundled, loaded, and the bundle is gone again before
// the work begins.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';

const root = new URL('../../', import.meta.url);

/** @returns {Promise<typeof import('./main.ts')>} */
async function load() {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-etcd-bundle-'));
  const outfile = join(folder, 'main.mjs');
  try {
    await esbuild.build({
      entryPoints: [fileURLToPath(new URL('main.ts', import.meta.url))],
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

process.setSourceMapsEnabled(true);
const { main } = await load();
try {
  process.exitCode = await main(process.argv.slice(2), root);
} catch (error) {
  // Wrong arguments are for a person; everything else is a fault of the harness, with its stack.
  if (!(error instanceof TypeError || error instanceof RangeError) || !/^Cannot /.test(error.message)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
