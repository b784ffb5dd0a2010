// @ts-check
// A module in a page of Chromium. Its folder is served on loopback under a Content-Security-Policy that allows what
// docs/runtimes.md names, and nothing more (benchmark.js alone gets `hasEval`): so whatever runs here shows that this is enough.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { loadFromRuntimes } from './runtimes.mjs';

/** No sandbox of its own, which root may not have; and nothing that asks a server of its maker. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // For who makes more WebAssembly memories than a page has addresses for.
  '--js-flags=--expose-gc',
];
/** @type {Readonly<Record<string, string>>} */
const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

/**
 * @typedef {object} PageOptions
 * @property {string} folder what is served
 * @property {string} script path of the module in it
 * @property {string} browser path of Chromium
 * @property {string} mark the page has done its work when it prints a line that begins so
 * @property {number} waitMsMax
 * @property {Readonly<Record<string, string>>} [imports] of the import map
 * @property {string} [query] of the page's address
 * @property {boolean} [hasWasm] whether the policy has 'wasm-unsafe-eval'
 * @property {boolean} [hasEval] whether it has 'unsafe-eval', which benchmark.js needs
 * @property {(line: string) => void} [onLine] told what the page prints, as it comes
 */

/**
 * Opens the page; resolves with the lines that it has printed by its console. Rejects for an error that nobody caught, a crash, and
 * when the time is over.
 *
 * @param {PageOptions} options
 * @returns {Promise<string[]>}
 */
export async function openPage(options) {
  const { server, origin } = await serve(options);
  try {
    const { chromium } = loadFromRuntimes('playwright-core');
    const browser = await chromium.launch({ executablePath: options.browser, args: ARGS });
    try {
      return await linesOf(await browser.newPage(), `${origin}/${options.query ?? ''}`, options);
    } finally {
      await browser.close();
    }
  } finally {
    server.close();
  }
}

/**
 * @typedef {object} Page of playwright-core
 * @property {(event: string, listener: (value: any) => void) => void} on
 * @property {(address: string) => Promise<unknown>} goto
 */

/**
 * @param {Page} page
 * @param {string} address
 * @param {PageOptions} options
 * @returns {Promise<string[]>}
 */
async function linesOf(page, address, { mark, waitMsMax, onLine }) {
  /** @type {string[]} */
  const lines = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  try {
    await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no result after ${waitMsMax} ms`)), waitMsMax);
      page.on('pageerror', reject);
      page.on('crash', () => reject(new Error('the page has crashed')));
      page.on('console', (message) => {
        const line = message.text();
        lines.push(line);
        onLine?.(line);
        if (line.startsWith(mark)) resolve(undefined);
      });
      page.goto(address).catch(reject);
    });
  } finally {
    clearTimeout(timer);
  }
  return lines;
}

/** @param {PageOptions} options */
async function serve({ folder, script, imports = {}, hasWasm = true, hasEval = false }) {
  const nonce = randomBytes(16).toString('hex');
  const words = [`'nonce-${nonce}'`, ...(hasWasm ? ["'wasm-unsafe-eval'"] : []), ...(hasEval ? ["'unsafe-eval'"] : [])];
  const headers = {
    'content-security-policy': `default-src 'none'; img-src data:; worker-src 'self'; script-src 'self' ${words.join(' ')}`,
    // With these the page's clock has its full resolution.
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  };
  const page = [
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">',
    `<script type="importmap" nonce="${nonce}">${JSON.stringify({ imports })}</script>`,
    `<script type="module" src="/${script}"></script>`,
  ].join('\n');
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname));
    try {
      const content = path === '/' ? page : await readFile(join(folder, path));
      response.writeHead(200, {
        ...headers,
        'content-type': path === '/' ? 'text/html' : (TYPES[extname(path)] ?? 'text/plain'),
      });
      response.end(content);
    } catch (error) {
      response.writeHead(404, headers);
      response.end(String(error));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { server, origin: `http://127.0.0.1:${address.port}` };
}
