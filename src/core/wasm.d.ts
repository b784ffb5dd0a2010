/** A host that imports WebAssembly statically hands out the compiled module. */
declare module '*.wasm?module' {
  const module: WebAssembly.Module;
  export default module;
}
