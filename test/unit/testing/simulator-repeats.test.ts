import { describe, expect, it } from 'vitest';
import { createSimulator } from '../../../src/testing/simulator.ts';
import type { SimulatedWriter } from '../../../src/testing/simulator-types.ts';
import type { Observation } from '../../../src/types/writer-lease.ts';

/** What one replica is told that writes at once what it is asked for, while its only key is edited once. */
async function repeated(observations: 'flags' | 'values') {
  const log: Observation<number>[] = [];
  const simulator = createSimulator({
    replicas: 1,
    keys: 1,
    repeatedEvents: 1,
    watchLatencyMs: [1, 1],
    writeLatencyMs: [2, 2],
    startSpreadMs: 0,
    observations,
    writer: ({ clock }): SimulatedWriter => ({
      try: (key, { work, revision }) => {
        const context = { key, revision, fencingToken: undefined, signal: new AbortController().signal };
        clock.after(1, () => void work(context));
        return true;
      },
      observe: (_, observation) => void log.push(observation),
      close: async () => {},
    }),
  });
  await simulator.run(5);
  simulator.edit('key-0');
  await simulator.run(5000);
  return log;
}

describe('an event that comes again', () => {
  it('is told as it was, and compared with what the replica has seen since', async () => {
    const log = await repeated('flags');
    // The list; a first write (2), an edit (3), a second write (4); then each of them again in some order.
    expect(log.slice(0, 4)).toEqual([
      { revision: 1, satisfied: false, changed: false, satisfiedBefore: false },
      { revision: 2, satisfied: true, changed: true, satisfiedBefore: true },
      { revision: 3, satisfied: false, changed: false, satisfiedBefore: true },
      { revision: 4, satisfied: true, changed: true, satisfiedBefore: true },
    ]);
    expect(log.slice(4).sort((a, b) => a.revision - b.revision)).toEqual([
      { revision: 2, satisfied: true, changed: true, satisfiedBefore: false },
      { revision: 3, satisfied: false, changed: true, satisfiedBefore: false },
      { revision: 4, satisfied: true, changed: false, satisfiedBefore: true },
    ]);
  });

  it('carries its own value, and what was wanted then', async () => {
    const log = await repeated('values');
    const again = log.slice(4).sort((a, b) => a.revision - b.revision);
    expect(again).toEqual(log.slice(1, 4));
  });
});
