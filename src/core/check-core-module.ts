import { CORE_ID } from './wasm-bytes.ts';

/** The section of the module that says which build it is: the first half of the SHA-256 of all bytes before it, as hex. */
const SECTION = 'plimsoll.core';

/**
 * Refuses everything but the core of this very version. The ABI between the core and its callers is private and changes
 * with them, so that another build would not fail but answer wrong.
 *
 * Throws TypeError.
 */
export function checkCoreModule(action: string, module: unknown): asserts module is WebAssembly.Module {
  if (typeof module !== 'object' || module === null) {
    throw new TypeError(`Cannot ${action}: ${describe(module)} is no WebAssembly.Module`);
  }
  const id = coreIdOf(action, module);
  if (id === CORE_ID) return;
  const found = id === undefined ? 'the module is not the core.wasm of Plimsoll' : `the module is core ${id}`;
  throw new TypeError(`Cannot ${action}: ${found}, this version of the package needs core ${CORE_ID}`);
}

function coreIdOf(action: string, module: object): string | undefined {
  try {
    const [section] = WebAssembly.Module.customSections(module as WebAssembly.Module, SECTION);
    return section && new TextDecoder().decode(section);
  } catch (cause) {
    throw new TypeError(`Cannot ${action}: an object of another kind is no WebAssembly.Module`, { cause });
  }
}

function describe(value: unknown): string {
  return value === null ? 'null' : `a value of type ${typeof value}`;
}
