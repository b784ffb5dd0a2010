import { describe, expect, it, vi } from 'vitest';
import { measureCase, WrongAnswerError } from '../../../bench/harness/measure.mjs';
import { fanOutFindings, wakeUpFindings } from '../../../bench/watch/checks.mjs';
import { flatness, wakeUpFacts, wakeUpLine } from '../../../bench/watch/hub-share.mjs';
import { EmitterWatchers, ListWatchers, PrefixMapStore } from '../../../bench/watch/plain-peers.mjs';
import { caseNames, plainPeers, watchCase } from '../../../bench/watch/suite.mjs';
import { StreamWatchers } from '../../../bench/watch/watchers.mjs';
import { openStore } from '../../../src/mod.ts';

type Entry = Parameters<typeof watchCase>[1][number];
type Watchers = Awaited<ReturnType<Entry['open']>>;
type Watches = ConstructorParameters<typeof StreamWatchers>[0];
type Facts = Parameters<typeof watchCase>[2];

const COUNT = 40;
const SIZE = { operations: 60, checked: 10 };

const own: Entry = {
  name: 'plimsoll',
  open: async () => new StreamWatchers((await openStore()) as unknown as Watches),
};

function tools(): Parameters<typeof measureCase>[1] {
  let time = 0;
  return { rounds: 2, rate: () => 1, now: () => ++time, collectGarbage: () => {} };
}

async function measure(caseName: string, entries: readonly Entry[], facts: Facts = { wakeUps: {} }) {
  return measureCase(await watchCase(caseName, entries, facts, COUNT, SIZE), tools());
}

describe('watchCase', () => {
  it.each(caseNames())('%s: everybody answers rightly, before and after', async (caseName) => {
    const line = vi.spyOn(console, 'error').mockReturnValue();
    const { n, subject, peers } = await measure(caseName, [own, ...plainPeers()]);
    line.mockRestore();
    expect(n).toBe(COUNT);
    const compared = caseName.endsWith('points') ? [] : ['startsWith over all'];
    expect(peers.map(({ name }) => name)).toEqual([...compared, 'EventEmitter by path', 'Map of prefixes']);
    for (const { rates } of [subject, ...peers]) expect(rates.length).toBe(2);
  });

  it('reports the share of the hub for each number of watchers, and how flat it is', async () => {
    const line = vi.spyOn(console, 'error').mockReturnValue();
    const facts: Facts = { wakeUps: {} };
    await measure('wake-up 1k', [own, ...plainPeers()], facts);
    expect(facts.flat).toBeUndefined();
    await measure('wake-up 100k', [own, ...plainPeers()], facts);
    expect(line).toHaveBeenCalledTimes(2);
    line.mockRestore();
    expect(Object.keys(facts.wakeUps)).toEqual(['wake-up 1k', 'wake-up 100k']);
    expect(facts.wakeUps['wake-up 1k']).toMatchObject({ watchers: COUNT, rounds: 2 });
    expect(facts.flat?.putAndDelivery).toBeGreaterThan(0);
  });

  it.each(['wake-up 1k', 'wake-up 10k of one prefix'])('%s ends when a watcher gets nothing', async (caseName) => {
    const deaf: Entry = { name: 'deaf', open: async () => broken({ open: () => {} }) };
    await expect(measure(caseName, [own, deaf])).rejects.toThrow(/watcher \d+ got nothing/);
  });

  it('refuses watchers that are woken after they were closed', async () => {
    const undead: Entry = { name: 'undead', open: async () => broken({ close: () => {} }) };
    const measured = measure('open and close a watch 100k', [own, undead]);
    await expect(measured).rejects.toThrow(WrongAnswerError);
    await expect(measured).rejects.toThrow('closed, but woken');
  });
});

/** Watchers, a list of prefixes if nothing else is said, with some of their calls replaced. */
function broken(
  faults: Partial<Watchers> | ((whole: Watchers) => Partial<Watchers>),
  watchers: Watchers = new ListWatchers(),
): Watchers {
  const whole: Watchers = {
    put: (key, value) => watchers.put(key, value),
    open: (range, place) => watchers.open(range, place),
    close: (place) => watchers.close(place),
    arrival: (place) => watchers.arrival(place),
    rearm: (place) => watchers.rearm(place),
    read: (arrival) => watchers.read(arrival),
    waiting: () => watchers.waiting(),
    end: () => watchers.end(),
  };
  return { ...whole, ...(typeof faults === 'function' ? faults(whole) : faults) };
}

const FAULTS: readonly (readonly [string, (whole: Watchers) => Partial<Watchers>])[] = [
  ['wakes the neighbour', (whole) => ({ arrival: (place) => whole.arrival(place ^ 1) })],
  ['wakes a second watcher as well', (whole) => ({ waiting: async () => [...(await whole.waiting()), 7] })],
  [
    'delivers twice',
    (whole) => ({
      put: async (key, value) => {
        await whole.put(key, value);
        return whole.put(key, value);
      },
    }),
  ],
  ['delivers another value', (whole) => ({ put: (key, value) => whole.put(key, `${value}x`) })],
  ['says another revision', (whole) => ({ put: async (key, value) => (await whole.put(key, value)) + 1 })],
  [
    'calls a put a delete',
    (whole) => ({
      read: (arrival) => {
        const delivery = whole.read(arrival);
        return delivery && { ...delivery, events: delivery.events.map((event) => ({ ...event, type: 'delete' })) };
      },
    }),
  ],
  ['never wakes anybody', () => ({ open: () => {} })],
  ['wakes for what is in no range', (whole) => ({ open: (_, place) => whole.open({ prefix: '/' }, place) })],
];

async function wrong(findings: ReturnType<typeof wakeUpFindings>): Promise<readonly string[]> {
  return (await findings)
    .filter(({ actual, expected }) => JSON.stringify(actual) !== JSON.stringify(expected))
    .map(({ what }) => what);
}

async function asked(watchers: Watchers): Promise<readonly string[]> {
  for (let place = 0; place < 4; place++) await watchers.open({ prefix: `/a/${place}/` }, place);
  const keys = ['/a/0/x', '/a/3/x'];
  return wrong(wakeUpFindings(watchers, { places: [0, 3], keys, unwatched: '/b/1' }));
}

async function fannedOut(watchers: Watchers): Promise<readonly string[]> {
  for (let place = 0; place < 4; place++) await watchers.open({ prefix: '/a/' }, place);
  return wrong(fanOutFindings(watchers, { count: 4, key: '/a/x', unwatched: '/b/1' }));
}

describe('wakeUpFindings', () => {
  it.each<[string, () => Watchers | Promise<Watchers>]>([
    ['the store', own.open],
    ['a list', () => new ListWatchers()],
    ['an emitter', () => new EmitterWatchers()],
    ['Maps', () => new StreamWatchers(new PrefixMapStore())],
  ])('pass %s, and so do those of a fan-out', async (_, open) => {
    expect(await asked(await open())).toEqual([]);
    expect(await fannedOut(await open())).toEqual([]);
  });

  it.each(FAULTS)('catch one that %s', async (_, fault) => {
    expect(await asked(broken(fault))).not.toEqual([]);
  });

  it.each(FAULTS.filter(([name]) => name !== 'wakes the neighbour'))('catch a fan-out that %s', async (_, fault) => {
    expect(await fannedOut(broken(fault))).not.toEqual([]);
  });

  it('wait for nobody who was not woken', async () => {
    const silent = broken({ arrival: () => new Promise(() => {}) }, await own.open());
    expect(await asked(silent)).toHaveLength(2);
  });
});

describe('the share of the hub', () => {
  const rounds = [
    { matchUs: 9, hotMatchUs: 6, noMatchUs: 5, noWatchersUs: 4 },
    { matchUs: 4, hotMatchUs: 3, noMatchUs: 3.5, noWatchersUs: 1 },
    { matchUs: 4.5, hotMatchUs: 3.5, noMatchUs: 3, noWatchersUs: 2 },
  ];

  it('is the median of what a match adds in each round, not the difference of medians', () => {
    const facts = wakeUpFacts(100, rounds);
    expect(facts).toEqual({
      watchers: 100,
      rounds: 3,
      putAndDeliveryUs: 4.5,
      putAndDeliveryHotUs: 3.5,
      putWithoutMatchUs: 3.5,
      putWithoutWatchersUs: 2,
      hubUs: 1.5,
      probeUs: 1,
      goalUs: 5,
      isGoalMet: true,
      aimUs: 1,
      isAimMet: false,
    });
    expect(wakeUpLine(facts)).toBe(
      '100 watchers: put and delivery 4.5 us (goal 5 us: met), 3.5 us hot; hub 1.5 us (aim 1 us: missed), 1 us when nobody matches',
    );
  });

  it('misses goal and aim at exactly their times, which they are to stay below', () => {
    const at = wakeUpFacts(1, [{ matchUs: 5, hotMatchUs: 5, noMatchUs: 4, noWatchersUs: 4 }]);
    expect([at.isGoalMet, at.isAimMet]).toEqual([false, false]);
    const below = wakeUpFacts(1, [{ matchUs: 4.9, hotMatchUs: 5, noMatchUs: 4, noWatchersUs: 4 }]);
    expect([below.isGoalMet, below.isAimMet]).toEqual([true, true]);
  });

  it('is flat when many watchers cost what few cost', () => {
    const few = wakeUpFacts(1000, rounds);
    expect(flatness(few, few)).toEqual({ putAndDelivery: 1, hot: 1, hub: 1 });
    const many = { ...few, putAndDeliveryUs: 9, putAndDeliveryHotUs: 7, hubUs: 4.5 };
    expect(flatness(few, many)).toEqual({ putAndDelivery: 2, hot: 2, hub: 3 });
  });
});
