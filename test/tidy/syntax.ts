import ts from 'typescript';
import type { ProjectFile, Violation } from './project.ts';

/**
 * The little of a parser that the rules need. They look at syntax, not at text, so that a word in a string or in a
 * comment is not taken for code (and this folder may name what it forbids).
 */
const parsed = new WeakMap<ProjectFile, ts.SourceFile>();

/** The tree of a TypeScript, JavaScript or AssemblyScript file. */
export function parse(file: ProjectFile): ts.SourceFile {
  let source = parsed.get(file);
  if (source === undefined) {
    source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2022, true);
    parsed.set(file, source);
  }
  return source;
}

/** Every node below `node`, parents first. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
  });
}

/** Every comment, once each. */
export function comments(file: ProjectFile): readonly { readonly position: number; readonly text: string }[] {
  const found = new Map<number, string>();
  const collect = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const { pos, end } of ranges ?? []) found.set(pos, file.text.slice(pos, end));
  };
  // Comments sit in front of tokens, and not every token (a closing brace) is a child in the tree.
  const visit = (node: ts.Node): void => {
    collect(ts.getLeadingCommentRanges(file.text, node.pos));
    if (ts.isToken(node)) collect(ts.getTrailingCommentRanges(file.text, node.end));
    for (const child of node.getChildren()) visit(child);
  };
  visit(parse(file));
  return [...found].sort(([left], [right]) => left - right).map(([position, text]) => ({ position, text }));
}

export function violation(file: ProjectFile, position: number, message: string): Violation {
  return { path: file.path, line: parse(file).getLineAndCharacterOfPosition(position).line + 1, message };
}

/** The specifiers of static imports, re-exports and `import()` with a literal. */
export function imports(file: ProjectFile): readonly { readonly position: number; readonly specifier: string }[] {
  const found: { position: number; specifier: string }[] = [];
  const source = parse(file);
  walk(source, (node) => {
    const literal = specifierOf(node);
    if (literal === undefined || !ts.isStringLiteralLike(literal)) return;
    found.push({ position: literal.getStart(source), specifier: literal.text });
  });
  return found;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  return undefined;
}
