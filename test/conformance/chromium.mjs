// @ts-check
// The suite in a page of Chromium, as a process: node chromium.mjs PAGE, with the browser in PLIMSOLL_CHROMIUM.
//
//   page         import map: plimsoll -> dist/mod.js, as it is installed          suite.mjs
//   web worker   workers have no import map, so the package is bundled as a bundler for browsers does it
//   policy       as the page, under a policy without 'wasm-unsafe-eval'           policy.mjs
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage } from '../../tools/chromium-page.mjs';
import { bundle } from './bundle.mjs';

const RESULT_MARK = 'PLIMSOLL-RESULT ';
const WAIT_MS_MAX = 110_000;

/** @param {string} folder */
export async function makePage(folder) {
  await bundleEntry(folder, 'main.ts', 'suite.mjs');
  return describePage(folder, { script: 'suite.mjs', hasWasm: true });
}

/** @param {string} folder */
export async function makePolicy(folder) {
  await bundleEntry(folder, 'main-policy.ts', 'policy.mjs');
  return describePage(folder, { script: 'policy.mjs', hasWasm: false });
}

/** @param {string} folder */
export async function makeWebWorker(folder) {
  await bundle({
    entryPoints: [entry('main-web-worker.ts')],
    outfile: join(folder, 'web-worker.mjs'),
    platform: 'browser',
    nodePaths: [join(folder, 'node_modules')],
  });
  const script = [
    "const worker = new Worker('/web-worker.mjs', { type: 'module' });",
    'worker.onmessage = ({ data }) => console.log(data);',
    'worker.onerror = ({ message }) => console.error(message);',
  ];
  await writeFile(join(folder, 'start-worker.mjs'), script.join('\n'));
  return describePage(folder, { script: 'start-worker.mjs', hasWasm: true });
}

/**
 * The package stays outside: the browser finds it by the import map.
 *
 * @param {string} folder
 * @param {string} from
 * @param {string} to
 */
async function bundleEntry(folder, from, to) {
  const external = ['plimsoll', 'plimsoll/*'];
  await bundle({ entryPoints: [entry(from)], outfile: join(folder, to), platform: 'neutral', external });
}

/** @param {string} name */
function entry(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * Writes down what to open, for the process that opens it.
 *
 * @param {string} folder
 * @param {{ script: string, hasWasm: boolean }} page
 */
async function describePage(folder, page) {
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/plimsoll/package.json'), 'utf8'));
  /** @param {string} subpath */
  const urlOf = (subpath) => `/node_modules/plimsoll/${manifest.exports[subpath].default.slice(2)}`;
  const imports = Object.fromEntries(
    ['', '/etcd', '/kubernetes', '/sqlite', '/testing'].map((path) => [`plimsoll${path}`, urlOf(`.${path}`)]),
  );
  const path = join(folder, `${page.script}.json`);
  await writeFile(path, JSON.stringify({ ...page, imports }));
  return path;
}

/** @param {string} path */
async function main(path) {
  const page = JSON.parse(await readFile(path, 'utf8'));
  const browser = process.env.PLIMSOLL_CHROMIUM ?? '';
  const onLine = (/** @type {string} */ line) => console.log(line);
  await openPage({ ...page, folder: dirname(path), browser, mark: RESULT_MARK, waitMsMax: WAIT_MS_MAX, onLine });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2] ?? '');
