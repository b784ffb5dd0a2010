import { CoreUnavailableError } from '../types/errors.ts';
import { WASM_BASE64 } from './wasm-bytes.ts';

let compiled: WebAssembly.Module | undefined;

/**
 * The core module, compiled from the bytes inlined at build time: synchronous, no I/O, once per process (a compiled
 * module holds no state). Hosts that forbid compiling bytes (workerd, Vercel edge) get `module.static.ts` instead, by
 * the package's export conditions, or provide a module.
 *
 * Throws `CoreUnavailableError` where the host does not compile.
 */
export function coreModule(): WebAssembly.Module {
  compiled ??= compile();
  return compiled;
}

/**
 * The host's module takes the place of one that is still to be compiled. It has to be this very core (`checkCoreModule`),
 * so nobody can tell which of the two is in use.
 */
export function provideModule(module: WebAssembly.Module): void {
  compiled ??= module;
}

function compile(): WebAssembly.Module {
  try {
    return new WebAssembly.Module(decodeBase64(WASM_BASE64));
  } catch (cause) {
    throw new CoreUnavailableError('compile the core', cause);
  }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
