import { BackendError, CompactedError, InvalidKeyError, StoreFullError, UnsupportedError } from '../types/errors.ts';

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

/** What trying again cannot mend. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof BackendError) return error.permanent;
  return error instanceof InvalidKeyError || error instanceof StoreFullError || error instanceof UnsupportedError;
}
