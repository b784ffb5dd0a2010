import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Constants of the core and the values that make its pages tiny; each must occur exactly as written. */
const TINY: readonly (readonly [file: string, from: string, to: string])[] = [
  ['index-page.ts', 'LEAF_MAX: u32 = 204', 'LEAF_MAX: u32 = 8'],
  ['index-page.ts', 'INNER_MAX: u32 = 145', 'INNER_MAX: u32 = 8'],
  ['revision-log.ts', 'PAGE_SHIFT: u32 = 10', 'PAGE_SHIFT: u32 = 3'],
  ['revision-log.ts', 'OFFSET_MASK: u32 = 1023', 'OFFSET_MASK: u32 = 7'],
  ['revision-log.ts', 'FIRST_POSITION: u32 = 0xfffff000', 'FIRST_POSITION: u32 = 0xffffffb8'],
  ['revision-log.ts', 'FIRST_CELLS: u32 = 16', 'FIRST_CELLS: u32 = 4'],
  ['history.ts', 'FIRST_EPOCH: u32 = 0', 'FIRST_EPOCH: u32 = 0xfffffffc'],
  ['index-page.ts', 'STRIDE: u32 = 16', 'STRIDE: u32 = 3'],
  ['key-range.ts', 'COMPARED_MIN: u32 = 256', 'COMPARED_MIN: u32 = 4'],
  ['scratch.ts', 'OUTPUT_WORDS: u32 = 4096', 'OUTPUT_WORDS: u32 = 16'],
  ['log-scan.ts', 'PATIENCE_MIN: u32 = 64', 'PATIENCE_MIN: u32 = 3'],
];

/**
 * The core compiled from `assembly/` with pages of eight entries instead of hundreds, and an output of sixteen words: a
 * few hundred keys then make a tree of four levels, a log of many pages and lists of many parts, so that small programs
 * reach every split, join, borrow, wrap and continuation.
 * `edits` are further replacements, for trying what a fault in the source would do to the tests. The essence, in which
 * nothing is made tiny, is left out if not asked for: it is half of the work.
 */
export async function compileTinyCore(
  edits: typeof TINY = [],
  { essence = false }: { readonly essence?: boolean } = {},
): Promise<WebAssembly.Module> {
  const replacements = [...TINY, ...edits];
  const used = new Set<string>();
  let wasm: Uint8Array | undefined;
  const { error, stderr } = await main(
    [
      'assembly/exports.ts',
      '--outFile',
      'tiny.wasm',
      '--runtime',
      'stub',
      '--enable',
      'simd',
      '--use',
      'abort=',
      '-O1',
    ],
    {
      readFile: async (name: string) => {
        // The compiler asks for candidates; `null` says that one does not exist.
        const text = existsSync(`${ROOT}${name}`) ? await readFile(`${ROOT}${name}`, 'utf8') : null;
        const file = name.replace(/^assembly\//, '');
        const isCut = file === 'exports.ts' && !essence;
        const source = isCut ? (text?.replace(/export \{[^}]*\} from '.\/essence';/, '') ?? null) : text;
        return replacements.reduce<string | null>((result, [path, from, to]) => {
          if (path !== file || result === null || !result.includes(from)) return result;
          used.add(path + from);
          return result.replace(from, to);
        }, source);
      },
      writeFile: (_name: string, contents: string | Uint8Array) => {
        if (typeof contents !== 'string') wasm = contents;
      },
      listFiles: () => null,
    },
  );
  if (error !== null || wasm === undefined) throw new Error(`Cannot compile the core: ${stderr.toString()}`);
  for (const [path, from] of replacements) {
    if (!used.has(path + from)) throw new Error(`Cannot compile the core: ${path} does not contain "${from}"`);
  }
  return new WebAssembly.Module(wasm.slice());
}
