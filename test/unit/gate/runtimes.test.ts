import { describe, expect, it } from 'vitest';
import { RUNTIMES, workerdVersion } from '../../conformance/runtimes.mjs';

describe('the runtimes of the conformance suite', () => {
  it('are four', () => {
    expect(RUNTIMES).toEqual(['node', 'deno', 'bun', 'workerd']);
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
