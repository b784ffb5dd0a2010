/** What a store, a lock or an informer asks of a clock; some need less. */
export const CLOCK_METHODS = ['now', 'wallTime', 'after'] as const;

/**
 * Refuses what lacks a method that will be called, in words that name the first of them. Judged by what is called of it and not by
 * its class, so that one of another realm or of a test is fine. At the door: later it would be a raw TypeError in the middle of a call.
 *
 * Throws TypeError.
 */
export function checkMethods(name: string, value: unknown, action: string, methods: readonly string[]): void {
  if (!isObject(value)) throw new TypeError(`Cannot ${action}: ${name} is not an object`);
  for (const method of methods) {
    if (typeof Reflect.get(value, method) !== 'function') {
      throw new TypeError(`Cannot ${action}: ${name} has no method ${method}`);
    }
  }
}

/** A class with static methods is one, too. */
function isObject(value: unknown): value is object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}
