import ts from 'typescript';
import type { ProjectFile, Violation } from './project.ts';
import { comments, parse, violation, walk } from './syntax.ts';

/**
 * Shortcuts that are refused in src/, assembly/ and test/: what switches a check off, what is left for later, tests
 * that do not run, and failures that nobody hears of.
 */
const COMMENTS: readonly (readonly [RegExp, string])[] = [
  [/@ts-(?:ignore|nocheck)\b/, 'switches the type checker off'],
  [/\b(?:eslint-disable|biome-ignore)/, 'switches the linter off'],
  [/\b(?:TODO|FIXME|XXX|HACK)\b/, 'leaves work for later: do it, or file an issue'],
];
const TEST_FUNCTIONS = new Set(['it', 'test', 'describe', 'suite', 'bench']);
const TEST_MODIFIERS = new Set(['only', 'skip', 'todo']);

export function checkShortcuts(files: readonly ProjectFile[]): readonly Violation[] {
  return files.flatMap((file) => [...inComments(file), ...inCode(file)]);
}

function inComments(file: ProjectFile): readonly Violation[] {
  return comments(file).flatMap(({ position, text }) =>
    COMMENTS.flatMap(([pattern, message]) => {
      const match = pattern.exec(text);
      return match === null ? [] : [violation(file, position + match.index, `"${match[0]}" ${message}`)];
    }),
  );
}

function inCode(file: ProjectFile): readonly Violation[] {
  const source = parse(file);
  const found: Violation[] = [];
  walk(source, (node) => {
    const message = judge(node);
    if (message !== undefined) found.push(violation(file, node.getStart(source), message));
  });
  return found;
}

function judge(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return '`any` switches the type checker off';
  if (ts.isCatchClause(node) && node.block.statements.length === 0) return 'an empty catch swallows the failure';
  if (ts.isPropertyAccessExpression(node) && TEST_MODIFIERS.has(node.name.text)) {
    const base = baseName(node.expression);
    return base !== undefined && TEST_FUNCTIONS.has(base)
      ? `${base}.${node.name.text}: tests that do not all run`
      : undefined;
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const method = node.expression.name.text;
    const handler = method === 'catch' ? node.arguments[0] : method === 'then' ? node.arguments[1] : undefined;
    return handler !== undefined && doesNothing(handler) ? `.${method}() swallows the rejection` : undefined;
  }
  return undefined;
}

/** `it` of `it.concurrent.only` or `it.each(rows).skip`. */
function baseName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return baseName(node.expression);
  return undefined;
}

/** `() => {}`, `() => undefined`, `() => null`, `() => void 0`, `function () {}`, and a return of these alone. */
function doesNothing(node: ts.Node): boolean {
  if (ts.isParenthesizedExpression(node)) return doesNothing(node.expression);
  if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return false;
  if (!ts.isBlock(node.body)) return isNothing(node.body);
  const [first, ...rest] = node.body.statements;
  if (first === undefined) return true;
  return (
    rest.length === 0 && ts.isReturnStatement(first) && (first.expression === undefined || isNothing(first.expression))
  );
}

function isNothing(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node)) return isNothing(node.expression);
  if (ts.isVoidExpression(node)) return ts.isNumericLiteral(node.expression);
  if (ts.isObjectLiteralExpression(node)) return node.properties.length === 0;
  return node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === 'undefined');
}
