import { isPromise } from './is-promise.ts';

/** A predicate that has to answer at once: a promise would select everything. Throws TypeError, also when it is asked. */
export function requiredPredicate<O>(predicate: unknown, action: string): (object: O) => boolean {
  if (typeof predicate !== 'function') throw new TypeError(`Cannot ${action}: predicate is not a function`);
  return (object) => {
    const answer: unknown = predicate(object);
    if (isPromise(answer)) throw new TypeError(`Cannot ${action}: predicate answered with a promise`);
    return Boolean(answer);
  };
}

/** The same for a request that may go without. */
export function predicateOf<O>(predicate: unknown, action: string): ((object: O) => boolean) | undefined {
  return predicate === undefined ? undefined : requiredPredicate(predicate, action);
}
