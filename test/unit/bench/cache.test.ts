import { describe, expect, it } from 'vitest';
import { ChildrenMap } from '../../../bench/cache/children-map.mjs';
import { bareMap } from '../../../bench/cache/contestants.mjs';
import { type Pod, treePod } from '../../../bench/cache/objects.mjs';
import { cacheCase } from '../../../bench/cache/suite.mjs';
import { Waits } from '../../../bench/cache/waits.mjs';
import * as kit from '../../../src/adapters/kubernetes/mod.ts';

const SIZE = 200;

function factsOf(): Parameters<typeof cacheCase>[3] {
  return { waits: {}, bytesPerRecord: {}, walkMs: {} };
}

/** What is found wrong of each contestant. */
async function wrong(contestants: ReturnType<typeof cacheCase>['peers']): Promise<readonly string[]> {
  const findings = await Promise.all(contestants.map(async (one) => [one.name, await one.check()] as const));
  return findings.flatMap(([name, found]) =>
    found
      .filter(({ actual, expected }) => JSON.stringify(actual) !== JSON.stringify(expected))
      .map(({ what, actual }) => `${name}: ${what} ${JSON.stringify(actual)}`),
  );
}

describe('a walk', () => {
  it('visits the same of each contestant, also of the Map that writes keep', async () => {
    const { subject, peers, close } = cacheCase('walk 100k, fan-out 10', kit, [bareMap()], factsOf(), SIZE);
    for (const one of [subject, ...peers]) await one.sweep?.();
    expect(peers.map(({ name }) => name)).toEqual([
      'a Map of children that writes keep',
      'all children found anew for each walk',
    ]);
    expect(await wrong([subject, ...peers])).toEqual([]);
    await close?.();
  });

  it('of the Map follows what was written last', () => {
    const map = new ChildrenMap();
    const visited = () => {
      const names: string[] = [];
      map.walk('uid-0', ({ metadata }) => names.push(metadata.name));
      return names.sort();
    };
    for (const index of [0, 1, 2, 11]) map.put(treePod(index));
    expect(visited()).toEqual(['pod-0', 'pod-1', 'pod-11', 'pod-2']);
    const moved = treePod(11, 2);
    map.put({ ...moved, metadata: { ...moved.metadata, ownerReferences: [{ uid: 'uid-else' }] } });
    expect(visited()).toEqual(['pod-0', 'pod-1', 'pod-2']);
    map.put(treePod(11, 3));
    map.delete('uid-1');
    expect(visited()).toEqual(['pod-0', 'pod-2']);
    map.put(treePod(1, 2));
    expect(visited()).toEqual(['pod-0', 'pod-1', 'pod-11', 'pod-2']);
  });
});

describe('waits', () => {
  it('are of when an event was due, whenever it was sent; each change is a call', async () => {
    const facts = factsOf();
    const { subject, peers, close } = new Waits(kit, SIZE, 60).case('waits', facts);
    for (const one of [subject, ...peers]) await one.sweep?.();
    expect(await wrong([subject, ...peers])).toEqual([]);
    for (const mode of Object.values(facts.waits)) {
      expect(mode.calls).toBe(mode.commits);
      expect(mode.handled.max).toBeGreaterThanOrEqual(mode.applied.max);
    }
    await close?.();
  });

  it('count the time in which nothing could be sent', async () => {
    const HELD_MS = 100;
    const facts = factsOf();
    const { subject } = new Waits(storeAtOnce({}), SIZE, 200).case('waits', facts);
    const swept = subject.sweep?.();
    // Whoever stamps when it sends does not see that the loop was held up.
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const until = performance.now() + HELD_MS; performance.now() < until; );
    await swept;
    expect(await wrong([subject])).toEqual([]);
    const { events, loopMaxMs, applied, handled } = facts.waits[subject.name] as (typeof facts.waits)[string];
    expect(events).toBe(2000);
    for (const atLeast of [loopMaxMs, applied.max, handled.max]) expect(atLeast).toBeGreaterThanOrEqual(HELD_MS - 1);
  });

  it.each([
    ['a walk that misses something', { visited: SIZE - 1 }, /^plimsoll: what was wrong meanwhile .*visited 199 of 200/],
    ['a call that is left out', { skips: 7 }, /^plimsoll: calls of the handler/],
    ['a view from before the call', { behind: 1 }, /^plimsoll: what was wrong meanwhile .*the view is of/],
  ])('find %s', async (_, faults, what) => {
    const { subject } = new Waits(storeAtOnce(faults), SIZE, 10).case('waits', factsOf());
    await subject.sweep?.();
    expect(await wrong([subject])).toEqual([expect.stringMatching(what)]);
  });
});

/** A store whose every event is a commit and a call at once, so that nothing of it waits. */
function storeAtOnce({ visited = SIZE, skips = 0, behind = 0 }: { visited?: number; skips?: number; behind?: number }) {
  const createResourceStore = ({ populate }: { readonly populate: (object: Pod) => unknown }) => {
    let commits = 0;
    let call = (_: object): void => {};
    const versions = new Map<string, Pod['metadata']>();
    return {
      feed: () => ({
        replace: (objects: readonly Pod[]) => {
          commits += objects.length;
        },
        apply: ({ object }: { readonly object: Pod }) => {
          const seq = ++commits;
          versions.set(object.metadata.name, object.metadata);
          populate(object);
          if (seq % 100 >= skips) call({ new: object.metadata, seq, view: { seq: seq - behind } });
        },
      }),
      onResourceUpdated: (handler: typeof call) => {
        call = handler;
      },
      get: ({ name }: { readonly name: string }) => versions.get(name),
      get stats() {
        return { commits, handlers: [{ merged: 0 }] };
      },
      iterateHierarchyInSlices: async () => ({ visited }),
      idle: async () => {},
      flush: () => {},
      close: () => {},
    };
  };
  return { createResourceStore } as unknown as typeof kit;
}
