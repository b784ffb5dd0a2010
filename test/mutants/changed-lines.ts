import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BadCommand } from './bad-command.ts';

/**
 * The lines of some files that have changed since a commit, each run of them as a pattern of its own for Stryker:
 * `src/a.ts:10-12`; a file that git doesn't track yet as a whole. What only went is nothing to make mutants of. Throws
 * `BadCommand` for a commit that git doesn't know.
 */
export function changedLines(root: URL, since: string, files: readonly string[]): readonly string[] {
  const paths = ['--', ...files.map((pattern) => `:(glob)${pattern}`)];
  const git = (...args: readonly string[]): string => {
    const options = { cwd: fileURLToPath(root), encoding: 'utf8', maxBuffer: 1 << 28 } as const;
    const { status, stdout, stderr } = spawnSync('git', [...args, ...paths], options);
    if (status !== 0) throw new BadCommand(`git cannot compare with "${since}": ${stderr.trim()}`);
    return stdout;
  };
  // As it is, whatever the settings of the user are.
  const shape = ['--unified=0', '--no-renames', '--no-color', '--no-ext-diff', '--src-prefix=a/', '--dst-prefix=b/'];
  const diff = git('diff', ...shape, `${since}^{commit}`);
  const untracked = git('ls-files', '--others', '--exclude-standard').split('\n');
  return [...linesOf(diff), ...untracked.filter((path) => path !== '')];
}

/** Of a diff without context: `+++ b/FILE`, then `@@ -12,3 +14,2 @@` for two lines from the 14th on, and these lines. */
export function linesOf(diff: string): readonly string[] {
  const changed: string[] = [];
  const lines = diff.split('\n');
  let file = '';
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('+++ b/')) file = line.slice('+++ b/'.length);
    const [, gone, start, come] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined) continue;
    const [before, after] = [Number(gone ?? 1), Number(come ?? 1)];
    if (after > 0) changed.push(`${file}:${start}-${Number(start) + after - 1}`);
    // They may look like anything.
    at += before + after;
  }
  return changed;
}
