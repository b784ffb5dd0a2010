import { WASM_BASE64 } from './wasm-bytes.ts';

let compiled: WebAssembly.Module | undefined;

/**
 * The core module, compiled from the bytes inlined at build time: synchronous, no I/O, once per process (a compiled
 * module holds no state). Hosts that forbid compiling bytes (workerd, Vercel edge) get `module.static.ts` instead, by
 * the package's export conditions.
 */
export function coreModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(decodeBase64(WASM_BASE64));
  return compiled;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
