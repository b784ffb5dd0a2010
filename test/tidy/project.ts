import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A text file of the repository; `path` is relative to its root, with `/`. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** One breach of one rule. A rule is a pure function from files to these, so that it can be tried on broken examples. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** Not ours, or made by a build. The same names as in .gitignore, wherever they are in the tree. */
const SKIPPED = new Set(['.git', 'node_modules', 'dist', 'build', 'coverage']);
const TEXT =
  /(?:\.(?:ts|mts|mjs|js|json|md|yaml|yml|toml|sh|capnp|html|txt|svg)|\/(?:run|LICENSE|\.npmrc|\.gitignore))$/;

/** Every text file, tracked or not yet: a rule should bite before the commit. */
export function readProject(): readonly ProjectFile[] {
  const files: ProjectFile[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(root + folder, { withFileTypes: true })) {
      const path = folder + entry.name;
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) visit(`${path}/`);
      else if (entry.isFile() && TEXT.test(`/${path}`)) files.push({ path, text: readFileSync(root + path, 'utf8') });
    }
  };
  visit('');
  return files.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** The files below one of the folders with one of the endings. */
export function select(
  files: readonly ProjectFile[],
  folders: readonly string[],
  endings: readonly string[] = ['.ts'],
): readonly ProjectFile[] {
  return files.filter(
    ({ path }) =>
      folders.some((folder) => path.startsWith(`${folder}/`)) && endings.some((ending) => path.endsWith(ending)),
  );
}

/** One line a breach, as a compiler prints them: what a failing test shows. */
export function report(violations: readonly Violation[]): readonly string[] {
  return violations.map(({ path, line, message }) => `${path}:${line} ${message}`);
}
