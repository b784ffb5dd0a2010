// @ts-check
// The suite as a program of workerd, which finds no packages and compiles no bytes: the package is bundled with it, by the
// exports that its condition `workerd` chooses, and the core is a module of the configuration.
//
//   worker.mjs          cases + dist/mod.static.js, dist/testing.static.js
//     import './core.wasm?module'
//   core.wasm?module    dist/core.wasm, compiled by workerd
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const ENTRY = fileURLToPath(new URL('./main-workerd.ts', import.meta.url));

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
 * @returns {Promise<string>}
 */
export async function makeWorker(folder) {
  await esbuild.build({
    entryPoints: [ENTRY],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    conditions: ['workerd'],
    // The cases are not in the folder: without this, `plimsoll` would be looked for beside them.
    nodePaths: [join(folder, 'node_modules')],
    external: ['*.wasm?module'],
    // As for the other runtimes: "sideEffects": false would drop every case.
    ignoreAnnotations: true,
    tsconfigRaw: {},
    logLevel: 'warning',
  });
  const config = join(folder, 'worker.capnp');
  await writeFile(config, CONFIG);
  return config;
}
