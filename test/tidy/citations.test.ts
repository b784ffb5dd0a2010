import { describe, expect, it } from 'vitest';
import { checkCitations, citingFiles, definedIds } from './citations.ts';
import { type ProjectFile, readProject, report } from './project.ts';

const files = readProject();

function page(text: string, path = 'docs/spec/store.md'): ProjectFile {
  return { path, text };
}

/** What is wrong in a source file with this text, where the pages define R1 to R3, A9'a, D5 and row 17. */
function faults(text: string, path = 'src/handlers/pass.ts'): readonly string[] {
  const pages = [page('- **R1-R3** x'), page("| A9'a | x |\n| 17 | x |", 'docs/spec/handlers.md')];
  const defined = definedIds([...pages, page('**D5** x', 'docs/architecture.md')]);
  return report(checkCitations([{ path, text }], defined)).map((line) => line.replace(/^\S+ /, ''));
}

describe('citations', () => {
  it('lead to a definition in docs/spec or docs/architecture.md, everywhere', () => {
    expect(report(checkCitations(citingFiles(files), definedIds(files)))).toEqual([]);
  });

  it('definitions are read from bold text and first cells, ranges written out', () => {
    const text = '- **R8, R9** a\n**M16-M18** b, **U7** c\n| F1 | R77 |\n| C09-C11, C13 | d |\nR99';
    expect([...definedIds([page(text)])].sort()).toEqual(
      ['C09', 'C10', 'C11', 'C13', 'F1', 'M16', 'M17', 'M18', 'R8', 'R9', 'U7'].sort(),
    );
    expect([...definedIds([page('**R1** a', 'docs/store.md')])]).toEqual([]);
    expect([...definedIds([page('```text\n**R1** a\n```')])]).toEqual([]);
  });

  it.each([
    '// (store:R1) and (R2, R3)',
    "// A9', A9'a",
    '/** As D5 says, row 17. */',
    "const key = 'R77'; // a key",
    '// R2-R3, 0xC0, U+20AC, x86/B9, RFC 8259 section 7',
  ])('that are defined, or none, are fine: %s', (text) => {
    expect(faults(text)).toEqual([]);
  });

  it.each([
    ['// (R4)', 'cites R4'],
    ['// (store:R1-R4)', 'cites R4'],
    ["// A9'b", "cites A9'b"],
    ['// D6', 'cites D6'],
    ['/* a\n * row 18 */', 'cites row 18'],
    ['// (ARCHITECTURE)', 'points out'],
    ['// decision 5', 'points out'],
    ['// informer:R2', 'points out'],
    ['// as in section 4', 'points out'],
  ])('that lead nowhere are found: %s', (text, message) => {
    expect(faults(text).join('\n')).toContain(message);
  });

  it('are found in titles of tests and in pages too, not in data and code', () => {
    expect(faults("it('R4: x', () => {});", 'test/unit/store/a.test.ts')).toHaveLength(1);
    expect(faults("it.each([1])('R4: %i', () => { put('R4'); });", 'test/unit/store/a.test.ts')).toHaveLength(1);
    expect(faults('see R4 and `R4`', 'docs/store.md')).toHaveLength(1);
    expect(faults('```ts\nR4\n```', 'docs/store.md')).toEqual([]);
  });
});
