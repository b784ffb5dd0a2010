import { describe, expect, it } from 'vitest';
import { checkExamples, examples } from './examples.ts';
import { type ProjectFile, readProject, report } from './project.ts';

/** A page with one block; the fence is put together so that this file is no page itself. */
function page(code: string, language = 'ts'): ProjectFile {
  const fence = '`'.repeat(3);
  return { path: 'docs/page.md', text: `# Page\n\n${fence}${language}\n${code}\n${fence}\n` };
}

describe('examples', () => {
  it('that import the package type-check in every page', () => {
    const pages = readProject().filter(({ path }) => path.endsWith('.md'));
    expect(report(checkExamples(examples(pages)))).toEqual([]);
  });

  it('with a type error are found, at their line', () => {
    const code =
      "import { CompactedError } from 'plimsoll';\n\nconst error: CompactedError = 1;\nimport { no } from 'plimsoll';";
    expect(report(checkExamples(examples([page(code)]))).map((line) => line.slice(0, 18))).toEqual([
      'docs/page.md:6 Typ',
      'docs/page.md:7 Mod'.padEnd(18),
    ]);
  });

  it('with a syntax error are found', () => {
    expect(checkExamples(examples([page("import { isRetryable } from 'plimsoll';\nconst = 1;")]))).not.toEqual([]);
  });

  it('are whole programs: fragments and other languages are left alone', () => {
    expect(examples([page('store.put(1);'), page("import { x } from 'plimsoll';", 'js')])).toEqual([]);
    const program =
      "import { isRetryable } from 'plimsoll';\nconst again: boolean = isRetryable(await Promise.resolve(1));";
    expect(examples([page(program)])).toEqual([{ page: 'docs/page.md', line: 4, text: `${program}\n` }]);
    expect(checkExamples(examples([page(program)]))).toEqual([]);
  });
});
