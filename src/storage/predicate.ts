import { isPromise } from '../types/is-promise.ts';

/** The predicate of a request, which has to answer at once: a promise would select everything. Throws TypeError, also when it is asked. */
export function predicateOf<O>(predicate: unknown, action: string): ((object: O) => boolean) | undefined {
  if (predicate === undefined) return undefined;
  if (typeof predicate !== 'function') throw new TypeError(`Cannot ${action}: predicate is not a function`);
  return (object) => {
    const answer: unknown = predicate(object);
    if (isPromise(answer)) throw new TypeError(`Cannot ${action}: predicate answered with a promise`);
    return Boolean(answer);
  };
}
