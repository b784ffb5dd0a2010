import { createClassicWriterLease } from '../src/lease/classic-writer-lease.ts';
import type { SimulatedEnvironment, SimulatedWriter } from '../src/testing/simulator-types.ts';
import type { Observation } from '../src/types/writer-lease.ts';
import { ClassicTracker } from './classic-tracker.ts';

export interface ClassicWriterOptions {
  /** Stop writers that disagree, with marks that count for so long. Needs observations with values. @default no tracker */
  readonly contentionMs?: number;
}

/**
 * The classic strategy as it is used where it comes from: what somebody else has done is noticed only when the worker
 * comes to the key and finds nothing to write; that work then says Extend (W12, W13). So a follower goes through its queue
 * one wait at a time.
 */
export function createClassicWriter(
  { clock, random }: Pick<SimulatedEnvironment, 'clock' | 'random'>,
  { contentionMs }: ClassicWriterOptions = {},
): SimulatedWriter {
  const lease = createClassicWriterLease({ strategy: 'classic', clock, random });
  const tracker =
    contentionMs === undefined ? undefined : new ClassicTracker<number>({ clock, intervalMs: contentionMs });
  const values = new Map<string, number | undefined>();

  return {
    get role() {
      return lease.role;
    },
    try(key, { revision, work, wanted = 0 }) {
      const tracked = async (context: Parameters<typeof work>[0]) => {
        // The first entry is never contended (T9).
        if (tracker?.isContended(key) === true && values.get(key) !== undefined) {
          return { result: 'release', retry: false } as const;
        }
        const outcome = await work(context);
        if (outcome === 'unchanged') lease.observe(key, { revision, satisfied: true, changed: true });
        else if (outcome !== 'conflict') tracker?.clear(key, wanted);
        return outcome;
      };
      return lease.try(key, { revision, work: tracked });
    },
    observe(key, observation) {
      if (tracker !== undefined) note(tracker, values, key, observation);
    },
    close() {
      tracker?.close();
      return lease.close();
    },
  };
}

/** Updates only: what the first list shows is no change (T2, T3). */
function note(
  tracker: ClassicTracker<number>,
  values: Map<string, number | undefined>,
  key: string,
  observation: Observation<number>,
): void {
  if (!('value' in observation)) throw new TypeError('Cannot observe a key: a tracker needs observations with values');
  const { value } = observation;
  if (values.has(key) && value !== undefined && value !== values.get(key)) tracker.changed(key, value);
  values.set(key, value);
}
