import ts from 'typescript';
import type { ProjectFile, Violation } from './project.ts';
import { parse, violation, walk } from './syntax.ts';

/**
 * Time, chance and the host are arguments (D11): their globals are named in src/system and where
 * a platform is adapted, nowhere else. Only uses of the *global* count: a parameter called `process` is no breach.
 */
const GLOBALS = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'performance'],
  ...['process', 'Buffer', 'require', 'console', 'Deno', 'Bun', '__dirname', '__filename'],
]);
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  crypto: ['randomUUID', 'getRandomValues'],
};
/** Constructed or called, these read the clock. */
const CONSTRUCTORS = new Set(['Date']);
const EXEMPT = ['src/system/', 'src/adapters/', 'src/cli/'];

export function checkGlobals(files: readonly ProjectFile[]): readonly Violation[] {
  return files
    .filter(({ path }) => !EXEMPT.some((folder) => path.startsWith(folder)))
    .flatMap((file) => {
      const source = parse(file);
      const declared = declaredNames(source);
      const found: Violation[] = [];
      walk(source, (node) => {
        const name = bannedName(node, declared);
        if (name !== undefined) found.push(violation(file, node.getStart(source), `${name} is an argument here`));
      });
      return found;
    });
}

function bannedName(node: ts.Node, declared: ReadonlySet<string>): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const { expression, name } = node;
    if (!ts.isIdentifier(expression) || declared.has(expression.text)) return undefined;
    if (expression.text === 'globalThis') return GLOBALS.has(name.text) ? `globalThis.${name.text}` : undefined;
    return MEMBERS[expression.text]?.includes(name.text) ? `${expression.text}.${name.text}` : undefined;
  }
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && ts.isIdentifier(node.expression)) {
    const name = node.expression.text;
    return CONSTRUCTORS.has(name) && !declared.has(name) ? `${name}()` : undefined;
  }
  if (!ts.isIdentifier(node) || !GLOBALS.has(node.text) || declared.has(node.text)) return undefined;
  return isReference(node) ? node.text : undefined;
}

/** Whether the identifier is a value used, not the name of a member, a key, a type or a declaration. */
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isTypeNode(parent) || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  return !('name' in parent && parent.name === node);
}

/** Names the file declares itself, at any depth: parameters, variables, functions, classes, imports. */
function declaredNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source, (node) => {
    const isBinding =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isImportSpecifier(node);
    if (isBinding && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
  });
  return names;
}
