import { expect, it } from 'vitest';
import { createFetchTransport } from '../../src/kubernetes/create-fetch-transport.ts';
import { createInformer } from '../../src/kubernetes/create-informer.ts';
import { createSeededRandom } from '../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../src/testing/virtual-clock.ts';
import { reproduce, sized, testSeed } from '../support/size.ts';
import { foldOf, type Recorded, ReplayServer, readStream } from './informer-stream.ts';

/** A recorded stream of real objects through an informer, over a server that breaks off all the time: IN10, IN13, IN15, IN16. */

const RUNS = sized({ smoke: 1, full: 10 });

it('a stream that breaks off all the time comes to its own end: nothing is missing, no ghost is left', async () => {
  const random = createSeededRandom(testSeed());
  const lines = readStream(random);
  const truth = foldOf(lines, lines.length);
  const met = new Map<string, number>();
  for (let run = 0; run < RUNS; run++) {
    const hint = `${reproduce('test/property/informer-stream')}, run ${run}`;
    const clock = createVirtualClock();
    const server = new ReplayServer(lines, random);
    const ended = new Set<string>();
    const known = new Map<string, Recorded>();
    const wrong: unknown[] = [];
    const informer = createInformer<Recorded>({
      transport: createFetchTransport({ baseUrl: 'http://api.test', fetch: server.fetch, clock }),
      resource: { version: 'v1', resource: 'things' },
      clock,
      random,
      streamingList: 'never',
      onDeltas: (deltas) => {
        for (const delta of deltas) {
          if (delta.type === 'deleted') {
            ended.add(delta.old.metadata.uid);
            known.delete(delta.old.metadata.uid);
          } else {
            expect(ended).not.toContain(delta.object.metadata.uid);
            known.set(delta.object.metadata.uid, delta.object);
          }
        }
      },
      onError: (error, { during }) => {
        if (during === 'handler' || during === 'object') wrong.push(error);
      },
    });
    informer.start();
    for (let turn = 0; !server.isOver; turn++) {
      expect(turn, hint).toBeLessThan(5000);
      await clock.advance(5000);
    }
    // The last lines may have been cut off, and a list may be due.
    await clock.advance(200_000);
    expect(wrong, hint).toEqual([]);
    expect(new Map(informer.entries().map(([, object]) => [object.metadata.uid, object])), hint).toEqual(truth);
    expect(known, hint).toEqual(truth);
    for (const [what, count] of Object.entries(server.met)) met.set(what, (met.get(what) ?? 0) + count);
    await informer.stop();
    expect(clock.pending, hint).toBe(0);
  }
  expect(met.size).toBeGreaterThan(0);
  for (const [what, count] of met) expect([what, count > 0]).toEqual([what, true]);
});
