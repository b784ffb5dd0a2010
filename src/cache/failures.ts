import {
  BackendError,
  ClosedError,
  CompactedError,
  InvalidKeyError,
  InvariantError,
  StoreFullError,
  UnsupportedError,
} from '../types/errors.ts';

/** The data are not the ones this replica knew (M24). Thrown inside the loop, never out of it. */
export class Replaced extends Error {}

/** The stream broke a promise: what is applied can no longer be trusted. Thrown inside the loop, never out of it. */
export class Violation extends Error {}

/** The stream brings nothing of what has changed (M20). */
export class Stalled extends Error {}

/** After these the stream cannot go on where it was: history is gone, wrong, or does not fit. */
export function needsList(error: unknown): boolean {
  if (error instanceof Stalled) return true;
  return error instanceof Violation || error instanceof CompactedError || error instanceof StoreFullError;
}

/**
 * Whether the replica has to give up. What the backend says for good is believed until the replica was ready once: later, a wrong
 * password may be somebody's mistake of a minute. A backend that is closed stays so.
 */
export function isFinal(error: unknown, wasReady: boolean): boolean {
  if (error instanceof InvariantError || error instanceof ClosedError) return true;
  return !wasReady && isPermanent(error);
}

/** What trying again cannot mend. */
function isPermanent(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent;
  return error instanceof InvalidKeyError || error instanceof StoreFullError || error instanceof UnsupportedError;
}
