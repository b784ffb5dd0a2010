// @ts-check
// The suite as a program of workerd, which finds no packages and compiles no bytes: the package is bundled with it, and the
// core is a module of the configuration. Twice, by the exports that its condition `workerd` chooses, and as somebody has it
// whose bundler knows no such condition, or whose package comes from JSR:
//
//   worker.mjs          cases + dist/mod.static.js, dist/testing.static.js     import './core.wasm?module'
//   worker.mjs          cases + dist/mod.js, dist/testing.js                   import './core.wasm?module', createCore
//
//   core.wasm?module    dist/core.wasm, compiled by workerd
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

/**
 * The behaviour of that day's workerd, without what it has of Node: the package needs none of it. A deployed worker has
 * 128 MB; here that bounds the heap of JavaScript, the core's memory is not counted.
 */
const CONFIG = `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = ["--max-old-space-size=128"],
  services = [(name = "suite", worker = (
    modules = [
      (name = "worker.mjs", esModule = embed "worker.mjs"),
      (name = "core.wasm?module", wasm = embed "node_modules/plimsoll/dist/core.wasm"),
    ],
    compatibilityDate = "2026-11-17",
    compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  ))],
);
`;

/**
 * Bundles the suite with the package in the folder's `node_modules`; returns the path of the configuration to run.
 *
 * @param {string} folder
 */
export function makeWorker(folder) {
  return makeConfig(folder, 'main-workerd.ts', ['workerd']);
}

/**
 * The same with the entry for everybody, which is handed the module.
 *
 * @param {string} folder
 */
export function makeWorkerWithCore(folder) {
  return makeConfig(folder, 'main-workerd-core.ts', []);
}

/**
 * @param {string} folder
 * @param {string} entry
 * @param {string[]} conditions
 */
async function makeConfig(folder, entry, conditions) {
  await bundle({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outfile: join(folder, 'worker.mjs'),
    platform: 'neutral',
    conditions,
    nodePaths: [join(folder, 'node_modules')],
    external: ['*.wasm?module'],
  });
  const config = join(folder, 'worker.capnp');
  await writeFile(config, CONFIG);
  return config;
}
