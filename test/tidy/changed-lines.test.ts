import { expect, it } from 'vitest';
import { linesOf } from '../mutants/changed-lines.ts';

it('the lines of a diff that there are now: those that were added or changed, file by file', () => {
  const diff = [
    'diff --git a/src/a.ts b/src/a.ts',
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '@@ -1,2 +1 @@ first',
    '-before',
    '--- a/src/no-file.ts',
    '+++ b/src/no-file.ts',
    '@@ -5,2 +4,0 @@',
    '-one',
    '-another',
    '@@ -9,0 +7,2 @@',
    '+@@ -1 +1 @@',
    '+last',
    'diff --git a/src/b.ts b/src/b.ts',
    '--- /dev/null',
    '+++ b/src/b.ts',
    '@@ -0,0 +1,2 @@',
    '+one',
    '+another',
  ].join('\n');
  expect(linesOf(diff)).toEqual(['src/a.ts:1-1', 'src/a.ts:7-8', 'src/b.ts:1-2']);
});
