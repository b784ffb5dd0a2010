import { describe, expect, it } from 'vitest';
import { measureCase, WrongAnswerError } from '../../../bench/harness/measure.mjs';

interface Turn {
  readonly name: string;
  readonly round: number;
}

/** Contestants that each need a fixed time for a sweep of 100 operations, on a clock that only they move. */
function workshop(): {
  readonly turns: Turn[];
  readonly log: string[];
  readonly contestant: (
    name: string,
    ms: number,
    right?: (checks: number) => boolean,
  ) => Parameters<typeof measureCase>[0]['subject'];
  readonly tools: (rounds: number) => Parameters<typeof measureCase>[1];
} {
  const turns: Turn[] = [];
  const log: string[] = [];
  let time = 0;
  return {
    turns,
    log,
    contestant(name, ms, right = () => true) {
      let checks = 0;
      return {
        name,
        check: () => {
          log.push(`check ${name}`);
          return [{ what: 'the sum of 1 and 1', actual: right(checks++) ? 2 : 3, expected: 2 }];
        },
        prepare: (round) => {
          turns.push({ name, round });
          // Preparation takes long, and must not count.
          time += 1000;
        },
        sweep: () => {
          log.push(`sweep ${name}`);
          time += ms;
          return 100;
        },
      };
    },
    tools: (rounds) => ({
      rounds,
      rate: () => 0,
      now: () => time,
      // What goes on beside it for a while has to have ended as well.
      collectGarbage: async () => {
        await Promise.resolve();
        log.push('collect');
        time += 500;
      },
    }),
  };
}

describe('measureCase', () => {
  it('takes turns: every round everyone once, each time another first, after one warm-up', async () => {
    const { turns, contestant, tools } = workshop();
    const [subject, ...peers] = ['a', 'b', 'c'].map((name) => contestant(name, 1));
    if (subject === undefined) throw new Error('no subject');
    await measureCase({ name: 'x', n: 1, subject, peers }, tools(3));
    const rounds = [-1, 0, 1, 2].map((wanted) => turns.filter(({ round }) => round === wanted));
    expect(rounds.map((round) => round.map(({ name }) => name).join(''))).toEqual(['abc', 'abc', 'bca', 'cab']);
    expect(turns.map(({ round }) => round)).toEqual([-1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });

  it('times the sweep alone, and gives one rate a round', async () => {
    const { contestant, tools } = workshop();
    const subject = contestant('a', 50);
    const measured = await measureCase({ name: 'x', n: 7, bytes: 9, subject, peers: [contestant('b', 200)] }, tools(4));
    expect(measured).toEqual({
      name: 'x',
      n: 7,
      bytes: 9,
      subject: { name: 'a', rates: [2000, 2000, 2000, 2000] },
      peers: [{ name: 'b', rates: [500, 500, 500, 500] }],
    });
  });

  it('collects garbage right before every sweep, for everyone alike', async () => {
    const { log, contestant, tools } = workshop();
    await measureCase({ name: 'x', n: 1, subject: contestant('a', 1), peers: [contestant('b', 1)] }, tools(2));
    const sweeps = log.flatMap((entry, place) => (entry.startsWith('sweep') ? [log[place - 1]] : []));
    expect(sweeps).toEqual(['collect', 'collect', 'collect', 'collect', 'collect', 'collect']);
  });

  it('checks everyone before the first round and after the last', async () => {
    const { log, contestant, tools } = workshop();
    await measureCase({ name: 'x', n: 1, subject: contestant('a', 1), peers: [contestant('b', 1)] }, tools(1));
    const order = log.filter((entry) => entry !== 'collect').join(', ');
    expect(order).toBe('sweep a, sweep b, check a, check b, sweep a, sweep b, check a, check b');
  });

  it.each([
    ['a subject', 'a', 0],
    ['a peer', 'b', 0],
    ['a subject that goes wrong while it is measured', 'a', 1],
    ['a peer that goes wrong while it is measured', 'b', 1],
  ])('refuses %s that answers wrongly', async (_, wrong, check) => {
    const { contestant, tools } = workshop();
    const [subject, peer] = ['a', 'b'].map((name) => contestant(name, 1, (at) => name !== wrong || at !== check));
    if (subject === undefined || peer === undefined) throw new Error('no contestants');
    const measuring = measureCase({ name: 'x', n: 1, subject, peers: [peer] }, tools(2));
    await expect(measuring).rejects.toThrow(WrongAnswerError);
    await expect(measuring).rejects.toThrow(
      `Cannot measure "x": ${wrong} gives a wrong answer to "the sum of 1 and 1": 3 instead of 2`,
    );
  });

  it('refuses a contestant that cannot be checked, and a sweep that took no time', async () => {
    const { contestant, tools } = workshop();
    const silent = { ...contestant('b', 1), check: () => [] };
    const subject = contestant('a', 1);
    await expect(measureCase({ name: 'x', n: 1, subject, peers: [silent] }, tools(1))).rejects.toThrow(
      'Cannot measure "x": b has no answer that can be checked',
    );
    await expect(measureCase({ name: 'x', n: 1, subject: contestant('c', 0), peers: [] }, tools(1))).rejects.toThrow(
      'Cannot measure c: the sweep took no time',
    );
  });

  it('closes the case, also when it fails, and does fewer rounds where a case says so', async () => {
    const { turns, contestant, tools } = workshop();
    let closed = 0;
    const close = (): void => {
      closed++;
    };
    await measureCase({ name: 'x', n: 1, roundsMax: 2, subject: contestant('a', 1), peers: [], close }, tools(5));
    expect(turns.map(({ round }) => round)).toEqual([-1, 0, 1]);
    const wrong = contestant('a', 1, () => false);
    await expect(measureCase({ name: 'x', n: 1, subject: wrong, peers: [], close }, tools(1))).rejects.toThrow();
    expect(closed).toBe(2);
  });
});
