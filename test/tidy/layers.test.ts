import { describe, expect, it } from 'vitest';
import { checkCycles, checkLayers } from './layers.ts';
import { readProject, report, select } from './project.ts';

const source = select(readProject(), ['src']);

function layers(path: string, text: string): readonly string[] {
  return report(checkLayers([{ path, text }]));
}

describe('layers', () => {
  it('hold in src/', () => {
    expect(report(checkLayers(source))).toEqual([]);
  });

  it('allow lower layers, the own folder and the static module', () => {
    expect(layers('src/store/store.ts', "import { a } from '../core/core.ts';\nimport { b } from './txn.ts';")).toEqual(
      [],
    );
    expect(layers('src/core/module.static.ts', "import module from './core.wasm?module';")).toEqual([]);
    expect(layers('src/cli/main.ts', "import { a } from 'node:fs';\nimport { b } from '../mod.ts';")).toEqual([]);
  });

  it.each([
    ['upward', 'src/core/core.ts', "import { a } from '../store/store.ts';", 'core may not import store'],
    ['of types only', 'src/types/a.ts', "import type { A } from '../core/core.ts';", 'types may not import core'],
    ['in a type', 'src/types/a.ts', "let a: import('../core/core.ts').A;", 'types may not import core'],
    ['re-exported', 'src/lock/a.ts', "export * from '../cache/b.ts';", 'lock may not import cache'],
    ['dynamic', 'src/watch/a.ts', "await import('../backends/b.ts');", 'watch may not import backends'],
    ['of testing', 'src/mod.ts', "import { a } from './testing/mod.ts';", 'mod.ts may not import testing'],
    ['adapters of testing', 'src/adapters/a.ts', "import '../testing/b.ts';", 'adapters may not import testing'],
    ['testing of adapters', 'src/testing/a.ts', "import '../adapters/b.ts';", 'testing may not import adapters'],
    ['without .ts', 'src/core/core.ts', "import { a } from './abi';", 'does not end in ".ts"'],
    ['as .js', 'src/core/core.ts', "import { a } from './abi.js';", 'does not end in ".ts"'],
    ['of the platform', 'src/store/a.ts', "import { a } from 'node:fs';", 'belongs into src/adapters'],
    ['of a package', 'src/store/a.ts', "import { a } from 'left-pad';", 'is a package'],
    ['out of src', 'src/testing/a.ts', "import { a } from '../../test/a.ts';", 'leaves src/'],
    ['from an unknown part', 'src/extra/a.ts', '', '"extra" is not in the layer table'],
  ])('refuse an import %s', (_, path, text, message) => {
    expect(layers(path, text).join('\n')).toContain(message);
  });
});

describe('import cycles', () => {
  it('do not exist in src/', () => {
    expect(report(checkCycles(source))).toEqual([]);
  });

  it('are found', () => {
    const files = [
      { path: 'src/core/a.ts', text: "import { b } from './b.ts';" },
      { path: 'src/core/b.ts', text: "export { c } from './sub/c.ts';" },
      { path: 'src/core/sub/c.ts', text: "import type { A } from '../a.ts';" },
    ];
    expect(report(checkCycles(files))).toEqual([
      'src/core/a.ts:1 import cycle: src/core/a.ts -> src/core/b.ts -> src/core/sub/c.ts -> src/core/a.ts',
    ]);
    expect(checkCycles(files.slice(0, 2))).toEqual([]);
  });
});
