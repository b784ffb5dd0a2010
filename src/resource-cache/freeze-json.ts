/** Deeper than this it goes on without recursion, so that no depth overflows the stack. */
const RECURSION_MAX = 100;

/**
 * Freezes plain data to the last leaf and returns it. What is frozen already is taken as frozen below, too: states of an object
 * share no parts, and a check costs less than a second walk. Bytes stay as they are: the platform cannot freeze them.
 */
export function freezeJson<T>(value: T): T {
  if (isObject(value)) freezeParts(value, 0);
  return value;
}

/** Half of the time of a loop with a stack and `Object.keys`, and a commit has no costlier part. */
function freezeParts(part: object, depth: number): void {
  if (Object.isFrozen(part) || !isFreezable(part)) return;
  const next = depth + 1;
  if (Array.isArray(part)) {
    for (let place = 0; place < part.length; place++) {
      const member: unknown = part[place];
      if (isObject(member)) freezeMember(member, next);
    }
    return;
  }
  for (const name in part) {
    const member = (part as Record<string, unknown>)[name];
    if (isObject(member) && Object.hasOwn(part, name)) freezeMember(member, next);
  }
}

function freezeMember(member: object, depth: number): void {
  if (depth < RECURSION_MAX) freezeParts(member, depth);
  else freezeDeep(member);
}

function freezeDeep(value: object): void {
  const open: object[] = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (Object.isFrozen(part) || !isFreezable(part)) continue;
    for (const member of Object.values(part)) if (isObject(member)) open.push(member);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
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
