// @ts-check
// Makes one module of all tests that judge mutants, with the sources in it, in `test/mutants/bundle/tests.mjs`. Works on the
// current folder, a copy of the tree whose sources Stryker has put its mutants into and which has no packages yet; those
// are taken from beside this file. The patterns are in PLIMSOLL_MUTANT_TESTS.
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = process.cwd();
const shim = join(root, 'test/mutants/mocha/vitest.ts');
/**
 * Later is slower: most mutants fall to a table of the unit tests before large values, whole snapshots, a full memory, or a
 * random program has to run.
 */
const SLOW = [
  /\/(limits|pins|read-once|retention|wrong-input|wake-index|prefix-filter)\./,
  /\/lessor/,
  /\/cache\//,
  /\/snapshot/,
  /full-store/,
  /\/mutants\//,
  /\/property\//,
];

const patterns = (process.env.PLIMSOLL_MUTANT_TESTS ?? '').split(',').map(toRegExp);
const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => patterns.some((pattern) => pattern.test(path)))
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
if (tests.length === 0) throw new Error('Cannot make the tests: no file matches PLIMSOLL_MUTANT_TESTS');

/** @param {string} path */
function rank(path) {
  return SLOW.findLastIndex((pattern) => pattern.test(path));
}

/** @param {string} glob */
function toRegExp(glob) {
  const parts = glob.split(/(\*\*\/|\*)/).map((part) => {
    if (part === '**/') return '(?:.*/)?';
    return part === '*' ? '[^/]*' : part.replace(/[.+^${}()|[\]\\?]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

/**
 * Stryker asks at every mutant, by a call that compares texts, whether it is the active one, and counts by text which test
 * reaches which mutant, in every run. That makes the tests several times as slow, and with them the time after which a
 * mutant counts as one that hangs. Here numbers are compared and counted, in place. They are counted in the run without a
 * mutant, the first; in the others the same places count down the steps that a test may take, which ends an endless loop
 * at once. `vitest.ts` sets the variables and hands the counts on.
 *
 * @param {string} source
 */
function quicken(source) {
  return source
    .replaceAll(/\bstryMutAct_9fa48\("(\d+)"\)/g, '(strykerMutant === $1 && stryMutAct_9fa48("$1"))')
    .replaceAll(/\bstryCov_9fa48\(("\d+"(?:, ?"\d+")*)\)/g, (_, ids) => {
      const counts = ids.replaceAll(/"(\d+)"/g, 'strykerHits[$1]++');
      return `(strykerMutant < 0 ? (${counts}) : --strykerSteps < 0 && strykerStop())`;
    });
}

await esbuild.build({
  stdin: {
    contents: [
      "import './test/support/fast-check.setup.ts';",
      ...tests.flatMap((path) => [`import 'enter:${path}';`, `import './${path}';`]),
    ].join('\n'),
    resolveDir: root,
  },
  // As deep as the tests are, which look for files beside themselves.
  outfile: join(root, 'test/mutants/bundle/tests.mjs'),
  nodePaths: [fileURLToPath(new URL('../../../node_modules', import.meta.url))],
  bundle: true,
  format: 'esm',
  target: 'node20',
  platform: 'node',
  sourcemap: false,
  tsconfigRaw: {},
  // The package says of itself that it has no side effects; its tests have.
  ignoreAnnotations: true,
  logLevel: 'warning',
  banner: {
    js: [
      "import { createRequire as makeRequire } from 'node:module';",
      'const require = makeRequire(import.meta.url);',
      'let strykerMutant = Number(globalThis.__stryker__?.activeMutant ?? -1);',
      'const strykerHits = new Uint32Array(1 << 16);',
      'let strykerSteps = Number.POSITIVE_INFINITY;',
      "const strykerStop = () => { throw new Error('too many steps'); };",
    ].join('\n'),
  },
  alias: {
    vitest: shim,
    plimsoll: `${root}/src/mod.ts`,
    'plimsoll/testing': `${root}/src/testing/mod.ts`,
  },
  plugins: [
    {
      name: 'files',
      setup(build) {
        build.onResolve({ filter: /^enter:/ }, ({ path }) => ({ path: path.slice(6), namespace: 'enter' }));
        build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => ({
          contents: quicken(await readFile(path, 'utf8')),
          loader: 'ts',
        }));
        build.onLoad({ filter: /.*/, namespace: 'enter' }, ({ path }) => ({
          contents: `import { enterFile } from ${JSON.stringify(shim)};\nenterFile(${JSON.stringify(relative('test', path))});`,
          resolveDir: root,
        }));
      },
    },
  ],
});
