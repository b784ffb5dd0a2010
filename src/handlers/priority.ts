import { isPromise } from '../types/is-promise.ts';
import type { ObjectTable } from './object-table.ts';
import type { Snapshot } from './snapshot.ts';

/** Priorities are from minus this to this. */
export const PRIORITY_MAX = 1000;

/**
 * The priority of an object by name, from what the user's function says of its newest state (A30'). 0 for what does not live
 * any more, and where the function throws or returns no number: that is reported, and it is not asked again about that state,
 * since a pure function would do the same.
 */
export function priorityBy(
  fn: (object: unknown) => unknown,
  table: Pick<ObjectTable, 'get'>,
  onFault: (snapshot: Snapshot, error: unknown) => void,
): (name: string) => number {
  const faulty = new WeakSet<Snapshot>();
  return (name) => {
    const snapshot = table.get(name)?.newest;
    if (snapshot === undefined || faulty.has(snapshot)) return 0;
    try {
      const priority = fn(snapshot.object);
      if (isPromise(priority)) throw new TypeError('Cannot order objects: priority returned a promise');
      if (typeof priority !== 'number' || Number.isNaN(priority)) {
        throw new TypeError(`Cannot order objects: priority returned ${priority === null ? 'null' : typeof priority}`);
      }
      return Math.min(PRIORITY_MAX, Math.max(-PRIORITY_MAX, priority));
    } catch (error) {
      faulty.add(snapshot);
      onFault(snapshot, error);
      return 0;
    }
  };
}
