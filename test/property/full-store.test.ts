import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/open-store.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { StoreFullError } from '../../src/types/errors.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';

/** Programs that a store fails whose deletes of several keys leave no room: few others do. */
const KNOWN = [107, 302];
const MEMORY_BYTES = 1 << 20;
const RETENTIONS = [undefined, { events: 1 }, { events: 10 }, { events: 300 }, { bytes: 10 }] as const;

/** Whether the store had room for it. */
async function fits(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error;
    return false;
  }
}

/**
 * Fills a store, by puts of a random kind, until it takes no more; then deletes of every size are tried, most of them too
 * large. Whatever was refused and whatever was taken: reads work, and single deletes, with a compaction after each that is
 * refused, empty it (M37).
 */
async function program(seed: number): Promise<void> {
  const random = createSeededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const clock = createVirtualClock();
  const retention = RETENTIONS[below(RETENTIONS.length)];
  const store = await openStore<string>({
    clock,
    memoryBytesMax: MEMORY_BYTES,
    limits: { txnOperations: 100_000 },
    ...(retention === undefined ? {} : { retention }),
  });
  const share = [0, 0.1, 0.5, 0.9][below(4)] ?? 0;
  const { id: lease } = await store.grantLease({ ttlMs: 1000 });
  const nameBytes = below(2) === 0 ? 0 : below(200);
  const keys: string[] = [];
  const name = (): string => `${below(1e9).toString(36)}/${'n'.repeat(below(nameBytes + 1))}`;
  const options = (): { lease?: string } => (random() < share ? { lease } : {});
  for (let key = name(); await fits(() => store.put(key, 'v', options())); key = name()) keys.push(key);
  const pick = (): string => keys[below(keys.length)] ?? '';
  const rewrites = below(3) === 0 ? 0 : below(2000);
  for (let count = 0; count < rewrites && (await fits(() => store.put(pick(), 'w', { ignoreLease: true }))); count++);

  for (let tries = below(12); tries > 0; tries--) {
    const chosen = Array.from(new Set(Array.from({ length: 1 + below(2) * below(60) + below(4) * below(4) }, pick)));
    const large = random() < 0.3 ? keys.slice(below(keys.length)) : chosen;
    await fits(() => store.txn({ then: [...new Set(large)].map((key) => ({ type: 'delete', key })) }));
    if (random() < 0.2) await fits(() => store.put(pick(), 'x'));
    if (random() < 0.5 && store.revision > store.compactRevision) await store.compact(store.revision);
  }

  const isExpired = share > 0 && random() < 0.7;
  if (isExpired) {
    await clock.advance(1000);
    const left = store.range({ prefix: '', keysOnly: true }).kvs.filter((kv) => kv.lease === lease);
    expect(left.length, 'keys of the lease that has expired').toBe(0);
  }
  const { kvs, count } = store.range({ prefix: '', keysOnly: true });
  expect(kvs.length).toBe(count);
  const order = random() < 0.5 ? kvs : [...kvs].sort(() => random() - 0.5);
  for (const { key } of order) {
    if (await fits(() => store.delete(key))) continue;
    if (store.revision > store.compactRevision) await store.compact(store.revision);
    expect(await fits(() => store.delete(key)), 'a single delete after a compaction').toBe(true);
  }
  expect(store.range({ prefix: '', countOnly: true }).count).toBe(0);
  if (store.revision > store.compactRevision) await store.compact(store.revision);
  expect(await fits(() => store.put('again', 'v'))).toBe(true);
  await store.close();
}

describe('a store at its memory limit', () => {
  it('M37: can be read, and emptied key by key, whatever was refused before; leases expire', async () => {
    const programs = sized({ smoke: 24, full: 1000 });
    const seeds = [...KNOWN, ...Array.from({ length: programs }, (_, index) => testSeed() + index)];
    for (const seed of seeds) {
      try {
        await program(seed);
      } catch (error) {
        throw new Error(`program ${seed} fails; ${reproduce('property')}`, { cause: error });
      }
    }
  });
});
