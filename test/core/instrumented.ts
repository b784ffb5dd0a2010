import binaryen from 'assemblyscript/binaryen';
import type { CoreExports } from '../../src/core/abi.ts';
import type { EssenceCore } from '../../src/core/essence-core.ts';
import { WASM_BASE64 } from '../../src/core/wasm-bytes.ts';
import { type CapturedEssence, captureEssence } from './capture.ts';

/**
 * The released core with something to watch it by: the very bytes of `src/core/wasm-bytes.ts`, read by Binaryen (which
 * comes with the compiler) and written again with counters or with a call before each access to memory.
 *
 * ```text
 *   steps      every loop and every function adds 1, every copy and fill a sixteenth of its bytes
 *   accesses   load(address, bytes), store(address, bytes); a copy is both
 * ```
 *
 * So "how much work" is a number that does not depend on the machine, and "nothing is read outside" is looked at byte
 * by byte, not inferred from answers.
 */
export type Access = (address: number, bytes: number) => void;

export interface CountedCore {
  readonly exports: CoreExports;
  /** Steps of everything called so far. */
  steps(): number;
}

let counted: WebAssembly.Module | undefined;
let watched: WebAssembly.Module | undefined;

/** A core that counts its steps. */
export function createCountedCore(): CountedCore {
  const { exports } = new WebAssembly.Instance(countedModule());
  return { exports: exports as unknown as CoreExports, steps: stepsOf(exports) };
}

/** The same for the essence with the default rules. */
export function createCountedEssence(): { readonly core: EssenceCore; steps(): number } {
  const { core, exports } = captureEssence(countedModule(), true);
  return { core, steps: stepsOf(exports as unknown as WebAssembly.Exports) };
}

function stepsOf(exports: WebAssembly.Exports): () => number {
  const steps = exports.steps as WebAssembly.Global;
  return () => Number(steps.value);
}

function countedModule(): WebAssembly.Module {
  counted ??= rewrite(['log-execution'], (text) => {
    const counting = `
      (global $steps (export "steps") (mut f64) (f64.const 0))
      (func $log_execution (param $place i32) (global.set $steps (f64.add (global.get $steps) (f64.const 1))))
      (func $bulk (param $bytes i32)
        (global.set $steps (f64.add (global.get $steps) (f64.mul (f64.convert_i32_u (local.get $bytes)) (f64.const 0.0625)))))`;
    return append(text.replace(/\(import "env" "log_execution"[^\n]*\n/, ''), counting);
  });
  return counted;
}

/** A core that says which bytes it is about to load and to store. */
export function createWatchedCore(onLoad: Access, onStore: Access): CoreExports {
  const { exports } = new WebAssembly.Instance(watchedModule(), watching(onLoad, onStore));
  return exports as unknown as CoreExports;
}

/** The same for the essence with the default rules. */
export function createWatchedEssence(onLoad: Access, onStore: Access): CapturedEssence {
  return captureEssence(watchedModule(), true, watching(onLoad, onStore));
}

function watchedModule(): WebAssembly.Module {
  watched ??= rewrite(['instrument-memory'], (text) => {
    const imports = `(import "env" "bulk_load" (func $bulk_load (param i32 i32)))
      (import "env" "bulk_store" (func $bulk_store (param i32 i32)))\n`;
    return append(text.replace(/\(import /, `${imports}(import `), '(func $bulk (param $bytes i32))');
  });
  return watched;
}

function watching(onLoad: Access, onStore: Access): WebAssembly.Imports {
  const env: Record<string, (...numbers: number[]) => unknown> = {
    load_ptr: (_place = 0, bytes = 0, offset = 0, address = 0) => {
      onLoad((address >>> 0) + (offset >>> 0), bytes);
      return address;
    },
    store_ptr: (_place = 0, bytes = 0, offset = 0, address = 0) => {
      onStore((address >>> 0) + (offset >>> 0), bytes);
      return address;
    },
    bulk_load: (address = 0, bytes = 0) => onLoad(address >>> 0, bytes >>> 0),
    bulk_store: (address = 0, bytes = 0) => onStore(address >>> 0, bytes >>> 0),
  };
  return { env: new Proxy(env, { get: (own, name) => Reflect.get(own, name) ?? passOn }) as WebAssembly.ModuleImports };
}

/** The other imports of the instrumentation get a place and a value and give the value back. */
const passOn = (_place: number, value: unknown): unknown => value;

/** The bytes of the released core. */
export function releasedBytes(): Uint8Array {
  return new Uint8Array(Buffer.from(WASM_BASE64, 'base64'));
}

function rewrite(passes: string[], edit: (text: string) => string): WebAssembly.Module {
  const module = binaryen.readBinary(releasedBytes());
  module.setFeatures(binaryen.Features.All);
  module.runPasses(passes);
  const isWatched = passes.includes('instrument-memory');
  const text = edit(bulkCalls(module.emitText(), isWatched));
  module.dispose();
  const rewritten = binaryen.parseText(text);
  rewritten.setFeatures(binaryen.Features.All);
  const bytes = rewritten.emitBinary();
  rewritten.dispose();
  return new WebAssembly.Module(bytes.slice());
}

/** Copies and fills, which no pass of Binaryen looks at, go through functions of ours. */
function bulkCalls(text: string, isWatched: boolean): string {
  const known = text.match(/\(memory\.(?:copy|fill)\b/g)?.length ?? 0;
  if (known === 0) throw new Error('Cannot instrument the core: it has no copy and no fill');
  // Loads and stores of a kind that the pass does not know would go unseen.
  const unknown = text.match(/\((?:v128\.(?:load|store)\d\w*|\w+\.atomic\.\w+|memory\.init)/)?.[0];
  if (unknown !== undefined) throw new Error(`Cannot instrument the core: ${unknown}) is not watched`);
  const look = (kind: string, pointer: string): string =>
    isWatched ? `(call $bulk_${kind} (local.get ${pointer}) (local.get $n))` : '';
  const functions = `
    (func $counted_copy (param $to i32) (param $from i32) (param $n i32)
      (call $bulk (local.get $n)) ${look('load', '$from')} ${look('store', '$to')}
      (memory.copy (local.get $to) (local.get $from) (local.get $n)))
    (func $counted_fill (param $to i32) (param $value i32) (param $n i32)
      (call $bulk (local.get $n)) ${look('store', '$to')}
      (memory.fill (local.get $to) (local.get $value) (local.get $n)))`;
  const calls = text
    .replaceAll('(memory.copy', '(call $counted_copy')
    .replaceAll('(memory.fill', '(call $counted_fill');
  return append(calls, functions);
}

/** Definitions at the end of a module's text. */
function append(text: string, definitions: string): string {
  return `${text.slice(0, text.lastIndexOf(')'))}${definitions}\n)\n`;
}

/** Whether the code has a vector instruction or a vector anywhere. */
export function usesSimd(bytes: Uint8Array): boolean {
  const module = binaryen.readBinary(bytes);
  const text = module.emitText();
  module.dispose();
  return /\b(?:v128|i8x16|i16x8|i32x4|i64x2|f32x4|f64x2)\b/.test(text);
}
