// @ts-check
// The machine of Vercel's edge functions, @edge-runtime/vm. It has no modules, so that a program is one script with the package,
// by the exports that the condition `edge-light` chooses. `import './core.wasm?module'`, which Vercel's bundler knows, is here
// a global that holds the compiled module.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadFromRuntimes } from './runtimes.mjs';

/** @type {import('esbuild').BuildOptions} */
export const EDGE_BUNDLE = {
  format: 'iife',
  platform: 'neutral',
  conditions: ['edge-light'],
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
};

/**
 * A machine that has run a script.
 *
 * @param {string} folder a project with the package installed
 * @param {string} script
 * @param {object} globals beside those of the machine
 * @returns {Promise<{ evaluate(code: string): any }>}
 */
export async function openEdgeMachine(folder, script, globals = {}) {
  const { EdgeVM } = loadFromRuntimes('@edge-runtime/vm');
  const wasm = await readFile(join(folder, 'node_modules/plimsoll/dist/core.wasm'));
  const machine = new EdgeVM({
    extend: (/** @type {object} */ context) =>
      Object.assign(context, globals, { plimsollCoreModule: new WebAssembly.Module(wasm) }),
  });
  machine.evaluate(await readFile(script, 'utf8'));
  return machine;
}
