import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkCoreModule } from '../../../src/core/check-core-module.ts';
import { coreModule } from '../../../src/core/module.ts';
import { createCore } from '../../../src/create-core.ts';
import { CoreUnavailableError } from '../../../src/types/errors.ts';
import { withCoreId } from '../../../tools/embed-wasm.mjs';

/** The smallest module there is. */
const EMPTY = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** Both files as a new program has them: nothing is compiled yet. */
async function fresh() {
  vi.resetModules();
  const { coreModule: module, provideModule } = await import('../../../src/core/module.ts');
  // Loaded anew as well, so its class is another one.
  const { CoreUnavailableError: Unavailable } = await import('../../../src/types/errors.ts');
  return { module, provideModule, Unavailable };
}

function forbidCompiling(error: unknown) {
  vi.stubGlobal('WebAssembly', {
    ...WebAssembly,
    Module: class {
      constructor() {
        throw error;
      }
    },
  });
}

describe('checkCoreModule', () => {
  it('takes the core of this version, compiled by anybody', () => {
    expect(() => checkCoreModule('create the core', coreModule())).not.toThrow();
  });

  it.each([
    ['nothing', undefined, 'a value of type undefined is no WebAssembly.Module'],
    ['null', null, 'null is no WebAssembly.Module'],
    ['a text', 'core.wasm', 'a value of type string is no WebAssembly.Module'],
    ['bytes', EMPTY, 'an object of another kind is no WebAssembly.Module'],
    ['an instance', new WebAssembly.Instance(coreModule(), {}), 'an object of another kind is no WebAssembly.Module'],
    ['a promise', Promise.resolve(coreModule()), 'an object of another kind is no WebAssembly.Module'],
    ['another module', new WebAssembly.Module(EMPTY), 'the module is not the core.wasm of Plimsoll'],
    ['another version', new WebAssembly.Module(withCoreId(EMPTY)), /the module is core [0-9a-f]{32}, this version/],
  ])('refuses %s', (_, module, message) => {
    expect(() => checkCoreModule('create the core', module)).toThrow(TypeError);
    expect(() => checkCoreModule('create the core', module)).toThrow(message);
    expect(() => createCore(module as never)).toThrow(/^Cannot create the core: /);
  });
});

describe('createCore', () => {
  it('returns what needs the core', async () => {
    const core = createCore(coreModule());
    const store = await core.openStore<string>();
    await store.put('a', '1');
    expect(store.get('a')?.value).toBe('1');
    await store.close();
    expect(core.createEssenceHasher().digest({})).toMatch(/^xxh3-128:/);
  });
});

describe('the core of a host that does not compile from bytes', () => {
  it.each([
    ['an error', new WebAssembly.CompileError('disallowed by embedder'), 'disallowed by embedder'],
    ['anything else', 'no', '(no)'],
  ])('is an error of its own, with %s as its cause', async (_, cause, said) => {
    const { module, Unavailable } = await fresh();
    forbidCompiling(cause);
    expect(module).toThrow(Unavailable);
    expect(module).toThrow(said);
    expect(module).toThrow(/'wasm-unsafe-eval'.*workerd or edge-light.*createCore/);
    expect(module).toThrow(expect.objectContaining({ code: 'CORE_UNAVAILABLE', name: 'CoreUnavailableError', cause }));
  });

  it('is the one that was provided, and the first of them', async () => {
    const { module, provideModule } = await fresh();
    const [first, second] = [coreModule(), new WebAssembly.Module(EMPTY)];
    forbidCompiling(new WebAssembly.CompileError('disallowed'));
    expect(module).toThrow();
    provideModule(first);
    provideModule(second);
    expect(module()).toBe(first);
  });

  it('is told by a class that programs can import', () => {
    expect(new CoreUnavailableError('compile the core', 'no').code).toBe('CORE_UNAVAILABLE');
  });
});
