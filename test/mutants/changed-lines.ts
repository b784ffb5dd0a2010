import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BadCommand } from './bad-command.ts';

/**
 * The lines of some files that have changed since a commit, each as a pattern of its own for Stryker: `src/a.ts:10-12`. What
 * only went is nothing to make mutants of. Throws `BadCommand`
 * for a commit that git doesn't know.
 */
export function changedLines(root: URL, since: string, files: readonly string[]): readonly string[] {
  const cwd = fileURLToPath(root);
  const paths = files.map((pattern) => `:(glob)${pattern}`);
  const args = [
    'diff',
    '--unified=0',
    '--no-renames',
    '--no-color',
    '--no-ext-diff',
    `${since}^{commit}`,
    '--',
    ...paths,
  ];
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new BadCommand(`git cannot compare with "${since}": ${stderr.trim()}`);
  return linesOf(stdout);
}

/** Of a diff without context: `+++ b/FILE`, then `@@ -12,3 +14,2 @@` for two lines from the 14th on. */
export function linesOf(diff: string): readonly string[] {
  const lines: string[] = [];
  let file = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ b/')) file = line.slice('+++ b/'.length);
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined || count === '0') continue;
    lines.push(`${file}:${start}-${Number(start) + Number(count) - 1}`);
  }
  return lines;
}
