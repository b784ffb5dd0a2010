import { describe, expect, it } from 'vitest';
import { type CoreExports, STATUS_FULL, STATUS_OK } from '../../../src/core/abi.ts';
import { CoreInstance } from '../../../src/core/instance.ts';
import { coreModule } from '../../../src/core/module.ts';
import { StoreFullError } from '../../../src/types/errors.ts';
import { between, CoreRig, EVERYTHING } from './core-rig.ts';

const KEYS = Array.from({ length: 24 }, (_, index) => `k${String(index).padStart(2, '0')}`);
/** Versions of each key before and after what is compacted. */
const OLD = 1400;
const NEW = 140;
/** Events of the commit that room is made for. */
const NEED = { events: 1, newKeys: 0, newKeyBytes: 0 };

/**
 * A core in which 24 vectors of versions are nearly empty but as long as ever, and one, of the key `a`, is full: the next
 * version of `a` needs a block larger than any that is free.
 *
 * ```text
 *   k00   | freed ... (1400) | 140 |        x 24
 *   a     | 1400 ... full    |
 * ```
 */
function build(versions: number, memoryBytesMax?: number): CoreRig {
  const rig = new CoreRig(memoryBytesMax === undefined ? {} : { memoryBytesMax });
  let commit = 0;
  const put = (key: string, count: number): void => {
    const keyId = rig.core.internKey(key);
    for (let left = count; left > 0; left--) {
      commit++;
      rig.core.append(keyId, commit, commit, 1, 1, 0, false);
    }
  };
  for (const key of KEYS) put(key, OLD);
  const compacted = commit;
  for (const key of KEYS) put(key, NEW);
  put('a', versions);
  rig.compact(compacted);
  return rig;
}

/** Bytes of blocks, used and free: scratch is another affair, which leaves alone what is promised. */
function blockBytes(rig: CoreRig): number {
  const { blocks, freeBlocks } = rig.core.stats().memory;
  return blocks + freeBlocks;
}

function appendOne(rig: CoreRig): void {
  const { core } = rig;
  core.append(core.internKey('a'), core.lastCommit + 1, core.lastCommit + 1, 1, 1, 0, false);
}

/** So many versions of `a` that the next one needs a larger vector. */
function fullVector(): number {
  const rig = build(OLD);
  for (let versions = OLD; ; versions++) {
    const { blocks } = rig.core.stats().memory;
    appendOne(rig);
    if (rig.core.stats().memory.blocks > blocks) return versions;
  }
}

/** All there is to ask, about every key and revision. */
const READS: readonly [string, (rig: CoreRig) => void][] = [
  ['slotAt', ({ core }) => KEYS.forEach((key) => void core.slotAt(core.findKey(key), KEYS.length * OLD + 1))],
  ['range', ({ core }) => void core.range(EVERYTHING, KEYS.length * OLD + 1, 0)],
  ['count', ({ core }) => void core.count(between('k', 'l'), KEYS.length * OLD + 1)],
  ['nextCommit', ({ core }) => KEYS.forEach((key) => void core.nextCommit(between(key), 0, 2))],
  ['replay', ({ core }) => void core.replay(between('k00', 'k99'), 0, 2, 1e9)],
  ['eventsAt', ({ core }) => void core.eventsAt(EVERYTHING, core.lastCommit, 0)],
  ['a long key', ({ core }) => void core.findKey('q'.repeat(100_000))],
  ['a long range', ({ core }) => void core.range(between(`k${'q'.repeat(50_000)}`, 'q'.repeat(50_000)), 1e9, 0)],
];

describe('what reserve promised', () => {
  it('is there for the append whatever is read before it, at every memory limit', () => {
    const versions = fullVector();
    const base = build(versions).core.stats().claimedBytes;
    let promised = 0;
    for (let spare = 0; spare < 80_000; spare += 2_000) {
      const rig = build(versions, base + spare);
      try {
        rig.core.reserve('test', NEED);
      } catch (error) {
        expect(error).toBeInstanceOf(StoreFullError);
        continue;
      }
      promised++;
      for (const [name, read] of READS) {
        const before = blockBytes(rig);
        read(rig);
        expect(blockBytes(rig), `${name} with ${spare} bytes to spare`).toBe(before);
      }
      expect(() => appendOne(rig), `${spare} bytes to spare`).not.toThrow();
    }
    expect(promised).toBeGreaterThan(10);
  });

  it('shrinks a vector that compaction has emptied with the next version of its key', () => {
    const rig = build(0);
    const { blocks } = rig.core.stats().memory;
    for (const [, read] of READS) read(rig);
    expect(rig.core.stats().memory.blocks).toBe(blocks);
    const { lastCommit } = rig.core;
    for (const [index, key] of KEYS.entries()) rig.put(key, lastCommit + 1 + index);
    // A vector of 1540 slots is one of at least 4 * 1400 bytes, one for 140 slots and half as many more at most 1000.
    expect(rig.core.stats().memory.blocks).toBeLessThan(blocks - KEYS.length * 4000);
    rig.core.verify();
    expect(rig.stored('k00', lastCommit + 1).split(' ').length).toBe(NEW + 2);
  });

  it('reserveExact: as many deletes as it lets pass fit, and no more pass than fit', () => {
    const rig = new CoreRig();
    const keys = Array.from({ length: 130 }, (_, index) => `${index}`.padEnd(46, 'k'));
    for (const [index, key] of keys.entries()) rig.put(key, index + 1);
    // Nothing but what is left of a run of blocks, and records for more.
    const { claimedBytes } = rig.core.stats();
    const limited = new CoreRig({ memoryBytesMax: claimedBytes });
    for (const [index, key] of keys.entries()) limited.put(key, index + 1);
    const need = { keyIds: [], newKeys: [], longestKeyBytes: 0 };
    const passes = (deletesAhead: number): boolean => {
      try {
        limited.core.reserveExact('test', { ...need, deletesAhead });
        return true;
      } catch (error) {
        if (error instanceof StoreFullError) return false;
        throw error;
      }
    };
    let most = 100;
    while (most > 0 && !passes(most)) most--;
    expect([most > 5, most < 100]).toEqual([true, true]);
    for (let index = 0; index < most; index++) limited.delete(keys[index] as string, 1000 + index);
    expect(() => limited.delete(keys[most] as string, 2000)).toThrow(StoreFullError);
    limited.core.verify();
  });

  it('is worked out of what there is also when memory was out between the two chunks that a version needs', () => {
    const HEADERS = 18_432;
    const { exports, bytes } = withKey();
    // Room for a chunk of headers, and not for the chunk of versions that it is for.
    exports.setMemoryLimit(exports.claimedBytes() + HEADERS + 3000);
    expect(exports.append(0, 1, 1, 1, 1, 0, 0)).toBe(STATUS_FULL);
    expect(exports.memoryPart(TABLES)).toBe(bytes + HEADERS);
    // The host has memory again.
    exports.setMemoryLimit(1 << 24);
    expect(exports.reserve(0, 200, 2000, 10)).toBe(STATUS_OK);
    expect(exports.reserve(200, 0, 0, 0)).toBe(STATUS_OK);
    for (let commit = 1; commit <= 200; commit++) {
      expect(exports.append(0, commit, commit, 1, 1, 0, 0)).toBeGreaterThanOrEqual(0);
    }
    expect(exports.verify()).toBe(0);
  });
});

/** Part of the account of memory, `assembly/account.ts`. */
const TABLES = 6;

/** A core with one key and no version, and how many bytes its tables have. */
function withKey(): { exports: CoreExports; bytes: number } {
  const { exports } = new CoreInstance(coreModule());
  expect(exports.internKey(exports.keyRegion(), 1)).toBe(0);
  return { exports, bytes: exports.memoryPart(TABLES) };
}
