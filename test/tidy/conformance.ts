import ts from 'typescript';
import type { ProjectFile, Violation } from './project.ts';
import { imports, parse, violation } from './syntax.ts';

/** `test/tidy/exports.json`: what each entry point exports. */
export type ExportsList = Readonly<Record<string, { readonly values: readonly string[] }>>;

export const SUITE = 'test/conformance/suite.ts';
const CASES = 'test/conformance/cases/';

/**
 * Every run-time name of the package, error classes among them, is used by a case, so that it has been run in every
 * runtime. An import by that name with a use in an expression counts, and so does `plimsoll.name` of a namespace
 * import; a use as a type or a walk over the whole namespace does not. How well the name is exercised is not checked.
 */
export function checkCoverage(cases: readonly ProjectFile[], exported: ExportsList): readonly Violation[] {
  const used = new Set(cases.flatMap((file) => [...usedNames(file)]));
  return Object.entries(exported).flatMap(([entry, { values }]) =>
    values
      .filter((name) => !used.has(nameOf(entry, name)))
      .map((name) => ({ path: SUITE, line: 1, message: `no case uses ${name} of ${entry}` })),
  );
}

/** Case files that the suite does not load (they would silently never run), and imports that no runtime could resolve. */
export function checkCases(suite: ProjectFile, cases: readonly ProjectFile[]): readonly Violation[] {
  const loaded = new Set([suite, ...cases].flatMap((file) => imports(file).map(({ specifier }) => base(specifier))));
  const lost = cases.filter(({ path }) => !loaded.has(base(path))).map((file) => violation(file, 0, 'is not loaded'));
  const foreign = cases.flatMap((file) =>
    imports(file)
      .filter(
        ({ specifier }) =>
          !/^(?:plimsoll(?:\/(?:etcd|kubernetes|sqlite|testing))?|\.\/[\w-]+\.ts|\.\.\/harness\.ts)$/.test(specifier),
      )
      .map(({ position, specifier }) =>
        violation(file, position, `"${specifier}" is neither the package by its name, nor a case, nor the harness`),
      ),
  );
  return [...lost, ...foreign];
}

/** The digests of the test vectors of a page or of a case: two lists that have to be one. */
export function vectorDigests(text: string): readonly string[] {
  return [...text.matchAll(/(?:xxh3-128(?:-seed-[0-9a-f]{16})?|sha256):[0-9a-f]{32,64}/g)].map(([digest]) => digest);
}

/** The files below `cases/`. */
export function selectCases(files: readonly ProjectFile[]): readonly ProjectFile[] {
  return files.filter(({ path }) => path.startsWith(CASES));
}

/** `entry#name` of all that a file imports from packages and uses as a value. */
function usedNames(file: ProjectFile): ReadonlySet<string> {
  const source = parse(file);
  /** What a local name stands for: one export of an entry, or (`undefined`) all of them. */
  const locals = new Map<string, { readonly entry: string; readonly name: string | undefined }>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || statement.importClause?.isTypeOnly !== false) continue;
    const entry = (statement.moduleSpecifier as ts.StringLiteral).text;
    const { namedBindings } = statement.importClause;
    if (namedBindings === undefined) continue;
    if (ts.isNamespaceImport(namedBindings)) locals.set(namedBindings.name.text, { entry, name: undefined });
    else
      for (const { isTypeOnly, name, propertyName } of namedBindings.elements)
        if (!isTypeOnly) locals.set(name.text, { entry, name: (propertyName ?? name).text });
  }
  const used = new Set<string>();
  visitValues(source, (node) => {
    const local = locals.get(node.text);
    if (local === undefined) return;
    const member =
      ts.isPropertyAccessExpression(node.parent) && node.parent.expression === node && node.parent.name.text;
    const name = local.name ?? member;
    if (typeof name === 'string') used.add(nameOf(local.entry, name));
  });
  return used;
}

/** Every identifier that is a value in use: no import, no type, no name of a member or a property. */
function visitValues(node: ts.Node, visit: (identifier: ts.Identifier) => void): void {
  if (ts.isImportDeclaration(node)) return;
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
  if (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
  if (ts.isIdentifier(node)) {
    const { parent } = node;
    const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
    const isKey = ts.isPropertyAssignment(parent) && parent.name === node;
    if (!isMember && !isKey) visit(node);
  }
  node.forEachChild((child) => visitValues(child, visit));
}

function nameOf(entry: string, name: string): string {
  return `${entry}#${name}`;
}

function base(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
