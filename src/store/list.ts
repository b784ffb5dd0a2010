/** How long a list is that somebody has given; `what` names it with its verb, `then is`. Throws TypeError for what is no array, and for one that does not say. */
export function lengthOf(list: unknown, what: string, action: string): number {
  if (!Array.isArray(list)) throw new TypeError(`Cannot ${action}: ${what} not an array`);
  const { length } = list;
  if (!(Number.isSafeInteger(length) && length >= 0)) {
    throw new TypeError(`Cannot ${action}: ${what} of a length that is no whole number`);
  }
  return length;
}

/**
 * What is made of the elements of a list, holes as well, up to a length that was asked for once: what is counted is what is
 * run, and no iterator that somebody has given the list.
 */
export function mapList<T, R>(list: readonly T[], length: number, make: (element: T) => R): R[] {
  const made: R[] = [];
  for (let place = 0; place < length; place++) made.push(make(list[place] as T));
  return made;
}
