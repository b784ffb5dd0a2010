// @ts-check
// The suite as a program of workerd (tools/workerd.mjs). Twice, by the exports that its condition `workerd` chooses, and as somebody has it
// whose bundler knows no such condition, or whose package comes from JSR:
//
//   worker.mjs          cases + dist/mod.static.js, dist/testing.static.js     import './core.wasm?module'
//   worker.mjs          cases + dist/mod.js, dist/testing.js                   import './core.wasm?module', createCore
//
//   core.wasm?module    dist/core.wasm, compiled by workerd
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORKERD_BUNDLE, workerdConfig } from '../../tools/workerd.mjs';
import { bundle } from './bundle.mjs';

/** A deployed worker has 128 MB; here that bounds the heap of JavaScript, the core's memory is not counted. */
const V8_FLAGS = ['--max-old-space-size=128'];

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
    ...WORKERD_BUNDLE,
    external: [...WORKERD_BUNDLE.external],
    conditions,
    nodePaths: [join(folder, 'node_modules')],
  });
  const config = join(folder, 'worker.capnp');
  const objects = { className: 'SqliteObject', folder: join(folder, `objects-${basename(entry, '.ts')}`) };
  await mkdir(objects.folder, { recursive: true });
  await writeFile(config, workerdConfig({ script: 'worker.mjs', v8Flags: V8_FLAGS, objects }));
  return config;
}
