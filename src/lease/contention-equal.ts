import type { GuardedLogger } from '../system/guarded-logger.ts';

/**
 * An `equal` of the user's that cannot do harm: it is asked in the middle of an answer, where a throw would end the lease for good.
 * What it cannot compare counts as different, which costs a write at most; the error goes to the logger.
 */
export function guardedEqual<V>(
  equal: (a: V | undefined, b: V | undefined) => boolean,
  logger: GuardedLogger,
): (a: V | undefined, b: V | undefined) => boolean {
  return (a, b) => {
    try {
      return equal(a, b);
    } catch (error) {
      logger.error('equal failed', { error });
      return false;
    }
  };
}
