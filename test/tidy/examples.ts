import ts from 'typescript';
import { type ProjectFile, root, type Violation } from './project.ts';

/** A program in a page: `line` is that of its first line in the page. */
export interface Example {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The code blocks marked `ts` that import the package: those are whole programs, and a reader will copy them. Blocks
 * without such an import are fragments that explain, and are left alone.
 */
export function examples(pages: readonly ProjectFile[]): readonly Example[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```(?:ts|typescript)\b.*\n([\s\S]*?)^```/gm)].flatMap((match) => {
      const code = match[1] ?? '';
      if (!/^import\b.*'plimsoll(?:\/[\w-]+)?';$/m.test(code)) return [];
      return [{ page: path, line: text.slice(0, match.index).split('\n').length + 1, text: code }];
    }),
  );
}

/** Type errors of the examples, at their place in the page. `plimsoll` means the sources, as in tsconfig.node.json. */
export function checkExamples(list: readonly Example[]): readonly Violation[] {
  const options = compilerOptions();
  const virtual = new Map(list.map((example, index) => [`${root}test/tidy/example-${index}.ts`, example]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path)?.text ?? readFile(path);
  host.getSourceFile = (path, settings, onError) => {
    const example = virtual.get(path);
    if (example === undefined) return getSourceFile(path, settings, onError);
    return ts.createSourceFile(path, example.text, settings, true);
  };
  const program = ts.createProgram([...virtual.keys()], options, host);
  return [...virtual].flatMap(([path, { page, line }]) => {
    const source = program.getSourceFile(path);
    const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return diagnostics.map(({ start, messageText }) => ({
      path: page,
      line: line + (source?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0),
      message: ts.flattenDiagnosticMessageText(messageText, ' '),
    }));
  });
}

function compilerOptions(): ts.CompilerOptions {
  const path = `${root}tsconfig.node.json`;
  const parsed = ts.getParsedCommandLineOfConfigFile(
    path,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(`Cannot read ${path}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
      },
    },
  );
  if (parsed === undefined) throw new Error(`Cannot read ${path}`);
  return parsed.options;
}
