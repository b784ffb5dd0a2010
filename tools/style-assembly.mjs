// @ts-check
// Format and lint of assembly/ (part of `npm run check:style`; with --write, of `npm run format`).
//
// AssemblyScript allows a decorator in front of a function (@inline), TypeScript does not, and so biome cannot read
// such a file. It is shown a copy in which those decorators are comments; what it writes is turned back:
//
//   @inline               // @@inline
//   function f() {}  <->  function f() {}
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Decorator lines in front of a function, or of other such lines, become comments; those of classes stay.
 *
 * @param {string} text
 */
export function hideDecorators(text) {
  return text.replace(/^(?:@\w+(?:\(.*\))?\n)+(?=(?:export )?(?:declare )?function\b)/gm, (lines) =>
    lines.replace(/^@/gm, '// @@'),
  );
}

/** @param {string} text */
export function showDecorators(text) {
  return text.replace(/^\/\/ @@/gm, '@');
}

/**
 * Runs `biome check` over the copy and returns its exit code and output; with `write`, takes over what it changed.
 *
 * @param {{ write?: boolean }} [options]
 */
export async function styleAssembly(options = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-style-'));
  try {
    const config = await readFile(join(root, 'biome.json'), 'utf8');
    await writeFile(join(folder, 'biome.json'), config.replace(/"!assembly",\s*/, ''));
    await mkdir(join(folder, 'assembly'));
    const names = (await readdir(join(root, 'assembly'))).filter((name) => name.endsWith('.ts'));
    for (const name of names) {
      const text = await readFile(join(root, 'assembly', name), 'utf8');
      await writeFile(join(folder, 'assembly', name), hideDecorators(text));
    }
    const result = await biome(folder, options.write === true ? ['--write'] : []);
    if (options.write === true) await takeOver(folder, names);
    return result;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {readonly string[]} names
 */
async function takeOver(folder, names) {
  for (const name of names) {
    const before = await readFile(join(root, 'assembly', name), 'utf8');
    const after = showDecorators(await readFile(join(folder, 'assembly', name), 'utf8'));
    if (after !== before) await writeFile(join(root, 'assembly', name), after);
  }
}

/**
 * @param {string} folder
 * @param {readonly string[]} flags
 * @returns {Promise<{ code: number, output: string }>}
 */
function biome(folder, flags) {
  const script = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const args = ['check', '--error-on-warnings', '--colors=off', '--max-diagnostics=100', ...flags, 'assembly'];
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { code, output } = await styleAssembly({ write: process.argv.includes('--write') });
  process.stdout.write(output);
  process.exitCode = code;
}
