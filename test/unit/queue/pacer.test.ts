import { describe, expect, it } from 'vitest';
import { BURST_MAX, Pacer } from '../../../src/queue/pacer.ts';
import { createVirtualClock } from '../../../src/testing/virtual-clock.ts';

/** Someone who makes `steps` steps as quickly as it can. */
async function work(pacer: Pacer, steps: number, made: () => void): Promise<void> {
  for (let step = 0; step < steps; step++) {
    for (let turn = pacer.step(); turn !== undefined; turn = pacer.step()) await turn;
    made();
    await undefined;
  }
}

describe('a pacer', () => {
  it('lets timers have their turn after so many steps of all together, with one timer', async () => {
    const clock = createVirtualClock();
    const pacer = new Pacer(clock);
    let steps = 0;
    const workers = Array.from({ length: 3 }, () => work(pacer, BURST_MAX, () => steps++));
    await clock.settle();
    expect([steps, clock.pending]).toEqual([BURST_MAX, 1]);
    const seen: number[] = [];
    clock.after(0, () => seen.push(steps));
    await clock.advance(0);
    await Promise.all(workers);
    // The timer that was due had its turn between two bursts.
    expect(seen).toEqual([2 * BURST_MAX]);
    expect([steps, clock.pending]).toEqual([3 * BURST_MAX, 0]);
  });

  it('has no timer while nobody works, and none for a burst that is not full', async () => {
    const clock = createVirtualClock();
    await work(new Pacer(clock), BURST_MAX, () => {});
    expect(clock.pending).toBe(0);
  });

  it('that is closed lets everyone go, for ever', async () => {
    const clock = createVirtualClock();
    const pacer = new Pacer(clock);
    let steps = 0;
    const worker = work(pacer, 5 * BURST_MAX, () => steps++);
    await clock.settle();
    pacer.close();
    await worker;
    expect([steps, clock.pending]).toEqual([5 * BURST_MAX, 0]);
  });
});
