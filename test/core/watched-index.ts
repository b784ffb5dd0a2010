import type { CoreExports } from '../../src/core/abi.ts';
import type { Zone } from './guarded-scan.ts';
import { createWatchedCore } from './instrumented.ts';

/** How many bytes of the caller a call may read: by the positions of its arguments. */
const LENGTHS: Readonly<Record<string, readonly number[]>> = {
  internKey: [1],
  findKey: [1],
  range: [1, 2],
  count: [1, 2],
  insertKey: [1],
  listKeys: [1, 2],
  rankOf: [1],
  nextCommit: [1, 2],
  eventsAt: [1, 2],
  replay: [1, 2],
  reserveExact: [1],
};

/** Goes on with the range of the call before, whose bytes are still there. */
const CONTINUES = new Set(['listKeysMore', 'rangeMore', 'eventsMore', 'replayMore']);

/** A core for index and log of whose key region a call may read the bytes it is given, and write none. */
export function watchedIndex(): CoreExports {
  let given: Zone = [0, 0, 'key'];
  let region: Zone = [0, 0, 'keys'];
  let isIn = false;
  const look = (did: string, isLegal: (address: number, bytes: number) => boolean) => {
    return (address: number, bytes: number): void => {
      if (!isIn || bytes === 0) return;
      if (overlaps(region, address, bytes) && !isLegal(address, bytes)) {
        throw new Error(`the core ${did} ${bytes} bytes at ${address - given[0]} of a key of ${given[1] - given[0]}`);
      }
      if (address + bytes > core.claimedBytes()) {
        throw new Error(`the core ${did} ${bytes} bytes at ${address}, behind what is claimed`);
      }
    };
  };
  const core = createWatchedCore(
    look('read', (address, bytes) => address >= given[0] && address + bytes <= given[1]),
    look('wrote', () => false),
  );
  region = [core.keyRegion(), core.keyRegion() + core.keyRegionBytes(), 'keys'];
  const wrapped = Object.entries(core).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value] as const;
    const call = (...numbers: number[]): unknown => {
      const lengths = (LENGTHS[name] ?? []).map((place) => Math.max(0, numbers[place] ?? 0));
      const start = numbers[0] ?? 0;
      if (!CONTINUES.has(name)) given = [start, start + lengths.reduce((sum, length) => sum + length, 0), 'key'];
      isIn = true;
      try {
        return (value as (...all: number[]) => unknown)(...numbers);
      } finally {
        isIn = false;
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(wrapped) as unknown as CoreExports;
}

export function overlaps([start, end]: Zone, address: number, bytes: number): boolean {
  return address < end && address + bytes > start;
}
