// @ts-check
// What dist/ exports, by entry point: read from the built files, so that it is what a user gets.
//
//   node tools/public-exports.mjs            prints it
//   node tools/public-exports.mjs --write    npm run tidy:exports: writes test/tidy/exports.json, the agreed list
//
// A name that comes or goes is a decision: the tidy suite fails until the list is rewritten and the change is reviewed.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = new URL('../', import.meta.url);

/** The agreed list, relative to the repository root. */
export const EXPORTS_LIST = 'test/tidy/exports.json';

/**
 * @typedef {{ values: string[], types: string[] }} EntryNames
 * @typedef {{ entry: string, condition: string, names: EntryNames }} EntryExports
 */

/**
 * Names exported by the text of a bundled module or of its declarations, sorted. `export * from './x.js'` is followed
 * by `follow`.
 *
 * @param {string} text
 * @param {(specifier: string) => string[]} [follow]
 * @returns {string[]}
 */
export function exportedNames(text, follow = () => []) {
  const source = ts.createSourceFile('entry.ts', text, ts.ScriptTarget.ES2022, true);
  const names = source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      if (statement.exportClause === undefined) {
        return follow(/** @type {ts.StringLiteral} */ (statement.moduleSpecifier).text);
      }
      if (!ts.isNamedExports(statement.exportClause)) return [statement.exportClause.name.text];
      return statement.exportClause.elements.map((element) => element.name.text);
    }
    if (ts.isExportAssignment(statement)) return ['default'];
    return declaredExports(statement);
  });
  return [...new Set(names)].sort();
}

/**
 * `export const a = ...`, `export class B ...` and the like.
 *
 * @param {ts.Statement} statement
 * @returns {string[]}
 */
function declaredExports(statement) {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((declaration) => declaration.name.getText());
  }
  const name = /** @type {ts.DeclarationStatement} */ (statement).name;
  return name === undefined ? [] : [name.text];
}

/**
 * Every entry point of the exports map that is a module, under every condition.
 *
 * @returns {Promise<EntryExports[]>}
 */
export async function publicExports() {
  const manifest = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  /** @type {EntryExports[]} */
  const found = [];
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    const { types, default: file, ...conditions } = target;
    for (const [condition, files] of Object.entries({ ...conditions, default: { types, default: file } })) {
      const values = exportedNames(await readFile(new URL(files.default, root), 'utf8'));
      const declared = await declaredNames(files.types);
      const onlyTypes = declared.filter((name) => !values.includes(name));
      found.push({ entry: `plimsoll${subpath.slice(1)}`, condition, names: { values, types: onlyTypes } });
    }
  }
  return found;
}

/**
 * Names of a declaration file; a re-export of a whole entry is read through.
 *
 * @param {string} file
 * @returns {Promise<string[]>}
 */
async function declaredNames(file) {
  const text = await readFile(new URL(file, root), 'utf8');
  /** @type {string[]} */
  const whole = [];
  const names = exportedNames(text, (specifier) => {
    whole.push(specifier);
    return [];
  });
  const followed = await Promise.all(
    whole.map((specifier) => declaredNames(file.replace(/[^/]+$/, specifier.slice(2).replace(/\.js$/, '.d.ts')))),
  );
  return [...new Set([...names, ...followed.flat()])].sort();
}

/**
 * The list as it is committed: the names under the default condition, by entry.
 *
 * @param {readonly EntryExports[]} exports
 * @returns {Record<string, EntryNames>}
 */
export function exportsList(exports) {
  const own = exports.filter(({ condition }) => condition === 'default');
  return Object.fromEntries(own.map(({ entry, names }) => [entry, names]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = `${JSON.stringify(exportsList(await publicExports()), null, 2)}\n`;
  if (process.argv.includes('--write')) await writeFile(new URL(EXPORTS_LIST, root), text);
  else process.stdout.write(text);
}
