import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/open-store.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Revision } from '../../src/types/revision.ts';
import type { Store } from '../../src/types/store.ts';
import type { Isolation, UpdateTxn } from '../../src/types/update.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';

/**
 * Concurrent updates whose functions wait in the middle, let go in a random order: what each isolation promises holds for
 * all orders (store:R50), and what it does not promise does go wrong in some of them.
 */
const RUNS = sized({ smoke: 100, full: 5000 });
const KEYS = ['a', 'b', 'c'];

/** What one function has read, in its last run. */
type Reads = Map<string, Revision>;

interface World {
  readonly store: Store<number>;
  readonly random: () => number;
  /** Waits until the driver lets it go on. */
  readonly gate: () => Promise<void>;
}

/** Runs `start`'s updates to their end, each step of one of them at a time, in an order that only the seed decides. */
async function interleave<T>(
  run: number,
  start: (world: World) => Promise<T>[],
): Promise<{ world: World; results: T[] }> {
  const random = createSeededRandom(testSeed() + run);
  const store = await openStore<number>({ clock: createVirtualClock(), random });
  const waiting: (() => void)[] = [];
  const gate = () => new Promise<void>((resolve) => void waiting.push(resolve));
  const world = { store, random, gate };
  let isOver = false;
  const all = Promise.all(start(world)).finally(() => {
    isOver = true;
  });
  // What rejects is heard by the await at the end; the loop must not run on meanwhile.
  for (let idle = 0; !isOver && idle < 100; ) {
    for (let turn = 0; turn < 1 + random() * 12; turn++) await undefined;
    const [next] = waiting.splice(Math.floor(random() * waiting.length), 1);
    idle = next === undefined ? idle + 1 : 0;
    next?.();
  }
  return { world, results: await all };
}

async function each(isolation: Isolation, check: (run: number, isolation: Isolation) => Promise<void>): Promise<void> {
  for (let run = 0; run < RUNS; run++) {
    try {
      await check(run, isolation);
    } catch (error) {
      throw new Error(`run ${run} of ${isolation} (${reproduce('property')})`, { cause: error });
    }
  }
}

/** Each adds one to the counter, and waits between reading and writing. Returns how many additions were lost. */
async function lostIncrements(run: number, isolation: Isolation): Promise<number> {
  const count = 2 + (run % 5);
  const { world, results } = await interleave(run, ({ store, gate }) =>
    Array.from({ length: count }, () =>
      store.update(
        async (txn) => {
          const before = txn.get('n') ?? 0;
          await gate();
          txn.put('n', before + 1);
          return before;
        },
        { isolation },
      ),
    ),
  );
  const lost = count - (world.store.get('n')?.value ?? 0);
  // Answers that were committed are the states that were built on; each revision is one commit.
  if (lost === 0) expect(new Set(results.map(({ value }) => value)).size).toBe(count);
  expect(new Set(results.map(({ revision }) => revision)).size).toBe(count);
  await world.store.close();
  return lost;
}

/** Two doctors, one of whom must stay on call: each may leave if the other is there. Returns how many are left. */
async function onCall(run: number, isolation: Isolation): Promise<number> {
  const leave = async (txn: UpdateTxn<number>, own: string, gate: World['gate']) => {
    const others = ['x', 'y'].filter((name) => name !== own);
    await gate();
    const isCovered = others.some((name) => txn.get(name) === 1) && txn.get(own) === 1;
    await gate();
    if (isCovered) txn.put(own, 0);
  };
  const { world } = await interleave(run, ({ store, gate }) => [
    (async () => {
      await store.putAll([
        { key: 'x', value: 1 },
        { key: 'y', value: 1 },
      ]);
      await Promise.all(['x', 'y'].map((own) => store.update((txn) => leave(txn, own, gate), { isolation })));
    })(),
  ]);
  const left = ['x', 'y'].filter((name) => world.store.get(name)?.value === 1).length;
  await world.store.close();
  return left;
}

interface RandomUpdate {
  readonly revision: Revision;
  readonly reads: Reads;
  readonly written: readonly string[];
  /** The newest revision when the function first read, 0 if it did not. */
  readonly first: Revision;
}

/** Updates that read and write keys at random, beside plain writes. */
async function randomUpdates(
  run: number,
  isolation: Isolation,
): Promise<{ store: Store<number>; done: RandomUpdate[] }> {
  const pick = (random: () => number) => KEYS[Math.floor(random() * KEYS.length)] as string;
  const { world, results } = await interleave(run, ({ store, random, gate }) =>
    Array.from({ length: 4 }, async (_, index): Promise<RandomUpdate | undefined> => {
      if (index === 3) {
        for (let write = 0; write < 3; write++) {
          await gate();
          await (random() < 0.3 ? store.delete(pick(random)) : store.put(pick(random), write));
        }
        return undefined;
      }
      let reads: Reads = new Map();
      let written: string[] = [];
      let first = 0;
      const { revision } = await store.update(
        async (txn) => {
          reads = new Map();
          written = [];
          first = 0;
          for (let step = 0; step < 4; step++) {
            const key = pick(random);
            if (random() < 0.6) {
              if (first === 0) first = store.revision;
              reads.set(key, txn.modRevision(key));
            } else {
              txn.put(key, index);
              written.push(key);
            }
            await gate();
          }
        },
        { isolation },
      );
      return { revision, reads, written, first };
    }),
  );
  return { store: world.store, done: results.filter((one) => one !== undefined) };
}

/** The mod revision that a commit found, which is that of the revision before it. */
function modBefore(store: Store<number>, key: string, { revision, written }: RandomUpdate): Revision {
  return store.get(key, { revision: written.length > 0 ? Math.max(revision - 1, 1) : revision })?.modRevision ?? 0;
}

function readsAreUnchanged(store: Store<number>, update: RandomUpdate): boolean {
  return [...update.reads].every(([key, modRevision]) => modBefore(store, key, update) === modRevision);
}

/** All reads are of the state at the first read. */
function readsAreOneState(store: Store<number>, { reads, first }: RandomUpdate): boolean {
  return [...reads].every(([key, mod]) => (store.get(key, { revision: first })?.modRevision ?? 0) === mod);
}

function writesAreUnchanged(store: Store<number>, update: RandomUpdate): boolean {
  if (update.first === 0) return true;
  return update.written.every((key) => modBefore(store, key, update) <= update.first);
}

type Property = (store: Store<number>, update: RandomUpdate) => boolean;

const PROMISES: readonly (readonly [Isolation, Readonly<Record<string, Property>>])[] = [
  ['serializable-snapshot', { readsAreUnchanged, readsAreOneState, writesAreUnchanged }],
  ['serializable', { readsAreUnchanged, readsAreOneState }],
  ['repeatable-reads', { readsAreUnchanged }],
];

describe('update', () => {
  it.each(['serializable-snapshot', 'serializable', 'repeatable-reads'] as const)(
    '%s loses no increment (store:R50, C68)',
    (isolation) =>
      each(isolation, async (run) => {
        expect(await lostIncrements(run, isolation)).toBe(0);
      }),
  );

  it('read-committed loses increments, which these interleavings show', async () => {
    let lost = 0;
    await each('read-committed', async (run, isolation) => {
      lost += await lostIncrements(run, isolation);
    });
    expect(lost).toBeGreaterThan(RUNS / 10);
  });

  it.each(['serializable-snapshot', 'serializable'] as const)('%s has no write skew', (isolation) =>
    each(isolation, async (run) => {
      expect(await onCall(run, isolation)).toBe(1);
    }),
  );

  it('read-committed has write skew, which these interleavings show', async () => {
    let skews = 0;
    await each('read-committed', async (run, isolation) => {
      if ((await onCall(run, isolation)) === 0) skews++;
    });
    expect(skews).toBeGreaterThan(RUNS / 20);
  });

  it.each(PROMISES)('%s: what it promises of reads and writes holds at the commit', async (isolation, promises) => {
    let updates = 0;
    await each(isolation, async (run) => {
      const { store, done } = await randomUpdates(run, isolation);
      for (const [name, holds] of Object.entries(promises)) {
        for (const update of done) expect([name, update, holds(store, update)]).toEqual([name, update, true]);
      }
      updates += done.length;
      await store.close();
    });
    expect(updates).toBe(RUNS * 3);
  });

  it.each([
    ['serializable', 'writesAreUnchanged', writesAreUnchanged],
    ['repeatable-reads', 'readsAreOneState', readsAreOneState],
    ['read-committed', 'readsAreUnchanged', readsAreUnchanged],
  ] as const)('%s does not promise %s, which these interleavings show', async (isolation, _name, holds) => {
    let broken = 0;
    await each(isolation, async (run) => {
      const { store, done } = await randomUpdates(run, isolation);
      broken += done.filter((update) => !holds(store, update)).length;
      await store.close();
    });
    expect(broken).toBeGreaterThan(0);
  });
});
