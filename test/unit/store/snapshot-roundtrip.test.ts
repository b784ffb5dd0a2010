import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Core } from '../../../src/core/core.ts';
import { type OpenStoreOptions, openStore } from '../../../src/open-store.ts';
import { jsonCodec } from '../../../src/store/codecs.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Key } from '../../../src/types/revision.ts';
import type { Store } from '../../../src/types/store.ts';
import type { Operation } from '../../../src/types/txn.ts';
import { sized } from '../../support/size.ts';
import { Reader } from './fixture.ts';

/** Everything that a store can be asked, at every legal revision, and what it answers. */
async function picture(store: Store<unknown, Key>, everything: { prefix: Key }): Promise<unknown> {
  const { revision, compactRevision } = store;
  const states: unknown[] = [];
  for (let at = Math.max(compactRevision, 1); at <= revision; at++)
    states.push(store.range({ ...everything, revision: at }));
  const watches: unknown[] = [];
  for (let from = 1; from <= revision + 1; from++) {
    for (const prevKv of [false, true]) {
      const reader = await new Reader(store.watch(everything, { fromRevision: from, prevKv })).drain();
      watches.push([from, prevKv, reader.batches, reader.error, reader.watch.progressRevision]);
      await reader.watch.return();
    }
  }
  const leases: unknown[] = [];
  for (const id of await store.leases()) leases.push(await store.leaseTimeToLive(id, { keys: true }));
  const { keys } = store.stats();
  return { revision, compactRevision, keys, states, watches, leases };
}

type Step =
  | { readonly op: 'put'; readonly key: number; readonly value: number; readonly lease: number }
  | { readonly op: 'delete'; readonly key: number }
  | { readonly op: 'txn'; readonly puts: readonly number[]; readonly then: readonly number[] }
  | { readonly op: 'compact'; readonly back: number }
  | { readonly op: 'grant'; readonly id: number; readonly ttlMs: number }
  | { readonly op: 'revoke'; readonly id: number }
  | { readonly op: 'advance'; readonly ms: number };

const KEYS = ['a', 'a\0', 'ab', 'b', '\u00e9', '\ue000', '\u{1f600}'];
const VALUES: readonly unknown[] = [
  '',
  'text \u{1f600}',
  '\ufeffmark',
  Uint8Array.of(),
  Uint8Array.of(0, 255, 128),
  0,
  -1.5e300,
  true,
  null,
  [],
  { b: [1, { a: null }], '': 'x', 1: 2, ['__proto__']: 3 },
  'long '.repeat(40),
];

const key = fc.nat(KEYS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ op: fc.constant('put'), key, value: fc.nat(), lease: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('delete'), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('txn'),
      puts: fc.uniqueArray(key, { maxLength: 4 }),
      then: fc.uniqueArray(key, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('compact'), back: fc.nat(6) }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('grant'), id: fc.nat(3), ttlMs: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('revoke'), id: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('advance'), ms: fc.nat(20) }) },
) as fc.Arbitrary<Step>;

interface World {
  readonly store: Store<unknown, Key>;
  readonly clock: VirtualClock;
  readonly keyAt: (index: number) => Key;
  readonly valueAt: (index: number) => unknown;
}

/** Wrong calls (a lease that is not there, a compaction behind) are refused by every store alike. */
async function run({ store, clock, keyAt, valueAt }: World, step: Step, ownLeases: boolean): Promise<void> {
  switch (step.op) {
    case 'put': {
      const lease = step.lease === 5 && ownLeases ? { ttlMs: 30 } : { lease: String(step.lease) };
      await Promise.allSettled([store.put(keyAt(step.key), valueAt(step.value), lease)]);
      return;
    }
    case 'delete':
      await store.delete(keyAt(step.key));
      return;
    case 'txn': {
      // First nested puts, then deletes of a later nested transaction: a key may change twice in one commit.
      const puts: Operation<unknown, Key>[] = step.puts.map((at) => ({
        type: 'put',
        key: keyAt(at),
        value: valueAt(at),
      }));
      const deletes: Operation<unknown, Key>[] = step.then.map((at) => ({ type: 'delete', key: keyAt(at) }));
      await store.txn({
        then: [
          { type: 'txn', then: puts },
          { type: 'txn', then: deletes },
        ],
      });
      return;
    }
    case 'compact':
      await Promise.allSettled([store.compact(store.revision - step.back)]);
      return;
    case 'grant':
      await Promise.allSettled([store.grantLease({ id: String(step.id + 1), ttlMs: step.ttlMs })]);
      return;
    case 'revoke':
      await Promise.allSettled([store.revokeLease(String(step.id + 1))]);
      return;
    case 'advance':
      await clock.advance(step.ms);
  }
}

const cores = new Set<Core>();
const { compactStep } = Core.prototype;

beforeAll(() => {
  Core.prototype.compactStep = function (this: Core, revision: number, budget: number) {
    cores.add(this);
    return compactStep.call(this, revision, budget);
  };
});

afterAll(() => {
  Core.prototype.compactStep = compactStep;
});

const FORMS: readonly { name: string; options: OpenStoreOptions<unknown, Key> }[] = [
  { name: 'text keys', options: {} },
  { name: 'bytes as keys', options: { keys: 'bytes' } as never },
  { name: 'shared values', options: { values: 'trusted' } },
  { name: 'a codec', options: { codec: jsonCodec() } },
  { name: 'little history', options: { retention: { events: 4 } } },
];

describe('a store of a snapshot', () => {
  it.each(FORMS)(
    'is the store that it was made of, and goes on as it does: $name',
    async ({ options }) => {
      const encoder = new TextEncoder();
      const isBytes = options.keys === 'bytes';
      const keyAt = (at: number): Key => (isBytes ? encoder.encode(KEYS[at]) : (KEYS[at] as string));
      const everything = { prefix: isBytes ? new Uint8Array() : '' };
      const values = options.codec === undefined ? VALUES : VALUES.filter((value) => !(value instanceof Uint8Array));
      const valueAt = (at: number) => values[at % values.length];
      const open = openStore as (options: OpenStoreOptions<unknown, Key>) => Promise<Store<unknown, Key>>;
      const program = fc.array(step, { minLength: 1, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(program, program, async (before, after) => {
          cores.clear();
          const clock = createVirtualClock();
          const store = await open({ clock, random: createSeededRandom(1), ...options });
          for (const one of before) await run({ store, clock, keyAt, valueAt }, one, true);
          const snapshot = await store.createSnapshot();
          const restored = await open({ clock, random: createSeededRandom(2), ...options, snapshot });
          const worlds = [store, restored].map((one) => ({ store: one, clock, keyAt, valueAt }));
          expect(await picture(restored, everything)).toEqual(await picture(store, everything));
          for (const core of cores) core.verify();
          for (const one of after) {
            const isTime = one.op === 'advance';
            for (const world of isTime ? worlds.slice(1) : worlds) await run(world, one, false);
          }
          expect(await picture(restored, everything)).toEqual(await picture(store, everything));
          await clock.advance(100);
          expect(await picture(restored, everything)).toEqual(await picture(store, everything));
          for (const core of cores) core.verify();
          const [old, young] = [store.stats(), restored.stats()];
          expect(young).toEqual({ ...old, memoryBytes: young.memoryBytes });
          // One from the other, and both the same.
          const again = await restored.createSnapshot();
          const third = await open({ clock, ...options, snapshot: again });
          expect(await picture(third, everything)).toEqual(await picture(store, everything));
          for (const one of [store, restored, third]) await one.close();
        }),
        { numRuns: sized({ smoke: 25, full: 500 }) },
      );
    },
    300_000,
  );
});
