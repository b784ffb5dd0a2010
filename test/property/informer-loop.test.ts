import { describe, expect, it } from 'vitest';
import { createFetchTransport } from '../../src/kubernetes/create-fetch-transport.ts';
import { createInformer } from '../../src/kubernetes/create-informer.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { openTestApiServer } from '../../src/testing/test-api-server.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { Consumer } from './informer-consumer.ts';
import { LoopWorld, losing, type Thing } from './informer-loop-world.ts';

/**
 * An informer on a test API server that changes at random and to which everything is done that networks and servers do: refusals,
 * 410, breaks before, in and behind answers, silence, states that are over, half lines, garbage, events twice, and events that are lost. In virtual
 * time.
 *
 * At every moment: a delta fits to the one before it, nobody goes back in time, no life comes back that has ended, one watch at most is
 * open. In the end: what is known is what is there, and when it has stopped nothing is left of it.
 */

const PROGRAMS = sized({ smoke: 60, full: 3000 });
const STEPS = 50;

describe('an informer', () => {
  it('knows what is there in the end, whatever happens: IN2 to IN24', async () => {
    const random = createSeededRandom(testSeed());
    const met: Record<string, number> = {
      lost: 0,
      relists: 0,
      missed: 0,
      expired: 0,
      inactiveWatches: 0,
      streamedLists: 0,
      failedLists: 0,
    };
    for (let program = 0; program < PROGRAMS; program++) {
      const hint = `${reproduce('test/property/informer-loop')}, program ${program}`;
      const clock = createVirtualClock();
      const server = await openTestApiServer({ clock, random: createSeededRandom(program) });
      const world = new LoopWorld(server, random);
      const consumer = new Consumer<Thing>();
      const plain = createFetchTransport({
        baseUrl: 'http://api.test',
        fetch: server.fetch,
        clock,
        token: () => 'token',
      });
      let isLossy = program % 3 === 0;
      const transport = losing(plain, () => {
        const isLost = isLossy && random() < 0.1;
        if (isLost) met.lost = (met.lost ?? 0) + 1;
        return isLost;
      });
      const isSlow = program % 4 === 1;
      const wrong: unknown[] = [];
      const informer = createInformer<Thing>({
        transport,
        clock,
        random,
        resource: { version: 'v1', resource: 'configmaps' },
        selectors: { labelSelector: 'app=web' },
        streamingList: program % 2 === 0 ? 'auto' : 'never',
        pageLimit: 2,
        deltasMax: 3,
        // A server that answers from an old state tells of ended lives again, and a program goes on for longer than the 10 minutes for which they
        // are remembered by default.
        tombstoneMs: 86_400_000,
        onDeltas: async (deltas) => {
          if (isSlow) await new Promise<void>((resolve) => void clock.after(world.upTo(5000), resolve));
          consumer.take(deltas);
        },
        onError: (error, { during }) => {
          if (during === 'handler') wrong.push(error);
        },
      });
      informer.start();
      for (let step = 0; step < STEPS; step++) {
        const luck = random();
        if (luck < 0.45) await world.change();
        else if (luck < 0.65) world.harm();
        else if (luck < 0.68) {
          await informer.stop();
          informer.start();
        } else if (luck < 0.7) informer.relist();
        else await clock.advance(world.upTo(luck < 0.95 ? 3000 : 300_000));
        await clock.settle();
        expect(server.openWatches.configmaps ?? 0, `${hint}, step ${step}`).toBeLessThanOrEqual(1);
        expect(informer.stats().openWatches, `${hint}, step ${step}`).toBeLessThanOrEqual(1);
      }
      world.heal();
      isLossy = false;
      // Longer than any pause, deadline or silence; what was lost only a list tells.
      await clock.advance(400_000);
      if (program % 3 === 0) {
        informer.relist();
        await clock.advance(60_000);
      }
      expect(wrong, hint).toEqual([]);
      expect(informer.state().isSynced, hint).toBe(true);
      expect(new Map(informer.entries()), hint).toEqual(world.truth);
      expect(consumer.known, hint).toEqual(world.truth);
      for (const name of ['relists', 'expired', 'inactiveWatches', 'streamedLists', 'failedLists'] as const) {
        met[name] = (met[name] ?? 0) + informer.stats()[name];
      }
      met.missed = (met.missed ?? 0) + informer.stats().core.missed;
      for (const [what, count] of Object.entries(world.met)) met[what] = (met[what] ?? 0) + count;
      await informer.stop();
      expect(server.openWatches, hint).toEqual({});
      await server.close();
      expect(clock.pending, hint).toBe(0);
    }
    // Nothing that is claimed was left out of the programs.
    for (const [what, count] of Object.entries(met)) expect([what, count > 0]).toEqual([what, true]);
  });
});
