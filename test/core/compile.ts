import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';
import { scalarSource, withoutSimd } from './scalar-simd.ts';

/** The bundle of `run.mjs` and this file lie two folders below the root of the repository. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STAND_IN = 'scalar-simd.ts';

/**
 * The core compiled from `assembly/` without the SIMD feature, with every vector operation done lane by lane. It has two
 * exports more, for the arena that the vectors live in.
 */
export async function compileScalarCore(): Promise<Uint8Array<ArrayBuffer>> {
  const read = async (file: string): Promise<string | null> => {
    if (file === STAND_IN) return scalarSource();
    const path = `${ROOT}assembly/${file}`;
    // The compiler asks for candidates; `null` says that one does not exist.
    if (!existsSync(path)) return null;
    const source = withoutSimd(await readFile(path, 'utf8'));
    return file === 'exports.ts' ? `${source}\nexport { keepArena, resetArena } from './scalar-simd';\n` : source;
  };
  let wasm: Uint8Array | undefined;
  const { error, stderr } = await main(
    [
      'assembly/exports.ts',
      '--outFile',
      'scalar.wasm',
      '--runtime',
      'stub',
      '--use',
      'abort=',
      '--disable',
      'simd',
      '-O1',
    ],
    {
      readFile: (name: string) => read(name.replace(/^assembly\//, '')),
      writeFile: (_name: string, contents: string | Uint8Array) => {
        if (typeof contents !== 'string') wasm = contents;
      },
      listFiles: () => null,
    },
  );
  if (error !== null || wasm === undefined)
    throw new Error(`Cannot compile the core without SIMD: ${stderr.toString()}`);
  return wasm.slice();
}
