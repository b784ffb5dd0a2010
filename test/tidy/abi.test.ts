import { describe, expect, it } from 'vitest';
import { parseEmbedded } from '../../tools/embed-wasm.mjs';
import { abiMembers, abiStatuses, assemblyExports, assemblyStatuses, unusedInterfaces } from './abi.ts';
import { type ProjectFile, readProject } from './project.ts';

const files = new Map(readProject().map((file) => [file.path, file]));

function file(path: string): ProjectFile {
  const found = files.get(path);
  if (found === undefined) throw new Error(`Cannot read ${path}: no such file`);
  return found;
}

function inline(text: string): ProjectFile {
  return { path: 'example.ts', text };
}

describe('the ABI', () => {
  const module = new WebAssembly.Module(parseEmbedded(file('src/core/wasm-bytes.ts').text));

  it('is one list: assembly/exports.ts, src/core/abi.ts and the module itself', () => {
    const named = assemblyExports(file('assembly/exports.ts'));
    expect(abiMembers(file('src/core/abi.ts'))).toEqual(named);
    const built = WebAssembly.Module.exports(module).map(({ name }) => name);
    expect(built.sort()).toEqual(named);
    expect(unusedInterfaces(file('src/core/abi.ts'))).toEqual([]);
  });

  it('needs no import', () => {
    expect(WebAssembly.Module.imports(module)).toEqual([]);
  });

  it('has the same status codes on both sides', () => {
    const statuses = assemblyStatuses(file('assembly/status.ts'));
    expect(Object.keys(statuses).length).toBeGreaterThan(2);
    expect(abiStatuses(file('src/core/abi.ts'))).toEqual(statuses);
  });

  it('is read from re-exports, declarations and extended interfaces', () => {
    expect(assemblyExports(inline("export { b, x as a } from './m';\nexport function c(): void {}"))).toEqual([
      'a',
      'b',
      'c',
      'memory',
    ]);
    const abi = 'interface A { readonly m: number; f(): void }\nexport interface CoreExports extends A { g(): void }';
    expect(abiMembers(inline(abi))).toEqual(['f', 'g', 'm']);
    expect(unusedInterfaces(inline(`${abi}\nexport interface B { h(): void }`))).toEqual(['B']);
    expect(() => abiMembers(inline('interface A {}'))).toThrow('no interface CoreExports');
  });

  it('status codes are read from both sides', () => {
    expect(assemblyStatuses(inline('export const enum Status { Ok = 0, NotFound = -1 }'))).toEqual({
      STATUS_OK: 0,
      STATUS_NOT_FOUND: -1,
    });
    expect(abiStatuses(inline('export const STATUS_FULL = -2;\nexport const OTHER = 1;'))).toEqual({ STATUS_FULL: -2 });
  });
});
