// @ts-check
// The suite in the machine of Vercel's edge functions, @edge-runtime/vm, as a process: node edge.mjs SCRIPT
//
// It has no modules, so the script is one piece with the package, by the exports that the condition `edge-light` chooses.
// `import './core.wasm?module'`, which Vercel's bundler knows, is here a global that holds the compiled module.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadFromRuntimes } from '../../tools/runtimes.mjs';
import { bundle } from './bundle.mjs';

/**
 * @param {string} folder
 * @returns {Promise<string>}
 */
export async function makeEdge(folder) {
  const outfile = join(folder, 'edge.js');
  await bundle({
    entryPoints: [fileURLToPath(new URL('main-edge.ts', import.meta.url))],
    outfile,
    format: 'iife',
    platform: 'neutral',
    conditions: ['edge-light'],
    nodePaths: [join(folder, 'node_modules')],
    plugins: [
      {
        name: 'compiled-module',
        setup(build) {
          build.onResolve({ filter: /\.wasm\?module$/ }, ({ path }) => ({ path, namespace: 'compiled' }));
          build.onLoad({ filter: /.*/, namespace: 'compiled' }, () => ({
            contents: 'export default globalThis.plimsollCoreModule;',
          }));
        },
      },
    ],
  });
  return outfile;
}

/** @param {string} script */
async function main(script) {
  const { EdgeVM } = loadFromRuntimes('@edge-runtime/vm');
  const wasm = await readFile(join(dirname(script), 'node_modules/plimsoll/dist/core.wasm'));
  const machine = new EdgeVM({
    extend: (/** @type {object} */ context) =>
      Object.assign(context, { console, plimsollCoreModule: new WebAssembly.Module(wasm) }),
  });
  machine.evaluate(await readFile(script, 'utf8'));
  await machine.evaluate('plimsollSuite');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2] ?? '');
