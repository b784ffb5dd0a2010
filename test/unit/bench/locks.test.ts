import { describe, expect, it } from 'vitest';
import { measureCase } from '../../../bench/harness/measure.mjs';
import { lockFindings } from '../../../bench/locks/checks.mjs';
import { plimsoll } from '../../../bench/locks/contestants.mjs';
import { Ledger } from '../../../bench/locks/load.mjs';
import { caseNames, lockCase } from '../../../bench/locks/suite.mjs';
import { createKeyedLock } from '../../../src/lock/keyed-lock.ts';

type Locks = Parameters<typeof lockFindings>[0];
type Entry = Parameters<typeof lockCase>[2][number];

const SIZE = { operations: 200, keys: 20, queues: 2, waiters: 30, locksEach: 5 };

/** What one would write: each waits for the one before. */
function chain(): Locks {
  let last: Promise<unknown> = Promise.resolve();
  return {
    pass: async (count) => {
      for (let index = 0; index < count; index++) await last;
    },
    run: (_key, _mode, body) => {
      const mine = last.then(body);
      last = Promise.allSettled([mine]);
      return mine;
    },
  };
}

function tools(): Parameters<typeof measureCase>[1] {
  let time = 0;
  return { rounds: 2, rate: () => 1, now: () => ++time, collectGarbage: () => {} };
}

async function wrong(locks: Locks, hasReaders: boolean): Promise<readonly string[]> {
  return (await lockFindings(locks, hasReaders))
    .filter(({ actual, expected }) => JSON.stringify(actual) !== JSON.stringify(expected))
    .map(({ what }) => what);
}

describe('lockCase', () => {
  it.each(caseNames())('%s: everybody answers rightly, before and after', async (caseName) => {
    const peer: Entry = { name: 'a chain', lacks: 'no readers', hasReaders: false, open: chain };
    const facts: Parameters<typeof lockCase>[3] = { waits: {}, notMeasured: {} };
    const { subject, peers } = await measureCase(lockCase(caseName, createKeyedLock, [peer], facts, SIZE), tools());
    expect([subject, ...peers].map(({ name, rates }) => [name, rates.length])).toEqual([
      ['plimsoll', 2],
      ['a chain', 2],
    ]);
    if (caseName.startsWith('uncontended')) return;
    const { plimsoll: own, 'a chain': other } = facts.waits[caseName] ?? {};
    expect(own).toMatchObject({ overtakenMax: 0 });
    expect(own?.beyondPositionMax).toBeLessThanOrEqual(0);
    expect(other?.requests).toBeGreaterThan(0);
  });
});

it('leaves out who cannot have so many waiters, and says so', () => {
  const facts: Parameters<typeof lockCase>[3] = { waits: {}, notMeasured: {} };
  const peer: Entry = { name: 'shallow', lacks: 'depth', hasReaders: false, waitersMax: 29, open: chain };
  const { peers } = lockCase('1000 waiters', createKeyedLock, [peer], facts, SIZE);
  expect([peers, facts.notMeasured]).toEqual([[], { '1000 waiters': ['shallow'] }]);
  expect(lockCase('uncontended', createKeyedLock, [peer], facts, SIZE).peers).toHaveLength(1);
});

describe('lockFindings', () => {
  it('pass ours and a chain', async () => {
    expect(await wrong(plimsoll(createKeyedLock).open(), true)).toEqual([]);
    expect(await wrong(chain(), false)).toEqual([]);
  });

  it('catch one that is said to have readers and has none', async () => {
    expect(await wrong(chain(), true)).toEqual(['readers at a time']);
  });

  it('catch one that serves writers in another order', async () => {
    const stack: (() => void)[] = [];
    let isBusy = false;
    const leave = (): void => {
      const next = stack.pop();
      if (next === undefined) isBusy = false;
      else next();
    };
    const run: Locks['run'] = async (_key, _mode, body) => {
      if (isBusy) await new Promise<void>((resolve) => stack.push(resolve));
      isBusy = true;
      try {
        return await body();
      } finally {
        leave();
      }
    };
    expect(await wrong({ ...chain(), run }, false)).toEqual(['order of 50 writers']);
  });

  it('end with one that does not exclude', async () => {
    const run: Locks['run'] = async (_key, _mode, body) => body();
    await expect(lockFindings({ ...chain(), run }, false)).rejects.toThrow('somebody writes beside others');
  });
});

describe('the ledger', () => {
  it('tells who was overtaken, and how far beyond its position a wait went', () => {
    let time = 0;
    const ledger = new Ledger(() => time);
    const first = ledger.come('write');
    ledger.hold(first);
    const second = ledger.come('write');
    const third = ledger.come('read');
    ledger.go(first);
    time = 5;
    ledger.hold(third);
    ledger.go(third);
    time = 7;
    ledger.hold(second);
    expect(ledger.waits()).toEqual({
      requests: 3,
      p50Ms: 5,
      p99Ms: 7,
      p999Ms: 7,
      maxMs: 7,
      overtakenMax: 1,
      beyondPositionMax: 0,
    });
    expect([ledger.holding, ledger.isBroken]).toEqual([1, false]);
  });
});
