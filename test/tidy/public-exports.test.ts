import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXPORTS_LIST, exportedNames, exportsList, publicExports } from '../../tools/public-exports.mjs';
import { root } from './project.ts';

const exported = await publicExports();

describe('public exports', () => {
  it(`are those of ${EXPORTS_LIST}; a change is deliberate: npm run tidy:exports`, () => {
    expect(exportsList(exported)).toEqual(JSON.parse(readFileSync(root + EXPORTS_LIST, 'utf8')));
  });

  it('are the same under every condition', () => {
    const list = exportsList(exported);
    for (const { entry, names } of exported) expect(names).toEqual(list[entry]);
    expect(exported.map(({ condition }) => condition)).toContain('workerd');
  });

  it('hold no default export', () => {
    for (const { names } of exported) expect(names.values).not.toContain('default');
  });

  it('are read from bundles and declarations', () => {
    expect(exportedNames('class a {}\nexport { a as B, c };\nexport const d = 1, e = 2;')).toEqual([
      'B',
      'c',
      'd',
      'e',
    ]);
    expect(exportedNames("export { a, type T } from './x.js'; export default 1;")).toEqual(['T', 'a', 'default']);
    expect(exportedNames('export declare class A {}\nexport interface I {}\ninterface Hidden {}')).toEqual(['A', 'I']);
    expect(exportedNames("export * from './mod.js';", (specifier) => [specifier])).toEqual(['./mod.js']);
  });
});
