import type { CoreExports } from '../../src/core/abi.ts';
import type { Part } from './part.ts';
import { watchedIndex } from './watched-index.ts';

/**
 * Blocks at the end of what is claimed, each in its turn: a structure grows up to a memory limit at which that block is
 * the last one, is thinned out so that the block can become full, and is read from each of its last entries as it does.
 * What then reads behind the block's end reads what nobody has claimed; elsewhere it would read a neighbour and go unseen.
 */
export function checkEnds(part: Part): void {
  for (const [name, { add, thin, read }] of Object.entries(STRUCTURES)) {
    part.check(`the ends of the blocks of ${name}`, () => {
      const limits = new Set<number>();
      const free = watchedIndex();
      for (let index = 1; index <= ENTRIES; index++) {
        add(free, index);
        limits.add(free.claimedBytes());
      }
      for (const limit of limits) {
        const core = watchedIndex();
        core.setMemoryLimit(limit);
        let last = 1;
        while (last < ENTRIES && add(core, last) >= 0) last++;
        thin(core, last);
        for (const end = last + 250; last < end && add(core, last) >= 0; last++) {
          for (let back = 0; back < 4; back++) read(core, Math.max(1, last - back));
        }
      }
    });
  }
}

interface Structure {
  /** Adds the entry of a number; negative when there is no room. */
  add(core: CoreExports, index: number): number;
  thin(core: CoreExports, last: number): void;
  read(core: CoreExports, index: number): void;
}

function place(core: CoreExports, index: number): number {
  new Uint8Array(core.memory.buffer).set(Buffer.from(String(index).padStart(KEY_BYTES, '0')), core.keyRegion());
  return core.keyRegion();
}

/** The next version of a key; negative as well when there is no room for the key. */
function append(core: CoreExports, key: number, commit: number): number {
  const keyId = core.internKey(place(core, key), KEY_BYTES);
  return keyId < 0 ? keyId : core.append(keyId, commit, commit, commit, 1, 0, 0);
}

function readVersions(core: CoreExports, commit: number): void {
  for (const start of [commit, commit >> 1]) {
    const key = place(core, start);
    core.range(key, KEY_BYTES, 0, commit, 0);
    core.range(key, KEY_BYTES, 0, Number.POSITIVE_INFINITY, 0);
    core.nextCommit(key, KEY_BYTES, 0, commit, 0);
    core.replay(key, KEY_BYTES, 0, commit, 0, 0xffffffff);
    core.eventsAt(key, KEY_BYTES, 0, commit, 0);
    core.slotAt(core.findKey(key, KEY_BYTES), commit);
  }
}

function compact(core: CoreExports, commit: number): void {
  while (core.compactStep(commit, 1000) === 0) {
    if (new Uint32Array(core.memory.buffer, core.outputPointer(), 3)[2] === 1) return;
  }
}

const STRUCTURES: Readonly<Record<string, Structure>> = {
  'the key index': {
    add: (core, index) => core.insertKey(place(core, index), KEY_BYTES),
    thin: (core, last) => {
      for (let index = 1; index < last / 4; index++) core.removeKey(core.findKey(place(core, index), KEY_BYTES));
    },
    read: (core, index) => {
      core.listKeys(place(core, index), KEY_BYTES, 0, 0);
      core.count(place(core, index), KEY_BYTES, 0, Number.POSITIVE_INFINITY);
      core.rankOf(place(core, index), KEY_BYTES);
      core.keyAtRank(index);
    },
  },
  'many keys': { add: (core, index) => append(core, index >> 1, index), thin: compact, read: readVersions },
  'one key': { add: (core, index) => append(core, 1, index), thin: compact, read: readVersions },
};

/** More than a page of anything holds. */
const ENTRIES = 1300;
const KEY_BYTES = 9;
