import { LimitExceededError } from '../types/errors.ts';
import { utf8Length } from './keyspace.ts';

/** Throws `LimitExceededError` for text above the bound. A unit takes at most 3 bytes, so only long text is measured. */
export function checkTextBytes(text: string, max: number, action: string): void {
  if (text.length * 3 > max) checkValueBytes(utf8Length(text), max, action);
}

/** The same for a value whose number of bytes is known. */
export function checkValueBytes(actual: number, max: number, action: string): void {
  if (actual > max) throw new LimitExceededError(action, { limit: 'valueBytes', max, actual });
}
