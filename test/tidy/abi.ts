import ts from 'typescript';
import type { ProjectFile } from './project.ts';
import { parse } from './syntax.ts';

/** The three places that name the core's exports, read so that they can be compared: they must be one list. */

/** Names re-exported or declared by `assembly/exports.ts`, sorted. The memory is exported by the compiler itself. */
export function assemblyExports(file: ProjectFile): readonly string[] {
  const names = parse(file).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      return statement.exportClause.elements.map((element) => element.name.text);
    }
    const exported = ts.isFunctionDeclaration(statement) && isExported(statement);
    return exported && statement.name !== undefined ? [statement.name.text] : [];
  });
  return [...names, 'memory'].sort();
}

/** Members of `CoreExports` and of every interface it extends, sorted. */
export function abiMembers(file: ProjectFile): readonly string[] {
  const interfaces = new Map<string, ts.InterfaceDeclaration>();
  for (const statement of parse(file).statements) {
    if (ts.isInterfaceDeclaration(statement)) interfaces.set(statement.name.text, statement);
  }
  const members = (name: string): readonly string[] => {
    const declaration = interfaces.get(name);
    if (declaration === undefined) throw new Error(`Cannot read the ABI: ${file.path} has no interface ${name}`);
    const bases = (declaration.heritageClauses ?? []).flatMap(({ types }) => types.map((type) => type.getText()));
    const own = declaration.members.flatMap((member) => (member.name === undefined ? [] : [member.name.getText()]));
    return [...own, ...bases.flatMap(members)];
  };
  return [...members('CoreExports')].sort();
}

/** Interfaces that `CoreExports` does not extend: their members would be compared with nothing. */
export function unusedInterfaces(file: ProjectFile): readonly string[] {
  const text = parse(file).statements.filter((statement) => ts.isInterfaceDeclaration(statement));
  const extended = new Set(
    text.flatMap((declaration) =>
      (declaration.heritageClauses ?? []).flatMap(({ types }) => types.map((type) => type.getText())),
    ),
  );
  return text.map(({ name }) => name.text).filter((name) => name !== 'CoreExports' && !extended.has(name));
}

/** `NotFound = -1` of the enum `Status` as `STATUS_NOT_FOUND`, with its value. */
export function assemblyStatuses(file: ProjectFile): Readonly<Record<string, number>> {
  const entries = parse(file).statements.flatMap((statement) => {
    if (!ts.isEnumDeclaration(statement) || statement.name.text !== 'Status') return [];
    return statement.members.map((member): [string, number] => {
      const words = member.name.getText().replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_');
      return [`STATUS_${words.toUpperCase()}`, Number(member.initializer?.getText())];
    });
  });
  return Object.fromEntries(entries);
}

/** The constants `STATUS_*` of `src/core/abi.ts`. */
export function abiStatuses(file: ProjectFile): Readonly<Record<string, number>> {
  const entries = parse(file).statements.flatMap((statement) => {
    if (!ts.isVariableStatement(statement) || !isExported(statement)) return [];
    return statement.declarationList.declarations
      .filter((declaration) => declaration.name.getText().startsWith('STATUS_'))
      .map((declaration): [string, number] => [declaration.name.getText(), Number(declaration.initializer?.getText())]);
  });
  return Object.fromEntries(entries);
}

function isExported(node: ts.FunctionDeclaration | ts.VariableStatement): boolean {
  return (node.modifiers ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);
}
