import ts from 'typescript';
import { type ProjectFile, select, type Violation } from './project.ts';
import { comments, parse, violation, walk } from './syntax.ts';

/**
 * Ids of rules, wherever code and pages cite them: each has to be defined in docs/spec/ or docs/architecture.md, so that
 * a reader of this repository alone can look it up.
 *
 * ```text
 *   cited       (store:R22-R24)   (M9, M12)   (A9'd)   I1'   D5        row 17, in files about handlers
 *   defined     - **R22** ...     **R10, R11** sort orders         in bold
 *               | F1 | ...        | C01-C11, C13 | ...             in the first cell of a table row
 *               | 17 | ...        of docs/spec/handlers.md         a row
 * ```
 *
 * `A9'` is defined when one of its parts is (`A9'a`). Cited is what stands in comments and in the titles of tests, and in
 * the text of pages outside code; keys, values and data of tests may look like ids and are not read.
 */
export type Ids = ReadonlySet<string>;

/** The pages that define ids. */
const SPEC = /^docs\/(?:spec\/[\w-]+|architecture)\.md$/;
const ROWS = 'docs/spec/handlers.md';
const TITLED = new Set(['it', 'test', 'describe', 'both']);

/**
 * R, F, U and two-digit C are the store's; M and B the list manager's; E the essence's; IN an informer's; RC and RH a resource cache's; D decisions; A and I, with a prime, handlers'; L locks';
 * K, with two digits, of the storage; WL, CT, G, X, W, Q, T and S the writer lease's.
 */
const LETTERS = "(?:[RFUMBE]\\d+|D\\d\\d?|[CK]\\d\\d|[AI]\\d+'[a-f]?|(?:WL|CT|IN|RC|RH)\\d\\d?|[GLQSTWX]\\d\\d?)";
const RANGE = new RegExp(`(?<![\\w.+/-])(?:store:)?(${LETTERS})(?:(?:-| to )(${LETTERS}))?(?![\\w+/])`, 'g');
const ROW = /\brows? (\d+)\b/g;

/** Pointers to papers that are not in the repository: nobody can follow them. */
const ELSEWHERE: readonly RegExp[] = [
  /\bARCHITECTURE\b/,
  /\bdecisions? \d+/,
  /\boperators \d/,
  /\b[a-z]+:[A-Z]\d+\b(?<!\bstore:[A-Z]\d+)/,
  /\b(?:handlers|list-manager|lease)-checked\b/,
  /(?<!RFC \d+,? )\bsection \d/,
];

/** Every id that the pages define. */
export function definedIds(pages: readonly ProjectFile[]): Ids {
  const found = new Set<string>();
  for (const { path, text } of pages) {
    if (!SPEC.test(path)) continue;
    for (const line of prose(text)) {
      const cell = /^\|([^|]+)\|/.exec(line)?.[1] ?? '';
      const bold = [...line.matchAll(/\*\*([^*]+)\*\*/g)].map((match) => match[1] ?? '');
      for (const place of [cell, ...bold]) for (const id of idsIn(place)) found.add(id);
      if (path === ROWS && /^[\s\d,-]+$/.test(cell)) for (const number of rowsIn(cell)) found.add(`row ${number}`);
    }
  }
  for (const id of [...found]) found.add(id.replace(/(?<=')[a-e]$/, ''));
  return found;
}

/** Ids that are cited and not defined, and pointers to somewhere else. */
export function checkCitations(files: readonly ProjectFile[], defined: Ids): readonly Violation[] {
  return files.flatMap((file) =>
    places(file).flatMap(({ line, text }) => {
      const missing = cited(file, text).filter((id) => !defined.has(id));
      const elsewhere = ELSEWHERE.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
      return [
        ...missing.map((id) => ({ path: file.path, line, message: `cites ${id}, which no page of docs/spec defines` })),
        ...elsewhere.map((what) => ({ path: file.path, line, message: `"${what}" points out of the repository` })),
      ];
    }),
  );
}

/** The files that are read: sources, tests, tools, and pages. This folder may name what it forbids. */
export function citingFiles(files: readonly ProjectFile[]): readonly ProjectFile[] {
  const code = select(files, ['src', 'assembly', 'test', 'bench', 'tools'], ['.ts', '.mjs']);
  const pages = files.filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md');
  return [...code, ...pages].filter(({ path }) => !path.startsWith('test/tidy/'));
}

function cited({ path }: ProjectFile, text: string): readonly string[] {
  const rows = /handlers/.test(path) && !path.endsWith('.md') ? [...text.matchAll(ROW)] : [];
  return [...idsIn(text), ...rows.map(([, number]) => `row ${number}`)];
}

/** The ids of a text, ranges written out. */
function idsIn(text: string): readonly string[] {
  return [...text.matchAll(RANGE)].flatMap(([, first = '', last]) => {
    if (last === undefined || last[0] !== first[0]) return last === undefined ? [first] : [first, last];
    const [from, to] = [numberOf(first), numberOf(last)];
    const digits = /\d+/.exec(first)?.[0].length ?? 0;
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) =>
      first.replace(/\d+/, String(from + index).padStart(digits, '0')),
    );
  });
}

/** `17`, `3, 4` and `20-22`. */
function rowsIn(cell: string): readonly number[] {
  return [...cell.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, from, to = from]) =>
    Array.from({ length: Math.max(0, Number(to) - Number(from) + 1) }, (_, index) => Number(from) + index),
  );
}

function numberOf(id: string): number {
  return Number(/\d+/.exec(id)?.[0]);
}

interface Place {
  readonly line: number;
  readonly text: string;
}

/** The lines of a page outside code; comments and titles of a code file. */
function places(file: ProjectFile): readonly Place[] {
  if (file.path.endsWith('.md')) {
    return prose(file.text).map((text, index) => ({ line: index + 1, text: text.replace(/`[^`]*`/g, '') }));
  }
  const found = comments(file).flatMap(({ position, text }) => {
    const { line } = violation(file, position, '');
    return text.split('\n').map((content, index) => ({ line: line + index, text: content }));
  });
  if (!file.path.startsWith('test/')) return found;
  return [...found, ...titles(file)];
}

/** First arguments of `it`, `describe` and the like, `it.each(...)` included. */
function titles(file: ProjectFile): readonly Place[] {
  const found: Place[] = [];
  walk(parse(file), (node) => {
    if (!ts.isCallExpression(node)) return;
    let callee: ts.Expression = node.expression;
    while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
    const title = node.arguments[0];
    if (!ts.isIdentifier(callee) || !TITLED.has(callee.text) || title === undefined) return;
    if (ts.isStringLiteralLike(title)) {
      found.push({ line: violation(file, title.getStart(), '').line, text: title.text });
    }
  });
  return found;
}

/** The lines of a page, those of fenced code emptied. */
function prose(text: string): readonly string[] {
  let isCode = false;
  return text.split('\n').map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? '' : line;
  });
}
