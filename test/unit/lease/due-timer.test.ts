import { describe, expect, it, vi } from 'vitest';
import { ExpiryQueue } from '../../../src/lease/expiry-queue.ts';
import { Lessor } from '../../../src/lease/lessor.ts';
import { createSeededRandom } from '../../../src/system/seeded-random.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Clock } from '../../../src/types/clock.ts';
import { testSeed } from '../../support/size.ts';

const GRANT = 'grant a lease';
const KEEP = 'keep a lease alive';

/** Books that remove what is due when their timer says so, as a store does. Counts the timers that were ever set. */
function open(onDue?: (lessor: Lessor, now: number) => void) {
  const clock = createVirtualClock();
  const counts = { set: 0, calls: 0 };
  const gone: (readonly [id: string, at: number])[] = [];
  const counting: Pick<Clock, 'now' | 'after'> = {
    now: () => clock.now(),
    after(delayMs, fn) {
      counts.set++;
      return clock.after(delayMs, fn);
    },
  };
  const removeAll = () => {
    for (let most = lessor.size; most > 0; most--) {
      const due = lessor.next(clock.now());
      if (due === undefined) break;
      gone.push([due.id, clock.now()]);
      lessor.remove(due.id);
    }
  };
  const lessor: Lessor = new Lessor({
    clock: counting,
    random: createSeededRandom(testSeed()),
    leasesMax: 1e6,
    onDue() {
      counts.calls++;
      if (onDue === undefined) removeAll();
      else onDue(lessor, clock.now());
    },
  });
  return { clock, counts, gone, lessor, removeAll };
}

describe('the timer of the leases', () => {
  it('is set while there is a lease, once, for the earliest deadline', async () => {
    const { clock, counts, gone, lessor } = open();
    expect(clock.pending).toBe(0);
    for (const ttlMs of [300, 100, 200]) lessor.grant(ttlMs, String(ttlMs), GRANT);
    expect([clock.pending, counts.set]).toEqual([1, 2]);
    await clock.advance(1000);
    expect(gone).toEqual([
      ['100', 100],
      ['200', 200],
      ['300', 300],
    ]);
    expect([clock.pending, counts.calls]).toEqual([0, 3]);
  });

  it('goes with the last lease', () => {
    const { clock, lessor } = open();
    lessor.grant(100, '1', GRANT);
    lessor.grant(200, '2', GRANT);
    lessor.remove('1');
    expect(clock.pending).toBe(1);
    lessor.remove('2');
    expect(clock.pending).toBe(0);
  });

  it('is not set anew by renewals, which add nothing to the queue either', async () => {
    const { clock, counts, lessor } = open();
    const add = vi.spyOn(ExpiryQueue.prototype, 'add');
    for (let id = 1; id <= 100; id++) lessor.grant(1000, String(id), GRANT);
    for (let ms = 0; ms < 5000; ms++) {
      for (let id = 1; id <= 10; id++) lessor.keepAlive(String(id + 10 * (ms % 10)), KEEP);
      await clock.advance(1);
    }
    expect(add).toHaveBeenCalledTimes(100);
    add.mockRestore();
    // 50,000 renewals in 5 s. Each firing finds the earliest deadline between 990 and 1000 ms away.
    expect([lessor.size, counts.calls, counts.set <= 7, clock.pending]).toEqual([100, 0, true, 1]);
  });

  it('looks again when it comes too early, and calls nobody then', async () => {
    const { clock, counts, gone, lessor } = open();
    lessor.grant(100, '1', GRANT);
    await clock.advance(60);
    lessor.keepAlive('1', KEEP);
    await clock.advance(99);
    expect([counts.calls, gone]).toEqual([0, []]);
    await clock.advance(1);
    expect([counts.calls, gone]).toEqual([1, [['1', 160]]]);
  });

  it('calls again after a second for what is still due, and does not spin', async () => {
    const { clock, counts, lessor } = open(() => {});
    lessor.grant(100, '1', GRANT);
    await clock.advance(3099);
    expect([counts.calls, clock.pending]).toEqual([3, 1]);
    lessor.remove('1');
    expect(clock.pending).toBe(0);
  });

  it('is earlier than that for a lease which is granted meanwhile', async () => {
    const { clock, counts, gone, lessor, removeAll } = open((_, now) => {
      if (now > 100) removeAll();
    });
    lessor.grant(100, '1', GRANT);
    await clock.advance(100);
    lessor.remove('1');
    lessor.grant(50, '2', GRANT);
    await clock.advance(50);
    expect([counts.calls, gone]).toEqual([2, [['2', 150]]]);
  });

  it('is in time for the next lease when somebody else has removed what it could not', async () => {
    const { clock, counts, gone, lessor, removeAll } = open((_, now) => {
      if (now > 100) removeAll();
    });
    for (const ttlMs of [99, 100, 150, 170]) lessor.grant(ttlMs, String(ttlMs), GRANT);
    await clock.advance(100);
    lessor.remove('99');
    lessor.remove('100');
    expect(clock.pending).toBe(1);
    await clock.advance(70);
    expect(gone).toEqual([
      ['150', 150],
      ['170', 170],
    ]);
    expect([counts.calls, clock.pending]).toEqual([3, 0]);
  });

  it('is set once for all that is removed in one call, and for what is granted in it', async () => {
    const { clock, counts, lessor } = open((books, now) => {
      for (let most = books.size; most > 0; most--) books.remove(books.next(now)?.id ?? '');
      if (now === 100) books.grant(20, '1', GRANT);
    });
    for (let id = 2; id < 50; id++) lessor.grant(100, String(id), GRANT);
    lessor.grant(200, '99', GRANT);
    await clock.advance(150);
    expect([counts.calls, counts.set, lessor.ids()]).toEqual([2, 3, ['99']]);
  });

  it('goes on after a failure, which is the clock to report', async () => {
    const { clock, counts, gone, lessor, removeAll } = open((_, now) => {
      if (now < 1000) throw new Error('no room');
      removeAll();
    });
    lessor.grant(100, '1', GRANT);
    await expect(clock.advance(100)).rejects.toThrow('no room');
    expect(clock.pending).toBe(1);
    await clock.advance(1000);
    expect([counts.calls, gone, clock.pending]).toEqual([2, [['1', 1100]], 0]);
  });

  it('stays away after close, while the books can be read', async () => {
    const { clock, counts, lessor } = open();
    lessor.grant(100, '1', GRANT);
    lessor.close();
    lessor.close();
    expect(clock.pending).toBe(0);
    lessor.grant(10, '2', GRANT);
    await clock.advance(1000);
    expect([clock.pending, counts.calls, lessor.ids()]).toEqual([0, 0, ['1', '2']]);
  });

  it('may be closed by whoever it calls', async () => {
    const { clock, lessor } = open((books) => books.close());
    lessor.grant(100, '1', GRANT);
    await clock.advance(5000);
    expect(clock.pending).toBe(0);
  });
});
