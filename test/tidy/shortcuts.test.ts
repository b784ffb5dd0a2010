import { describe, expect, it } from 'vitest';
import { readProject, report, select } from './project.ts';
import { checkShortcuts } from './shortcuts.ts';

function shortcuts(text: string, path = 'src/store/store.ts'): readonly string[] {
  return report(checkShortcuts([{ path, text }]));
}

describe('shortcuts', () => {
  it('are not taken in src/, assembly/, test/, bench/ and tools/', () => {
    const files = select(readProject(), ['src', 'assembly', 'test', 'bench', 'tools'], ['.ts', '.mjs']);
    expect(report(checkShortcuts(files))).toEqual([]);
  });

  it.each([
    ['// @ts-ignore', 'switches the type checker off'],
    ['// @ts-nocheck', 'switches the type checker off'],
    ['let a; /* eslint-disable */', 'switches the linter off'],
    ['// biome-ignore lint: why', 'switches the linter off'],
    ['function f() {\n  // TODO: later\n}', ':2 "TODO" leaves work for later'],
    ['/** FIXME */ let a;', 'leaves work for later'],
    ['let a; // XXX', 'leaves work for later'],
    ['const a = [ // HACK\n1];', 'leaves work for later'],
    ['let a: any;', '`any`'],
    ['let a: Map<string, any[]>;', '`any`'],
    ['try { f(); } catch {}', 'empty catch'],
    ['try { f(); } catch (error) { /* never mind */ }', 'empty catch'],
    ['p.catch(() => undefined);', '.catch() swallows'],
    ['p.catch(() => {});', '.catch() swallows'],
    ['p.catch((error) => null);', '.catch() swallows'],
    ['p.catch(() => void 0);', '.catch() swallows'],
    ['p.catch(function () { return; });', '.catch() swallows'],
    ['p.then(next, () => {});', '.then() swallows'],
    ["it.only('x', () => {});", 'it.only'],
    ["describe.skip('x', () => {});", 'describe.skip'],
    ["test.todo('x');", 'test.todo'],
    ["it.concurrent.only('x', () => {});", 'it.only'],
    ["it.skip.each([1])('x', () => {});", 'it.skip'],
  ])('are found in: %s', (text, message) => {
    expect(shortcuts(text)).toHaveLength(1);
    expect(shortcuts(text)[0]).toContain(message);
  });

  it('are syntax, not text', () => {
    expect(shortcuts("const a = '// TODO any'; const b = `// @ts-ignore`; const c = /TODO/;")).toEqual([]);
    expect(shortcuts('// xxh3 and XXH3 are names, and any word may stand in a comment')).toEqual([]);
    expect(shortcuts('p.catch((error) => { report(error); }); p.then(() => {}); list.only(); cursor.skip(1);')).toEqual(
      [],
    );
    expect(shortcuts('try { f(); } catch (error) { report(error); }')).toEqual([]);
  });

  it('are found in AssemblyScript', () => {
    const text =
      '@unmanaged class Node { left: usize; }\nfunction f(a: i32): i32 { return <i32>load<u8>(a); } // TODO\n';
    expect(shortcuts(text, 'assembly/node.ts')).toEqual([
      'assembly/node.ts:2 "TODO" leaves work for later: do it, or file an issue',
    ]);
  });
});
