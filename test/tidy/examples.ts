import ts from 'typescript';
import { type ProjectFile, root, type Violation } from './project.ts';
import { comments, violation } from './syntax.ts';

/** A program in a page or in a doc comment: `line` is that of its first line in the file. */
export interface Example {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/** A block of code marked `ts`: a whole program unless the mark says `ts fragment`. */
interface Block extends Example {
  readonly isFragment: boolean;
}

const IMPORT = /^import\b.*'plimsoll(?:\/[\w-]+)?';$/m;

/**
 * The code blocks marked `ts` of pages, and of the doc comments of sources: whole programs, which a reader will copy. A
 * block that only explains is marked `ts fragment`, and is left alone.
 */
export function examples(files: readonly ProjectFile[]): readonly Example[] {
  return blocks(files).flatMap(({ isFragment, ...example }) => (isFragment ? [] : [example]));
}

/** Programs that are marked as fragments, so that nobody checks them, and `@example` without a block. */
export function checkMarks(files: readonly ProjectFile[]): readonly Violation[] {
  const programs = blocks(files).filter(({ isFragment, text }) => isFragment && IMPORT.test(text));
  const bare = files.filter(isSource).flatMap((file) =>
    docComments(file).flatMap(({ line, text }) =>
      [...text.matchAll(/^@example\b(?!\s*\n```ts)/gm)].map((match) => ({
        path: file.path,
        line: line + text.slice(0, match.index).split('\n').length - 1,
        message: '@example without a block marked ts',
      })),
    ),
  );
  const marked = programs.map(({ page, line }) => ({ path: page, line, message: 'a program is marked as a fragment' }));
  return [...marked, ...bare];
}

/** The platform's declarations and the sources, parsed once. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Type errors of the examples, at their place. `plimsoll` means the sources, as in tsconfig.node.json. */
export function checkExamples(list: readonly Example[]): readonly Violation[] {
  const options = compilerOptions();
  const virtual = new Map(list.map((example, index) => [`${root}test/tidy/example-${index}.ts`, example]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path)?.text ?? readFile(path);
  host.getSourceFile = (path, settings, onError) => {
    const example = virtual.get(path);
    if (example !== undefined) return ts.createSourceFile(path, example.text, settings, true);
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, settings, onError));
    return parsed.get(path);
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

function isSource({ path }: ProjectFile): boolean {
  return path.startsWith('src/') && path.endsWith('.ts');
}

function blocks(files: readonly ProjectFile[]): readonly Block[] {
  return files.flatMap((file) => {
    if (file.path.endsWith('.md')) return blocksOf(file.path, 1, file.text);
    return isSource(file) ? docComments(file).flatMap(({ line, text }) => blocksOf(file.path, line, text)) : [];
  });
}

function blocksOf(page: string, firstLine: number, text: string): readonly Block[] {
  return [...text.matchAll(/^```(?:ts|typescript)(?![\w-])(.*)\n([\s\S]*?)^```/gm)].map((match) => ({
    page,
    line: firstLine + text.slice(0, match.index).split('\n').length,
    text: match[2] ?? '',
    isFragment: match[1]?.trim() === 'fragment',
  }));
}

/** The texts of doc comments without their stars, line by line. */
function docComments(file: ProjectFile): readonly { readonly line: number; readonly text: string }[] {
  if (!file.text.includes('```') && !file.text.includes('@example')) return [];
  return comments(file).flatMap(({ position, text }) => {
    if (!text.startsWith('/**')) return [];
    const bare = text.replace(/^\/\*\*/, '').replace(/\s*\*\/$/, '');
    return [{ line: violation(file, position, '').line, text: bare.replace(/^[ \t]*\* ?/gm, '') }];
  });
}

function compilerOptions(): ts.CompilerOptions {
  const path = `${root}tsconfig.node.json`;
  const config = ts.getParsedCommandLineOfConfigFile(
    path,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(`Cannot read ${path}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
      },
    },
  );
  if (config === undefined) throw new Error(`Cannot read ${path}`);
  // Each example is a module of its own, with or without an import.
  return { ...config.options, moduleDetection: ts.ModuleDetectionKind.Force };
}
