/**
 * Freezes plain data to the last leaf and returns it. What is frozen already is taken as frozen below, too: states of an object
 * share no parts, and a check costs less than a second walk. Bytes stay as they are: the platform cannot freeze them.
 */
export function freezeJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const open: object[] = [value];
  // Without recursion, so that no depth overflows the stack.
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (!isFreezable(part)) continue;
    for (const name of Object.keys(part)) {
      const member = (part as Record<string, unknown>)[name];
      if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) open.push(member);
    }
  }
  return value;
}

/** Freezes it, if that can be done: asking first would cost more than the rest. */
function isFreezable(part: object): boolean {
  try {
    Object.freeze(part);
    return true;
  } catch {
    return false;
  }
}
