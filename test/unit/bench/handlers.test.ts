import { describe, expect, it } from 'vitest';
import { type Entry, PEERS, PLIMSOLL } from '../../../bench/handlers/contestants.mjs';
import { KeyQueue } from '../../../bench/handlers/key-queue.mjs';
import { Ledger, lagOf } from '../../../bench/handlers/ledger.mjs';
import { caseNames, handlerCase } from '../../../bench/handlers/suite.mjs';
import { measureCase } from '../../../bench/harness/measure.mjs';
import { createController, createStoreSource, openStore } from '../../../src/mod.ts';

type Facts = Parameters<typeof handlerCase>[3];

const KIT = { openStore, createStoreSource, createController };
const SIZE = { objects: 12, changes: 3, burstChanges: 24 };

function tools(): Parameters<typeof measureCase>[1] {
  let time = 0;
  return { rounds: 2, rate: () => 1, now: () => ++time, collectGarbage: () => {} };
}

async function outcomesOf(caseName: string, entries: readonly Entry[]) {
  const facts: Facts = { outcomes: {} };
  await measureCase(
    handlerCase(caseName, KIT, entries, facts, () => {}, SIZE),
    tools(),
  );
  return facts.outcomes[caseName] ?? {};
}

describe('handlerCase', () => {
  it.each(caseNames())(
    '%s: everybody brings every object to its last state, and who may not miss does not',
    async (caseName) => {
      const outcomes = await outcomesOf(caseName, [PLIMSOLL, ...PEERS]);
      expect(Object.keys(outcomes)).toEqual([PLIMSOLL, ...PEERS].map(({ name }) => name));
      const { plimsoll: own, 'informer and work queue': loop } = outcomes;
      expect(own).toMatchObject({ misses: 0, repeated: 0 });
      expect(own?.callsByNeeded).toBeLessThanOrEqual(1);
      expect(loop).toMatchObject({ misses: 0 });
      expect(loop?.calls).toBe(loop?.needed);
      expect(own?.memory === undefined).toBe(caseName !== 'steady change');
    },
  );

  it('refuses to time one that leaves out a call', async () => {
    const lazy: Entry = {
      ...PLIMSOLL,
      name: 'lazy',
      open: (kit, source, work) =>
        PLIMSOLL.open(kit, source, { ...work, plan: (object) => work.plan(object).slice(1) }),
    };
    await expect(outcomesOf('burst of 10', [PLIMSOLL, lazy])).rejects.toThrow(
      'lazy gives a wrong answer to "handlers not on the last state"',
    );
  });
});

describe('the ledger', () => {
  it('counts states, repetitions and misses', () => {
    let time = 0;
    const ledger = new Ledger(['a', 'b'], () => time);
    ledger.changed('x', 1);
    ledger.ended('a', 'x', 1);
    ledger.ended('a', 'x', 1);
    time = 5;
    ledger.changed('x', 2);
    time = 9;
    ledger.ended('a', 'x', 2);
    expect([ledger.calls, ledger.repeated, ledger.states, ledger.needed, ledger.misses]).toEqual([3, 1, 2, 4, 1]);
    expect([ledger.handled('a'), ledger.handled('b'), ledger.lags]).toEqual([1, 0, []]);
    ledger.ended('b', 'x', 2);
    expect([ledger.misses, ledger.lags, ledger.lagOf('x')]).toEqual([0, [4], 4]);
  });

  it('reads quantiles off the sorted lags', () => {
    const lags = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(lagOf(lags)).toEqual({ p50Ms: 50, p99Ms: 99, maxMs: 100 });
    expect(lagOf([7])).toEqual({ p50Ms: 7, p99Ms: 7, maxMs: 7 });
  });
});

describe('the queue of the peers', () => {
  it('runs a name again that was added meanwhile, one at a time, and tries a failure again later', async () => {
    const log: string[] = [];
    const later: [number, () => void][] = [];
    const after = (delayMs: number, fn: () => void) => later.push([delayMs, fn]);
    const queue: KeyQueue = new KeyQueue(async (name) => {
      log.push(`begin ${name}`);
      if (log.length === 1) queue.add(name);
      await undefined;
      log.push(`end ${name}`);
      if (log.length === 4) throw new Error('broken');
      return 'done';
    }, after);
    queue.add('x');
    queue.add('x');
    let isIdle = false;
    void queue.idle().then(() => {
      isIdle = true;
    });
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect([log, later.map(([delayMs]) => delayMs), isIdle]).toEqual([
      ['begin x', 'end x', 'begin x', 'end x'],
      [500],
      false,
    ]);
    later[0]?.[1]();
    await queue.idle();
    expect([log.length, isIdle]).toEqual([6, true]);
  });
});
