// @ts-check
// `npm run check`: the package as those see it who install it, publish it or read it. Everything that needs no look at what
// it does; `npm test` has the quick half of it, the suite `tidy`.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { installTools, run, tool } from './check-tools.mjs';
import { contentsProblem, measureEntries, sizeProblem } from './package-size.mjs';
import { findPrograms } from './runtimes.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));

const HELP = `npm run check -- [CHECK...] [--json]

Looks at the package from outside and ends with "N passed, N failed". Exit code 1 when one failed.

  types     tsc, for src/ with Web globals only, and for everything
  style     format and lint
  wasm      the committed core is what assembly/ compiles to
  tidy      the suite of the gate: layers, public names, code blocks of the pages, links, lengths, rules
  knip      files, exports and dependencies that nobody uses
  contents  what is in the tarball, and what is not
  publint   package.json as bundlers and runtimes read it
  attw      types under every way to resolve modules
  size      kB of the entries, minified and compressed, against their budgets
  jsr       a publish to JSR, without the publishing: no slow types
  docs      the API reference, by typedoc, in build/api

  --json    prints the results as JSON
  --help    this text

The tools are installed on first use (test/check). About two minutes.`;

/**
 * A check tells what is wrong, or nothing.
 *
 * @typedef {(pack: () => Promise<string>) => Promise<string | undefined>} Check
 */

/** @type {Readonly<Record<string, Check>>} */
const CHECKS = {
  types: async () =>
    (await node('typescript/bin/tsc', '-p', 'tsconfig.json')) ??
    (await node('typescript/bin/tsc', '-p', 'tsconfig.node.json')),
  style: async () =>
    (await node('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--colors=off')) ??
    (await run(process.execPath, ['tools/style-assembly.mjs'])),
  wasm: () => run(process.execPath, ['tools/check-wasm.mjs']),
  tidy: () => node('vitest/vitest.mjs', 'run', '--project', 'tidy', '--reporter=dot'),
  knip: () => tool('knip/bin/knip.js', '--no-progress'),
  contents: async (pack) => contentsProblem(await pack()),
  publint: async (pack) => tool('publint/src/cli.js', 'run', await pack(), '--strict'),
  // The core is no module of JavaScript, so there are no types to find for it.
  attw: async (pack) =>
    tool(
      '@arethetypeswrong/cli/dist/index.js',
      await pack(),
      '--profile',
      'esm-only',
      '--exclude-entrypoints',
      'core.wasm',
      '--no-color',
    ),
  size: async () => sizeProblem(await measureEntries()),
  jsr: publishToNobody,
  docs: () => tool('typedoc/bin/typedoc', '--options', 'test/check/typedoc.json'),
};

/** Deno's own word on what JSR would say. It reads the tree, as a publish does. */
async function publishToNobody() {
  const [deno] = await findPrograms(['deno']);
  return run(deno?.command ?? 'deno', ['publish', '--dry-run', '--allow-dirty', '--quiet'], { NO_COLOR: '1' });
}

/**
 * One of our own dev dependencies, run with this very Node.
 *
 * @param {string} script
 * @param {readonly string[]} args
 */
function node(script, ...args) {
  return run(process.execPath, [join(root, 'node_modules', script), ...args]);
}

/** @param {readonly string[]} args */
async function main(args) {
  const names = args.filter((argument) => !argument.startsWith('--'));
  const unknown = args.find((argument) => !Object.hasOwn(CHECKS, argument) && !['--json', '--help'].includes(argument));
  if (unknown !== undefined) {
    console.error(`Cannot check: "${unknown}" is neither a check nor an option\n\n${HELP}`);
    process.exitCode = 2;
    return;
  }
  if (args.includes('--help')) {
    console.log(HELP);
    return;
  }
  await installTools();
  await build({ frozen: true, ifStale: true });
  const temporary = await mkdtemp(join(tmpdir(), 'plimsoll-check-'));
  /** @type {Promise<string> | undefined} */
  let packed;
  const pack = () => {
    packed ??= makeTarball(temporary);
    return packed;
  };
  const results = [];
  try {
    for (const name of names.length > 0 ? names : Object.keys(CHECKS)) {
      const start = performance.now();
      const problem = await CHECKS[name]?.(pack);
      const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
      results.push({ name, passed: problem === undefined, seconds, ...(problem === undefined ? {} : { problem }) });
      console.error(`${problem === undefined ? 'ok    ' : 'FAILED'}  ${name.padEnd(9)} ${seconds} s`);
      if (problem !== undefined) console.error(problem.replaceAll(/^/gm, '    '));
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const failed = results.filter(({ passed }) => !passed).length;
  if (args.includes('--json')) console.log(JSON.stringify(results, null, 2));
  else console.log(`${results.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** @param {string} destination */
async function makeTarball(destination) {
  const problem = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', destination]);
  if (problem !== undefined) throw new Error(`Cannot pack: ${problem}`);
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return join(destination, `${name}-${version}.tgz`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
