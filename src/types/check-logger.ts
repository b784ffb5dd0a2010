import { checkMethods } from './check-methods.ts';
import type { Logger } from './logger.ts';

const METHODS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

/**
 * Refuses what is no logger, in words that say what it lacks; none at all is silence. At the door: what a logger throws later is dropped, so
 * one without a method would keep errors from everybody.
 */
export function checkLogger(logger: unknown, action: string): asserts logger is Logger | undefined {
  if (logger !== undefined) checkMethods('logger', logger, action, METHODS);
}
