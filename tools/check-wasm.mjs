// @ts-check
// `npm run check:wasm`: is src/core/wasm-bytes.ts what assembly/ compiles to? The compiler is pinned and its output is
// a function of the sources, so the comparison is of exact bytes. A build never hides a drift: `prepare` and the tests
// bundle the committed bytes; only `npm run build` rewrites them.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compileWasm } from './compile-wasm.mjs';
import { EMBEDDED, parseEmbedded, renderEmbedded } from './embed-wasm.mjs';

/**
 * What is wrong, or undefined when the committed text is exactly that of the compiled bytes.
 *
 * @param {string} committed text of the generated file
 * @param {Uint8Array} compiled
 * @returns {string | undefined}
 */
export function wasmDrift(committed, compiled) {
  if (committed === renderEmbedded(compiled)) return undefined;
  const bytes = parseEmbedded(committed);
  const difference = bytes.equals(compiled)
    ? 'it holds the right bytes in another layout'
    : `it holds ${bytes.length} bytes, a fresh compile gives ${compiled.length}`;
  return `Cannot trust ${EMBEDDED}: ${difference}; run \`npm run build\` and commit the file with assembly/`;
}

/** Compiles afresh and compares. */
export async function checkWasm() {
  const committed = await readFile(new URL(`../${EMBEDDED}`, import.meta.url), 'utf8');
  return wasmDrift(committed, await compileWasm());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const drift = await checkWasm();
  if (drift === undefined) {
    console.log(`${EMBEDDED} is what assembly/ compiles to`);
  } else {
    console.error(drift);
    process.exitCode = 1;
  }
}
