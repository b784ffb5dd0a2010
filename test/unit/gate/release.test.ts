import { describe, expect, it } from 'vitest';
import { obstaclesOf, releasedChangelog } from '../../../tools/release.mjs';

const FACTS = {
  manifest: { version: '1.2.0', repository: { type: 'git', url: 'git+https://example.org/plimsoll.git' } },
  lockVersion: '1.2.0',
  jsrVersion: '1.2.0',
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-12-01)\n\n- New.\n',
  changesets: [],
  isClean: true,
  tags: ['v1.2.0'],
  isWorkflow: true,
};

describe('a release', () => {
  it('has nothing in its way when all is so', () => {
    expect(obstaclesOf(FACTS)).toEqual([]);
  });

  it.each<[string, Partial<Parameters<typeof obstaclesOf>[0]>, string]>([
    ['a change without a version', { changesets: ['new.md'] }, 'changes without a version: new.md'],
    [
      'another version in the lockfile',
      { lockVersion: '1.1.0' },
      'package-lock.json is of 1.1.0, package.json of 1.2.0',
    ],
    ['another version on JSR', { jsrVersion: '1.1.0' }, 'jsr.json is of 1.1.0, package.json of 1.2.0'],
    ['no section', { changelog: '# Changelog\n' }, 'CHANGELOG.md has no section 1.2.0'],
    ['changes in the tree', { isClean: false }, 'the tree has changes that are in no commit'],
    ['no tag', { tags: ['v1.1.0'] }, 'the commit has no tag v1.2.0'],
    [
      'no repository',
      { manifest: { version: '1.2.0' } },
      'package.json names no repository, which provenance is about',
    ],
    [
      'a desk',
      { isWorkflow: false },
      'this is no workflow of the repository, so that nobody vouches for where it was built',
    ],
  ])('%s is in its way', (_name, facts, obstacle) => {
    expect(obstaclesOf({ ...FACTS, ...facts })).toEqual([obstacle]);
  });

  it('puts what is unreleased under its version, and leaves room for what comes next', () => {
    const before = '# Changelog\n\nText.\n\n## Unreleased\n\n- One.\n\n## 1.1.0 (2026-11-01)\n\n- Old.\n';
    expect(releasedChangelog(before, '1.2.0', '2026-12-02')).toBe(
      '# Changelog\n\nText.\n\n## Unreleased\n\n## 1.2.0 (2026-12-02)\n\n- One.\n\n## 1.1.0 (2026-11-01)\n\n- Old.\n',
    );
  });

  it.each([
    '# Changelog\n',
    '# Changelog\n\n## Unreleased\n',
    '# Changelog\n\n## Unreleased\n\n## 1.1.0 (2026-11-01)\n\n- Old.\n',
  ])('is refused where there is nothing to say: %j', (changelog) => {
    expect(() => releasedChangelog(changelog, '1.2.0', '2026-12-02')).toThrow('nothing under "Unreleased"');
  });
});
