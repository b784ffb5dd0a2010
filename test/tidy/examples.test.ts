import { describe, expect, it } from 'vitest';
import { checkExamples, checkMarks, examples } from './examples.ts';
import { type ProjectFile, readProject, report } from './project.ts';

const fence = '`'.repeat(3);

/** A page with one block; the fence is put together so that this file is no page itself. */
function page(code: string, language = 'ts'): ProjectFile {
  return { path: 'docs/page.md', text: `# Page\n\n${fence}${language}\n${code}\n${fence}\n` };
}

/** A source file whose doc comment has these lines. */
function source(...lines: readonly string[]): ProjectFile {
  const text = `const before = 1;\n\n/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\nexport const a = before;\n`;
  return { path: 'src/a.ts', text };
}

describe('examples', () => {
  it('of every page and every doc comment type-check', () => {
    const files = readProject();
    const found = examples(files);
    expect(found.filter(({ page }) => page.startsWith('src/')).length).toBeGreaterThan(10);
    expect(report(checkExamples(found))).toEqual([]);
    expect(report(checkMarks(files))).toEqual([]);
  });

  it('with a type error are found, at their line', () => {
    const code =
      "import { CompactedError } from 'plimsoll';\n\nconst error: CompactedError = 1;\nimport { no } from 'plimsoll';";
    expect(report(checkExamples(examples([page(code)]))).map((line) => line.slice(0, 18))).toEqual([
      'docs/page.md:6 Typ',
      'docs/page.md:7 Mod'.padEnd(18),
    ]);
  });

  it('with a type error in a doc comment are found, at their line', () => {
    const file = source('Text.', '', '@example', `${fence}ts`, 'const a = 1;', 'const b: string = a;', fence);
    expect(report(checkExamples(examples([file])))).toEqual([
      "src/a.ts:9 Type 'number' is not assignable to type 'string'.",
    ]);
    expect(checkMarks([file])).toEqual([]);
  });

  it('with a syntax error, and such that use what is nowhere, are found', () => {
    expect(checkExamples(examples([page("import { isRetryable } from 'plimsoll';\nconst = 1;")]))).not.toEqual([]);
    expect(checkExamples(examples([page('store.put(1);')]))).not.toEqual([]);
  });

  it('are modules: two may use one name', () => {
    expect(checkExamples(examples([page('const a = 1;'), page("const a = 'x';")]))).toEqual([]);
  });

  it('that are marked as fragments, and other languages, are left alone; a program may not be so marked', () => {
    const program = "import { isRetryable } from 'plimsoll';";
    expect(examples([page('store.put(1);', 'ts fragment'), page(program, 'js'), page(program, 'tsx')])).toEqual([]);
    expect(checkMarks([page('store.put(1);', 'ts fragment')])).toEqual([]);
    expect(report(checkMarks([page(program, 'ts fragment')]))).toEqual([
      'docs/page.md:4 a program is marked as a fragment',
    ]);
    expect(report(checkMarks([source('Text.', '@example', 'a();')]))).toEqual([
      'src/a.ts:5 @example without a block marked ts',
    ]);
  });

  it('are found in pages with their line', () => {
    const program =
      "import { isRetryable } from 'plimsoll';\nconst again: boolean = isRetryable(await Promise.resolve(1));";
    expect(examples([page(program)])).toEqual([{ page: 'docs/page.md', line: 4, text: `${program}\n` }]);
    expect(checkExamples(examples([page(program)]))).toEqual([]);
  });
});
