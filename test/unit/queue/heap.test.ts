import { describe, expect, it } from 'vitest';
import { Heap } from '../../../src/queue/heap.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

describe('a heap', () => {
  it('has the least item on top, whatever is pushed and popped', () => {
    const random = createSeededRandom(testSeed());
    for (let round = 0; round < 50; round++) {
      const heap = new Heap<number>((a, b) => a - b);
      const items: number[] = [];
      for (let step = 0; step < 200; step++) {
        if (random() < 0.6) {
          const item = Math.floor(random() * 50);
          heap.push(item);
          items.push(item);
        } else {
          items.sort((a, b) => a - b);
          expect([heap.peek(), heap.pop()], reproduce('unit')).toEqual([items[0], items.shift()]);
        }
        expect(heap.size).toBe(items.length);
      }
    }
  });
});
