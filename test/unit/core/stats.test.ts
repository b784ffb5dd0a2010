import { describe, expect, it } from 'vitest';
import { CoreRig } from './core-rig.ts';

describe('stats', () => {
  it('accounts for every byte that is claimed, and for what compaction made free', () => {
    const rig = new CoreRig();
    for (let commit = 1; commit <= 20_000; commit++) rig.put(`key-${commit % 3000}`, commit);
    rig.put('long'.repeat(10_000), 20_000);
    const sum = (): number => Object.values(rig.core.stats().memory).reduce((total, part) => total + part, 0);
    expect(sum()).toBe(rig.core.stats().claimedBytes);
    const { memory: before, claimedBytes } = rig.core.stats();
    for (const part of Object.values(before)) expect(part).toBeGreaterThanOrEqual(0);
    expect([before.log > 200_000, before.index > 40_000, before.scratch > 40_000]).toEqual([true, true, true]);
    rig.compact(20_001);
    const { memory: after } = rig.core.stats();
    expect([after.log < before.log / 5, after.freePages > before.log / 2]).toEqual([true, true]);
    expect([sum(), rig.core.stats().claimedBytes]).toEqual([claimedBytes, claimedBytes]);
  });
});
