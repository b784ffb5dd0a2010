import module from './core.wasm?module';

/** The core module as the host compiled it: for runtimes that forbid compiling bytes. The build puts it in the place of `module.ts`. */
export function coreModule(): WebAssembly.Module {
  return module;
}

/** There is one already, and it is this very core as well. */
export function provideModule(_module: WebAssembly.Module): void {}
