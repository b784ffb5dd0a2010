import { describe, expect, it } from 'vitest';
import { createSimulator } from '../../../src/testing/simulator.ts';
import type { SimulatedEnvironment } from '../../../src/testing/simulator-types.ts';

describe('a process that wakes up', () => {
  it.each([138, 140, 141])('does what fell due in order, also with what falls due at that instant: %i', async (at) => {
    const revisions: number[] = [];
    const fired: string[] = [];
    let environment: SimulatedEnvironment | undefined;
    const simulator = createSimulator({
      replicas: 1,
      keys: 1,
      watchLatencyMs: [10, 10],
      startSpreadMs: 0,
      writer: (given) => {
        environment = given;
        return {
          try: () => true,
          observe: (_, { revision }) => void revisions.push(revision),
          close: async () => {},
        };
      },
    });
    await simulator.run(50);
    environment?.clock.after(100, () => void fired.push('at its end'));
    environment?.clock.after(60, () => void fired.push('in the pause'));
    simulator.pause(0, 100);
    for (const touchAt of [20, at - 50]) simulator.after(touchAt, () => simulator.touch('key-0'));
    // A pause while it catches up.
    simulator.after(100, () => simulator.pause(0, 20));
    await simulator.run(1000);
    expect(revisions).toEqual([1, 2, 3]);
    expect(fired).toEqual(['in the pause', 'at its end']);
  });
});
