// @ts-check
// What the package weighs, and what is in it.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * What somebody's program is made of who imports just this, bundled and minified by esbuild, and compressed by gzip. The
 * budgets are a little above what was measured: a change that needs more says so by changing a line here.
 *
 * @type {readonly { name: string, source: string, kBMax: number }[]}
 */
const ENTRIES = [
  { name: 'createKeyedLock', source: "export { createKeyedLock } from 'plimsoll'", kBMax: 10 },
  { name: 'createEssenceHasher', source: "export { createEssenceHasher } from 'plimsoll'", kBMax: 40 },
  { name: 'openStore', source: "export { openStore } from 'plimsoll'", kBMax: 85 },
  { name: 'createController', source: "export { createController } from 'plimsoll'", kBMax: 85 },
  { name: 'everything', source: "export * from 'plimsoll'", kBMax: 160 },
];

/**
 * Kilobytes (1,000 bytes) by what is imported, of the inline build, the core included.
 *
 * @returns {Promise<Map<string, { kB: number, kBMax: number }>>}
 */
export async function measureEntries() {
  const sizes = new Map();
  for (const { name, source, kBMax } of ENTRIES) {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: source, resolveDir: root },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      alias: { plimsoll: `${root}dist/mod.js` },
      logLevel: 'error',
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
    sizes.set(name, { kB: bytes / 1000, kBMax });
  }
  return sizes;
}

/**
 * @param {Map<string, { kB: number, kBMax: number }>} sizes
 * @returns {string | undefined}
 */
export function sizeProblem(sizes) {
  const rows = [...sizes].map(([name, { kB, kBMax }]) => `${name}: ${kB.toFixed(1)} kB of ${kBMax} kB`);
  console.error(rows.join('\n').replaceAll(/^/gm, '        '));
  return [...sizes.values()].some(({ kB, kBMax }) => kB > kBMax) ? 'over the budget' : undefined;
}

/** Files of a tarball that have to be there; nothing but these patterns may be there. */
const NEEDED = [
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'dist/mod.js',
  'dist/mod.d.ts',
  'dist/mod.static.js',
  'dist/etcd.js',
  'dist/etcd.d.ts',
  'dist/etcd.static.js',
  'dist/kubernetes.js',
  'dist/kubernetes.d.ts',
  'dist/kubernetes.static.js',
  'dist/sqlite.js',
  'dist/sqlite.d.ts',
  'dist/sqlite.static.js',
  'dist/testing.js',
  'dist/testing.d.ts',
  'dist/testing-node.js',
  'dist/testing-node.d.ts',
  'dist/core.wasm',
  'dist/cli.js',
  'src/mod.ts',
];
const ALLOWED =
  /^(?:(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)|dist\/[\w.-]+\.(?:js|js\.map|d\.ts|wasm)|src\/(?:[\w.-]+\/)*[\w.-]+\.ts)$/;

/**
 * @param {string} tarball
 * @returns {Promise<string | undefined>}
 */
export async function contentsProblem(tarball) {
  const { stdout } = await promisify(execFile)('tar', ['-tzf', tarball]);
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/^package\//, ''));
  const lost = NEEDED.filter((name) => !files.includes(name));
  const extra = files.filter((name) => !ALLOWED.test(name));
  if (lost.length + extra.length === 0) return undefined;
  return [...lost.map((name) => `${name} is missing`), ...extra.map((name) => `${name} has no business there`)].join(
    '\n',
  );
}
