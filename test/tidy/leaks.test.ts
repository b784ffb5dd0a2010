import { describe, expect, it } from 'vitest';
import { checkLeaks, checkLockfiles } from './leaks.ts';
import { readProject, report } from './project.ts';

const files = readProject();

function leaks(text: string): readonly string[] {
  return report(checkLeaks([{ path: 'README.md', text }]));
}

/** What must not stand in a file, put together from its parts. */
function path(...parts: readonly string[]): string {
  return ['', ...parts].join('/');
}

describe('leaks', () => {
  it('of machine paths and registry hosts are in no file', () => {
    expect(report(checkLeaks(files))).toEqual([]);
  });

  it('of addresses are in no lockfile', () => {
    expect(files.filter((file) => file.path.endsWith('package-lock.json')).length).toBeGreaterThanOrEqual(2);
    expect(report(checkLockfiles(files))).toEqual([]);
  });

  it.each([
    ['alone', path('work', 'main', 'x.ts')],
    ['in quotes', `const data = '${path('work', 'shared', 'data')}';`],
    ['in a sentence', `see ${path('farm', 'job7')} there`],
    ['as an address', `file://${path('home', 'me', 'plimsoll')}`],
    ['in an assignment', `DATA=${path('Users', 'me', 'data')}`],
  ])('of a machine path are found %s', (_, text) => {
    expect(leaks(text)).toHaveLength(1);
  });

  it.each([
    ['registry', 'npmjs', 'org'],
    ['www', 'npmjs', 'com'],
    ['registry', 'yarnpkg', 'com'],
    ['npm', 'jsr', 'io'],
    ['files', 'pythonhosted', 'org'],
  ])('of a registry host are found: %s %s %s', (...parts) => {
    expect(leaks(`https://${parts.join('.')}/left-pad`)).toHaveLength(1);
  });

  it('are not: relative paths, addresses of others, keys of an example', () => {
    expect(leaks(`../${'work'}/x, src/${'home'}/x, https://example.org/${'work'}/x, a ${'work'}/life balance`)).toEqual(
      [],
    );
    expect(leaks('https://etcd.io/docs and https://developer.mozilla.org/')).toEqual([]);
  });

  it('of a lockfile are found', () => {
    const text = '{\n  "resolved": "https://somewhere/x.tgz"\n}';
    expect(report(checkLockfiles([{ path: 'a/package-lock.json', text }]))).toEqual([
      'a/package-lock.json:2 names the address of a package',
    ]);
    expect(checkLockfiles([{ path: 'a/other.json', text }])).toEqual([]);
  });
});
