import { expect, it } from 'vitest';
import { linesOf } from '../mutants/changed-lines.ts';

it('the lines of a diff that there are now: those that were added or changed, file by file', () => {
  const diff = [
    'diff --git a/src/a.ts b/src/a.ts',
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '@@ -1 +1 @@ first',
    '-before',
    '+++ after, which is no file',
    '@@ -5,2 +4,0 @@',
    '@@ -9,0 +7,3 @@',
    'diff --git a/src/b.ts b/src/b.ts',
    '--- /dev/null',
    '+++ b/src/b.ts',
    '@@ -0,0 +1,20 @@',
  ].join('\n');
  expect(linesOf(diff)).toEqual(['src/a.ts:1-1', 'src/a.ts:7-9', 'src/b.ts:1-20']);
});
