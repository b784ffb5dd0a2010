import { InvariantError } from './errors.ts';

/** States what must hold if Plimsoll itself is right. A failure is a bug here, never the caller's. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
