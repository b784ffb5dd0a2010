import ts from 'typescript';
import type { ProjectFile, Violation } from './project.ts';
import { parse, violation, walk } from './syntax.ts';

/** Runs on sources with a fault in them, by `npm run test:mutation` alone; what is in it runs in other suites too. */
const OF_NO_SUITE = 'test/mutants/cases.test.ts';

/** Files of test/ that define tests but have a name that no suite looks for: they would silently never run. */
export function checkTestNames(files: readonly ProjectFile[]): readonly Violation[] {
  return files
    .filter(({ path }) => !/^test\/(?:tidy|unit|property|e2e)\/.*\.test\.ts$/.test(path))
    .filter(({ path }) => path !== OF_NO_SUITE)
    .filter((file) => definesTests(file))
    .map((file) => violation(file, 0, 'defines tests, but is not test/{tidy,unit,property,e2e}/**/*.test.ts'));
}

/** Calls `it` or `test` that were imported from vitest. */
function definesTests(file: ProjectFile): boolean {
  const names = new Set<string>();
  walk(parse(file), (node) => {
    if (!ts.isImportDeclaration(node) || node.moduleSpecifier.getText().slice(1, -1) !== 'vitest') return;
    const bindings = node.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return;
    for (const { name } of bindings.elements) names.add(name.text);
  });
  return names.has('it') || names.has('test');
}
