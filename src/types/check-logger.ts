import type { Logger } from './logger.ts';

const METHODS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

/**
 * Refuses what is no logger, in words that say what it lacks; none at all is silence. At the door: what a logger throws later is dropped, so
 * one without a method would keep errors from everybody.
 */
export function checkLogger(logger: unknown, action: string): asserts logger is Logger | undefined {
  if (logger === undefined) return;
  if (typeof logger !== 'object' || logger === null) throw new TypeError(`Cannot ${action}: logger is not an object`);
  for (const method of METHODS) {
    if (typeof Reflect.get(logger, method) !== 'function') {
      throw new TypeError(`Cannot ${action}: logger has no method ${method}`);
    }
  }
}
