import { describe, expect, it } from 'vitest';
import { checkDependencies, checkInstallScripts } from './dependencies.ts';
import { readProject, report } from './project.ts';

const texts = new Map(readProject().map(({ path, text }) => [path, text]));

describe('dependencies', () => {
  it('are development ones, pinned, each with its reason in CONTRIBUTING.md', () => {
    const manifest = JSON.parse(texts.get('package.json') ?? '');
    expect(report(checkDependencies(manifest, texts.get('CONTRIBUTING.md') ?? ''))).toEqual([]);
  });

  it.each([
    ['is a run-time dependency', { dependencies: { a: '1.0.0' } }, ''],
    ['is not pinned exactly', { devDependencies: { a: '^1.0.0' } }, '| `a` | 1.0.0 | why |'],
    ['has no row', { devDependencies: { a: '1.0.0' } }, '| `b` | 1.0.0 | why |'],
    ['has no row', { devDependencies: { a: '1.0.1' } }, '| `a` | 1.0.0 | why |'],
    ['but is not used', { devDependencies: {} }, '| `b` | 1.0.0 | why |'],
  ])('a dependency that %s is found', (message, manifest, contributing) => {
    expect(report(checkDependencies(manifest, contributing)).join('\n')).toContain(message);
  });

  it('a pinned one with its row is fine', () => {
    const manifest = { devDependencies: { '@a/b': '1.0.0' } };
    expect(checkDependencies(manifest, '| `@a/b` | 1.0.0 | why |')).toEqual([]);
    const aliased = { devDependencies: { 'b-1': 'npm:@a/b@1.0.0', 'b-2': 'npm:b@2.0.0' } };
    expect(checkDependencies(aliased, '| `b-1` | 1.0.0 | why |\n| `b-2` | 2.0.0 | why |')).toEqual([]);
    const loose = { devDependencies: { 'b-1': 'npm:@a/b@^1.0.0' } };
    expect(report(checkDependencies(loose, '')).join()).toContain('is not pinned exactly');
  });

  it('run install scripts only where allowScripts says so', () => {
    const lockfiles = [...texts.keys()].filter((path) => path.endsWith('package-lock.json'));
    expect(lockfiles.length).toBeGreaterThanOrEqual(3);
    for (const path of lockfiles) {
      const manifest = path.replace('-lock', '');
      const violations = checkInstallScripts(
        manifest,
        JSON.parse(texts.get(manifest) ?? ''),
        JSON.parse(texts.get(path) ?? ''),
      );
      expect(report(violations)).toEqual([]);
    }
  });

  it('an install script that is not allowed is found, and a permission that nobody needs', () => {
    const packages = { '': { hasInstallScript: true }, 'node_modules/a/node_modules/@b/c': { hasInstallScript: true } };
    expect(report(checkInstallScripts('package.json', {}, { packages }))).toEqual([
      'package.json:1 @b/c has an install script, but is not in allowScripts',
    ]);
    expect(checkInstallScripts('package.json', { allowScripts: { '@b/c': true } }, { packages })).toEqual([]);
    expect(checkInstallScripts('package.json', { allowScripts: { d: true } }, {})).toHaveLength(1);
  });
});
