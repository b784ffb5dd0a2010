import { shown } from './shown.ts';

/**
 * The error for a number that is not as it has to be: a TypeError for what is no number, a RangeError for one that is
 * impossible. Both name the option, what it may be, and what it is.
 */
export function wrongNumber(action: string, name: string, value: unknown, wanted: string): TypeError | RangeError {
  const got = typeof value === 'string' && value !== '' ? `"${shown(value)}"` : shown(value);
  const text = `Cannot ${action}: ${name} must be ${wanted}, got ${got}`;
  return typeof value === 'number' ? new RangeError(text) : new TypeError(text);
}
