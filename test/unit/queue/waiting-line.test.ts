import { describe, expect, it } from 'vitest';
import { OVERTAKEN_MAX, WaitingLine } from '../../../src/queue/waiting-line.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

describe('a waiting line', () => {
  it("loses no wake-up and gives away no piece twice, whatever is done in which order (A31')", () => {
    const random = createSeededRandom(testSeed());
    const wrong: string[] = [];
    for (let round = 0; round < 200; round++) {
      const limit = 1 + Math.floor(random() * 3);
      const used = new Set<string>();
      const resting = new Set<string>();
      const woken = new Set<string>();
      const line = new WaitingLine({
        free: () => limit - used.size,
        wake: (key) => {
          woken.add(key);
          resting.delete(key);
        },
      });
      for (let step = 0; step < 100; step++) {
        const key = `k${Math.floor(random() * 6)}`;
        const chance = random();
        if (chance < 0.35 && !used.has(key)) {
          resting.delete(key);
          woken.delete(key);
          // A woken key gets what it was woken for.
          if (line.ask(key) && random() < 0.7) {
            expect(line.use(key)).toBe(true);
            used.add(key);
          }
        } else if (chance < 0.6 && !used.has(key)) {
          if (!line.isOpenTo(key)) {
            line.ask(key);
            resting.add(key);
            line.rest(key);
          }
        } else if (chance < 0.65) {
          line.away(key);
          resting.delete(key);
          woken.delete(key);
          if (line.isKeptFor(key)) wrong.push(`a piece is kept for ${key}, who is away`);
        } else if (chance < 0.7) {
          line.leave(key);
          resting.delete(key);
          woken.delete(key);
        } else if (used.delete(key)) {
          line.serve();
        }
        const given = used.size + line.kept;
        if (given > limit) wrong.push(`${given} of ${limit} pieces are given away`);
        if (given < limit && resting.size > 0) wrong.push(`${[...resting]} rest while a piece is free`);
        for (const one of woken) if (!line.isOpenTo(one)) wrong.push(`${one} was woken for nothing`);
      }
    }
    expect(wrong.slice(0, 3), reproduce('unit')).toEqual([]);
  });

  it('serves those who rest in the order in which they asked', () => {
    const woken: string[] = [];
    let free = 0;
    const line = new WaitingLine({ free: () => free, wake: (key) => woken.push(key) });
    for (const key of ['a', 'b', 'c']) line.ask(key);
    for (const key of ['c', 'b', 'a']) line.rest(key);
    free = 2;
    line.serve();
    expect(woken).toEqual(['a', 'b']);
    expect([line.ask('d'), line.use('d'), line.use('a'), line.kept]).toEqual([false, false, true, 1]);
  });

  it('wakes who comes to rest after something has come free', () => {
    const woken: string[] = [];
    let free = 0;
    const line = new WaitingLine({ free: () => free, wake: (key) => woken.push(key) });
    line.ask('a');
    free = 1;
    line.serve();
    expect(woken).toEqual([]);
    line.rest('a');
    expect(woken).toEqual(['a']);
  });

  it('passes over who is busy, but not for ever', () => {
    let free = 0;
    const line = new WaitingLine({ free: () => free, wake: () => {} });
    line.ask('busy');
    for (let turn = 0; turn < OVERTAKEN_MAX; turn++) {
      free = 1;
      expect(line.ask(`k${turn}`)).toBe(true);
      line.use(`k${turn}`);
      free = 0;
    }
    free = 1;
    expect(line.ask('late')).toBe(false);
    expect(line.ask('busy')).toBe(true);
  });
});
