// @ts-check
// The suite in a page of Chromium, as a process: node chromium.mjs PAGE, with the browser in PLIMSOLL_CHROMIUM.
//
//   page.html        import map: plimsoll -> dist/mod.js, as it is installed     suite.mjs
//   web-worker.html  new Worker: workers have no import map, so the package is bundled as a bundler for browsers does it
//   policy.html      as page.html, under a policy without 'wasm-unsafe-eval'     policy.mjs
//
// The folder of the page is served on loopback with the Content-Security-Policy that docs/runtimes.md names, and nothing more
// allowed: so the suite shows that this one is enough.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadFromRuntimes } from '../../tools/runtimes.mjs';
import { bundle } from './bundle.mjs';

const RESULT_MARK = 'PLIMSOLL-RESULT ';
const WAIT_MS_MAX = 110_000;
/** No sandbox of its own, which root may not have; and nothing that asks a server of its maker. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** @type {Readonly<Record<string, string>>} */
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** @param {string} folder */
export async function makePage(folder) {
  return writePage(folder, 'page', await makeModule(folder, 'main.ts', 'suite.mjs'));
}

/** @param {string} folder */
export async function makePolicy(folder) {
  return writePage(folder, 'policy', await makeModule(folder, 'main-policy.ts', 'policy.mjs'));
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
  return writePage(folder, 'web-worker', 'start-worker.mjs');
}

/**
 * The package stays outside: the browser finds it by the import map.
 *
 * @param {string} folder
 * @param {string} from
 * @param {string} to
 */
async function makeModule(folder, from, to) {
  const external = ['plimsoll', 'plimsoll/*'];
  await bundle({ entryPoints: [entry(from)], outfile: join(folder, to), platform: 'neutral', external });
  return to;
}

/** @param {string} name */
function entry(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {string} script
 */
async function writePage(folder, name, script) {
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/plimsoll/package.json'), 'utf8'));
  /** @param {string} subpath */
  const urlOf = (subpath) => `/node_modules/plimsoll/${manifest.exports[subpath].default.slice(2)}`;
  const imports = { plimsoll: urlOf('.'), 'plimsoll/testing': urlOf('./testing') };
  const path = join(folder, `${name}.html`);
  await writeFile(
    path,
    `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="importmap" nonce="NONCE">${JSON.stringify({ imports })}</script>
<script type="module" src="/${script}"></script>\n`,
  );
  return path;
}

/**
 * Serves a folder; resolves with where.
 *
 * @param {string} folder
 * @param {string} policy
 */
async function serve(folder, policy) {
  const nonce = randomBytes(16).toString('hex');
  const headers = {
    'content-security-policy': `default-src 'none'; img-src data:; worker-src 'self'; script-src 'self' 'nonce-${nonce}'${policy}`,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  };
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname));
    try {
      const content = await readFile(join(folder, path));
      response.writeHead(200, { ...headers, 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
      response.end(path.endsWith('.html') ? content.toString().replace('NONCE', nonce) : content);
    } catch (error) {
      response.writeHead(404, headers);
      response.end(String(error));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { server, origin: `http://127.0.0.1:${address.port}` };
}

/** @param {string} path */
async function main(path) {
  const name = basename(path);
  const { server, origin } = await serve(dirname(path), name === 'policy.html' ? '' : " 'wasm-unsafe-eval'");
  const { chromium } = loadFromRuntimes('playwright-core');
  const browser = await chromium.launch({ executablePath: process.env.PLIMSOLL_CHROMIUM, args: ARGS });
  try {
    const page = await browser.newPage();
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no result after ${WAIT_MS_MAX} ms`)), WAIT_MS_MAX);
      page.on('pageerror', reject);
      page.on('crash', () => reject(new Error('the page has crashed')));
      page.on('console', (/** @type {{ text(): string }} */ message) => {
        console.log(message.text());
        if (!message.text().startsWith(RESULT_MARK)) return;
        clearTimeout(timer);
        resolve(undefined);
      });
      page.goto(`${origin}/${name}`).catch(reject);
    });
  } finally {
    await browser.close();
    server.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2] ?? '');
