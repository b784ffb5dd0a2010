import { describe, expect, it } from 'vitest';
import { createInformerCore } from '../../src/kubernetes/create-informer-core.ts';
import type { InformerCore } from '../../src/kubernetes/informer-core.ts';
import type { InformerDelta } from '../../src/kubernetes/informer-delta.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { Consumer } from './informer-consumer.ts';
import { InformerWorld, type Thing } from './informer-world.ts';

/**
 * The informer core beside a server that changes at random, over a connection that loses nothing while it lasts but delivers
 * late, twice, and again after a reconnect; lists come in pages, of any server, also one that is behind, and fail half-way.
 *
 * After every step: a delta fits to the one before it, nobody goes back in time, no life comes back that has ended, and what is
 * known is what the server had at the version that was delivered.
 */

const PROGRAMS = sized({ smoke: 300, full: 20_000 });
const STEPS = 60;

describe('the informer core', () => {
  it('follows a server over any connection: IN2, IN3, IN4, IN6 to IN11', () => {
    const random = createSeededRandom(testSeed());
    const upTo = (max: number) => Math.floor(random() * (max + 1));
    const met = { replays: 0, stale: 0, failed: 0, left: 0, recreated: 0, missed: 0 };
    for (let program = 0; program < PROGRAMS; program++) {
      const world = new InformerWorld(random);
      const core = createInformerCore<Thing>({ clock: createVirtualClock(), isSelective: true });
      const consumer = new Consumer<Thing>();
      /** The version up to which everything was delivered, -1 before the first list. */
      let delivered = -1;
      const list = (version: number): void => {
        const items = [...world.matching(version).values()];
        const pages = core.beginList();
        const fails = random() < 0.2;
        while (items.length > 0) {
          const { deltas } = pages.add(items.splice(0, 1 + upTo(2)));
          consumer.take(deltas);
          // Before the end only another life under the name takes anything away.
          met.recreated += deltas.filter(({ type }) => type === 'deleted').length;
        }
        if (fails) {
          met.failed++;
          return;
        }
        consumer.take(pages.end(String(version)).deltas);
        // What it knew better stays: a server that is behind takes nothing back.
        if (version < delivered) met.stale++;
        delivered = Math.max(delivered, version);
      };
      const watch = (count: number): void => {
        for (const { version, event } of world.sent.filter(({ version: one }) => one > delivered).slice(0, count)) {
          const { deltas } = core.apply(event);
          consumer.take(deltas);
          if (deltas.some((delta) => delta.type === 'deleted' && delta.reason !== 'deleted')) met.left++;
          delivered = version;
        }
      };
      /** A watch that was resumed too early, or a server that sends twice: anything from before, in its order. */
      const replay = (): void => {
        const old = world.sent.filter(({ version }) => version <= delivered);
        for (const { event } of old.slice(upTo(old.length))) {
          const { deltas } = core.apply(event);
          expect(deltas).toEqual([]);
          met.replays++;
        }
      };
      for (let step = 0; step < STEPS; step++) {
        const luck = random();
        if (luck < 0.55) world.change();
        else if (delivered < 0 || luck < 0.63) list(upTo(3) === 0 ? 1 + upTo(world.version - 1) : world.version);
        else if (luck < 0.9) watch(1 + upTo(4));
        else replay();
        if (delivered < 0) continue;
        const hint = `${reproduce('test/property/informer')}, program ${program}, step ${step}`;
        expect(new Map(core.entries()), hint).toEqual(consumer.known);
      }
      watch(Number.POSITIVE_INFINITY);
      consumer.take(endOf(core, world));
      expect(new Map(core.entries()), reproduce('test/property/informer')).toEqual(world.matching());
      met.missed += core.stats.missed;
    }
    // Nothing that is claimed was left out of the programs.
    for (const [what, count] of Object.entries(met)) expect([what, count > 0]).toEqual([what, true]);
  });

  it('without a list after it, what a watch has delivered is the state: nothing more, nothing less', () => {
    const random = createSeededRandom(testSeed() + 1);
    for (let program = 0; program < PROGRAMS; program++) {
      const world = new InformerWorld(random);
      const core = createInformerCore<Thing>({ clock: createVirtualClock(), isSelective: true });
      for (let change = 0; change < 5; change++) world.change();
      const first = core.beginList();
      first.add([...world.matching().values()]);
      first.end(String(world.version));
      const begun = world.version;
      for (let change = 0; change < STEPS; change++) {
        world.change();
        const news = world.sent.filter(({ version }) => version === world.version);
        const old = world.sent.filter(({ version }) => version > begun && version < world.version);
        // Late, twice and out of order among what was there before.
        for (const { event } of [...news, ...old.slice(-6), ...news]) {
          if (random() < 0.8 || news.some((one) => one.event === event)) core.apply(event);
        }
        expect(new Map(core.entries()), reproduce('test/property/informer')).toEqual(world.matching());
      }
    }
  });
});

/** The list that ends all doubt. */
function endOf(core: InformerCore<Thing>, world: InformerWorld): readonly InformerDelta<Thing>[] {
  const list = core.beginList();
  const { deltas } = list.add([...world.matching().values()]);
  return [...deltas, ...list.end(String(world.version)).deltas];
}
