import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Errors of the built declarations in a project with these options, without the settings of this repository. */
function errorsFor(lib: readonly string[] | undefined): readonly string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noEmit: true,
    types: [],
    ...(lib === undefined ? {} : { lib: [...lib] }),
  };
  const program = ts.createProgram(
    [
      `${DIST}mod.d.ts`,
      `${DIST}etcd.d.ts`,
      `${DIST}kubernetes.d.ts`,
      `${DIST}sqlite.d.ts`,
      `${DIST}testing.d.ts`,
      `${DIST}testing-node.d.ts`,
    ],
    options,
  );
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('the built declarations compile in a project of a consumer', () => {
  it('with `target: es2022` and nothing else', () => {
    expect(errorsFor(undefined)).toEqual([]);
  });

  it('with the libraries es2022 and dom', () => {
    expect(errorsFor(['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'])).toEqual([]);
  });

  it('and not without any type of the Web platform, so that this test can fail', () => {
    expect(errorsFor(['lib.es2022.d.ts'])).not.toEqual([]);
  });
});
