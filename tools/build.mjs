// @ts-check
// Makes dist/.
//
//   node tools/build.mjs             npm run build: compile assembly/, rewrite src/core/wasm-bytes.ts, bundle
//   node tools/build.mjs --frozen    bundle the committed bytes (npm's `prepack`): a drift stays visible to check:wasm
//   ... --if-stale                   nothing to do when dist/ was made from these very inputs (the tests use it)
//
// The bundle is made in build/ and put in the place of dist/ at the end, so that a reader never sees half of one.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileWasm } from './compile-wasm.mjs';
import { EMBEDDED, parseEmbedded, renderEmbedded } from './embed-wasm.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const stampFile = join(root, 'build/dist.stamp');
const inputs = ['src', 'tools', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsup.config.ts'];

const HELP = `npm run build -- [--frozen] [--if-stale]

Makes dist/: compiles assembly/, writes its bytes to src/core/wasm-bytes.ts, bundles.

  --frozen    bundles the committed bytes, and compiles nothing
  --if-stale  does nothing when dist/ was made from these very sources
  --help      this text`;

/**
 * Makes dist/. Returns false when there was nothing to do.
 *
 * @param {{ frozen?: boolean, ifStale?: boolean }} [options]
 */
export async function build(options = {}) {
  await mkdir(join(root, 'build'), { recursive: true });
  if (options.frozen !== true) await embed();
  const stamp = await inputHash();
  if (options.ifStale === true && existsSync(join(root, 'dist/mod.js')) && (await readStamp()) === stamp) return false;
  const made = join(root, `build/dist-${process.pid}`);
  const replaced = join(root, `build/dist-old-${process.pid}`);
  try {
    await bundle(made);
    await addRest(made);
    if (existsSync(join(root, 'dist'))) await rename(join(root, 'dist'), replaced);
    await rename(made, join(root, 'dist'));
    await writeFile(stampFile, stamp);
  } finally {
    await rm(made, { recursive: true, force: true });
    await rm(replaced, { recursive: true, force: true });
  }
  return true;
}

/** Compiles the core and rewrites the generated source file when it changed. */
async function embed() {
  const wasm = await compileWasm();
  await writeFile(join(root, 'build/core.wasm'), wasm);
  const file = join(root, EMBEDDED);
  const text = renderEmbedded(wasm);
  if (!existsSync(file) || (await readFile(file, 'utf8')) !== text) await writeFile(file, text);
}

/** @param {string} outDir */
async function bundle(outDir) {
  const tsup = join(root, 'node_modules/tsup/dist/cli-default.js');
  const child = spawn(process.execPath, [tsup, '--silent', '--out-dir', outDir], { cwd: root, stdio: 'inherit' });
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  if (code !== 0) throw new Error(`Cannot bundle src/: tsup ended with ${code}`);
}

/**
 * The core as a file, source maps that fit one folder further up, and the types of the static entries: those of the inline ones, so that a class is one type.
 *
 * @param {string} outDir
 */
async function addRest(outDir) {
  await writeFile(join(outDir, 'core.wasm'), parseEmbedded(await readFile(join(root, EMBEDDED), 'utf8')));
  for (const entry of ['mod', 'etcd', 'kubernetes', 'sqlite', 'testing']) {
    await writeFile(join(outDir, `${entry}.static.d.ts`), `export * from './${entry}.js';\n`);
  }
  for (const name of await readdir(outDir)) {
    if (!name.endsWith('.js.map')) continue;
    const map = await readFile(join(outDir, name), 'utf8');
    await writeFile(join(outDir, name), map.replaceAll('"../../src/', '"../src/'));
  }
  await chmod(join(outDir, 'cli.js'), 0o755);
}

/** A hash of everything dist/ is made from. */
async function inputHash() {
  const hash = createHash('sha256').update(process.version);
  for (const input of inputs) {
    for (const file of await filesUnder(input)) {
      hash.update(`\0${file}\0`);
      hash.update(await readFile(join(root, file)));
    }
  }
  return hash.digest('hex');
}

/**
 * @param {string} path
 * @returns {Promise<string[]>}
 */
async function filesUnder(path) {
  if (/\.\w+$/.test(path)) return [path];
  const entries = await readdir(join(root, path), { withFileTypes: true });
  const lists = await Promise.all(
    entries.map((entry) => (entry.isDirectory() ? filesUnder(`${path}/${entry.name}`) : [`${path}/${entry.name}`])),
  );
  return lists.flat().sort();
}

async function readStamp() {
  return existsSync(stampFile) ? await readFile(stampFile, 'utf8') : '';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2);
  const unknown = flags.find((flag) => !['--frozen', '--if-stale', '--help'].includes(flag));
  if (unknown !== undefined) {
    console.error(`Cannot build: unknown flag "${unknown}"\n\n${HELP}`);
    process.exitCode = 2;
  } else if (flags.includes('--help')) console.log(HELP);
  else await build({ frozen: flags.includes('--frozen'), ifStale: flags.includes('--if-stale') });
}
