import type { Mutant } from './stryker.ts';

/**
 * Mutants that no test can tell from the original, or that are not worth one, as `survivors.md` lists them: by their file
 * and by the lines before and after, so that the list stays right when lines move.
 *
 * ```text
 *   ## src/store/window.ts             the file
 *   - `a < b`                          a line of the sources, blanks evened out
 *     `a <= b`                         what a mutant makes of it
 *     Both give the same for ...       the reason, up to the next `-` or `##`
 * ```
 */
export interface Survivor {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

export interface ListedSurvivor extends Survivor {
  readonly reason: string;
}

const CHARS_MAX = 160;
const ITEM = /^- `` (.+) ``\n {2}`` (.+) ``\n((?: {2}.*\n)*)/gm;

/** Reads the list. Throws for an item without a reason. */
export function parseSurvivors(markdown: string): readonly ListedSurvivor[] {
  return markdown.split(/^## /m).flatMap((section) => {
    const file = section.slice(0, section.indexOf('\n')).trim();
    return [...section.matchAll(ITEM)].map(([, before = '', after = '', text = '']) => {
      const reason = text.trim().replaceAll(/\s+/g, ' ');
      if (reason === '') throw new Error(`Cannot read survivors.md: no reason for ${before} in ${file}`);
      return { file, before, after, reason };
    });
  });
}

/** As an item of the list, the reason still to be written. */
export function formatSurvivor({ before, after }: Survivor): string {
  return `- \`\` ${before} \`\`\n  \`\` ${after} \`\`\n`;
}

/** The lines that a mutant is in, before and after. */
export function survivorOf(mutant: Mutant, text: string): Survivor {
  const { start, end } = mutant.location;
  const lines = text.split('\n');
  const first = lines[start.line - 1] ?? '';
  const last = lines[end.line - 1] ?? '';
  const before = lines.slice(start.line - 1, end.line).join(' ');
  const after = first.slice(0, start.column - 1) + mutant.replacement + last.slice(end.column - 1);
  return { file: mutant.fileName, ...shorten(flat(before), flat(after)) };
}

export function isSame(a: Survivor, b: Survivor): boolean {
  return a.file === b.file && a.before === b.before && a.after === b.after;
}

/** A mutant can be as long as a function: its beginning, what is left of its beginning, and where both end, will do. */
function shorten(before: string, after: string): { readonly before: string; readonly after: string } {
  const cut = (text: string) => {
    return text.length <= CHARS_MAX ? text : `${text.slice(0, CHARS_MAX * 0.75)} ... ${text.slice(CHARS_MAX * -0.25)}`;
  };
  return { before: cut(before), after: cut(after) };
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
