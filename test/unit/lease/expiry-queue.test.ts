import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Expiring, ExpiryQueue } from '../../../src/lease/expiry-queue.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { reproduce, testSeed } from '../../support/size.ts';

const steps = fc.array(
  fc.record({
    op: fc.constantFrom('add', 'add', 'update', 'remove', 'take'),
    pick: fc.nat(),
    // Of a clock that has parts of milliseconds.
    deadline: fc.integer({ min: 0, max: 24 }).map((halves) => halves / 2),
  }),
  { minLength: 20, maxLength: 120 },
);

/** By deadline, then by id as a number: the long way. */
function ordered(items: Iterable<Expiring>): Expiring[] {
  return [...items].sort((a, b) => a.deadline - b.deadline || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

function drain(queue: ExpiryQueue<Expiring>): string[] {
  const ids: string[] = [];
  for (let most = queue.size; most > 0; most--) {
    const first = queue.first();
    if (first === undefined) break;
    ids.push(first.id);
    queue.remove(first);
  }
  return ids;
}

describe('the queue of expiries', () => {
  it('has first what is due first, whatever is added, changed and removed (M31)', () => {
    return fc.assert(
      fc.property(steps, (program) => {
        const queue = new ExpiryQueue<Expiring>();
        const items = new Set<Expiring>();
        program.forEach(({ op, pick, deadline }, step) => {
          const item = [...items][pick % Math.max(1, items.size)];
          if (op === 'add') {
            // Ids of one to three digits, none twice.
            const added = { id: String(1 + ((step * 37) % 1000)), deadline, place: -1 };
            items.add(added);
            queue.add(added);
          } else if (op === 'update' && item !== undefined) {
            item.deadline = deadline;
            queue.update(item);
          } else if (op === 'remove' && item !== undefined) {
            items.delete(item);
            queue.remove(item);
            expect(item.place).toBe(-1);
          } else if (op === 'take') {
            const first = queue.first();
            expect(first).toBe(ordered(items)[0]);
            if (first === undefined) return;
            items.delete(first);
            queue.remove(first);
          }
          expect([queue.size, queue.first()]).toEqual([items.size, ordered(items)[0]]);
        });
        const expected = ordered(items).map(({ id }) => id);
        expect(drain(queue)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('holds one entry a lease after a million renewals', () => {
    const random = createSeededRandom(testSeed());
    const queue = new ExpiryQueue<Expiring>();
    const items = Array.from({ length: 500 }, (_, index) => ({ id: String(index + 1), deadline: index, place: -1 }));
    for (const item of items) queue.add(item);
    for (let now = 0; now < 1_000_000; now++) {
      const item = items[Math.floor(random() * items.length)] as Expiring;
      item.deadline = now + 1000;
      queue.update(item);
    }
    expect(queue.size, reproduce('unit')).toBe(500);
    const expected = ordered(items).map(({ id }) => id);
    expect(drain(queue)).toEqual(expected);
  });
});
