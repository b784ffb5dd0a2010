/**
 * Equality of plain data: primitives by `===`, with NaN equal to itself, arrays by their items in order, bytes by theirs, other objects by
 * their own members in any order. A member that is `undefined` is one that is not there, as in JSON. Class instances are
 * equal only to themselves, functions too; whoever has those gives an `equal` of his own. Depth is the stack's.
 */
export function plainEqual(a: unknown, b: unknown): boolean {
  if (a === b || Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalItems(a, b);
  return isPlain(a) && isPlain(b) && equalMembers(a, b);
}

function equalItems(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!plainEqual(a[index], b[index])) return false;
  return true;
}

/** Members of `a` are compared once, what only `b` has has to be nothing: to compare both ways would double at each depth. */
function equalMembers(a: object, b: object): boolean {
  for (const name of Object.keys(a)) {
    const other: unknown = Object.hasOwn(b, name) ? Reflect.get(b, name) : undefined;
    if (!plainEqual(Reflect.get(a, name), other)) return false;
  }
  for (const name of Object.keys(b)) {
    if (!Object.hasOwn(a, name) && Reflect.get(b, name) !== undefined) return false;
  }
  return true;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
