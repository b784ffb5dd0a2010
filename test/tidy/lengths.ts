import ts from 'typescript';
import type { ProjectFile, Violation } from './project.ts';
import { parse, violation, walk } from './syntax.ts';

/** One concept a file: about 120 lines are the aim, more than this needs a reason in `long-files.ts`. */
export const FILE_LINES_MAX = 400;
/** A function is read on one screen. */
export const FUNCTION_LINES_MAX = 70;

/** Generated, so nobody reads them. */
const GENERATED = new Set(['src/core/wasm-bytes.ts']);

export function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** Files that are too long without a reason, and reasons without such a file. */
export function checkFileLengths(
  files: readonly ProjectFile[],
  reasons: Readonly<Record<string, string>>,
): readonly Violation[] {
  const long = files.filter(({ path, text }) => !GENERATED.has(path) && lineCount(text) > FILE_LINES_MAX);
  const longPaths = new Set(long.map(({ path }) => path));
  return [
    ...long
      .filter(({ path }) => reasons[path] === undefined)
      .map((file) => violation(file, 0, `${lineCount(file.text)} lines, the limit is ${FILE_LINES_MAX}`)),
    ...Object.entries(reasons)
      .filter(([path, reason]) => !longPaths.has(path) || reason.trim() === '')
      .map(([path]) => ({ path, line: 1, message: 'is in long-files.ts, but is not long or has no reason' })),
  ];
}

export function checkFunctionLengths(files: readonly ProjectFile[]): readonly Violation[] {
  return files.flatMap((file) => {
    const source = parse(file);
    const found: Violation[] = [];
    walk(source, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
      const start = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const lines = source.getLineAndCharacterOfPosition(node.end).line - start + 1;
      if (lines <= FUNCTION_LINES_MAX) return;
      found.push(
        violation(file, node.getStart(source), `a function of ${lines} lines, the limit is ${FUNCTION_LINES_MAX}`),
      );
    });
    return found;
  });
}

/** Median length, for the report: the aim is about 120. */
export function medianLines(files: readonly ProjectFile[]): number {
  const lengths = files
    .filter(({ path }) => !GENERATED.has(path))
    .map(({ text }) => lineCount(text))
    .sort((left, right) => left - right);
  return lengths[Math.floor(lengths.length / 2)] ?? 0;
}
