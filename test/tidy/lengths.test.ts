import { describe, expect, it } from 'vitest';
import {
  checkFileLengths,
  checkFunctionLengths,
  FILE_LINES_MAX,
  FUNCTION_LINES_MAX,
  lineCount,
  medianLines,
} from './lengths.ts';
import { LONG_FILES } from './long-files.ts';
import { readProject, report, select } from './project.ts';

const source = select(readProject(), ['src', 'assembly']);

function file(path: string, lines: number): { path: string; text: string } {
  return { path, text: 'let a;\n'.repeat(lines) };
}

describe('lengths', () => {
  it(`of files are at most ${FILE_LINES_MAX} lines (median ${medianLines(source)}), or there is a reason`, () => {
    expect(report(checkFileLengths(source, LONG_FILES))).toEqual([]);
  });

  it(`of functions are at most ${FUNCTION_LINES_MAX} lines`, () => {
    expect(report(checkFunctionLengths(source))).toEqual([]);
  });

  it('of a file: the limit passes, one more does not, a reason does', () => {
    expect(checkFileLengths([file('src/a.ts', FILE_LINES_MAX)], {})).toEqual([]);
    expect(report(checkFileLengths([file('src/a.ts', FILE_LINES_MAX + 1)], {}))).toEqual([
      'src/a.ts:1 401 lines, the limit is 400',
    ]);
    expect(checkFileLengths([file('src/a.ts', FILE_LINES_MAX + 1)], { 'src/a.ts': 'one table' })).toEqual([]);
  });

  it('need their reason: a stale or an empty one is found', () => {
    expect(checkFileLengths([file('src/a.ts', 3)], { 'src/a.ts': 'one table' })).toHaveLength(1);
    expect(checkFileLengths([file('src/a.ts', 500)], { 'src/a.ts': ' ' })).toHaveLength(1);
  });

  it('of a function: the limit passes, one more does not', () => {
    const body = (lines: number): string => `class A {\n  run() {\n${'    f();\n'.repeat(lines - 2)}  }\n}\n`;
    expect(checkFunctionLengths([{ path: 'src/a.ts', text: body(FUNCTION_LINES_MAX) }])).toEqual([]);
    expect(report(checkFunctionLengths([{ path: 'src/a.ts', text: body(FUNCTION_LINES_MAX + 1) }]))).toEqual([
      'src/a.ts:2 a function of 71 lines, the limit is 70',
    ]);
  });

  it('are counted as an editor does', () => {
    expect([lineCount('a\nb\n'), lineCount('a\nb'), lineCount('a')]).toEqual([2, 2, 1]);
    expect(medianLines([file('a.ts', 1), file('b.ts', 5), file('c.ts', 9)])).toBe(5);
  });
});
