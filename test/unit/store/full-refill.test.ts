import { describe, expect, it } from 'vitest';
import { StoreFullError } from '../../../src/types/errors.ts';
import type { Store } from '../../../src/types/store.ts';
import { openTestStore } from './fixture.ts';

/**
 * M37: a full store can be emptied by single deletes and compaction in turn, and filled again with the same keys. Of keys of 1 to 3 kB
 * 1 MiB holds a few hundred, so that the brim is before the end of a page of the log, of 1,024 entries: that page cannot be
 * emptied then, and no block of a deleted key is as large as a page.
 */
const LENGTHS = [8, 256, 1050, 1150, 1300, 2000, 2100, 2500, 3000] as const;

const isFull = (error: unknown): boolean => {
  if (!(error instanceof StoreFullError)) throw error;
  return true;
};

/** How many keys went in before one was refused. */
async function fill(store: Store<string>, key: (index: number) => string): Promise<number> {
  for (let index = 0; ; index++) {
    const isRefused = await store.put(key(index), '').then(() => false, isFull);
    if (isRefused) return index;
  }
}

/** The page's recipe: one at a time, and a compaction where one is refused. Returns how many keys are left when that does not help. */
async function empty(store: Store<string>, keys: readonly string[]): Promise<number> {
  for (const key of keys) {
    if (!(await store.delete(key).then(() => false, isFull))) continue;
    await store.compact(store.revision);
    if (await store.delete(key).then(() => false, isFull)) break;
  }
  return store.range({ prefix: '', countOnly: true }).count;
}

describe('a store that is full', () => {
  it.each(LENGTHS)('of keys of %d bytes is emptied and filled again, three times', async (length) => {
    const { store, clock } = await openTestStore<string>({ memoryBytesMax: 1_048_576 });
    const key = (index: number) => String(index).padEnd(length, 'x');
    const first = await fill(store, key);
    for (let round = 0; round < 2; round++) {
      const keys = Array.from({ length: round === 0 ? first : store.range({ prefix: '' }).count }, (_, at) => key(at));
      // From the front, then from the back.
      expect(await empty(store, round === 0 ? keys : keys.reverse())).toBe(0);
      await store.compact(store.revision);
      await clock.advance(1000);
      // Short keys share what was cut into small blocks; of long ones all comes back.
      expect(await fill(store, key)).toBeGreaterThanOrEqual(first * (length < 512 ? 0.85 : 0.99));
    }
    await store.close();
  });
});
