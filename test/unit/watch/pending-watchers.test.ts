import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { type Pending, PendingWatchers } from '../../../src/watch/pending-watchers.ts';

/** Against a list, with what is kept in memory. */
interface Entry extends Pending {
  state: string;
  position: number;
  readonly name: number;
}

function open() {
  const pending = new PendingWatchers<Entry>();
  const entry = (position: number, name = 0): Entry => ({ state: 'pending', position, name });
  const leave = (one: Entry): void => {
    const { position } = one;
    // One that ended has the position that it had, one that is idle has none.
    one.state = one.name % 2 === 0 ? 'idle' : 'ended';
    if (one.state === 'idle') one.position = 0;
    pending.left(position);
  };
  return { pending, entry, leave };
}

describe('pending watchers', () => {
  it.each([1, 2, 3, 4, 5, 6])('those below a revision are taken in the order of their positions: seed %i', (seed) => {
    const random = createSeededRandom(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    const { pending, entry, leave } = open();
    const present = new Set<Entry>();
    let revision = 1;
    for (let step = 0; step < 4000; step++) {
      const act = below(20);
      if (act < 9) {
        // Most wait at the newest revision; some that resumed, anywhere.
        const one = entry(below(4) === 0 ? 1 + below(revision) : revision, step);
        pending.add(one);
        present.add(one);
      } else if (act < 18) {
        const all = [...present];
        const one = all[below(all.length)];
        if (one !== undefined) {
          present.delete(one);
          leave(one);
        }
      } else if (act === 18) {
        revision += 1 + below(5);
      } else if (below(20) === 0) {
        const floor = below(revision + 2);
        const expected = [...present].filter(({ position }) => position < floor);
        const taken = pending.takeBelow(floor);
        expect(new Set(taken)).toEqual(new Set(expected));
        expect(taken.length).toBe(expected.length);
        expect(taken.map(({ position }) => position)).toEqual(
          expected.map(({ position }) => position).sort((a, b) => a - b),
        );
        for (const one of taken) present.delete(one);
      }
      expect(pending.size).toBe(present.size);
    }
    expect(pending.takeBelow(Number.POSITIVE_INFINITY).length).toBe(present.size);
    expect([pending.size, pending.held]).toEqual([0, { entries: 0, positions: 0 }]);
  });

  it('one position: those that left are kept while they are not more than those that are there, or 32', () => {
    for (const count of [32, 33, 100]) {
      const { pending, entry, leave } = open();
      const all = Array.from({ length: count }, (_, name) => entry(5, name));
      for (const one of all) pending.add(one);
      let left = 0;
      for (const one of all) {
        leave(one);
        left++;
        const { entries, positions } = pending.held;
        const here = count - left;
        if (here === 0) expect([entries, positions]).toEqual([0, 0]);
        else if (count === 32) expect(entries).toBe(32);
        else expect(entries <= 32 || entries <= 2 * here).toBe(true);
        if (count === 33 && here === 17) expect(entries).toBe(33);
        if (count === 100 && here === 50) expect(entries).toBe(100);
      }
    }
  });

  it('positions that nobody waits at any more: no more than those in use, or 32', () => {
    for (const order of ['first', 'last', 'middle']) {
      const { pending, entry, leave } = open();
      const all = Array.from({ length: 100 }, (_, name) => entry(name + 1, name));
      for (const one of all) pending.add(one);
      const leaving = [...all];
      while (leaving.length > 0) {
        const place = order === 'first' ? 0 : order === 'last' ? leaving.length - 1 : leaving.length >> 1;
        leave(leaving.splice(place, 1)[0] as Entry);
        const { positions } = pending.held;
        expect(positions <= 32 || positions <= 2 * leaving.length).toBe(true);
        if (order === 'first') expect(positions).toBe(leaving.length);
        if (order !== 'first' && leaving.length === 50) expect(positions).toBe(100);
      }
    }
  });

  it('up to 32 positions are never swept', () => {
    const { pending, entry, leave } = open();
    const all = Array.from({ length: 32 }, (_, name) => entry(name + 1, name));
    for (const one of all) pending.add(one);
    for (const one of all.slice(1)) leave(one);
    expect(pending.held).toEqual({ entries: 1, positions: 32 });
    expect(pending.takeBelow(100)).toEqual([all[0]]);
  });

  it('the positions that are left after a sweep are in order', () => {
    const { pending, entry, leave } = open();
    const all = Array.from({ length: 100 }, (_, name) => entry(((name * 37) % 100) + 1, name));
    for (const one of all) pending.add(one);
    for (const one of all) if (one.position % 3 !== 2) leave(one);
    expect(pending.held.positions).toBeLessThan(70);
    const expected = all.filter(({ state }) => state === 'pending').map(({ position }) => position);
    expect(pending.takeBelow(1000).map(({ position }) => position)).toEqual(expected.sort((a, b) => a - b));
  });

  it('nobody waits at 0, nor at a position that is not known: nothing happens', () => {
    const { pending, entry } = open();
    pending.add(entry(5));
    pending.left(0);
    pending.left(4);
    expect([pending.size, pending.takeBelow(5), pending.takeBelow(6).length, pending.size]).toEqual([1, [], 1, 0]);
  });
});
