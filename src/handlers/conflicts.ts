import { BackendError } from '../types/errors.ts';

/** Conflicts in a row that one write gives way to, before whoever it is for waits. */
export const CONFLICTS_MAX = 16;

/** What a write is given up with after so many. No bug of anybody: `what` is written by somebody else all the time. */
export function tooManyConflicts(action: string, what: string): BackendError {
  return new BackendError(action, `somebody changed ${what} ${CONFLICTS_MAX} times in a row before the write`);
}
